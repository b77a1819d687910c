/**
 * Boosted decision trees, read from a text that people can read too. A line is a tree: `(name<limit then else)`,
 * where then and else are trees or numbers; the sum of all trees is the log odds.
 */

export interface Trees {
  /** Index of the feature a node asks for; -1 at a leaf. */
  feature: Int16Array;
  /** The limit of a question, the value of a leaf. */
  value: Float64Array;
  /** Where to go when the feature is below the limit is always the next node; this is the other one. */
  otherwise: Int32Array;
  /** What both say in one number, for those who ask it often: `feature + (steps to the other node << 15)`, -1 at a leaf. */
  questions: Int32Array;
  /** First node of each tree. */
  roots: Int32Array;
}

/** How many bits of a question its feature takes. */
const FEATURE_BITS = 15;
const FEATURE_MASK = (1 << FEATURE_BITS) - 1;

/** Reads the text form; throws an Error when it names a feature that `features` has not. */
export function readTrees(text: string, features: readonly string[]): Trees {
  const index = new Map(features.map((name, at) => [name, at]));
  const feature: number[] = [];
  const value: number[] = [];
  const otherwise: number[] = [];
  const roots: number[] = [];
  for (const line of text.trim().split('\n')) {
    roots.push(feature.length);
    // Nodes whose first branch is being read, and then their second.
    const open: number[] = [];
    for (const [, name, limit, leaf, close] of line.matchAll(/\(([^<()\s]+)<([-\d.e]+)|(-?[\d.]+(?:e-?\d+)?)|(\))/g)) {
      if (close) {
        open.pop();
        continue;
      }
      const node = feature.length;
      const above = open.at(-1);
      if (above !== undefined && node !== above + 1) otherwise[above] = node;
      otherwise.push(-1);
      if (name === undefined) {
        feature.push(-1);
        value.push(Number(leaf));
        continue;
      }
      const at = index.get(name);
      if (at === undefined) throw new Error(`The trees ask for an unknown feature: ${name}`);
      feature.push(at);
      value.push(Number(limit));
      open.push(node);
    }
  }
  return {
    feature: Int16Array.from(feature),
    value: Float64Array.from(value),
    otherwise: Int32Array.from(otherwise),
    questions: Int32Array.from(feature, (asked, node) =>
      asked < 0 ? -1 : asked | ((otherwise[node]! - node) << FEATURE_BITS),
    ),
    roots: Int32Array.from(roots),
  };
}

/** The probability that the trees give the row of features that starts at `from`. */
export function probability(trees: Trees, rows: Float32Array, from: number): number {
  const { feature, value, otherwise, roots } = trees;
  let odds = 0;
  for (let tree = 0; tree < roots.length; tree++) {
    let node = roots[tree]!;
    let asked = feature[node]!;
    while (asked >= 0) {
      node = rows[from + asked]! < value[node]! ? node + 1 : otherwise[node]!;
      asked = feature[node]!;
    }
    odds += value[node]!;
  }
  return 1 / (1 + Math.exp(-odds));
}

/** After which shares of the trees it is seen which rows are settled, and the log odds from which on a row is. */
const LOOKS = [0.3, 0.5];
const SETTLED = 3;
/** What the log odds of a settled row come to at last, about. */
const SURE = 5;

/**
 * The probability of each of `count` rows that stand one after the other, each `width` numbers long. Rows of which the
 * first trees leave no doubt, as of most furniture, are not asked about further: what is left moves none of them to
 * the other side, so they are taken to be sure.
 */
export function probabilities(trees: Trees, rows: Float32Array, count: number, width: number): Float32Array {
  const { value, questions, roots } = trees;
  const odds = new Float64Array(count);
  const open = new Int32Array(count);
  for (let row = 0; row < count; row++) open[row] = row;
  const looks = LOOKS.map((share) => Math.ceil(share * roots.length));
  let left = count;
  // Tree by tree, so that each is read from memory once. Every row's sum still runs in the order of the trees.
  for (let tree = 0; tree < roots.length; tree++) {
    if (looks.includes(tree)) left = settle(odds, open, left);
    const root = roots[tree]!;
    for (let at = 0; at < left; at++) {
      const row = open[at]!;
      const from = Math.imul(row, width);
      let node = root;
      let question = questions[node]!;
      while (question >= 0) {
        const isBelow = rows[from + (question & FEATURE_MASK)]! < value[node]!;
        node = isBelow ? node + 1 : node + (question >> FEATURE_BITS);
        question = questions[node]!;
      }
      odds[row]! += value[node]!;
    }
  }
  const found = new Float32Array(count);
  for (let row = 0; row < count; row++) found[row] = 1 / (1 + Math.exp(-odds[row]!));
  return found;
}

/** Makes the settled ones of the first `left` open rows sure, and gives how many stay open. */
function settle(odds: Float64Array, open: Int32Array, left: number): number {
  let stay = 0;
  for (let at = 0; at < left; at++) {
    const row = open[at]!;
    if (Math.abs(odds[row]!) < SETTLED) open[stay++] = row;
    else if (Math.abs(odds[row]!) < SURE) odds[row] = Math.sign(odds[row]!) * SURE;
  }
  return stay;
}
