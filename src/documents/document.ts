/**
 * The contract of a document kind. A kind is a module with `parse`, which turns a file into pages of plain HTML and
 * metadata; and with `picture` if its pages can be rendered as images. Kinds run in a separate process, which is killed
 * when a file exceeds the time or memory limit.
 */
import type { ImageFit } from './image/fit.ts';

/** A file to read. It is stored at a temporary path that Lectern chose; `name` is data and is never used as a path. */
export interface DocumentFile {
  readonly path: string;
  readonly size: number;
  /** The type, detected from the bytes, then the name, then the declared type. Lower case, without parameters. */
  readonly mediaType: string;
  /** The type that the server or the client declared, including any charset. */
  readonly contentType?: string | undefined;
  /** The original name: `report.pdf`. */
  readonly name?: string | undefined;
  /** Opens an encrypted file. Never logged or stored. */
  readonly password?: string | undefined;
}

/** One page (sheet, slide, chapter) of a document. */
export interface DocumentPage {
  /** Counted from 1. */
  readonly number: number;
  /**
   * The content as an HTML fragment: headings, paragraphs, lists, tables (`thead` and `th` if there is a header,
   * colspan and rowspan), blockquote, pre, links with absolute URLs, images with alt text.
   */
  readonly html: string;
  /** Whether the page has visible content but no text, so that it needs text recognition. */
  readonly scanned?: boolean;
  /** The title of a slide or chapter; the name of a sheet. */
  readonly name?: string | undefined;
  /** The size as displayed: in points, for images in pixels. Unset for pages without a size. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

export interface ParsedDocument {
  /** The title in the document's metadata; '' if it has none. */
  readonly title: string;
  /** All pages, or the requested one. */
  readonly pages: readonly DocumentPage[];
  /** Number of pages of the whole document; `undefined` for kinds without pages. */
  readonly pageCount?: number | undefined;
  /** Set for files that are shown as source: JSON, and XML that is not a feed. `pages` is then empty. */
  readonly source?: string | undefined;
  /** The document's own metadata; values are text. */
  readonly metadata: Readonly<Record<string, string>>;
  /** ISO 8601. */
  readonly publishedTime?: string | undefined;
  readonly lang?: string | undefined;
  /** Warnings for the reader, one line each: `Pages 4 and 9 could not be read`. */
  readonly notes: readonly string[];
  /** Number of invisible pieces of text that were removed. */
  readonly hiddenCount: number;
  /** Number of pictures that are too large, too many, or in a format that browsers do not show. */
  readonly picturesLeftOut?: number | undefined;
  /** Whether the pages of a PDF contain its figures as images. */
  readonly figures?: boolean | undefined;
}

/** Whether headers, footers, page numbers and watermarks of a PDF are left out. */
export const PDF_RUNNING_TEXT = ['drop', 'keep'] as const;

/** How comments, tracked changes and similar annotations are shown. */
export const ANNOTATION_CHOICES = ['none', 'inline', 'footnotes'] as const;
export type Annotations = (typeof ANNOTATION_CHOICES)[number];

export interface ParseOptions {
  /** Reads only this page, counted from 1. If the number is beyond the last page, all pages are read. */
  readonly page?: number | undefined;
  /** Whether to mark the blocks with their boxes, for kinds that know them (marks.ts). */
  readonly boxes?: boolean | undefined;
  /** Whether to include the figures of a PDF as images. */
  readonly figures?: boolean | undefined;
  /** Time limit for kinds that read page by page; they return the pages read so far. No limit if unset. */
  readonly timeMs?: number | undefined;
  /** Default: `drop`. */
  readonly pdfRunningText?: (typeof PDF_RUNNING_TEXT)[number] | undefined;
  /** Default: `none`, the final text without comments. */
  readonly annotations?: Annotations | undefined;
}

/** What the caller of a read may choose. */
export type ReadOptions = Omit<ParseOptions, 'timeMs'>;

export interface PictureOptions {
  /** Counted from 1. */
  readonly page: number;
  /** Pixels per point (1/72 inch) for paged documents; 2 is 144 dpi. */
  readonly scale?: number | undefined;
  /** The box, in pixels, into which an image is scaled. */
  readonly fit?: { readonly width: number; readonly height: number } | undefined;
}

export interface PicturesOptions {
  /** Counted from 1. */
  readonly pages: readonly number[];
  /** Pixels per point. */
  readonly scale?: number | undefined;
  /** PNG files, or the raw pixels of fitted images: red, green and blue, row by row. */
  readonly as: 'png' | ImageFit;
}

export interface DocumentKind {
  /** Throws DocumentError. */
  parse(file: DocumentFile, bytes: Uint8Array, options: ParseOptions): Promise<ParsedDocument>;
  /** Renders a page as PNG. Throws DocumentError. */
  picture?(file: DocumentFile, bytes: Uint8Array, options: PictureOptions): Promise<Uint8Array>;
  /**
   * Renders the first of the given pages, and further ones until a short time limit is reached. Throws DocumentError
   * only if the first page fails.
   */
  pictures?(file: DocumentFile, bytes: Uint8Array, options: PicturesOptions): Promise<Uint8Array[]>;
}

/**
 * Why a file cannot be read. `damaged`: truncated, or not of the claimed type. `encrypted`: it needs a password. `wrong
 * password`: it needs another one. `too large`: it exceeds a limit (a decompression bomb, an image with too many pixels). `unsupported`: no document kind
 * supports its type, or its encryption. `missing program`: the message names the program to install.
 */
export type DocumentErrorKind =
  | 'damaged'
  | 'encrypted'
  | 'wrong password'
  | 'too large'
  | 'unsupported'
  | 'missing program';

export class DocumentError extends Error {
  readonly kind: DocumentErrorKind;

  /** `message` is shown to callers: a sentence without a period that names the kind of file but contains no path. */
  constructor(kind: DocumentErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}
