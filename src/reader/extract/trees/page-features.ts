/** Features of a page as a whole: its declared types, its URL and the composition of its text. */
import { PARTS } from '../blocks/class-words.ts';
import { headingLevel } from '../blocks/headings.ts';
import { PHRASES } from '../blocks/phrases.ts';
import type { Records } from '../blocks/records.ts';
import { isProse, type Survey } from '../blocks/survey.ts';
import type { PageFacts } from './features.ts';

/** The kinds that trees are fitted to; page-kind.ts splits these further. */
export const FITTED_KINDS = [
  'article',
  'documentation',
  'forum',
  'listing',
  'collection',
  'product',
  'service',
] as const;

/** The probability of a kind, from the probabilities of all FITTED_KINDS. */
export const probabilityOfKind = (kinds: Float32Array, kind: (typeof FITTED_KINDS)[number]): number =>
  kinds[FITTED_KINDS.indexOf(kind)]!;

/** Elements for which the share of the page's words is a feature. */
const TAGS = ['p', 'li', 'td', 'pre', 'dd', 'div', 'h1', 'h2', 'h3', 'code', 'blockquote', 'a'] as const;
const TAG_AT = new Map<string, number>(TAGS.map((name, at) => [name, at]));

/** Types of schema.org and Open Graph, grouped by meaning; the first type of a group is the name of the feature. */
const CLAIMS: readonly (readonly string[])[] = [
  ['article', 'newsarticle', 'blogposting', 'og:article', 'reportagenewsarticle', 'recipe', 'report'],
  ['product', 'og:product', 'productgroup', 'og:og:product', 'offer', 'aggregateoffer'],
  ['discussionforumposting', 'comment'],
  ['qapage', 'question', 'answer'],
  ['collectionpage', 'itemlist', 'searchresultspage', 'offercatalog', 'listitem', 'blog'],
  ['og:website', 'website'],
  ['faqpage'],
  ['service', 'localbusiness', 'softwareapplication'],
  ['videoobject', 'og:video', 'og:video.other'],
  ['apireference', 'techarticle', 'howto'],
  ['organization'],
  ['breadcrumblist'],
  ['person'],
  ['event'],
];

const COUNTS = [
  'words',
  'links',
  'blocks',
  'prose',
  'longest',
  'proseBlocks',
  'proseMean',
  'firstProse',
  'prices',
  'images',
  'questions',
  'digits',
  'dots',
  'times',
  'articles',
  'forms',
  'main',
  'h1',
  'h2',
] as const;
const LARGEST = ['count', 'share', 'mean', 'images', 'prices', 'links'] as const;
const URL_FEATURES = [
  ...['depth', 'isRoot', 'hasExtension', 'slugWords', 'hasNumber'],
  ...PARTS.map((name): string => name),
].map((name) => `url.${name}`);
/** Value of URL_FEATURES if the URL is unknown. */
const UNKNOWN = -1;

/** The name of each feature. */
export const PAGE_FEATURES: readonly string[] = [
  ...PARTS.map((name) => `in.${name}`),
  ...PARTS.map((name) => `boxes.${name}`),
  ...PHRASES.map((name) => `says.${name}`),
  ...TAGS.map((name) => `tag.${name}`),
  ...CLAIMS.map(([name]) => `claims.${name}`),
  ...COUNTS,
  ...LARGEST.map((name) => `largest.${name}`),
  'titleWords',
  ...URL_FEATURES,
];

const log = Math.log1p;

/** Computes the PAGE_FEATURES of a page. */
export function computePageFeatures(survey: Survey, records: Records, facts: PageFacts): Float32Array {
  const row = new Float32Array(PAGE_FEATURES.length);
  const total = Math.max(1, survey.words[0] ?? 0);
  let to = 0;
  const { inside, boxes } = partsOf(survey);
  for (const words of inside) row[to++] = words / total;
  for (const count of boxes) row[to++] = log(count);
  const text = textOf(survey);
  for (const count of text.phrases) row[to++] = count / Math.max(1, survey.blocks.length);
  for (const words of text.tags) row[to++] = words / total;
  for (const claim of CLAIMS) row[to++] = claim.some((type) => facts.types.has(type)) ? 1 : 0;
  to = writeCounts(row, to, survey, records, text);
  to = writeLargest(row, to, records, total);
  row[to] = facts.title.split(' ').length;
  return withUrlFeatures(row, facts);
}

/** Sets the features of the URL in a row of PAGE_FEATURES, in place. */
export function withUrlFeatures(row: Float32Array, { hasUrl, path, urlDepth, urlParts }: PageFacts): Float32Array {
  let to = PAGE_FEATURES.length - URL_FEATURES.length;
  if (!hasUrl) return row.fill(UNKNOWN, to);
  const slug = path.slice(path.lastIndexOf('/', path.length - 2) + 1).replace('/', '');
  row[to++] = urlDepth;
  row[to++] = urlDepth === 0 ? 1 : 0;
  row[to++] = /\.[a-z0-9]{2,5}$/i.test(slug) ? 1 : 0;
  row[to++] = slug.split(/[-_+]/).filter((word) => /[a-z]/i.test(word)).length;
  row[to++] = /\d{3,}/.test(slug) ? 1 : 0;
  for (let part = 0; part < PARTS.length; part++) row[to++] = (urlParts >>> part) & 1;
  return row;
}

/** For each part, the words inside it, and the number of boxes with its name. */
function partsOf({ elements, parent, parts, words }: Survey): { inside: Float64Array; boxes: Float64Array } {
  const inside = new Float64Array(PARTS.length);
  const boxes = new Float64Array(PARTS.length);
  const around = new Int32Array(elements.length);
  for (let at = 0; at < elements.length; at++) {
    const above = parent[at]! < 0 ? 0 : around[parent[at]!]!;
    const own = parts[at]!;
    around[at] = above | own;
    for (let rest = own; rest !== 0; rest &= rest - 1) {
      const part = 31 - Math.clz32(rest & -rest);
      boxes[part]! += 1;
      if (((above >>> part) & 1) === 0) inside[part]! += words[at]!;
    }
  }
  return { inside, boxes };
}

interface TextCounts {
  phrases: Float64Array;
  tags: Float64Array;
  prose: number;
  proseBlocks: number;
  firstProse: number;
  longest: number;
  questions: number;
  dots: number;
  digits: number;
  characters: number;
}

function textOf({ blocks, elements }: Survey): TextCounts {
  const counts: TextCounts = {
    phrases: new Float64Array(PHRASES.length),
    tags: new Float64Array(TAGS.length),
    prose: 0,
    proseBlocks: 0,
    firstProse: -1,
    longest: 0,
    questions: 0,
    dots: 0,
    digits: 0,
    characters: 0,
  };
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at]!;
    for (let rest = block.phrases; rest !== 0; rest &= rest - 1) {
      counts.phrases[31 - Math.clz32(rest & -rest)]! += 1;
    }
    const tag = TAG_AT.get(elements[block.owner]!.name);
    if (tag !== undefined) counts.tags[tag]! += block.words;
    if (isProse(block)) {
      counts.prose += block.words;
      counts.proseBlocks += 1;
      if (counts.firstProse < 0) counts.firstProse = at / blocks.length;
    }
    counts.longest = Math.max(counts.longest, block.words - block.linkWords);
    counts.digits += block.digits;
    counts.characters += block.characters;
    if (block.text.endsWith('?')) counts.questions += 1;
    if (endsWithEllipsis(block.text)) counts.dots += 1;
  }
  return counts;
}

/** Whether a text ends in an ellipsis, as teasers do. */
export const endsWithEllipsis = (text: string): boolean => text.endsWith('…') || text.endsWith('...');

function writeCounts(row: Float32Array, start: number, survey: Survey, records: Records, text: TextCounts): number {
  let to = start;
  const { elements, words, blocks } = survey;
  const total = Math.max(1, words[0] ?? 0);
  let times = 0;
  let articles = 0;
  let forms = 0;
  let main = 0;
  const headings = [0, 0, 0];
  for (let at = 0; at < elements.length; at++) {
    const { name } = elements[at]!;
    if (name === 'time') times++;
    else if (name === 'article') articles++;
    else if (name === 'form') forms++;
    else if (name === 'main') main = Math.max(main, words[at]! / total);
    else if (headingLevel(name) > 0 && headingLevel(name) < 3) headings[headingLevel(name)]! += 1;
  }
  row[to++] = log(total);
  row[to++] = (survey.linkWords[0] ?? 0) / total;
  row[to++] = log(blocks.length);
  row[to++] = text.prose / total;
  row[to++] = log(text.longest);
  row[to++] = log(text.proseBlocks);
  row[to++] = text.prose / Math.max(1, text.proseBlocks);
  row[to++] = text.firstProse;
  row[to++] = log(records.prices[0] ?? 0);
  row[to++] = log(records.images[0] ?? 0);
  row[to++] = text.questions / Math.max(1, blocks.length);
  row[to++] = text.digits / Math.max(1, text.characters);
  row[to++] = log(text.dots);
  row[to++] = log(times);
  row[to++] = log(articles);
  row[to++] = forms;
  row[to++] = main;
  row[to++] = headings[1]!;
  row[to++] = log(headings[2]!);
  return to;
}

/** Writes the group of similar boxes that contains most of the page; the words of links count half. */
function writeLargest(row: Float32Array, start: number, { groups }: Records, total: number): number {
  let to = start;
  const massOf = (at: number) => groups.words[at]! - groups.linkWords[at]! / 2;
  let best = -1;
  for (let at = 0; at < groups.size; at++) {
    if (groups.count[at]! < 3 || groups.words[at]! < 3 * groups.count[at]!) continue;
    if (best < 0 || massOf(at) > massOf(best)) best = at;
  }
  if (best < 0) return to + LARGEST.length;
  const count = groups.count[best]!;
  const words = groups.words[best]!;
  row[to++] = log(count);
  row[to++] = words / total;
  row[to++] = log(words / count);
  row[to++] = groups.images[best]! / count;
  row[to++] = groups.prices[best]! / count;
  row[to++] = groups.linkWords[best]! / Math.max(1, words);
  return to;
}
