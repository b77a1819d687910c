/** The elements of a document or page in reading order. Plain data, because it is passed between threads. */
import type { PageBox } from '#documents/marks.ts';

export type ElementKind =
  | 'heading'
  | 'paragraph'
  | 'list item'
  | 'table'
  | 'code'
  | 'formula'
  | 'picture'
  | 'caption'
  | 'quote';

export interface ContentElement {
  readonly kind: ElementKind;
  /** Code and texts with line breaks have several lines. The LaTeX of a formula, the alt text of a picture, the cells of a table. */
  readonly text: string;
  /** The level of a heading, 1 to 6; the depth of a list item, from 1. */
  readonly level?: number;
  /** Whether a list item belongs to a numbered list. */
  readonly isNumbered?: boolean;
  /** The rows of a table. */
  readonly rows?: readonly (readonly TableCell[])[];
  /** The URL of a picture, as in the Markdown. */
  readonly url?: string;
  readonly links?: readonly ElementLink[];
  readonly emphasis?: readonly { readonly text: string; readonly tag: 'b' | 'i' }[];
  /** The page, slide, sheet or chapter. */
  readonly page?: number;
  /** The rectangle on that page, for PDFs. */
  readonly box?: PageBox;
}

export interface TableCell {
  readonly text: string;
  readonly isHeader: boolean;
  readonly colspan: number;
  readonly rowspan: number;
}

export interface ElementLink {
  readonly text: string;
  readonly url: string;
  /** Position of the link in the text of the element, in UTF-16 code units. */
  readonly start: number;
}
