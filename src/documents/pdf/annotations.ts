/**
 * Comments on the pages of a PDF (ISO 32000-1, 12.5.6): notes, and highlights or drawings with a comment. Each is
 * attached to the nearest piece of text by a private character, which passes through the layout like a letter and is
 * replaced afterwards.
 */
import type { PDFPageProxy } from 'pdfjs-dist';
import type { Annotations, DocumentPage } from '../document.ts';
import { type Comment, comment, PageComments } from '../office/annotations.ts';
import type { Piece } from './drawn-content.ts';
import { type Box, toMatrix, transformBox } from './geometry.ts';

/** The first private character, and how many are used. */
const FIRST_MARK = 0xf0000;
const MAX_COMMENTS = 10_000;
const MARKS = /[\u{f0000}-\u{f2710}]/gu;

const COMMENTED =
  /^(?:Text|FreeText|Highlight|Underline|Squiggly|StrikeOut|Caret|Ink|Square|Circle|Line|Polygon|PolyLine|Stamp)$/;
const HIDDEN_FLAG = 2;
const MAX_COMPARED_PIECES = 20_000;

interface RawAnnotation {
  readonly subtype?: string;
  readonly rect?: readonly number[];
  readonly annotationFlags?: number;
  readonly contentsObj?: { readonly str?: string };
  readonly titleObj?: { readonly str?: string };
}

export interface PageComment extends Box {
  readonly about: Comment;
}

/** Comments with their boxes, in the coordinates of the pieces. */
export async function commentsOn(page: PDFPageProxy, transform: readonly number[]): Promise<PageComment[]> {
  const matrix = toMatrix([...transform])!;
  const all = (await page.getAnnotations({ intent: 'display' }).catch(() => [])) as RawAnnotation[];
  return all.slice(0, MAX_COMMENTS).flatMap(({ subtype = '', rect, annotationFlags = 0, contentsObj, titleObj }) => {
    const about = comment(titleObj?.str ?? '', contentsObj?.str ?? '');
    const isShown = COMMENTED.test(subtype) && (annotationFlags & HIDDEN_FLAG) === 0;
    if (!isShown || about.text === '' || rect?.length !== 4) return [];
    return [{ about, ...transformBox(matrix, rect[0]!, rect[1]!, rect[2]!, rect[3]!) }];
  });
}

/** Attaches the comments of a document to its text and writes them into its pages. */
export class PdfComments {
  readonly #comments: PageComments;
  readonly #marked: Comment[] = [];
  readonly #unplaced = new Map<number, Comment[]>();

  constructor(mode: Annotations | undefined) {
    this.#comments = new PageComments(mode);
  }

  get shown(): boolean {
    return this.#comments.shown;
  }

  /** Returns the pieces with marks at the end of those that are commented. */
  mark(number: number, pieces: readonly Piece[], comments: readonly PageComment[]): readonly Piece[] {
    const marks = new Map<Piece, string>();
    const places = pieces.slice(0, MAX_COMPARED_PIECES);
    for (const { about, ...box } of comments) {
      const piece = this.#marked.length < MAX_COMMENTS ? nearest(places, box) : undefined;
      if (!piece) this.#unplaced.set(number, [...(this.#unplaced.get(number) ?? []), about]);
      else {
        const mark = String.fromCodePoint(FIRST_MARK + this.#marked.push(about) - 1);
        marks.set(piece, (marks.get(piece) ?? '') + mark);
      }
    }
    return marks.size === 0 ? pieces : pieces.map((piece) => withMark(piece, marks.get(piece)));
  }

  /** Replaces the marks in a page, and adds the comments that are not near any text. */
  write(page: DocumentPage): DocumentPage {
    const html = page.html.replace(MARKS, (mark) => {
      const about = this.#marked[mark.codePointAt(0)! - FIRST_MARK];
      return about ? this.#comments.html(about) : '';
    });
    const others = (this.#unplaced.get(page.number) ?? []).map(
      (about) => `\n<p>${this.#comments.html(about).trim()}</p>`,
    );
    const result = html + others.join('') + this.#comments.takeNotes();
    return result === page.html ? page : { ...page, html: result };
  }
}

const withMark = (piece: Piece, mark: string | undefined): Piece =>
  mark === undefined ? piece : { ...piece, text: piece.text + mark };

/** The piece at the end of the box, or next to it on the same line. */
function nearest(pieces: readonly Piece[], { x0, y0, x1, y1 }: Box): Piece | undefined {
  let best: Piece | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    const middle = piece.y - 0.3 * piece.size;
    const across = Math.max(y0 - middle, middle - y1, 0);
    if (across > 1.5 * piece.size || piece.text.trim() === '') continue;
    const isInside = piece.x0 < x1 && piece.x1 > x0;
    // Of the pieces inside the box, the last one counts.
    const along = isInside
      ? Math.abs(x1 - piece.x1) / 1_000 - middle / 1_000
      : 1 + Math.max(x0 - piece.x1, piece.x0 - x1);
    const distance = across * 10 + along;
    if (distance >= least) continue;
    least = distance;
    best = piece;
  }
  return best;
}
