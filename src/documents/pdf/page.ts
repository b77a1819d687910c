/** Reads one page: its drawn content, its links, and which text is visible. */
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { commentsOn, type PdfComments } from './annotations.ts';
import {
  type DrawingSources,
  type DrawnContent,
  type Piece,
  type RawPiece,
  readDrawnContent,
} from './drawn-content.ts';
import { fontsOf } from './fonts.ts';
import { type Box, containsPoint, toMatrix, transformBox } from './geometry.ts';
import type { Library } from './open.ts';
import { tagsOf } from './tags.ts';
import { withVerticalText } from './vertical.ts';
import { pictureShare, visiblePieces } from './visible.ts';
import { watermarksOf } from './watermarks.ts';

export interface PageText {
  readonly number: number;
  readonly width: number;
  readonly height: number;
  /** The size as displayed. The other coordinates differ from it if most of the text is rotated. */
  readonly displayed: { readonly width: number; readonly height: number };
  /** The rotation, in degrees, that makes most of the text upright. */
  readonly turn: number;
  /** Visible pieces in the main text direction; rotated text is separate. */
  readonly pieces: readonly Piece[];
  readonly turned: readonly (readonly Piece[])[];
  /** The text of the watermarks, which are not among the pieces; '' if there are none. */
  readonly watermark: string;
  readonly content: DrawnContent;
  readonly figures: readonly Figure[];
  readonly hidden: number;
  readonly scanned: boolean;
}

/** An image with its alt text. */
export interface Figure extends Box {
  readonly alt: string;
}

const FEW_LETTERS = 12;
/** Text at a greater angle than this, in degrees, is not part of the lines around it. */
const TURNED = 35;

export interface PageOptions {
  /** Whether watermarks are text like any other. */
  readonly keepsWatermarks: boolean;
  /** Collects the comments on the page, if they are to be shown. */
  readonly comments?: PdfComments | undefined;
}

export async function readPage(
  document: PDFDocumentProxy,
  number: number,
  { OPS }: Library,
  { keepsWatermarks, comments }: PageOptions,
): Promise<PageText> {
  const page = await document.getPage(number);
  try {
    const layers = await document.getOptionalContentConfig({ intent: 'display' });
    const operators = await page.getOperatorList({ intent: 'display' });
    const font = fontsOf(page);
    const names = OPS as unknown as DrawingSources['names'];
    const contentAt = (rotation: number) => {
      const viewport = page.getViewport({ scale: 1, rotation });
      const drawn = readDrawnContent({ operators, names, viewport, font, layers });
      return { viewport, content: { ...drawn, pieces: withVerticalText(drawn.pieces) } };
    };
    let { viewport, content } = contentAt(page.rotate);
    const rotation = mainTurn(content.pieces);
    if (rotation !== 0) ({ viewport, content } = contentAt((page.rotate + 360 - rotation) % 360));
    const seen = visiblePieces(content);
    const links = await linksOf(page, viewport.transform);
    const tags = await tagsOf(document, page, content);
    const watermarks = keepsWatermarks ? new Set() : watermarksOf(seen.pieces);
    const kept = watermarks.size === 0 ? seen.pieces : seen.pieces.filter((piece) => !watermarks.has(piece));
    const pieces = kept.map((piece) => {
      const tag = piece.mark === null ? undefined : tags.texts.get(piece.mark);
      const href = hrefAt(piece, links);
      return tag || href ? { ...piece, tag, href } : piece;
    });
    const upright = pieces.filter(({ angle }) => Math.abs(angle) < TURNED);
    const letters = seen.pieces.reduce((sum, { text }) => sum + text.length, 0);
    return {
      number,
      width: content.width,
      height: content.height,
      displayed: sizeOf(page),
      turn: rotation,
      pieces: comments?.shown ? comments.mark(number, upright, await commentsOn(page, viewport.transform)) : upright,
      watermark: textOf(seen.pieces.filter((piece) => watermarks.has(piece))),
      turned: turnedGroups(pieces.filter(({ angle }) => Math.abs(angle) >= TURNED)),
      content,
      figures: figuresOf(content, tags.figures),
      hidden: seen.hidden,
      scanned: letters < FEW_LETTERS && (pictureShare(content) > 0.05 || (letters === 0 && content.graphics > 0)),
    };
  } finally {
    page.cleanup();
  }
}

const textOf = (pieces: readonly Piece[]): string =>
  pieces
    .map(({ text, spaced }) => (spaced ? ` ${text}` : text))
    .join('')
    .trim();

function sizeOf(page: PDFPageProxy): { width: number; height: number } {
  const { width, height } = page.getViewport({ scale: 1 });
  return { width, height };
}

function figuresOf({ fills }: DrawnContent, alts: ReadonlyMap<number, string>): Figure[] {
  const figures = new Map<number, Figure>();
  for (const { image, mark, x0, y0, x1, y1 } of fills) {
    const alt = image && mark !== null ? alts.get(mark) : undefined;
    if (alt !== undefined && !figures.has(mark!)) figures.set(mark!, { x0, y0, x1, y1, alt });
  }
  return [...figures.values()];
}

/** The rotation of most text relative to the page: clockwise, in degrees, a multiple of 90. */
function mainTurn(pieces: readonly RawPiece[]): number {
  const letters = [0, 0, 0, 0];
  for (const { angle, text } of pieces) letters[((Math.round(angle / 90) % 4) + 4) % 4]! += text.length;
  const most = Math.max(...letters);
  return letters[0] === most ? 0 : letters.indexOf(most) * 90;
}

const SAME_TURN = 5;
const MAX_TURNS = 20;

/** Groups rotated text by angle and turns each group to the horizontal. */
function turnedGroups(pieces: readonly RawPiece[]): Piece[][] {
  const groups = new Map<number, Piece[]>();
  for (const piece of pieces) {
    const step = Math.round(piece.angle / SAME_TURN);
    const group = groups.get(step) ?? [];
    if (!groups.has(step) && groups.size >= MAX_TURNS) continue;
    groups.set(step, group);
    const radians = (piece.angle * Math.PI) / 180;
    const x0 = piece.x0 * Math.cos(radians) + piece.y * Math.sin(radians);
    const y = piece.y * Math.cos(radians) - piece.x0 * Math.sin(radians);
    group.push({ ...piece, x0, x1: x0 + piece.x1 - piece.x0, y });
  }
  return [...groups.values()];
}

interface Link extends Box {
  readonly href: string;
}

const MAX_LINKS = 2_000;

async function linksOf(page: PDFPageProxy, transform: readonly number[]): Promise<Link[]> {
  const matrix = toMatrix([...transform])!;
  const annotations = (await page.getAnnotations({ intent: 'display' }).catch(() => [])) as {
    subtype?: string;
    url?: string;
    rect?: readonly number[];
  }[];
  return annotations
    .filter(({ subtype, url }) => subtype === 'Link' && /^(?:https?:|mailto:)/i.test(url ?? ''))
    .slice(0, MAX_LINKS)
    .map(({ url, rect = [0, 0, 0, 0] }) => ({
      href: url!,
      ...transformBox(matrix, rect[0]!, rect[1]!, rect[2]!, rect[3]!),
    }));
}

function hrefAt(piece: RawPiece, links: readonly Link[]): string | undefined {
  const x = (piece.x0 + piece.x1) / 2;
  return links.find((box) => containsPoint(box, x, piece.y - 0.3 * piece.size))?.href;
}
