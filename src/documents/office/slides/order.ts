/** Determines the reading order of the objects on a slide. */

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** In the units of the boxes; `undefined` if the file does not specify it. */
export type SlideSize = Pick<Box, 'width' | 'height'> | undefined;

export const isOutside = ({ left, top, width, height }: Box, size: SlideSize): boolean =>
  size !== undefined && (left >= size.width || top >= size.height || left + width <= 0 || top + height <= 0);

export interface PlacedObject<T> {
  readonly item: T;
  /** `undefined` for an object without a position: it follows its predecessor in the file. */
  readonly box: Box | undefined;
}

/** Maximum number of objects to reorder; with more, the file order is kept. */
const MAX_ITEMS = 200;
const MAX_DEPTH = 12;

/**
 * Splits the objects along empty bands, alternately horizontal and vertical. The first direction decides between rows
 * and columns: the one whose result is closer to the file order wins, because authors create objects in that order.
 */
export function readingOrder<T>(placed: readonly PlacedObject<T>[]): T[] {
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

/** Groups each object that has a position with the following ones that have none. */
function anchored<T>(placed: readonly PlacedObject<T>[]): Group<T>[] {
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

/** `across` cuts into horizontal bands first, `down` into columns first. */
function cut<T>(groups: readonly Group<T>[], first: Direction, depth: number): Group<T>[] {
  if (groups.length < 2 || depth === 0) return [...groups];
  const bands = bandsOf(groups, 'across');
  const columns = bandsOf(groups, 'down');
  const further = (parts: readonly Group<T>[][]) => parts.flatMap((part) => cut(part, first, depth - 1));
  if (columns.length > 1 && (first === 'down' || bands.length < 2)) return further(columns);
  if (bands.length > 1) return further(first === 'down' ? withCommonColumns(bands) : bands);
  return [...groups].sort((one, two) => one.at - two.at);
}

/** Merges consecutive bands that share a vertical gap, such as headers and the columns below them. */
function withCommonColumns<T>(bands: readonly Group<T>[][]): Group<T>[][] {
  const parts: Group<T>[][] = [];
  for (const band of bands) {
    const together = [...(parts.at(-1) ?? []), ...band];
    if (parts.length > 0 && bandsOf(together, 'down').length > 1) parts[parts.length - 1] = together;
    else parts.push(band);
  }
  return parts;
}

/** Tolerates a small overlap of boxes, which is common for text boxes. */
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

/**
 * Prefers the order in which most objects follow the same object as in the file; on a tie, the one with fewer moves.
 */
function isNearer<T>(one: readonly Group<T>[], other: readonly Group<T>[]): boolean {
  const [kept, keptByOther] = [neighbors(one), neighbors(other)];
  return kept === keptByOther ? inversions(one) < inversions(other) : kept > keptByOther;
}

/** Number of objects that directly follow the same object as in the file. */
function neighbors<T>(groups: readonly Group<T>[]): number {
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
