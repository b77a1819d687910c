/** Groups the lines of a column into headings, paragraphs and lists. */
import type { OcrBlock, OcrListItem, OcrTable } from './layout.ts';
import { joinTexts, type Segment, textOf } from './segments.ts';

/** Minimum size of headings, as a multiple of the text size, first level first. */
const HEADINGS: readonly (readonly [times: number, level: number])[] = [
  [1.75, 1],
  [1.4, 2],
  [1.18, 3],
];
const MAX_HEADING_WORDS = 25;
/**
 * A larger distance from the previous line starts a new paragraph: in multiples of the column's line pitch, and in
 * multiples of the letter size.
 */
const MAX_PITCH = 1.4;
const MAX_DISTANCE = 1.2;
/** In multiples of the letter size: continuation lines of an item start this far to the right of its marker. */
const ITEM_INDENT = 0.5;
/** In multiples of the letter size: a line is indented from the first value on, and not indented up to the second. */
const FIRST_INDENT = 0.8;
const NO_INDENT = 0.5;
/** Share of the column width that the last line of a paragraph leaves free. */
const SHORT_LINE = 0.2;

interface Group {
  readonly lines: Segment[];
  readonly table: OcrTable | undefined;
  readonly level: number | undefined;
  readonly mark: Mark | undefined;
}

/** The marker at the start of a list item. */
interface Mark {
  /** The number as written; `undefined` for a bullet. */
  readonly number: string | undefined;
}

/** Metrics of a column: line pitch, and where most of its lines begin and end. */
interface Measure {
  readonly pitch: number;
  readonly left: number;
  readonly right: number;
}

/** The median font size, counted by words. */
export function bodySizeOf(segments: readonly Segment[]): number {
  return quantile(
    segments.flatMap(({ size, words }) => words.map(() => size)),
    0.5,
  );
}

/** `bodySize` is the text size of the page. */
export function paragraphsOf(lines: readonly Segment[], bodySize: number): OcrBlock[] {
  const groups: Group[] = [];
  const written = lines.filter(({ table }) => !table);
  const measure = measureOf(written);
  const marks = marksOf(written, bodySize);
  for (const line of lines) {
    const { table } = line;
    if (table) {
      groups.push({ lines: [], table, level: undefined, mark: undefined });
      continue;
    }
    const group = groups.at(-1)?.table ? undefined : groups.at(-1);
    const mark = marks.get(line);
    const level = mark ? undefined : headingLevel(line, bodySize);
    if (group && !mark && group.level === level && continues(group, line, measure)) group.lines.push(line);
    else groups.push({ lines: [line], table, level, mark });
  }
  return blocksOf(groups);
}

function measureOf(lines: readonly Segment[]): Measure {
  const pitches = lines.slice(1).map(({ box }, at) => box.top - lines[at]!.box.top);
  return {
    pitch: quantile(
      pitches.filter((pitch) => pitch > 0),
      0.4,
    ),
    left: quantile(
      lines.map(({ box }) => box.left),
      0.25,
    ),
    right: quantile(
      lines.map(({ box }) => box.right),
      0.9,
    ),
  };
}

function headingLevel({ size, words }: Segment, bodySize: number): number | undefined {
  if (words.length > MAX_HEADING_WORDS || !words.some(({ text }) => /\p{L}{2}/u.test(text))) return undefined;
  return HEADINGS.find(([times]) => size >= times * bodySize)?.[1];
}

function continues({ lines, level, mark }: Group, line: Segment, { pitch, left, right }: Measure): boolean {
  const before = lines.at(-1)!;
  const { size } = before;
  const space = line.box.top - before.box.bottom;
  if (line.size > 1.25 * size || line.size < 0.8 * size || space > 1.2 * size) return false;
  if (level !== undefined) return true;
  if (line.box.top - before.box.top > Math.max(MAX_PITCH * pitch, MAX_DISTANCE * size)) return false;
  if (mark) return line.box.left > lines[0]!.box.left + ITEM_INDENT * size;
  const isIndented = line.box.left > left + FIRST_INDENT * size && before.box.left < left + NO_INDENT * size;
  const isEnd = before.box.right < right - SHORT_LINE * (right - left) && /[.!?:;)"”’»。！？：]$/.test(textOf(before));
  return !isIndented && !isEnd;
}

const BULLET = /^[•●○◦▪■□▶►‣⁃·∙]$/;
/** Characters that are bullets only if several lines begin with them. */
const DASH = /^[-–—*+>»]$/;
/** Characters that bullets are often misread as: letters, which can also be words, and symbols. */
const MISREAD = /^[eo.]$/;
const MISREAD_SIGN = /^[°©®¢«@]{1,2}$/;
const NUMBER = /^(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])$/;

/** Selects the list items among the lines that look like list items. */
function marksOf(lines: readonly Segment[], bodySize: number): Map<Segment, Mark> {
  const marks = new Map<Segment, Mark>();
  const first = (line: Segment) => line.words[0]!.text;
  const beginning = (...signs: readonly RegExp[]) =>
    lines.filter((line) => line.words.length > 1 && signs.some((sign) => sign.test(first(line))));
  const bulleted = beginning(BULLET);
  // Headings may be numbered too.
  const numbered = lines.filter(
    (line) => line.words.length > 1 && NUMBER.test(first(line)) && !headingLevel(line, bodySize),
  );
  const together = [
    ...levelled(beginning(DASH, MISREAD, MISREAD_SIGN)),
    ...levelled(beginning(BULLET, DASH, MISREAD_SIGN)),
  ];
  for (const line of [...bulleted, ...together]) marks.set(line, { number: undefined });
  for (const line of levelled(numbered)) marks.set(line, { number: first(line) });
  return marks;
}

/** Lines that start at the same left edge as another line. */
function levelled(lines: readonly Segment[]): Segment[] {
  const sorted = [...lines].sort((a, b) => a.box.left - b.box.left);
  return sorted.filter((line, at) =>
    [sorted[at - 1], sorted[at + 1]].some(
      (other) => other && Math.abs(other.box.left - line.box.left) < 0.6 * line.size,
    ),
  );
}

function blocksOf(groups: readonly Group[]): OcrBlock[] {
  const blocks: OcrBlock[] = [];
  let items: { item: OcrListItem; left: number; size: number; lines: readonly Segment[] }[] = [];
  const endList = () => {
    const read = wordsOf(items.flatMap(({ lines }) => lines));
    if (items.length > 0) blocks.push({ kind: 'list', items: items.map(({ item }) => item), lines: read });
    items = [];
  };
  for (const { lines, table, level, mark } of groups) {
    if (table) {
      endList();
      blocks.push(table);
      continue;
    }
    const text = joinTexts(lines.map(textOf));
    if (mark) {
      const { box, size, words } = lines[0]!;
      const depth = depthAt(items, box.left);
      const eldest = items.find(({ item }) => item.depth === depth)?.item;
      if (depth === 0 && eldest && (eldest.mark === undefined) !== (mark.number === undefined)) endList();
      items.push({
        item: { depth, mark: mark.number, text: text.slice(words[0]!.text.length).trim() },
        left: box.left,
        size,
        lines,
      });
      continue;
    }
    endList();
    const read = wordsOf(lines);
    blocks.push(level ? { kind: 'heading', level, text, lines: read } : { kind: 'paragraph', text, lines: read });
  }
  endList();
  return blocks;
}

const wordsOf = (lines: readonly Segment[]) => lines.map(({ words }) => words);

/** Depth of the nearest item above with the same left edge, or one more than that of an item further left. */
function depthAt(items: readonly { item: OcrListItem; left: number; size: number }[], left: number): number {
  for (const above of items.slice(-50).reverse()) {
    if (Math.abs(above.left - left) < 0.6 * above.size) return above.item.depth;
    if (above.left < left) return above.item.depth + 1;
  }
  return 0;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * part)] ?? 0;
}
