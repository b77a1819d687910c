/** Groups lines into blocks: headings, paragraphs, lists, code, notes. */
import { isUnspaced } from './characters.ts';
import { codeText, isMono } from './code.ts';
import { type Box, union } from './geometry.ts';
import { joinLines, joinRuns, withoutLeader } from './join-runs.ts';
import type { Line, Run, Segment } from './lines.ts';
import { boxOfSegments, type InsetSegment, isInset, type Region, toRegions } from './regions.ts';
import { hasRightToLeftText } from './runs.ts';
import type { Table } from './table.ts';
import type { Tag } from './tags.ts';
import { LONGEST_HEADING, type Typography } from './typography.ts';

export interface Item {
  readonly kind: 'item';
  readonly ordered: boolean;
  /** The number of the item, for the first item of a list. */
  readonly number: number;
  /** Distance of the marker from the left edge of its column, in points. */
  readonly indent: number;
  readonly runs: readonly Run[];
  /** The runs with the marker. */
  readonly marked?: readonly Run[];
  readonly look?: Look | undefined;
}

/** How a block looks on the page, as far as this tells headings from other text. */
export interface Look {
  readonly size: number;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly lines: number;
  /** Distance to the line above, as a multiple of the usual line pitch; infinite at the top of a region. */
  readonly gap: number;
  /** Whether its file says that it is a paragraph or an item. */
  readonly isText: boolean;
}

/** Where a block is on the page where it begins; missing for rotated text. */
interface Placed {
  readonly box?: Box | undefined;
}

export type Block = Placed &
  /** `look` is missing if the file itself says that it is a heading. */
  (
    | {
        readonly kind: 'heading';
        readonly level: number;
        readonly runs: readonly Run[];
        readonly look?: Look | undefined;
      }
    | { readonly kind: 'paragraph' | 'quote'; readonly runs: readonly Run[]; readonly look?: Look | undefined }
    | { readonly kind: 'code'; readonly text: string }
    /** An image with its data URL. */
    | { readonly kind: 'figure'; readonly alt: string; readonly source: string; readonly look?: undefined }
    | Item
    | { readonly kind: 'table'; readonly table: Table }
  );

export function toBlocks(regions: readonly Region[], typography: Typography): Block[] {
  const blocks: Block[] = [];
  for (const region of regions) {
    const found = blocksOf(region, typography);
    const last = blocks[blocks.length - 1];
    const [first] = found;
    if (last && first && 'runs' in first && isContinuedBy(last, first)) {
      const runs = joinRuns(last.runs, first.runs, typography.hyphens);
      blocks[blocks.length - 1] = { ...last, runs, look: undefined, box: unionOf(last.box, first.box) };
      found.shift();
    }
    blocks.push(...found);
  }
  return blocks;
}

const unionOf = (one: Box | undefined, two: Box | undefined): Box | undefined =>
  one && two ? union(one, two) : (one ?? two);

type Running = Extract<Block, { kind: 'paragraph' | 'quote' | 'item' }>;

const isRunning = (block: Block): block is Running => block.kind === 'paragraph' || block.kind === 'item';

const textOf = (runs: readonly Run[]): string => runs.map(({ text }) => text).join('');

/** Minimum number of letters of a paragraph at the end of a page that can continue on the next page. */
const MIN_CUT_OFF_LENGTH = 30;

/** Whether a paragraph that was cut off at the end of a column or page continues in this one. */
export function isContinuedBy(last: Block, first: Block): last is Running {
  if (!isRunning(last) || first.kind !== 'paragraph') return false;
  const end = textOf(last.runs).trimEnd();
  return end.length > MIN_CUT_OFF_LENGTH && /[\p{L}\p{N},;\u2010-]$/u.test(end) && /^\p{Ll}/u.test(textOf(first.runs));
}

function blocksOf(region: Region, typography: Typography): Block[] {
  const blocks: Block[] = [];
  const edges = rightEdges(region, typography);
  let group: Line[] = [];
  const close = () => {
    if (group.length > 0) {
      const made = blockOf(group, typography, region.x0, gap);
      const isByLine = made.length === group.length;
      for (const [at, block] of made.entries()) {
        blocks.push({ ...block, box: boxOfSegments(isByLine ? [group[at]!] : group) });
      }
    }
    group = [];
  };
  let gap = Number.POSITIVE_INFINITY;
  region.items.forEach((item, at) => {
    if (isInset(item)) {
      close();
      blocks.push(...insetBlocks(item, typography));
      return;
    }
    const line = item as Line;
    const before = group[group.length - 1];
    if (before && startsBlock(line, before, group, edges[at - 1]!, typography)) close();
    if (group.length === 0) gap = gapAbove(line, region.items[at - 1], typography);
    group.push(line);
  });
  close();
  return blocks;
}

function gapAbove(line: Line, above: Segment | undefined, { pitch }: Typography): number {
  if (!above || isInset(above)) return Number.POSITIVE_INFINITY;
  return (line.baseline - above.baseline) / (pitch * Math.min(line.size, above.size));
}

function insetBlocks(segment: InsetSegment, typography: Typography): Block[] {
  const { inset } = segment;
  const box = boxOfSegments([segment]);
  if ('table' in inset) return [{ kind: 'table', table: inset.table, box }];
  if ('alt' in inset)
    return [{ kind: 'paragraph', runs: [{ text: inset.alt, bold: false, italic: false, mono: false }], box }];
  return toBlocks(toRegions(inset.segments, typography), typography);
}

// The limits below are empirical; quality.test.ts checks their effect. "Sizes" are multiples of the font size of the
// text in question, "letters" are counts of characters.

/** Number of lines examined on each side of a line to find its right edge. */
const NEIGHBORS = 10;
/** Minimum number of lines needed to estimate the right edge of a paragraph. */
const MIN_EDGE_LINES = 3;
/** Lines whose left edges differ by less than this, in multiples of the font size, can share a right edge. */
const SAME_COLUMN = 4;
/** Texts whose sizes differ by less than this, in multiples of the font size, count as having the same size. */
const SAME_SIZE = 0.08;
/**
 * For centered lines, in points: left edges are further apart than the first value, and centers are closer than half
 * the second.
 */
const CENTRED_MIN_SHIFT = 3;
const CENTRED_TOLERANCE = 4;
/** A distance between baselines above this, in multiples of the usual line pitch, starts a new block. */
const CLOSE_PITCH = 1.22;
/**
 * Maximum distances, in multiples of the usual line pitch: between monospaced text and other text, and between lines of
 * code, which may be separated by empty lines.
 */
const CODE_TO_TEXT_PITCH = 1.15;
const CODE_PITCH = 3.2;
/** The largest distance between the baselines of a wrapped heading, in multiples of the font size. */
const HEADING_PITCH = 1.75;
/**
 * A continuation line with less indent than this, in multiples of the font size, is not aligned with the text of its
 * list item.
 */
const ITEM_TEXT_INDENT = 0.3;
/** The minimum hanging indent of an item, in multiples of the font size. */
const HANGING_INDENT = 0.5;
/** The range of first-line indents that mark a new paragraph, in multiples of the font size. */
const MIN_FIRST_INDENT = 0.9;
const MAX_FIRST_INDENT = 4;
/** A line that ends within this distance of the right edge, in multiples of the font size, is full. */
const FULL_LINE = 4;
/** Lines whose left edges differ by less than this, in multiples of the font size, are aligned. */
const ALIGNED = 0.5;
/** Less free space than this, in multiples of the font size, never ends a paragraph. */
const MIN_FREE_WIDTH = 2;
/** The limit for free space in scripts without spaces, where every letter can end a line. */
const MIN_UNSPACED_FREE_WIDTH = 2.5;
/** Number of letters added to the first word of the next line when checking whether it would have fitted. */
const WORD_MARGIN = 1.5;
/** Additional free space that justification may leave, in multiples of the font size. */
const FREE_WIDTH_MARGIN = 0.5;
/** If a line leaves more than this share of its width free, the paragraph ends, even before a lower-case word. */
const LARGE_FREE_WIDTH = 0.25;
/** If all lines end before this share of the column width, they are short on purpose. */
const NARROW = 0.5;

/** The right edge of the lines around each line; infinite if there are too few lines to determine it. */
function rightEdges({ items, x0, x1 }: Region, typography: Typography): number[] {
  const edges = items.map((item, at) => {
    const neighbors = items.slice(Math.max(0, at - NEIGHBORS), at + NEIGHBORS + 1);
    return edgeOf(
      neighbors.filter((other) => Math.abs(other.x0 - item.x0) < SAME_COLUMN * item.size && isAlike(other, item)),
    );
  });
  // If too few lines are nearby, the rest of the column is used.
  for (const [at, edge] of edges.entries()) {
    if (edge === Number.POSITIVE_INFINITY && items.length >= MIN_EDGE_LINES) edges[at] = x1;
  }
  // Lines close to each other give a better estimate.
  for (let from = 0; from < items.length; ) {
    let to = from + 1;
    while (to < items.length && isAlike(items[to]!, items[from]!) && isClose(items[to]!, items[to - 1]!, typography))
      to += 1;
    const edge = edgeOf(items.slice(from, to));
    if (to - from >= MIN_EDGE_LINES && edge - x0 > NARROW * (x1 - x0)) edges.fill(edge, from, to);
    from = to;
  }
  return edges;
}

const isCentered = (one: Segment, two: Segment): boolean =>
  Math.abs(one.x0 - two.x0) > CENTRED_MIN_SHIFT && Math.abs(one.x0 + one.x1 - two.x0 - two.x1) < CENTRED_TOLERANCE;

const edgeOf = (lines: readonly Segment[]): number =>
  lines.length < MIN_EDGE_LINES ? Number.POSITIVE_INFINITY : Math.max(...lines.map(({ x1 }) => x1));

const isAlike = (one: Segment, two: Segment): boolean =>
  !isInset(one) && !isInset(two) && Math.abs(one.size - two.size) < SAME_SIZE * two.size;

const isClose = (line: Segment, before: Segment, typography: Typography): boolean =>
  line.baseline - before.baseline < CLOSE_PITCH * typography.pitch * line.size;

function startsBlock(line: Line, before: Line, group: readonly Line[], edge: number, typography: Typography): boolean {
  const tag = tagOf(line);
  const tagBefore = tagOf(before);
  if (tag && tagBefore) return tag.block !== tagBefore.block || (tag.level === 0 && leavesRoom(line, before, edge));
  const size = Math.max(line.size, before.size);
  const pitch = line.baseline - before.baseline;
  const mono = isMono(line) && !typography.mostlyMono;
  if (mono !== (isMono(before) && !typography.mostlyMono))
    return mono || pitch > CODE_TO_TEXT_PITCH * typography.pitch * size;
  if (mono) return pitch > CODE_PITCH * typography.pitch * size || pitch < 0;
  if (Math.abs(line.size - before.size) > SAME_SIZE * size) return true;
  if (LEADER.test(before.text)) return true;
  const level = typography.levelOf(line.size);
  if (level > 0) return pitch > HEADING_PITCH * size || NUMBERED.test(line.text);
  if (!isClose(line, before, typography) || pitch < 0) return true;
  if (markerOf(line) && (markerOf(group[0]!) || !isMidSentence(line, before, edge))) return true;
  if (
    isBold(line) &&
    group.every(isBold) &&
    NUMBERED.test(group[0]!.text) &&
    line.x0 > group[0]!.x0 + HANGING_INDENT * size
  )
    return false;
  if (isItalic(before) && !isItalic(line) && group.length <= MAX_BOLD_LINES && before.x1 < edge - FULL_LINE * size)
    return true;
  if (isBold(line) !== isBold(before) && (isBold(line) || isBoldHeading(group, typography))) return true;
  const first = group[0]!;
  // Entries that each begin with a bold word.
  if (line.runs[0]?.bold && first.runs[0]?.bold && !before.runs[before.runs.length - 1]?.bold) return true;
  const inItem = markerOf(first) !== null;
  if (hasRightToLeftText(line) || hasRightToLeftText(before)) return false;
  // Continuation lines of an item are usually aligned with its text.
  if (inItem && line.x0 < first.x0 + ITEM_TEXT_INDENT * size) {
    const hangs = group.length > 1 && group[1]!.x0 > first.x0 + HANGING_INDENT * size;
    return hangs || leavesRoom(line, before, edge);
  }
  const indent = line.x0 - before.x0;
  const isFirstIndent = indent > MIN_FIRST_INDENT * size && indent < MAX_FIRST_INDENT * size;
  if (!inItem && isFirstIndent && (before.x1 > edge - FULL_LINE * size || ENDS.test(before.text))) return true;
  return leavesRoom(line, before, edge);
}

/** The tag of a line in the file's structure, if one element contains the whole line. */
function tagOf({ pieces }: Line): Tag | null {
  const tag = pieces.find((piece) => piece.shift === undefined)?.tag ?? null;
  return tag && pieces.every((piece) => piece.tag === undefined || piece.tag.block === tag.block) ? tag : null;
}

/** `12.` at the start of a line may also be the end of a sentence from the previous line. */
const isMidSentence = (line: Line, before: Line, edge: number): boolean =>
  Math.abs(line.x0 - before.x0) < ALIGNED * line.size && !ENDS.test(before.text) && !leavesRoom(line, before, edge);

const NUMBERED = /^(?:\d+(?:\.\d+)*\.?|[A-Z]\.|Chapter|Section|Part|Appendix)\s/;
const ENDS = /[.!?:;…。！？：”"')\]]$/;
const LEADER = /(?:\.\s?){4,}\s*\S{1,6}$/;

/** Whether the first word would have fitted on the previous line, which means that the line break is deliberate. */
function leavesRoom(line: Line, before: Line, edge: number): boolean {
  if (edge === Number.POSITIVE_INFINITY || /[\p{L}\p{N}][-\u2010\u00ad]$/u.test(before.text)) return false;
  if (isCentered(line, before)) return false;
  const freeWidth = edge - before.x1;
  if (freeWidth < MIN_FREE_WIDTH * line.size) return false;
  if (isUnspaced(line.text.slice(0, 1))) return freeWidth > MIN_UNSPACED_FREE_WIDTH * line.size;
  const letters = /^\S+/.exec(line.text)?.[0].length ?? 0;
  const width = ((line.x1 - line.x0) / Math.max(1, line.text.length)) * (letters + WORD_MARGIN);
  if (freeWidth < width + FREE_WIDTH_MARGIN * line.size) return false;
  return ENDS.test(before.text) || freeWidth > LARGE_FREE_WIDTH * (edge - before.x0) || !/^\p{Ll}/u.test(line.text);
}

const isBold = (line: Line): boolean => line.runs.every(({ bold, text }) => bold || text.trim() === '');

const isItalic = (line: Line): boolean => line.runs.every(({ italic, text }) => italic || text.trim() === '');

/** Maximum length, in letters, and number of lines of a heading that differs from body text only by being bold. */
const LONGEST_BOLD = 110;
const LONGEST_NUMBERED = 200;
const MAX_BOLD_LINES = 2;

function isBoldHeading(lines: readonly Line[], typography: Typography): boolean {
  if (typography.mostlyBold || lines.length > MAX_BOLD_LINES || !lines.every(isBold)) return false;
  const text = lines
    .map((line) => line.text)
    .join(' ')
    .trim();
  return (
    text.length <= (NUMBERED.test(text) ? LONGEST_NUMBERED : LONGEST_BOLD) &&
    /\p{L}/u.test(text) &&
    !/[.,;:…]$/.test(text)
  );
}

/** Text smaller than this, in multiples of the body text size, is a note. */
const SMALL = 0.9;
/** A single monospaced line must have more letters than this to count as code. */
const SHORTEST_CODE = 3;
/** Maximum number of lines of a heading, however large its text. */
const MAX_HEADING_LINES = 4;

function blockOf(lines: readonly Line[], typography: Typography, left: number, gap: number): Block[] {
  const [first] = lines;
  const tag = tagOf(first!);
  if (tag && tag.level > 0) return [{ kind: 'heading', level: tag.level, runs: joinLines(lines, typography.hyphens) }];
  if (isMono(first!) && !typography.mostlyMono && lines.every(isMono)) {
    if (lines.length > 1 || first!.text.length > SHORTEST_CODE)
      return [{ kind: 'code', text: codeText(lines, typography) }];
  }
  if (LEADER.test(first!.text)) {
    return lines.map((line) => ({
      kind: 'item',
      ordered: false,
      number: 1,
      indent: line.x0 - left,
      runs: withoutLeader(line),
    }));
  }
  const isText = tag?.isText === true && typography.hasHeadingTags;
  const look: Look = {
    size: first!.size,
    bold: lines.every(isBold),
    italic: lines.every(isItalic),
    lines: lines.length,
    gap,
    isText,
  };
  const level = isText ? 0 : typography.levelOf(first!.size);
  const length = lines.reduce((sum, line) => sum + line.text.length, 0);
  if (
    level > 0 &&
    lines.length <= MAX_HEADING_LINES &&
    length <= LONGEST_HEADING &&
    /[\p{L}\p{N}]/u.test(first!.text)
  ) {
    return [{ kind: 'heading', level, runs: joinLines(lines, typography.hyphens), look }];
  }
  const marker = markerOf(first!);
  if (marker) {
    const [, ...rest] = lines;
    const runs = joinLines([withoutMarker(first!, marker.length), ...rest], typography.hyphens);
    return [
      { kind: 'item', ...marker, indent: first!.x0 - left, runs, marked: joinLines(lines, typography.hyphens), look },
    ];
  }
  if (tag?.isQuote) return [{ kind: 'quote', runs: joinLines(lines, typography.hyphens) }];
  if (!isText && isBoldHeading(lines, typography))
    return [{ kind: 'heading', level: typography.boldLevel, runs: joinLines(lines, typography.hyphens), look }];
  const small = first!.size < SMALL * typography.bodySize;
  return [{ kind: small && !tag?.isText ? 'quote' : 'paragraph', runs: joinLines(lines, typography.hyphens), look }];
}

interface Marker {
  readonly ordered: boolean;
  readonly number: number;
  /** Number of letters in the marker. */
  readonly length: number;
}

const BULLET = /^(?:[•◦▪▫●○■□‣⁃➢✓❑❖∙·*–—-])\s+(?=\S)/;
const ORDERED = /^\(?(?:(\d{1,3})|([a-z])|([ivx]{1,5}))[.)]\s+(?=\S)/;

/** The character code before `a`, so that `a` counts as 1. */
const BEFORE_A = 0x60;

export function markerOf(line: Line): Marker | null {
  const bullet = BULLET.exec(line.text);
  if (bullet) return { ordered: false, number: 1, length: bullet[0].length };
  const ordered = ORDERED.exec(line.text);
  if (!ordered) return null;
  const number = ordered[1] ? Number(ordered[1]) : ordered[2] ? ordered[2].charCodeAt(0) - BEFORE_A : 1;
  return { ordered: true, number, length: ordered[0].length };
}

function withoutMarker(line: Line, length: number): Line {
  const runs: Run[] = [];
  let left = length;
  for (const run of line.runs) {
    const cut = Math.min(left, run.text.length);
    left -= cut;
    if (cut < run.text.length) runs.push(cut === 0 ? run : { ...run, text: run.text.slice(cut) });
  }
  return { ...line, runs, text: line.text.slice(length) };
}
