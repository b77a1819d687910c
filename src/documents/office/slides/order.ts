/** The order in which the things on a slide are read. */

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** In the units of the boxes on it; undefined when the file does not tell. */
export type SlideSize = Pick<Box, 'width' | 'height'> | undefined;

export const isOutside = ({ left, top, width, height }: Box, size: SlideSize): boolean =>
  size !== undefined && (left >= size.width || top >= size.height || left + width <= 0 || top + height <= 0);

export interface Placed<T> {
  readonly item: T;
  /** Undefined for what has no place of its own: it stays behind what comes before it in the file. */
  readonly box: Box | undefined;
}

/** More things than this are no slide that somebody reads: they stay as they are. */
const MAX_ITEMS = 200;
const MAX_DEPTH = 12;

/**
 * Things are cut apart along empty bands, across and down in turn. Which goes first decides between rows and columns:
 * the way that is nearer to the order of the file is taken, which is the one in which the author made them.
 */
export function readingOrder<T>(placed: readonly Placed<T>[]): T[] {
  const groups = anchored(placed);
  if (groups.length < 2 || groups.length > MAX_ITEMS) return placed.map(({ item }) => item);
  const orders = (['across', 'down'] as const).map((first) => cut(groups, first, MAX_DEPTH));
  const best = orders.reduce((one, other) => (isNearer(other, one) ? other : one));
  return best.flatMap(({ items }) => items);
}

interface Group<T> {
  readonly at: number;
  readonly box: Box;
  readonly items: T[];
}

/** Each thing that has a place, together with those behind it that have none. */
function anchored<T>(placed: readonly Placed<T>[]): Group<T>[] {
  const groups: Group<T>[] = [];
  const before: T[] = [];
  for (const [at, { item, box }] of placed.entries()) {
    if (box) groups.push({ at, box, items: [item] });
    else (groups.at(-1)?.items ?? before).push(item);
  }
  groups[0]?.items.unshift(...before);
  return groups;
}

type Direction = 'across' | 'down';

/** `across`: bands that lie one under another come first; `down`: columns beside one another. */
function cut<T>(groups: readonly Group<T>[], first: Direction, depth: number): Group<T>[] {
  if (groups.length < 2 || depth === 0) return [...groups];
  const bands = bandsOf(groups, 'across');
  const columns = bandsOf(groups, 'down');
  const further = (parts: readonly Group<T>[][]) => parts.flatMap((part) => cut(part, first, depth - 1));
  if (columns.length > 1 && (first === 'down' || bands.length < 2)) return further(columns);
  if (bands.length > 1) return further(first === 'down' ? withCommonColumns(bands) : bands);
  return [...groups].sort((one, two) => one.at - two.at);
}

/** Bands under one another that an empty band cuts into columns all together, such as heads and what they are over. */
function withCommonColumns<T>(bands: readonly Group<T>[][]): Group<T>[][] {
  const parts: Group<T>[][] = [];
  for (const band of bands) {
    const together = [...(parts.at(-1) ?? []), ...band];
    if (parts.length > 0 && bandsOf(together, 'down').length > 1) parts[parts.length - 1] = together;
    else parts.push(band);
  }
  return parts;
}

/** Boxes may reach a little into one another, as those of text do. */
const OVERLAP = 0.15;

function bandsOf<T>(groups: readonly Group<T>[], direction: Direction): Group<T>[][] {
  const from = ({ box }: Group<T>) => (direction === 'across' ? box.top : box.left);
  const size = ({ box }: Group<T>) => (direction === 'across' ? box.height : box.width);
  const sorted = [...groups].sort((one, two) => from(one) - from(two) || one.at - two.at);
  const bands: Group<T>[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  let smallest = 0;
  for (const group of sorted) {
    const slack = OVERLAP * Math.min(smallest, size(group));
    if (from(group) >= end - slack) {
      bands.push([group]);
      end = from(group) + size(group);
      smallest = size(group);
    } else {
      bands.at(-1)!.push(group);
      end = Math.max(end, from(group) + size(group));
      smallest = Math.min(smallest, size(group));
    }
  }
  return bands;
}

/** What the author made one after another mostly belongs together; among equals fewer things change places. */
function isNearer<T>(one: readonly Group<T>[], other: readonly Group<T>[]): boolean {
  const [kept, keptByOther] = [neighbours(one), neighbours(other)];
  return kept === keptByOther ? inversions(one) < inversions(other) : kept > keptByOther;
}

/** How many things still stand right behind the one that they follow in the file. */
function neighbours<T>(groups: readonly Group<T>[]): number {
  const rank = new Map(
    [...groups.map(({ at }) => at)].sort((one, other) => one - other).map((at, place) => [at, place]),
  );
  return groups.filter(({ at }, place) => place > 0 && rank.get(at) === rank.get(groups[place - 1]!.at)! + 1).length;
}

function inversions<T>(groups: readonly Group<T>[]): number {
  let count = 0;
  for (const [at, one] of groups.entries()) for (const other of groups.slice(at + 1)) if (other.at < one.at) count++;
  return count;
}
