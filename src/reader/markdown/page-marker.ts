/** The markers of pages in Markdown: comments, which Markdown renders as nothing. */

export const pageMarker = (page: number): string => `<!-- page ${page} -->`;

/** A line that is a marker. */
export const PAGE_MARKER = /^<!-- page \d+ -->$/;
