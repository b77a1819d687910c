/**
 * Boosted decision trees, parsed from human-readable text. A line is a tree: `(name<limit then else)`, where then and
 * else are trees or numbers. The sum of all trees is the log odds.
 */

export interface Trees {
  /** Index of the feature that a node tests; -1 at a leaf. */
  feature: Int16Array;
  /** The threshold of a test, or the value of a leaf. */
  value: Float64Array;
  /**
   * Index of the next node if the feature is not below the threshold; if it is, the next node directly follows this
   * one.
   */
  elseNode: Int32Array;
  /** Feature and next node in one number, for speed: `feature + (steps to the else node << 15)`, -1 at a leaf. */
  tests: Int32Array;
  /** First node of each tree. */
  roots: Int32Array;
}

/** Number of bits for the feature in such a number. */
const FEATURE_BITS = 15;
const FEATURE_MASK = (1 << FEATURE_BITS) - 1;

/** Parses the text form. Throws an Error if it names a feature that is not in `features`. */
export function parseTrees(text: string, features: readonly string[]): Trees {
  const index = new Map(features.map((name, at) => [name, at]));
  const feature: number[] = [];
  const value: number[] = [];
  const otherwise: number[] = [];
  const roots: number[] = [];
  // Open nodes: first those with the first branch still being read, then those with the second.
  const open: number[] = [];
  // Each thread parses the trees before its first page, so they are scanned without a regular expression.
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === SPACE || code === LINE_FEED) {
      at++;
      continue;
    }
    if (code === CLOSE) {
      open.pop();
      at++;
      continue;
    }
    const node = feature.length;
    const above = open.at(-1);
    if (above === undefined) roots.push(node);
    else if (node !== above + 1) otherwise[above] = node;
    otherwise.push(-1);
    const end = endOfWord(text, at);
    if (code !== OPEN) {
      feature.push(-1);
      value.push(Number(text.slice(at, end)));
    } else {
      const limit = text.indexOf('<', at);
      const name = text.slice(at + 1, limit);
      const tested = index.get(name);
      if (tested === undefined) throw new Error(`The trees use an unknown feature: ${name}`);
      feature.push(tested);
      value.push(Number(text.slice(limit + 1, end)));
      open.push(node);
    }
    at = end;
  }
  return {
    feature: Int16Array.from(feature),
    value: Float64Array.from(value),
    elseNode: Int32Array.from(otherwise),
    tests: Int32Array.from(feature, (tested, node) =>
      tested < 0 ? -1 : tested | ((otherwise[node]! - node) << FEATURE_BITS),
    ),
    roots: Int32Array.from(roots),
  };
}

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const OPEN = 0x28;
const CLOSE = 0x29;

/** Where a test or a number ends: at a space, a line feed or a closing parenthesis. */
function endOfWord(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === SPACE || code === LINE_FEED || code === CLOSE) break;
  }
  return at;
}

/** The probability that the trees assign to the feature row that starts at `from`. */
export function probability(trees: Trees, rows: Float32Array, from: number): number {
  const { feature, value, elseNode, roots } = trees;
  let logOdds = 0;
  for (let tree = 0; tree < roots.length; tree++) {
    let node = roots[tree]!;
    let tested = feature[node]!;
    while (tested >= 0) {
      node = rows[from + tested]! < value[node]! ? node + 1 : elseNode[node]!;
      tested = feature[node]!;
    }
    logOdds += value[node]!;
  }
  return 1 / (1 + Math.exp(-logOdds));
}

/** Shares of the trees after which decided rows are set aside, and the log odds from which a row counts as decided. */
const DECISION_SHARES = [0.3, 0.5];
const DECIDED_LOG_ODDS = 3;
/** Approximate final log odds of a decided row. */
const FINAL_LOG_ODDS = 5;

/**
 * The probability of each of `count` consecutive rows; each row has `width` numbers. Rows that are decided after the
 * first trees, such as most boilerplate, skip the remaining trees, which would not change the decision.
 */
export function probabilities(trees: Trees, rows: Float32Array, count: number, width: number): Float32Array {
  const { value, tests, roots } = trees;
  const logOdds = new Float64Array(count);
  const open = new Int32Array(count);
  for (let row = 0; row < count; row++) open[row] = row;
  const decisionTrees = DECISION_SHARES.map((share) => Math.ceil(share * roots.length));
  let left = count;
  // The outer loop is over trees, so that each tree is read from memory only once. The order of the sums does not
  // change.
  for (let tree = 0; tree < roots.length; tree++) {
    if (decisionTrees.includes(tree)) left = closeDecidedRows(logOdds, open, left);
    const root = roots[tree]!;
    for (let at = 0; at < left; at++) {
      const row = open[at]!;
      const from = Math.imul(row, width);
      let node = root;
      let test = tests[node]!;
      while (test >= 0) {
        node += rows[from + (test & FEATURE_MASK)]! < value[node]! ? 1 : test >> FEATURE_BITS;
        test = tests[node]!;
      }
      logOdds[row]! += value[node]!;
    }
  }
  const found = new Float32Array(count);
  for (let row = 0; row < count; row++) found[row] = 1 / (1 + Math.exp(-logOdds[row]!));
  return found;
}

/**
 * Assigns final odds to the decided rows among the first `left` open rows. Returns the number of rows that remain open.
 */
function closeDecidedRows(logOdds: Float64Array, open: Int32Array, left: number): number {
  let stay = 0;
  for (let at = 0; at < left; at++) {
    const row = open[at]!;
    if (Math.abs(logOdds[row]!) < DECIDED_LOG_ODDS) open[stay++] = row;
    else if (Math.abs(logOdds[row]!) < FINAL_LOG_ODDS) logOdds[row] = Math.sign(logOdds[row]!) * FINAL_LOG_ODDS;
  }
  return stay;
}
