/** The scores of a page's blocks by the token model. */
import { type Block, NAMING_ATTRIBUTES, type Survey } from '../blocks/survey.ts';
import type { TokenKind, TokenModel } from './token-model.ts';
import { pairHash, visitNameTokens, visitTextTokens } from './tokens.ts';

/** Scores of each block; the higher, the more likely it is content. */
export interface TokenScores {
  /** By the name of its element and of the parent. */
  readonly own: Float32Array;
  /** By the names of its element and of all ancestors. */
  readonly around: Float32Array;
  /** By its text if that is short, else 0. */
  readonly text: Float32Array;
}

/** Longer texts are sentences, whose words say little about the part of the page. */
const MAX_TEXT_WORDS = 12;
/** Maximum number of UTF-16 code units that are read from a text. */
const MAX_TEXT_UNITS = 80;
/** Maximum number of UTF-16 code units that are read from an attribute. */
const MAX_NAME_UNITS = 200;

/** Calls `visit` for every token in the names of an element: its tag, class and other naming attributes. */
export function visitElementTokens(
  { elements }: Survey,
  element: number,
  visit: (hash: number, text: string, start: number, end: number) => void,
): void {
  const { name, attributes } = elements[element]!;
  visitNameTokens(name, (hash, start, end) => visit(hash, name, start, end));
  for (let at = 0; at < attributes.length; at++) {
    const { name: attribute, value } = attributes[at]!;
    if (value === '' || (attribute !== 'class' && !NAMING_ATTRIBUTES.has(attribute))) continue;
    const text = value.length > MAX_NAME_UNITS ? value.slice(0, MAX_NAME_UNITS) : value;
    visitNameTokens(text, (hash, start, end) => visit(hash, text, start, end));
  }
}

/** Calls `visit` for every token of a short text, with its kind and, if `text` is needed, its place in that text. */
export function visitBlockTokens(
  block: Block,
  visit: (kind: TokenKind, hash: number, text: string, start: number, end: number) => void,
): void {
  if (block.words > MAX_TEXT_WORDS || block.words === 0) return;
  const text = block.text.slice(0, MAX_TEXT_UNITS).toLowerCase();
  let before = -1;
  let beforeStart = 0;
  visitTextTokens(text, (hash, start, end) => {
    visit('word', hash, text, start, end);
    if (before < 0) visit('first', hash, text, start, end);
    else visit('pair', pairHash(before, hash), text, beforeStart, end);
    before = hash;
    beforeStart = start;
  });
}

/** Names of the features that are made of the scores of a block. */
export const TOKEN_FEATURES = ['tokens', 'tokens.own', 'tokens.around', 'tokens.text', 'tokens.box', 'tokens.outer'];
/** Levels above the parent at which the outer box is found. */
const OUTER_LEVELS = 2;

/** Creates a function that writes TOKEN_FEATURES of a block from `start`. */
export function createTokenWriter(
  { blocks, parent, firstBlock, endBlock }: Survey,
  { own, around, text }: TokenScores,
): (row: Float32Array, start: number, block: number) => number {
  const size = blocks.length;
  const total = Float32Array.from(own, (score, at) => score + around[at]! + text[at]!);
  // Sums over the blocks before each block give the mean of every box.
  const sums = new Float64Array(size + 1);
  const weights = new Float64Array(size + 1);
  for (let at = 0; at < size; at++) {
    const weight = blocks[at]!.words + 0.5;
    sums[at + 1] = sums[at]! + total[at]! * weight;
    weights[at + 1] = weights[at]! + weight;
  }
  const meanOf = (element: number): number => {
    const first = firstBlock[element]!;
    const end = endBlock[element]!;
    return (sums[end]! - sums[first]!) / Math.max(0.5, weights[end]! - weights[first]!);
  };
  return (row, start, at) => {
    row[start] = total[at]!;
    row[start + 1] = own[at]!;
    row[start + 2] = around[at]!;
    row[start + 3] = text[at]!;
    let box = Math.max(0, parent[blocks[at]!.owner]!);
    row[start + 4] = meanOf(box);
    for (let level = 0; level < OUTER_LEVELS; level++) box = Math.max(0, parent[box]!);
    row[start + 5] = meanOf(box);
    return start + TOKEN_FEATURES.length;
  };
}

export function scoreTokens(survey: Survey, { bias, weights }: TokenModel): TokenScores {
  const { elements, blocks, parent, classes, classTexts } = survey;
  const own = new Float64Array(elements.length);
  const around = new Float64Array(elements.length);
  const nameScores = createNameScores(weights.own.get, weights.around.get);
  const byClass = classTexts.map(() => undefined as Scores | undefined);
  for (let at = 0; at < elements.length; at++) {
    const { name, attributes } = elements[at]!;
    const tag = nameScores.ofTag(name);
    let ownScore = tag.own;
    let aroundScore = tag.around;
    for (let number = 0; number < attributes.length; number++) {
      const { name: attribute, value } = attributes[number]!;
      if (value === '') continue;
      let scores: Scores;
      if (attribute === 'class') scores = byClass[classes[at]!] ??= nameScores.of(value);
      else if (attribute !== 'href' && attribute !== 'style' && NAMING_ATTRIBUTES.has(attribute))
        scores = nameScores.of(value);
      else continue;
      ownScore += scores.own;
      aroundScore += scores.around;
    }
    const above = parent[at]!;
    own[at] = ownScore;
    around[at] = aroundScore + (above < 0 ? bias : around[above]!);
  }
  const scores: TokenScores = {
    own: new Float32Array(blocks.length),
    around: new Float32Array(blocks.length),
    text: new Float32Array(blocks.length),
  };
  for (let at = 0; at < blocks.length; at++) {
    const { owner } = blocks[at]!;
    const above = parent[owner]!;
    scores.own[at] = own[owner]! + (above < 0 ? 0 : own[above]!);
    scores.around[at] = around[owner]!;
    let sum = 0;
    visitBlockTokens(blocks[at]!, (kind, hash) => {
      sum += weights[kind].get(hash);
    });
    scores.text[at] = sum;
  }
  return scores;
}

interface Scores {
  readonly own: number;
  readonly around: number;
}

function createNameScores(ownOf: (hash: number) => number, aroundOf: (hash: number) => number) {
  const tags = new Map<string, Scores>();
  let own = 0;
  let around = 0;
  const add = (hash: number): void => {
    own += ownOf(hash);
    around += aroundOf(hash);
  };
  function of(text: string): Scores {
    own = 0;
    around = 0;
    visitNameTokens(text.length > MAX_NAME_UNITS ? text.slice(0, MAX_NAME_UNITS) : text, add);
    return { own, around };
  }
  function ofTag(name: string): Scores {
    let scores = tags.get(name);
    if (!scores) {
      scores = of(name);
      tags.set(name, scores);
    }
    return scores;
  }
  return { of, ofTag };
}
