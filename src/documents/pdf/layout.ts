/** Lays out pages: pieces of text become regions and, once all pages are read, blocks and HTML. */
import type { DocumentPage, ParseOptions } from '../document.ts';
import { type Block, isContinuedBy, toBlocks } from './blocks.ts';
import { withDrawnBullets } from './bullets.ts';
import { isMono } from './code.ts';
import { joinTables } from './continued-tables.ts';
import type { DrawnFigure } from './draw-figures.ts';
import type { Piece } from './drawn-content.ts';
import { type FigureBox, figuresOn, withoutRepeated } from './figures.ts';
import { withoutFurniture } from './furniture.ts';
import { settleHeadings } from './headings.ts';
import { toHtml } from './html.ts';
import { segmentsWithInsets } from './insets.ts';
import { joinRuns } from './join-runs.ts';
import { toSegments } from './lines.ts';
import { withNotes } from './notes.ts';
import type { PageText } from './page.ts';
import { placeFigures } from './place-figures.ts';
import { placer } from './places.ts';
import { isInset, type Region, regionOf, toRegions } from './regions.ts';
import { bodySizeOf, type Typography, typographyOf } from './typography.ts';
import { withRelativeBold } from './weights.ts';

interface LaidOut {
  readonly number: number;
  readonly size: { readonly width: number; readonly height: number };
  /** The rotation, in degrees, of the coordinates of its regions. */
  readonly turn: number;
  readonly regions: readonly Region[];
  readonly turned: readonly Region[];
  readonly scanned: boolean;
  readonly figures: readonly FigureBox[];
}

export interface Layout {
  /** Lays out consecutive pages. With `only`, keeps just that page. */
  add(texts: readonly PageText[], only?: number | null): void;
  /** The figures of the pages that were added. */
  figures(): FigureBox[];
  /** `drawn`: the figures to include. */
  finish(drawn?: readonly DrawnFigure[]): DocumentPage[];
  /** Whether the output limit was reached. */
  isCutOff(): boolean;
}

/** Maximum size of the resulting HTML. */
const MAX_OUTPUT = 32 * 1024 * 1024;

export interface LayoutOptions extends Pick<ParseOptions, 'boxes'> {
  /** Whether headers, footers and page numbers are kept. */
  readonly keepsRunningText: boolean;
}

export function createLayout({ keepsRunningText, boxes = false }: LayoutOptions): Layout {
  const pages: LaidOut[] = [];
  let cutOff = false;
  return {
    add(added, only = null) {
      const texts = withRelativeBold(added);
      const bodySize = bodySizeOf(texts.flatMap(({ pieces }) => pieces));
      const kept = keepsRunningText ? texts : withoutFurniture(texts, bodySize);
      kept.forEach(({ number, pieces }, at) => {
        if (only === null || number === only) pages.push(laidOut(texts[at]!, pieces, bodySize));
      });
    },
    figures: () => withoutRepeated(pages.flatMap(({ figures }) => figures)),
    finish(drawn = []) {
      const typography = typographyOf(pages.flatMap(({ regions }) => regions));
      const blocks = pages.map((page) => pageBlocks(page, typography));
      joinPages(blocks, typography);
      joinTables(blocks);
      settleHeadings(blocks, typography);
      for (const [at, { number }] of pages.entries()) {
        const own = drawn.filter(({ page }) => page === number);
        if (own.length > 0) placeFigures(blocks[at]!, own);
      }
      const out: DocumentPage[] = [];
      let length = 0;
      for (const [at, { number, scanned, size }] of pages.entries()) {
        const html = toHtml(withNotes(blocks[at]!), { number, placeOf: boxes ? placer(pages[at]!) : noPlace });
        length += html.length;
        if (length > MAX_OUTPUT) {
          cutOff = true;
          break;
        }
        out.push({ number, html, scanned, ...size });
      }
      return out;
    },
    isCutOff: () => cutOff,
  };
}

const noPlace = (): string => '';

function laidOut(page: PageText, pieces: readonly Piece[], bodySize: number): LaidOut {
  const { number, content, turned, scanned } = page;
  const segments = segmentsWithInsets(withDrawnBullets(pieces, content.dots), page, bodySize);
  return {
    number,
    size: page.displayed,
    turn: page.turn,
    regions: toRegions(segments, { bodySize }).map(withoutSpentPieces),
    turned: turned.map((group) => regionOf(toSegments(group))),
    scanned,
    figures: figuresOn(page),
  };
}

/**
 * Drops pieces that are no longer needed. Only code and tagged lines need their pieces; keeping the others would double
 * the memory.
 */
const withoutSpentPieces = (region: Region): Region => ({
  ...region,
  items: region.items.map((item) =>
    isInset(item) || isMono(item) || item.pieces.some(({ tag }) => tag) ? item : { ...item, pieces: [] },
  ),
});

/** Rotated text comes after the rest of the page. */
const pageBlocks = ({ regions, turned }: LaidOut, typography: Typography): Block[] => [
  ...toBlocks(regions, typography),
  ...turned.flatMap((region) =>
    toBlocks([region], typography).map(
      (block): Block => ('runs' in block ? { kind: 'quote', runs: block.runs } : { ...block, box: undefined }),
    ),
  ),
];

/** A paragraph that continues on the next page moves completely to the page where it begins. */
function joinPages(pages: readonly Block[][], { hyphens }: Typography): void {
  for (let at = pages.length - 1; at > 0; at--) {
    const before = pages[at - 1]!;
    const [first] = pages[at]!;
    const lastAt = before.findLastIndex(({ kind }) => kind !== 'quote');
    const last = before[lastAt];
    if (!last || !first || !('runs' in first) || !isContinuedBy(last, first)) continue;
    before[lastAt] = { ...last, runs: joinRuns(last.runs, first.runs, hyphens), look: undefined };
    pages[at]!.shift();
  }
}
