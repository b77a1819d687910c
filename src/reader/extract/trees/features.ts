/**
 * The features of each block: numbers that describe its text, its neighbors, the elements around it, how often similar
 * blocks repeat, and the page as a whole. Computed from the survey's arrays in a constant number of passes.
 */
import { PARTS } from '../blocks/class-words.ts';
import { headingLevel } from '../blocks/headings.ts';
import { PHRASES } from '../blocks/phrases.ts';
import { findRecords, type Records } from '../blocks/records.ts';
import { findSections, type Sections } from '../blocks/sections.ts';
import { findSignatures, findTemplates } from '../blocks/signatures.ts';
import { type Block, isProse, type Survey } from '../blocks/survey.ts';
import { endsWithEllipsis, FITTED_KINDS, PAGE_FEATURES } from './page-features.ts';
import { createTokenWriter, TOKEN_FEATURES, type TokenScores } from './token-scores.ts';

/** Properties of the page as a whole, apart from its text. */
export interface PageFacts {
  title: string;
  /** Types from JSON-LD, microdata and Open Graph (`og:product`), in lower case. */
  types: ReadonlySet<string>;
  /** False if the URL is unknown. */
  hasUrl: boolean;
  /** Path of its URL. */
  path: string;
  /** Path and query of its URL. */
  pathAndQuery: string;
  /** Whether the URL is that of a front page. */
  isRoot: boolean;
  /** Mask of PARTS of the words in the URL's path. */
  urlParts: number;
  /** Number of path segments; 0 for a front page. */
  urlDepth: number;
}

/** Properties of a page that are known before its blocks are scored. */
export interface PageFeatures extends PageFacts {
  /** Its features by PAGE_FEATURES. */
  features: Float32Array;
  /** Probability of each of FITTED_KINDS; they sum to 1. */
  kinds: Float32Array;
  /** Scores of its blocks by the token model. */
  tokens: TokenScores;
}

/** Elements around a block that are features of the block. */
const ANCESTORS = [
  'nav',
  'header',
  'footer',
  'aside',
  'main',
  'article',
  'section',
  'form',
  'table',
  'ul',
  'ol',
  'figure',
  'blockquote',
  'pre',
  'button',
  'label',
  'details',
  'dl',
  'a',
  'li',
  'td',
] as const;
const ANCESTOR_INDEX = new Map<string, number>(ANCESTORS.map((name, at) => [name, at]));

const OWN_FEATURES = [
  'words',
  'linkDensity',
  'wordLength',
  'sentences',
  'commas',
  'digitRatio',
  'capitalRatio',
  'endsSentence',
  'endsColon',
  'startsCapital',
  'isP',
  'isLi',
  'heading',
  'isCell',
  'isPre',
  'isTerm',
  'isCaption',
  'isDiv',
  'isProse',
] as const;
const POSITION_FEATURES = ['share', 'order', 'wordsBefore', 'wordsAfter', 'depth'] as const;
const NEIGHBORS = [-3, -2, -1, 1, 2, 3];
const CHAIN_LENGTH = 5;
const CONTAINER_SHARES = [0.9, 0.7, 0.5];
const REPETITION_FEATURES = [
  'likeWords',
  'likeBlocks',
  'likeLinks',
  'likeMean',
  'twins',
  'twins1',
  'twins2',
  'copies',
  'sinceProse',
  'untilProse',
] as const;
const TITLE_FEATURES = ['fromHeading', 'isTitle', 'titleWords', 'titleBox', 'titleUp', 'titleLinks'] as const;
/** Phrases that are features if they occur in the headings above a block. */
const HEADING_PHRASES = ['share', 'talk', 'related', 'legal', 'join', 'shop', 'go', 'review', 'facts'] as const;
const SECTION_FEATURES = [
  'section.level',
  'section.words',
  'section.blocks',
  'section.place',
  'section.isHeading',
  ...HEADING_PHRASES.map((name) => `section.${name}`),
  ...HEADING_PHRASES.map((name) => `over.${name}`),
];
const HEADING_PHRASE_BITS = HEADING_PHRASES.map((name) => 1 << PHRASES.indexOf(name));
const RECORD_FEATURES = ['count', 'share', 'mean', 'links', 'prose', 'images', 'prices', 'place'];
const TEMPLATE_FEATURES = ['blocks', 'share', 'mean', 'links', 'prose'];
/** Page features that are also used as features of its blocks. */
const SHARED_PAGE_FEATURES = [
  'images',
  'prices',
  'h1',
  'h2',
  'dots',
  ...['thread', 'comment', 'product', 'item', 'post', 'code', 'review'].map((part) => `in.${part}`),
];
const SHARED_PAGE_FEATURE_INDEXES = SHARED_PAGE_FEATURES.map((name) => {
  const at = PAGE_FEATURES.indexOf(name);
  if (at < 0) throw new Error(`Unknown page feature: ${name}`);
  return at;
});
const PAGE_ONLY_FEATURES = [
  'pageWords',
  'pageLinks',
  'pageBlocks',
  'pageProse',
  'pageLongest',
  'pageMain',
  'pageArticles',
  'pageMaxTwins',
  'typeArticle',
  'typeProduct',
  'typeForum',
  'typeList',
  'typeWebsite',
] as const;

/** The name of each feature in a row. */
export const FEATURES: readonly string[] = [
  ...OWN_FEATURES,
  ...PHRASES.map((name) => `says.${name}`),
  ...POSITION_FEATURES,
  ...NEIGHBORS.flatMap((step) => [`words${step}`, `links${step}`, `same${step}`]),
  ...PARTS.map((name) => `part.${name}`),
  ...ANCESTORS.map((name) => `in.${name}`),
  ...Array.from({ length: CHAIN_LENGTH }, (_, at) =>
    ['words', 'links', 'share', 'prose', 'blocks', 'place'].map((name) => `up${at + 1}.${name}`),
  ).flat(),
  ...CONTAINER_SHARES.flatMap((share) => [`box${share}.in`, `box${share}.away`, `box${share}.links`]),
  ...REPETITION_FEATURES,
  ...TITLE_FEATURES,
  ...SECTION_FEATURES,
  ...RECORD_FEATURES.map((name) => `record.${name}`),
  ...RECORD_FEATURES.map((name) => `list.${name}`),
  ...TEMPLATE_FEATURES.map((name) => `template.${name}`),
  ...TOKEN_FEATURES,
  'endsDots',
  'hasPrice',
  ...PAGE_ONLY_FEATURES,
  ...SHARED_PAGE_FEATURES.map((name) => `page.${name}`),
  ...FITTED_KINDS.map((kind) => `kind.${kind}`),
];

/** Cached logarithms, because most counts on a page are small. */
const LOGS = Float64Array.from({ length: 1024 }, (_, value) => Math.log1p(value));

/** `Math.log1p`, cached for small integers. */
const log = (value: number): number => (value >>> 0 === value && value < 1024 ? LOGS[value]! : Math.log1p(value));

const letters = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Arrays over all elements, from which the features of blocks are computed. */
export interface PageContext {
  depth: Int32Array;
  /** Index of the element in ANCESTORS, -1 for none. */
  around: Int8Array;
  /** Nearest ancestor with more words. */
  up: Int32Array;
  /** Number of the element's signature, which is its name and class. */
  signatures: Int32Array;
  records: Records;
}

/** Computes the context of a page. The survey must have at least one element. */
export function createPageContext(survey: Survey): PageContext {
  const size = survey.elements.length;
  const context = {
    depth: new Int32Array(size),
    around: new Int8Array(size).fill(-1),
    up: new Int32Array(size).fill(-1),
    signatures: findSignatures(survey),
  };
  for (let at = 0; at < size; at++) {
    const element = survey.elements[at]!;
    const above = survey.parent[at]!;
    if (above >= 0) {
      context.depth[at] = context.depth[above]! + 1;
      context.up[at] = survey.words[above]! > survey.words[at]! ? above : context.up[above]!;
    }
    context.around[at] = ANCESTOR_INDEX.get(element.name) ?? -1;
  }
  return { ...context, records: findRecords(survey, context.signatures) };
}

/**
 * For each share, the smallest element that contains this share of the page's prose, or of its words if it has no
 * prose.
 */
function containers(survey: Survey): number[] {
  const mass = survey.proseWords[0]! > 50 ? survey.proseWords : survey.words;
  const whole = mass[0]!;
  return CONTAINER_SHARES.map((share) => {
    let at = 0;
    for (;;) {
      let next = -1;
      for (let child = at + 1; child < survey.end[at]!; child = survey.end[child]!) {
        if (mass[child]! >= share * whole) next = child;
      }
      if (next < 0) return at;
      at = next;
    }
  });
}

/** Totals of blocks with the same key. */
interface BlockTotals {
  blocks: Int32Array;
  words: Int32Array;
  linkWords: Int32Array;
  proseWords: Int32Array;
}

/** Sums the blocks with equal numbers in `keys`; all numbers are less than `count`. */
function sumByKey(blocks: readonly Block[], keys: Int32Array, count: number): BlockTotals {
  const sums: BlockTotals = {
    blocks: new Int32Array(count),
    words: new Int32Array(count),
    linkWords: new Int32Array(count),
    proseWords: new Int32Array(count),
  };
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at]!;
    const key = keys[at]!;
    sums.blocks[key]! += 1;
    sums.words[key]! += block.words;
    sums.linkWords[key]! += block.linkWords;
    if (isProse(block)) sums.proseWords[key]! += block.words;
  }
  return sums;
}

/** The signature of each block's element. */
function signaturesOfBlocks(blocks: readonly Block[], signatures: Int32Array): Int32Array {
  const signatureOf = new Int32Array(blocks.length);
  for (let at = 0; at < signatureOf.length; at++) signatureOf[at] = signatures[blocks[at]!.owner]!;
  return signatureOf;
}

/** For each block, the number of blocks with the same text. */
function countCopies(blocks: readonly Block[]): Int32Array {
  const counts = new Int32Array(blocks.length).fill(1);
  const first = new Map<number, number>();
  // Most texts are unique, which a sketch of a few letters reveals. Only texts with equal sketches are compared in
  // full.
  const shared = new Map<string, number[]>();
  for (let at = 0; at < blocks.length; at++) {
    const { text } = blocks[at]!;
    const key = sketch(text);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, at);
      continue;
    }
    if (earlier >= 0) {
      shared.set(blocks[earlier]!.text, [earlier]);
      first.set(key, -1);
    }
    const sameText = shared.get(text);
    if (sameText) sameText.push(at);
    else shared.set(text, [at]);
  }
  for (const sameText of shared.values()) for (const at of sameText) counts[at] = sameText.length;
  return counts;
}

/** A cheap hash: equal texts have equal sketches. */
function sketch(text: string): number {
  const { length } = text;
  let hash = length;
  for (let step = 0; step < 4; step++) hash = Math.imul(hash, 31) + text.charCodeAt((length * step) >> 2);
  return (Math.imul(hash, 31) + text.charCodeAt(length - 1)) | 0;
}

/**
 * The block with the page's title: the first h1 that is similar to the title, else the first h1; -1 if there is none.
 */
function titleBlock(survey: Survey, title: string): number {
  const wanted = letters(title);
  let first = -1;
  for (let at = 0; at < survey.blocks.length; at++) {
    const block = survey.blocks[at]!;
    if (survey.elements[block.owner]!.name !== 'h1') continue;
    if (first < 0) first = at;
    const text = letters(block.text);
    if (text && (wanted.includes(text) || text.includes(wanted))) return at;
  }
  return first;
}

function tagOf(survey: Survey, block: Block): string {
  return survey.elements[block.owner]!.name;
}

const OWN_FEATURE_BY_TAG = new Map(
  Object.entries({
    p: 10,
    li: 11,
    td: 13,
    th: 13,
    pre: 14,
    code: 14,
    dt: 15,
    dd: 15,
    figcaption: 16,
    caption: 16,
    div: 17,
  }),
);

/** Writes the features of the block's own text. */
function writeOwn(row: Float32Array, start: number, block: Block, tag: string): number {
  const words = Math.max(1, block.words);
  const characters = Math.max(1, block.characters);
  const { text, phrases } = block;
  row[start] = log(block.words);
  row[start + 1] = block.linkWords / words;
  row[start + 2] = block.characters / words;
  row[start + 3] = log(block.sentences);
  row[start + 4] = log(block.commas);
  row[start + 5] = block.digits / characters;
  row[start + 6] = block.capitals / characters;
  const last = text.charAt(text.length - 1);
  row[start + 7] = last !== '' && '.!?。…"”'.includes(last) ? 1 : 0;
  row[start + 8] = last === ':' ? 1 : 0;
  const first = text.charAt(0);
  row[start + 9] = first !== first.toLowerCase() ? 1 : 0;
  for (let number = start + 10; number < start + OWN_FEATURES.length; number++) row[number] = 0;
  const code = OWN_FEATURE_BY_TAG.get(tag);
  if (code !== undefined) row[start + code] = 1;
  row[start + 12] = headingLevel(tag);
  row[start + 18] = isProse(block) ? 1 : 0;
  const to = start + OWN_FEATURES.length;
  for (let at = 0; at < PHRASES.length; at++) row[to + at] = (phrases >> at) & 1;
  return to + PHRASES.length;
}

function writeNeighbors(
  row: Float32Array,
  start: number,
  survey: Survey,
  { signatures }: PageContext,
  at: number,
): number {
  const { blocks } = survey;
  const own = signatures[blocks[at]!.owner]!;
  let to = start;
  for (const step of NEIGHBORS) {
    const other = blocks[at + step];
    row[to++] = other ? log(other.words) : -1;
    row[to++] = other ? other.linkWords / Math.max(1, other.words) : -1;
    row[to++] = other && signatures[other.owner] === own ? 1 : 0;
  }
  return to;
}

/** The features that are the same for every block of a page. */
function pageRow(survey: Survey, records: Records, view: PageFeatures): number[] {
  const total = Math.max(1, survey.words[0] ?? 0);
  let longest = 0;
  for (const block of survey.blocks) longest = Math.max(longest, block.words - block.linkWords);
  let main = 0;
  let articles = 0;
  let most = 0;
  for (let at = 0; at < survey.elements.length; at++) {
    const { name } = survey.elements[at]!;
    if (name === 'main') main = Math.max(main, survey.words[at]! / total);
    if (name === 'article') articles++;
    if (survey.words[at]! > 8) most = Math.max(most, records.groups.count[records.groupOf[at]!]!);
  }
  const has = (...types: string[]) => (types.some((type) => view.types.has(type)) ? 1 : 0);
  return [
    log(total),
    (survey.linkWords[0] ?? 0) / total,
    log(survey.blocks.length),
    (survey.proseWords[0] ?? 0) / total,
    log(longest),
    main,
    log(articles),
    log(most),
    has('article', 'newsarticle', 'blogposting', 'og:article', 'reportagenewsarticle', 'techarticle'),
    has('product', 'og:product', 'productgroup', 'og:og:product'),
    has('discussionforumposting', 'qapage', 'question'),
    has('collectionpage', 'itemlist', 'searchresultspage', 'offercatalog'),
    has('og:website'),
    ...SHARED_PAGE_FEATURE_INDEXES.map((at) => view.features[at]!),
    ...view.kinds,
  ];
}

/** Writes the FEATURES of a block into a row from `start`: those of the page, which all rows share, and its own. */
export interface FeatureWriter {
  page(row: Float32Array, start: number): void;
  block(row: Float32Array, start: number, block: number): void;
}

/** Creates the feature writer for a survey, which must have at least one block. */
export function createFeatureWriter(survey: Survey, context: PageContext, view: PageFeatures): FeatureWriter {
  const { blocks } = survey;
  const { records } = context;
  const signatureOf = signaturesOfBlocks(blocks, context.signatures);
  const bySignature = sumByKey(blocks, signatureOf, survey.elements.length);
  const templates = findTemplates(survey, context.signatures);
  const template = sumByKey(blocks, templates, blocks.length);
  const copies = countCopies(blocks);
  const boxes = containers(survey);
  const heading = titleBlock(survey, view.title);
  const titleBoxOf = titleBoxes(survey, heading);
  const sections = findSections(survey);
  const page = Float32Array.from(pageRow(survey, records, view));
  const lowerTitle = view.title.toLowerCase();
  const shareInTitle = createShareIn(lowerTitle.split(' '));
  const total = Math.max(1, survey.words[0]!);
  const prose = distancesToProse(blocks);
  const writeTokens = createTokenWriter(survey, view.tokens);
  const countOf = (place: number) => records.groups.count[records.groupOf[place]!]!;
  const describe = (row: Float32Array, start: number, at: number): void => {
    const block = blocks[at]!;
    const { owner } = block;
    let to = writeOwn(row, start, block, tagOf(survey, block));
    row[to++] = block.wordsBefore / total;
    row[to++] = at / blocks.length;
    row[to++] = log(block.wordsBefore);
    row[to++] = log(total - block.wordsBefore - block.words);
    row[to++] = context.depth[owner]!;
    to = writeNeighbors(row, to, survey, context, at);
    to = writeNearest(row, to, survey, context, owner);
    to = writeChain(row, to, survey, context, block, at);
    for (const box of boxes) {
      const first = survey.firstBlock[box]!;
      const end = survey.endBlock[box]!;
      row[to++] = at >= first && at < end ? survey.words[box]! / total : -1;
      row[to++] = at < first ? at - first : at >= end ? at - end + 1 : 0;
      row[to++] = survey.linkWords[box]! / Math.max(1, survey.words[box]!);
    }
    const signature = signatureOf[at]!;
    const wordsWithSignature = bySignature.words[signature]!;
    const up = context.up[owner]!;
    const upper = up < 0 ? -1 : context.up[up]!;
    row[to++] = wordsWithSignature / total;
    row[to++] = log(bySignature.blocks[signature]!);
    row[to++] = bySignature.linkWords[signature]! / Math.max(1, wordsWithSignature);
    row[to++] = wordsWithSignature / bySignature.blocks[signature]!;
    row[to++] = log(countOf(owner));
    row[to++] = up < 0 ? -1 : log(countOf(up));
    row[to++] = upper < 0 ? -1 : log(countOf(upper));
    row[to++] = log(copies[at]!);
    row[to++] = log(prose.since[at]!);
    row[to++] = log(prose.until[at]!);
    row[to++] = heading < 0 ? -999 : Math.max(-200, Math.min(200, at - heading));
    const inTitle = block.words <= MAX_TITLE_WORDS && block.text !== '' ? shareInTitle(block.text) : 0;
    row[to++] = inTitle === 1 && block.text.toLowerCase() === lowerTitle ? 1 : 0;
    row[to++] = inTitle;
    const box = titleBoxOf.box[owner]!;
    row[to++] = box < 0 ? -1 : survey.words[box]! / total;
    row[to++] = box < 0 ? -1 : titleBoxOf.up[owner]!;
    row[to++] = box < 0 ? -1 : survey.linkWords[box]! / Math.max(1, survey.words[box]!);
    to = writeSection(row, to, survey, sections, at);
    to = writeRecord(row, to, records, records.inner[owner]!, total);
    to = writeRecord(row, to, records, records.outer[owner]!, total);
    const own = templates[at]!;
    const words = template.words[own]!;
    row[to++] = log(template.blocks[own]!);
    row[to++] = words / total;
    row[to++] = log(words / template.blocks[own]!);
    row[to++] = template.linkWords[own]! / Math.max(1, words);
    row[to++] = template.proseWords[own]! / Math.max(1, words);
    to = writeTokens(row, to, at);
    row[to++] = endsWithEllipsis(block.text) ? 1 : 0;
    row[to] = records.priced[at]!;
  };
  return { page: (row, start) => row.set(page, start + FEATURES.length - page.length), block: describe };
}

/** The rows of FEATURES of all blocks of the survey, concatenated. */
export function computeBlockFeatures(survey: Survey, context: PageContext, view: PageFeatures): Float32Array {
  const size = survey.blocks.length;
  const all = new Float32Array(size * FEATURES.length);
  if (size === 0) return all;
  const describe = createFeatureWriter(survey, context, view);
  for (let at = 0; at < size; at++) {
    describe.page(all, at * FEATURES.length);
    describe.block(all, at * FEATURES.length, at);
  }
  return all;
}

/**
 * For each element, the smallest box that contains both the element and the title, and the distance to it in levels; -1
 * for none.
 */
function titleBoxes(survey: Survey, heading: number): { box: Int32Array; up: Int32Array } {
  const size = survey.elements.length;
  const box = new Int32Array(size).fill(-1);
  const up = new Int32Array(size);
  if (heading < 0) return { box, up };
  for (let at = survey.blocks[heading]!.owner; at >= 0; at = survey.parent[at]!) box[at] = at;
  for (let at = 0; at < size; at++) {
    const above = survey.parent[at]!;
    if (box[at]! >= 0 || above < 0) continue;
    box[at] = box[above]!;
    up[at] = up[above]! + 1;
  }
  return { box, up };
}

function writeSection(row: Float32Array, start: number, survey: Survey, sections: Sections, at: number): number {
  let to = start;
  const head = sections.heading[at]!;
  if (head < 0) {
    row.fill(-1, to, to + SECTION_FEATURES.length);
    return to + SECTION_FEATURES.length;
  }
  const heading = survey.blocks[head]!;
  row[to++] = headingLevel(survey.elements[heading.owner]!.name);
  row[to++] = log(survey.blocks[at]!.wordsBefore - heading.wordsBefore);
  row[to++] = log(at - head);
  row[to++] = heading.wordsBefore / Math.max(1, survey.words[0]!);
  row[to++] = head === at ? 1 : 0;
  for (const bit of HEADING_PHRASE_BITS) row[to++] = (heading.phrases & bit) === 0 ? 0 : 1;
  for (const bit of HEADING_PHRASE_BITS) row[to++] = (sections.headingPhrases[at]! & bit) === 0 ? 0 : 1;
  return to;
}

function writeRecord(row: Float32Array, start: number, records: Records, place: number, total: number): number {
  let to = start;
  if (place < 0) {
    row.fill(-1, to, to + RECORD_FEATURES.length);
    return to + RECORD_FEATURES.length;
  }
  const { groups } = records;
  const group = records.groupOf[place]!;
  const count = groups.count[group]!;
  const words = groups.words[group]!;
  const atLeastOne = Math.max(1, words);
  row[to++] = log(count);
  row[to++] = words / total;
  row[to++] = log(words / count);
  row[to++] = groups.linkWords[group]! / atLeastOne;
  row[to++] = groups.proseWords[group]! / atLeastOne;
  row[to++] = groups.images[group]! / count;
  row[to++] = groups.prices[group]! / count;
  row[to++] = records.indexInGroup[place]! / count;
  return to;
}

/** Blocks with more words are not compared with the title. */
const MAX_TITLE_WORDS = 30;

const HASHES = 1024;

/**
 * Creates a function that returns the share of a text's space-separated words that occur, in lower case, in `known`.
 */
function createShareIn(known: readonly string[]): (text: string) => number {
  const words = new Set(known);
  // Most words do not occur in the title. Their hashes show this without a slice of the text.
  const hashes = new Uint8Array(HASHES);
  for (const word of known) hashes[hashOf(word) & (HASHES - 1)] = 1;
  const isKnown = (hash: number, text: string, from: number, to: number): boolean =>
    hashes[hash & (HASHES - 1)] === 1 && words.has(text.slice(from, to).toLowerCase());
  const shareIn = (text: string, isLower: boolean): number => {
    let count = 1;
    let found = 0;
    let from = 0;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === 0x20) {
        if (isKnown(hash, text, from, at)) found++;
        count++;
        from = at + 1;
        hash = 0;
        continue;
      }
      if (unit >= 0x80 && !isLower) return shareIn(text.toLowerCase(), true);
      hash = (Math.imul(hash, 31) + (unit >= 0x41 && unit <= 0x5a ? unit + 32 : unit)) | 0;
    }
    if (isKnown(hash, text, from, text.length)) found++;
    return found / count;
  };
  return (text) => shareIn(text, false);
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}

/** Writes the share of the page in the nearest box of each kind in PARTS, then in ANCESTORS; -1 for none. */
function writeNearest(
  row: Float32Array,
  start: number,
  survey: Survey,
  { around }: PageContext,
  owner: number,
): number {
  const { parts, parent, words } = survey;
  const end = start + PARTS.length + ANCESTORS.length;
  for (let number = start; number < end; number++) row[number] = -1;
  const total = Math.max(1, words[0]!);
  let wanted = ~0;
  let names = ~0;
  for (let at = owner; at >= 0; at = parent[at]!) {
    const found = parts[at]! & wanted;
    wanted &= ~found;
    for (let rest = found; rest !== 0; rest &= rest - 1) {
      row[start + 31 - Math.clz32(rest & -rest)] = words[at]! / total;
    }
    const name = around[at]!;
    if (name < 0 || (names & (1 << name)) === 0) continue;
    names &= ~(1 << name);
    row[start + PARTS.length + name] = words[at]! / total;
  }
  return end;
}

/** Writes the features of the ancestors that each contain more words than the one below, nearest first. */
function writeChain(
  row: Float32Array,
  start: number,
  survey: Survey,
  context: PageContext,
  block: Block,
  at: number,
): number {
  let to = start;
  let place = survey.words[block.owner]! > block.words ? block.owner : context.up[block.owner]!;
  for (let step = 0; step < CHAIN_LENGTH; step++) {
    if (place < 0) {
      for (let end = to + 6; to < end; to++) row[to] = -1;
      continue;
    }
    const words = Math.max(1, survey.words[place]!);
    const first = survey.firstBlock[place]!;
    const count = survey.endBlock[place]! - first;
    row[to++] = log(words);
    row[to++] = survey.linkWords[place]! / words;
    row[to++] = words / Math.max(1, survey.words[0]!);
    row[to++] = survey.proseWords[place]! / words;
    row[to++] = log(count);
    row[to++] = (at - first) / Math.max(1, count);
    place = context.up[place]!;
  }
  return to;
}

/** For each block, the distance in blocks to the previous and to the next block of prose. */
function distancesToProse(blocks: readonly Block[]): { since: Int32Array; until: Int32Array } {
  const since = new Int32Array(blocks.length);
  const until = new Int32Array(blocks.length);
  let distance = 999;
  for (let at = 0; at < blocks.length; at++) {
    since[at] = distance;
    distance = isProse(blocks[at]!) ? 1 : distance + 1;
  }
  distance = 999;
  for (let at = blocks.length - 1; at >= 0; at--) {
    until[at] = distance;
    distance = isProse(blocks[at]!) ? 1 : distance + 1;
  }
  return { since, until };
}
