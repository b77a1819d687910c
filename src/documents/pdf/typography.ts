/** Derives the meaning of sizes and weights in a document: body text, heading levels, code. */
import type { Piece } from './drawn-content.ts';
import { type Hyphens, hyphensOf } from './hyphens.ts';
import type { Line } from './lines.ts';
import { isInset, type Region } from './regions.ts';

export interface Typography {
  readonly bodySize: number;
  /** Distance between baselines of body text, as a multiple of its size. */
  readonly pitch: number;
  /** Whether most of the text has this style, in which case the style has no meaning. */
  readonly mostlyBold: boolean;
  readonly mostlyMono: boolean;
  /** Whether the file has tags for headings. If not, its tags for paragraphs say nothing about headings. */
  readonly hasHeadingTags: boolean;
  /** The heading level for this size: 1 to 5, or 0 if text of this size is not a heading. */
  levelOf(size: number): number;
  readonly hyphens: Hyphens;
  /** The level for bold headings in body size: one below the levels with their own size. */
  readonly boldLevel: number;
}

/** The most frequent font size, counted by letters. */
export function bodySizeOf(pieces: Iterable<Pick<Piece, 'size' | 'text'>>): number {
  const letters = new Map<number, number>();
  for (const { size, text } of pieces) count(letters, Math.round(size * 4) / 4, text.length);
  return mostOf(letters) ?? 10;
}

const linesOf = (regions: readonly Region[]): Line[] =>
  regions.flatMap(({ items }) => items.filter((item): item is Line => !isInset(item)));

/** Text of at least this size, in multiples of the body text size, is a heading. */
const HEADING_SIZE = 1.13;
/** Maximum number of letters of a heading, however large its text. */
export const LONGEST_HEADING = 260;
const MAX_SIZES = 5;
const SAME_SIZE = 0.04;
/** If the largest size is below this ratio to body text and occurs often, it marks sections and not the title. */
const TITLE_SIZE = 1.35;
const MANY = 4;

export function typographyOf(regions: readonly Region[]): Typography {
  const lines = linesOf(regions);
  const bodySize = bodySizeOf(lines);
  const pitches = new Map<number, number>();
  const sizes = new Map<number, number>();
  let letters = 0;
  let bold = 0;
  let mono = 0;
  let hasHeadingTags = false;
  for (const { items } of regions) {
    let before: Line | null = null;
    for (const item of items) {
      if (isInset(item)) {
        before = null;
        continue;
      }
      const line = item as Line;
      hasHeadingTags ||= line.pieces.some(({ tag }) => tag !== undefined && tag.level > 0);
      for (const run of line.runs) {
        letters += run.text.length;
        if (run.bold) bold += run.text.length;
        if (run.mono) mono += run.text.length;
      }
      if (line.size >= HEADING_SIZE * bodySize) {
        if (line.text.length < LONGEST_HEADING && /\p{L}/u.test(line.text))
          count(sizes, Math.round(line.size * 4) / 4, 1);
      } else if (before && Math.abs(line.size - before.size) < 0.1 * line.size) {
        count(pitches, Math.round(((line.baseline - before.baseline) / line.size) * 20) / 20, 1);
      }
      before = line;
    }
  }
  const levels = levelsOf(sizes, bodySize);
  return {
    bodySize,
    pitch: pitchOf(pitches),
    mostlyBold: bold > 0.5 * letters,
    mostlyMono: mono > 0.5 * letters,
    hasHeadingTags,
    hyphens: hyphensOf(lines.map(({ text }) => text)),
    levelOf(size) {
      if (size < HEADING_SIZE * bodySize) return 0;
      return (
        levels.find((level) => size >= level.size * (1 - SAME_SIZE))?.level ?? Math.min(levels.length + 1, MAX_SIZES)
      );
    },
    boldLevel: Math.min((levels[levels.length - 1]?.level ?? 1) + 1, 6),
  };
}

/** Usual line pitches, as multiples of the font size. */
const USUAL_PITCH = 1.2;
const WIDEST_USUAL_PITCH = 1.7;
/** With fewer lines, the estimate is not reliable. */
const FEW_LINES = 8;

/** Prefers a usual pitch over the most frequent one: files of single lines have more paragraph gaps than line gaps. */
function pitchOf(pitches: ReadonlyMap<number, number>): number {
  const usual = new Map([...pitches].filter(([pitch]) => pitch > 0.9 && pitch < WIDEST_USUAL_PITCH));
  const all = [...pitches.values()].reduce((sum, uses) => sum + uses, 0);
  const usualUses = [...usual.values()].reduce((sum, uses) => sum + uses, 0);
  const isUnusual = usualUses < 0.2 * all && all >= FEW_LINES;
  const found = mostOf(isUnusual ? pitches : usual) ?? USUAL_PITCH;
  return Math.min(Math.max(found, 0.9), 2.2);
}

function levelsOf(sizes: ReadonlyMap<number, number>, bodySize: number): { size: number; level: number }[] {
  const steps: { size: number; uses: number }[] = [];
  for (const [size, uses] of [...sizes].sort(([one], [two]) => two - one)) {
    const last = steps[steps.length - 1];
    if (last && size >= last.size * (1 - SAME_SIZE)) last.uses += uses;
    else steps.push({ size, uses });
  }
  const [largest] = steps;
  const first = largest && largest.size < TITLE_SIZE * bodySize && largest.uses >= MANY ? 2 : 1;
  return steps.slice(0, MAX_SIZES).map(({ size }, at) => ({ size, level: Math.min(first + at, MAX_SIZES) }));
}

const count = (counts: Map<number, number>, key: number, by: number) => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};

/** The key with the highest count; the smaller key on a tie. */
function mostOf(counts: ReadonlyMap<number, number>): number | null {
  let found: number | null = null;
  let most = 0;
  for (const [key, value] of counts) {
    if (value > most || (value === most && found !== null && key < found)) {
      most = value;
      found = key;
    }
  }
  return found;
}
