/**
 * The features that count most against a block, in plain words. A block's path through a tree is a series of tests.
 * Each test changes the mean value of the reachable leaves, and this change is its contribution to the score.
 * Contributions are summed by feature over all trees. This is A. Saabas's attribution method for forests, except that
 * it uses the plain mean of the leaves: the weights do not contain the mean over training pages.
 */

import { WEIGHTS } from '#generated/content-weights.ts';
import { FEATURES } from './features.ts';
import { parseTrees, type Trees } from './trees.ts';

const MAX_SIGNS = 3;

export interface Attribution {
  readonly trees: Trees;
  /** For each node, the mean of the leaves below it. */
  readonly means: Float64Array;
}

/** Prepares trees for explaining the score of a row. */
export function prepareAttribution(trees: Trees): Attribution {
  const { feature, value, elseNode } = trees;
  const means = new Float64Array(feature.length);
  const leaves = new Uint32Array(feature.length);
  // The branches of a node have higher indexes than the node itself.
  for (let node = feature.length - 1; node >= 0; node--) {
    if (feature[node]! < 0) {
      means[node] = value[node]!;
      leaves[node] = 1;
      continue;
    }
    const [one, other] = [node + 1, elseNode[node]!];
    leaves[node] = leaves[one]! + leaves[other]!;
    means[node] = (means[one]! * leaves[one]! + means[other]! * leaves[other]!) / leaves[node]!;
  }
  return { trees, means };
}

let fitted: Attribution | null = null;

function fittedAttribution(): Attribution {
  fitted ??= prepareAttribution(parseTrees(WEIGHTS, FEATURES));
  return fitted;
}

/** The features that count most against the block with these values: at most three, strongest first. */
export function signsAgainst(row: Float32Array, attribution = fittedAttribution()): string[] {
  const { trees, means } = attribution;
  const { feature, value, elseNode, roots } = trees;
  const shares = new Map<string, number>();
  for (const root of roots) {
    let node = root;
    for (let tested = feature[node]!; tested >= 0; tested = feature[node]!) {
      const next = row[tested]! < value[node]! ? node + 1 : elseNode[node]!;
      const words = featureInWords(FEATURES[tested]!);
      if (words !== null) shares.set(words, (shares.get(words) ?? 0) + means[next]! - means[node]!);
      node = next;
    }
  }
  return [...shares]
    .filter(([, share]) => share < 0)
    .sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1))
    .slice(0, MAX_SIGNS)
    .map(([words]) => words);
}

/** Descriptions of features, by name or prefix; null for features that are the same for all blocks of a page. */
const WORDS: readonly (readonly [pattern: RegExp, words: string | null])[] = [
  [/^(?:page|url|type)[A-Z].*|^(?:page|kind)\..*/, null],
  [/^words$/, 'its length'],
  [/^linkDensity$/, 'how much of it is links'],
  [/^wordLength$/, 'the length of its words'],
  [/^(?:sentences|commas)$/, 'its punctuation'],
  [/^(?:digitRatio|capitalRatio)$/, 'its share of digits and capitals'],
  [/^tokens\.text$/, 'its words'],
  [/^tokens(?:\.own)?$/, 'the names of its element and its words'],
  [/^tokens\..*/, 'the names of the elements around it'],
  [/^hasPrice$/, 'whether it contains a price'],
  [/^title(?:Box|Up|Links)$/, 'how close it is to the title'],
  [/^(?:section|over)\..*/, 'the headings above it'],
  [/^(?:record|list)\..*/, 'the content of the repeated boxes around it'],
  [/^template\..*/, 'other blocks with the same markup'],
  [/^ends[A-Z].*/, 'how it ends'],
  [/^starts[A-Z].*/, 'how it starts'],
  [/^isProse$/, 'whether it reads like prose'],
  [/^(?:isTitle|titleWords)$/, 'its similarity to the title'],
  [/^(?:is[A-Z]\w*|heading)$/, 'its kind of element'],
  [/^says\.(.*)/, 'words typical of “$1”'],
  [/^(?:share|order|wordsBefore|wordsAfter)$/, 'its position on the page'],
  [/^depth$/, 'how deeply it is nested'],
  [/^words-?\d$/, 'the length of neighboring blocks'],
  [/^links-?\d$/, 'links in neighboring blocks'],
  [/^same-?\d$/, 'whether neighboring blocks have its tag and class'],
  [/^part\.(.*)/, 'whether it is in a box named like “$1”'],
  [/^in\.(.*)/, 'whether it is in <$1>'],
  [/^up\d\.links$/, 'links in the boxes around it'],
  [/^up\d\.prose$/, 'prose in the boxes around it'],
  [/^up\d\.place$/, 'its position in the boxes around it'],
  [/^up\d\..*/, 'the size of the boxes around it'],
  [/^box[\d.]+\.links$/, null],
  [/^box[\d.]+\.\w+$/, 'its distance from the main text'],
  [/^like[A-Z].*/, 'other blocks with its tag and class'],
  [/^twins.*/, 'how often its box repeats'],
  [/^copies$/, 'how often its text repeats'],
  [/^(?:since|until)Prose$/, 'its distance from prose'],
  [/^fromHeading$/, 'its distance from the title'],
];

const known = new Map<string, string | null>();

/** The description of a feature; null if it is the same for all blocks of a page. */
export function featureInWords(feature: string): string | null {
  let words = known.get(feature);
  if (words === undefined) {
    const row = WORDS.find(([pattern]) => pattern.test(feature));
    words = row ? row[1] && feature.replace(row[0], row[1]).replace(/”.*$/, '”') : feature;
    known.set(feature, words);
  }
  return words;
}
