const RUNS = /[\s\u0085]+/g;
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * Text of a page on one line, with white space collapsed and control characters removed. Used for titles, labels and
 * header lines.
 */
export const oneLine = (text: string): string => text.replace(CONTROLS, ' ').replace(RUNS, ' ').trim();

/** Text of a page without control characters other than tab and line feed. U+001D is reserved: it separates chunks. */
export const withoutControlCharacters = (text: string): string => text.replace(CONTROLS, ' ');
