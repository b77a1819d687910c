/** Gradient boosting of decision trees for a binary classification: logistic loss, histograms, best leaf first. */

export interface Tree {
  /** Feature of a node; -1 at a leaf. */
  feature: number[];
  threshold: number[];
  below: number[];
  above: number[];
  value: number[];
}

export interface BoostOptions {
  trees: number;
  leaves: number;
  maxDepth: number;
  rate: number;
  /** Minimum sum of second derivatives in a leaf; larger is smoother. */
  minLeaf: number;
  l2: number;
  /** Fractions of the features and rows that each tree uses. */
  columnShare: number;
  rowShare: number;
  seed: number;
}

/** The rows of a table. The values of each column are divided into at most 48 bins. */
export interface Bins {
  rows: number;
  columns: number;
  /** Column-major. */
  bin: Uint8Array;
  /** A value below `cuts[column][k]` is in bin k or a lower one. */
  cuts: Float32Array[];
}

const MOST_BINS = 48;
/** Size of a histogram, a power of two. */
const STRIDE = 64;

export function cutIntoBins(values: Float32Array, columns: number): Bins {
  const rows = values.length / columns;
  const bin = new Uint8Array(values.length);
  const cuts: Float32Array[] = [];
  const step = Math.max(1, Math.floor(rows / 20_000));
  for (let column = 0; column < columns; column++) {
    const sample: number[] = [];
    for (let row = 0; row < rows; row += step) sample.push(values[row * columns + column]!);
    sample.sort((a, b) => a - b);
    const chosen = new Set<number>();
    for (let at = 1; at < MOST_BINS; at++) chosen.add(sample[Math.floor((at * sample.length) / MOST_BINS)]!);
    const own = Float32Array.from(chosen);
    cuts.push(own);
    for (let row = 0; row < rows; row++) bin[column * rows + row] = upperBound(own, values[row * columns + column]!);
  }
  return { rows, columns, bin, cuts };
}

function upperBound(sorted: Float32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value >= sorted[middle]!) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Leaf {
  node: number;
  depth: number;
  rows: Int32Array;
  histogram: Float64Array;
  gradient: number;
  hessian: number;
  split: { gain: number; column: number; cut: number };
}

/** Fits trees to the `answers` (0 or 1) of the given rows. Each row has a weight. */
export function boost(
  bins: Bins,
  rows: Int32Array,
  answers: Float32Array,
  weights: Float32Array,
  options: BoostOptions,
): Tree[] {
  const random = lcg(options.seed);
  const odds = new Float32Array(bins.rows);
  const gradient = new Float32Array(bins.rows);
  const hessian = new Float32Array(bins.rows);
  const trees: Tree[] = [];
  while (trees.length < options.trees) {
    for (const row of rows) {
      const p = 1 / (1 + Math.exp(-odds[row]!));
      gradient[row] = weights[row]! * (p - answers[row]!);
      hessian[row] = Math.max(1e-9, weights[row]! * p * (1 - p));
    }
    const columns: number[] = [];
    for (let column = 0; column < bins.columns; column++) if (random() < options.columnShare) columns.push(column);
    const tree = grow(
      bins,
      rows.filter(() => random() < options.rowShare),
      columns,
      gradient,
      hessian,
      options,
    );
    const leaves = place(bins, rows, tree);
    for (let at = 0; at < rows.length; at++) odds[rows[at]!]! += tree.value[leaves[at]!]!;
    trees.push(tree);
  }
  return trees;
}

/**
 * Combines several fits into one whose log odds are the mean of theirs. The trees of the fits alternate, so that each
 * prefix is such a mean too.
 */
export function averaged(fits: readonly Tree[][]): Tree[] {
  const share = ({ value, ...rest }: Tree): Tree => ({ ...rest, value: value.map((odds) => odds / fits.length) });
  return fits[0]!.flatMap((_, at) => fits.map((trees) => share(trees[at]!)));
}

/** Reproducible random numbers in [0, 1). */
function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

function grow(
  bins: Bins,
  rows: Int32Array,
  columns: number[],
  gradient: Float32Array,
  hessian: Float32Array,
  options: BoostOptions,
): Tree {
  const tree: Tree = { feature: [-1], threshold: [0], below: [0], above: [0], value: [0] };
  const leafOf = (node: number, depth: number, own: Int32Array, histogram: Float64Array): Leaf => {
    let g = 0;
    let h = 0;
    for (const row of own) {
      g += gradient[row]!;
      h += hessian[row]!;
    }
    return {
      node,
      depth,
      rows: own,
      histogram,
      gradient: g,
      hessian: h,
      split: bestSplit(bins, columns, histogram, g, h, options),
    };
  };
  const leaves = [leafOf(0, 0, rows, histogramOf(bins, rows, columns, gradient, hessian))];
  while (leaves.length < options.leaves) {
    let best = -1;
    for (let at = 0; at < leaves.length; at++) {
      const leaf = leaves[at]!;
      if (leaf.split.column < 0 || leaf.depth >= options.maxDepth) continue;
      if (best < 0 || leaf.split.gain > leaves[best]!.split.gain) best = at;
    }
    if (best < 0) break;
    const leaf = leaves[best]!;
    const column = columns[leaf.split.column]!;
    const [low, high] = divide(bins, leaf.rows, column, leaf.split.cut);
    // The histogram of the larger side is the histogram of the whole minus that of the smaller side.
    const lowIsSmall = low.length < high.length;
    const small = histogramOf(bins, lowIsSmall ? low : high, columns, gradient, hessian);
    const large = leaf.histogram;
    for (let at = 0; at < large.length; at++) large[at]! -= small[at]!;
    const node = tree.feature.length;
    for (let twice = 0; twice < 2; twice++) {
      tree.feature.push(-1);
      tree.threshold.push(0);
      tree.below.push(0);
      tree.above.push(0);
      tree.value.push(0);
    }
    tree.feature[leaf.node] = column;
    tree.threshold[leaf.node] = bins.cuts[column]![leaf.split.cut]!;
    tree.below[leaf.node] = node;
    tree.above[leaf.node] = node + 1;
    leaves.splice(
      best,
      1,
      leafOf(node, leaf.depth + 1, low, lowIsSmall ? small : large),
      leafOf(node + 1, leaf.depth + 1, high, lowIsSmall ? large : small),
    );
  }
  for (const leaf of leaves) {
    tree.value[leaf.node] = Math.round((-options.rate * leaf.gradient * 1000) / (leaf.hessian + options.l2)) / 1000;
  }
  return tree;
}

/** Splits the rows into those whose value is in bin `cut` or lower, and the rest. */
function divide({ bin, rows: size }: Bins, rows: Int32Array, column: number, cut: number): [Int32Array, Int32Array] {
  const low = new Int32Array(rows.length);
  const high = new Int32Array(rows.length);
  let lows = 0;
  let highs = 0;
  for (const row of rows) {
    if (bin[column * size + row]! <= cut) low[lows++] = row;
    else high[highs++] = row;
  }
  return [low.slice(0, lows), high.slice(0, highs)];
}

function histogramOf(
  bins: Bins,
  rows: Int32Array,
  columns: number[],
  gradient: Float32Array,
  hessian: Float32Array,
): Float64Array {
  const { bin } = bins;
  const size = rows.length;
  const histogram = new Float64Array(columns.length * STRIDE * 2);
  // Contiguous, so that each column is read sequentially.
  const pairs = new Float64Array(size * 2);
  for (let at = 0; at < size; at++) {
    pairs[at * 2] = gradient[rows[at]!]!;
    pairs[at * 2 + 1] = hessian[rows[at]!]!;
  }
  for (let at = 0; at < columns.length; at++) {
    const from = columns[at]! * bins.rows;
    const to = at * STRIDE * 2;
    for (let row = 0; row < size; row++) {
      const cell = to + (bin[from + rows[row]!]! << 1);
      histogram[cell]! += pairs[row * 2]!;
      histogram[cell + 1]! += pairs[row * 2 + 1]!;
    }
  }
  return histogram;
}

function bestSplit(
  bins: Bins,
  columns: number[],
  histogram: Float64Array,
  gradient: number,
  hessian: number,
  { minLeaf, l2 }: BoostOptions,
): Leaf['split'] {
  const best = { gain: 0, column: -1, cut: -1 };
  const unsplit = (gradient * gradient) / (hessian + l2);
  for (let at = 0; at < columns.length; at++) {
    let g = 0;
    let h = 0;
    for (let cut = 0; cut < bins.cuts[columns[at]!]!.length; cut++) {
      g += histogram[at * STRIDE * 2 + cut * 2]!;
      h += histogram[at * STRIDE * 2 + cut * 2 + 1]!;
      if (h < minLeaf || hessian - h < minLeaf) continue;
      const rest = gradient - g;
      const gain = (g * g) / (h + l2) + (rest * rest) / (hessian - h + l2) - unsplit;
      if (gain > best.gain) Object.assign(best, { gain, column: at, cut });
    }
  }
  return best;
}

/** The leaf of each row. */
function place(bins: Bins, rows: Int32Array, tree: Tree): Int32Array {
  const cutOf = tree.feature.map((column, node) =>
    column < 0 ? 0 : bins.cuts[column]!.indexOf(tree.threshold[node]!),
  );
  return rows.map((row) => {
    let node = 0;
    while (tree.feature[node]! >= 0) {
      const isBelow = bins.bin[tree.feature[node]! * bins.rows + row]! <= cutOf[node]!;
      node = isBelow ? tree.below[node]! : tree.above[node]!;
    }
    return node;
  });
}

/** Formats a number, rounded down to five digits, so that values above a threshold stay above it. */
function short(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const scale = 10 ** Math.max(0, 4 - Math.floor(Math.log10(Math.abs(value))));
  return String(Math.floor(value * scale) / scale);
}

/** Writes the text format that src/reader/extract/trees/trees.ts parses: one line per tree. */
export function writeTrees(trees: Tree[], names: readonly string[]): string {
  const write = (tree: Tree, node: number): string =>
    tree.feature[node]! < 0
      ? String(tree.value[node])
      : `(${names[tree.feature[node]!]}<${short(tree.threshold[node]!)} ${write(tree, tree.below[node]!)} ${write(tree, tree.above[node]!)})`;
  return trees.map((tree) => write(tree, 0)).join('\n');
}
