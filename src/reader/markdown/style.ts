/** Markdown style: the caller's choices and their defaults (docs/reference/wire/reader.md, Markdown). */

export const HEADING_STYLES = ['atx', 'setext'] as const;
export const BULLET_LIST_MARKERS = ['*', '-', '+'] as const;
export const EM_DELIMITERS = ['_', '*'] as const;
export const STRONG_DELIMITERS = ['**', '__'] as const;
export const LINK_STYLES = ['inlined', 'referenced', 'discarded'] as const;
export const LINK_REFERENCE_STYLES = ['full', 'collapsed', 'shortcut', 'discarded'] as const;

export interface MarkdownStyle {
  readonly headingStyle: (typeof HEADING_STYLES)[number];
  /** The text of a thematic break, exactly as it is written to the output. */
  readonly hr: string;
  readonly bulletListMarker: (typeof BULLET_LIST_MARKERS)[number];
  readonly emDelimiter: (typeof EM_DELIMITERS)[number];
  readonly strongDelimiter: (typeof STRONG_DELIMITERS)[number];
  readonly linkStyle: (typeof LINK_STYLES)[number];
  /** The labels of reference links; `discarded` is `full` without the definitions. */
  readonly linkReferenceStyle: (typeof LINK_REFERENCE_STYLES)[number];
}

export const MARKDOWN_STYLE_DEFAULTS: MarkdownStyle = {
  headingStyle: 'atx',
  hr: '* * *',
  bulletListMarker: '*',
  emDelimiter: '_',
  strongDelimiter: '**',
  linkStyle: 'inlined',
  linkReferenceStyle: 'full',
};
