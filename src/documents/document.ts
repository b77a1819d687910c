/**
 * What a file becomes: pages of plain HTML, and what it says about itself. A kind of file is a module with `parse`, and
 * with `picture` when its pages can be drawn. Kinds run in a process of their own, which is ended when a file is too much.
 */
import type { Fitting } from './image/fit.ts';

/** A file to read. It lies in a temporary place of ours; its name is data and never a path. */
export interface DocumentFile {
  readonly path: string;
  readonly size: number;
  /** What the file is, by its bytes before its name and its declared type; lower case, without parameters. */
  readonly mediaType: string;
  /** What the server or the client declared, with a charset when there was one. */
  readonly contentType?: string | undefined;
  /** The name it came under: `report.pdf`. */
  readonly name?: string | undefined;
}

/** One page (sheet, slide, chapter) of a document. */
export interface DocumentPage {
  /** Counted from 1. */
  readonly number: number;
  /**
   * Its content as an HTML fragment: headings, paragraphs, lists, tables (`thead` and `th` where there is a header,
   * colspan and rowspan), blockquote, pre, links with absolute addresses, pictures with an alternative text.
   */
  readonly html: string;
  /** Whether it shows something but has no text: worth a look by text recognition. */
  readonly scanned?: boolean;
}

export interface ParsedDocument {
  /** What the document calls itself; '' when it does not say. */
  readonly title: string;
  /** All of them, or the one that was asked for. */
  readonly pages: readonly DocumentPage[];
  /** Pages of the whole document; undefined for kinds that have none. */
  readonly pageCount?: number | undefined;
  /** Set for files that are shown as their source instead: JSON, XML that is no feed. Pages are empty then. */
  readonly source?: string | undefined;
  /** Its own words about itself; values are text. */
  readonly metadata: Readonly<Record<string, string>>;
  /** ISO 8601. */
  readonly publishedTime?: string | undefined;
  readonly lang?: string | undefined;
  /** What a reader should know: `Pages 4 and 9 could not be read`. One line each. */
  readonly notes: readonly string[];
  /** Pieces left out because nobody sees them. */
  readonly hiddenCount: number;
}

export interface ParseOptions {
  /** Only this page, counted from 1; one that the document has not means all. */
  readonly page?: number | undefined;
  /** After so long a kind that reads page by page gives the pages that it has. Unset: it reads them all. */
  readonly timeMs?: number | undefined;
}

export interface PictureOptions {
  /** Counted from 1. */
  readonly page: number;
  /** Pixels per point (1/72 inch) for paged documents; 2 is 144 dpi. */
  readonly scale?: number | undefined;
  /** The box, in pixels, into which an image is fitted. */
  readonly fit?: { readonly width: number; readonly height: number } | undefined;
}

export interface PicturesOptions {
  /** Counted from 1. */
  readonly pages: readonly number[];
  /** Pixels per point. */
  readonly scale?: number | undefined;
  /** A file each, or red, green and blue of the fitted picture, row by row. */
  readonly as: 'png' | Fitting;
}

export interface DocumentKind {
  /** Throws DocumentFault. */
  parse(file: DocumentFile, bytes: Uint8Array, options: ParseOptions): Promise<ParsedDocument>;
  /** A page as PNG. Throws DocumentFault. */
  picture?(file: DocumentFile, bytes: Uint8Array, options: PictureOptions): Promise<Uint8Array>;
  /**
   * As many of the pages, the first of them at least, as can be drawn in a short while. Throws DocumentFault for the first
   * alone.
   */
  pictures?(file: DocumentFile, bytes: Uint8Array, options: PicturesOptions): Promise<Uint8Array[]>;
}

/**
 * Why a file cannot be read. `damaged`: not what it claims to be, or cut off. `encrypted`: it asks for a password.
 * `too large`: it would become more than may be worked on (an archive that explodes, an image of too many pixels).
 * `unsupported`: nothing here reads its kind. `missing program`: something must be installed, the message says what.
 */
export type FaultKind = 'damaged' | 'encrypted' | 'too large' | 'unsupported' | 'missing program';

export class DocumentError extends Error {
  readonly kind: FaultKind;

  /** `message` is shown to callers: a sentence without a full stop that names the kind of file, and no path. */
  constructor(kind: FaultKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}
