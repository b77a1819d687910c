/**
 * Fits the trees that choose content and those that tell what kind of page it is:
 * `npm run fit:extraction -- <folder> --scorer <module> [--check]` writes weights.ts and kind-weights.ts of
 * src/reader/extract. With `--check` nothing is written: the sites are cut into five parts, each part is extracted with
 * trees fitted to the other four, and the score of all is what pages never seen would get. `--cut <word>` cuts the sites
 * in another way.
 *
 * The folder's pages are joined by those of test/fixtures/pages. The scorer is the module that bench/extraction.ts
 * takes; it also exports `stripMarkdown`.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Document, type Element, find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import type { Fitted } from '#reader/extract/choose.ts';
import { kindProbabilities } from '#reader/extract/choose.ts';
import { createClassReader } from '#reader/extract/class-words.ts';
import { pageFacts } from '#reader/extract/facts.ts';
import { describeBlocks, FEATURES, layGround, type PageFacts } from '#reader/extract/features.ts';
import { removeHidden } from '#reader/extract/hidden.ts';
import { copyKept } from '#reader/extract/keep.ts';
import { extractMetadata } from '#reader/extract/metadata.ts';
import { describePage, FITTED_KINDS, PAGE_FEATURES } from '#reader/extract/page-features.ts';
import { selectContent } from '#reader/extract/select-content.ts';
import { settle } from '#reader/extract/settle.ts';
import { type Survey, survey } from '#reader/extract/survey.ts';
import { readTrees, type Trees } from '#reader/extract/trees.ts';
import { MARKDOWN_STYLE_DEFAULTS } from '#reader/markdown/style.ts';
import { toMarkdown } from '#reader/markdown/to-markdown.ts';
import { type Expected, markedElements, ownPages } from '../../test/support/own-pages.ts';
import { type BoostOptions, boost, cutIntoBins, writeTrees } from './boost.ts';
import { type Gold, labelBySnippets, labelByText, wordsOf } from './labels.ts';
import { labelByMarks } from './own-pages.ts';

const OPTIONS: BoostOptions = {
  trees: 120,
  leaves: 16,
  maxDepth: 7,
  rate: 0.1,
  minLeaf: 0.05,
  l2: 0.2,
  columnShare: 0.2,
  rowShare: 0.6,
  seed: 7,
};
/** A page is one row here, so trees are small. */
const KIND_OPTIONS: BoostOptions = {
  trees: 100,
  leaves: 8,
  maxDepth: 3,
  rate: 0.1,
  minLeaf: 1,
  l2: 1,
  columnShare: 0.3,
  rowShare: 0.7,
  seed: 3,
};
const PARTS = 5;
/** What a page of each set counts; sets whose gold is another extractor's output count less. */
const PAGE_WEIGHTS: Record<string, number> = { aeb: 1.2, wcxb: 1, own: 0.6 };
const OTHER_WEIGHT = 0.4;
const SNIPPET_WEIGHT = 0.12;
/** What a page counts when kinds are fitted. The pages of aeb are all articles of news sites. */
const KIND_WEIGHT: Record<string, number> = { wcxb: 1, own: 0.7, aeb: 0.3 };

type FittedKind = (typeof FITTED_KINDS)[number];
/** Kinds that rules tell from a fitted one. */
const FINER: Record<string, FittedKind> = {
  question: 'forum',
  search: 'listing',
  home: 'listing',
  table: 'listing',
  video: 'article',
};

interface TestPage {
  dataset: string;
  id: string;
  url: string;
  html: string;
  gold: Gold & { type?: string };
}

interface Scorer {
  pages(folder: string): AsyncIterable<TestPage>;
  stripMarkdown(text: string): string;
  scorePage(dataset: string, predicted: string, gold: unknown): unknown;
  report(rows: unknown[]): unknown;
  table(report: unknown): string;
}

interface Sample {
  page: TestPage;
  body: Document | Element;
  survey: Survey;
  facts: PageFacts;
  numbers: Float32Array;
  /** Number of its FITTED_KINDS; -1 when nobody said. */
  kind: number;
  /** FEATURES for each block; the probabilities of kinds, the last ones, are written before each fit. */
  rows: Float32Array;
  answer: Float32Array;
  weight: Float32Array;
  /** Pages of one site are always in the same part. */
  part: number;
}

const { values: flags, positionals } = parseArgs({
  options: { scorer: { type: 'string' }, check: { type: 'boolean' }, cut: { type: 'string', default: '' } },
  allowPositionals: true,
});

const readClass = createClassReader();

/** Host names that stand for no site. */
const NO_SITE = new Set(['localhost', 'fakehost']);

function siteOf({ url, id }: TestPage): string {
  const { hostname } = new URL(URL.canParse(url) ? url : 'http://localhost/');
  return NO_SITE.has(hostname) ? id : hostname.split('.').slice(-2).join('.');
}

function kindOf({ dataset, gold }: TestPage): number {
  const kind = gold.type ?? (dataset === 'aeb' ? 'article' : '');
  return FITTED_KINDS.indexOf((FINER[kind] ?? kind) as FittedKind);
}

function sampleOf(page: TestPage, { stripMarkdown }: Scorer, own?: Expected): Sample {
  const url = page.url || 'http://localhost/';
  const document = parseDocument(page.html);
  const marked = own && markedElements(document, own);
  settle(document);
  const facts = pageFacts(extractMetadata(document, url), url, readClass);
  removeHidden(document);
  const body = find(document, 'body') ?? document;
  const surveyed = survey(body, readClass);
  const weight = PAGE_WEIGHTS[page.dataset] ?? OTHER_WEIGHT;
  const blocks = surveyed.blocks.map((block) => wordsOf(block.texts.map((text) => text.value).join('')));
  const strip = (snippets: string[] | undefined) => snippets?.map(stripMarkdown) ?? [];
  const labels = marked
    ? labelByMarks(surveyed, marked, weight)
    : page.gold.text === undefined
      ? labelBySnippets(blocks, { with: strip(page.gold.with), without: strip(page.gold.without) }, SNIPPET_WEIGHT)
      : labelByText(blocks, wordsOf(stripMarkdown(page.gold.text)), weight);
  const text = surveyed.blocks
    .filter((_, at) => labels.answer[at])
    .flatMap((block) => block.texts.map((one) => one.value));
  const numbers = new Float32Array(PAGE_FEATURES.length);
  const kinds = new Float32Array(FITTED_KINDS.length);
  let rows = new Float32Array();
  if (surveyed.blocks.length > 0) {
    const ground = layGround(surveyed);
    numbers.set(describePage(surveyed, ground.records, facts));
    rows = describeBlocks(surveyed, ground, { ...facts, numbers, kinds }) as typeof rows;
  }
  return {
    page: { ...page, html: '', gold: own ? { text: text.join(' '), ...page.gold } : page.gold },
    body,
    survey: surveyed,
    facts,
    numbers,
    kind: kindOf(page),
    rows,
    ...labels,
    part:
      createHash('md5')
        .update(siteOf(page) + flags.cut)
        .digest()[0]! % PARTS,
  };
}

/** Trees for each kind, fitted to every sample outside some parts, as text. */
function fitKinds(samples: readonly Sample[], without: readonly number[]): string[] {
  const values = new Float32Array(samples.length * PAGE_FEATURES.length);
  for (const [at, { numbers }] of samples.entries()) values.set(numbers, at * PAGE_FEATURES.length);
  const bins = cutIntoBins(values, PAGE_FEATURES.length);
  const weights = Float32Array.from(samples, ({ page, kind }) => (kind < 0 ? 0 : (KIND_WEIGHT[page.dataset] ?? 0)));
  const rows = Int32Array.from(samples.keys()).filter(
    (row) => weights[row]! > 0 && !without.includes(samples[row]!.part),
  );
  return FITTED_KINDS.map((_, kind) => {
    const answers = Float32Array.from(samples, (sample) => (sample.kind === kind ? 1 : 0));
    return writeTrees(boost(bins, rows, answers, weights, KIND_OPTIONS), PAGE_FEATURES);
  });
}

const readKinds = (texts: readonly string[]): Trees[] => texts.map((text) => readTrees(text, PAGE_FEATURES));

function writeKinds(sample: Sample, trees: readonly Trees[]): void {
  const kinds = kindProbabilities(trees, sample.numbers);
  const width = FEATURES.length;
  for (let end = width; end <= sample.rows.length; end += width) sample.rows.set(kinds, end - kinds.length);
}

/** Trees that choose blocks, fitted to every sample outside one part, as text. */
function fitBlocks(samples: readonly Sample[], without?: number): string {
  const size = samples.reduce((sum, sample) => sum + sample.answer.length, 0);
  const values = new Float32Array(size * FEATURES.length);
  const answers = new Float32Array(size);
  const weights = new Float32Array(size);
  const parts = new Uint8Array(size);
  let from = 0;
  for (const sample of samples) {
    values.set(sample.rows, from * FEATURES.length);
    answers.set(sample.answer, from);
    weights.set(sample.weight, from);
    parts.fill(sample.part, from, from + sample.answer.length);
    from += sample.answer.length;
  }
  const bins = cutIntoBins(values, FEATURES.length);
  const rows = Int32Array.from(answers.keys()).filter((row) => weights[row]! > 0 && parts[row] !== without);
  return writeTrees(boost(bins, rows, answers, weights, OPTIONS), FEATURES);
}

interface FittedTexts {
  blocks: string;
  kinds: string[];
}

/**
 * Fits everything to the samples outside one part. What the kinds of a sample are taken for comes from trees that were
 * not fitted to its part, as it will be for pages never seen.
 */
function fitAll(samples: readonly Sample[], without?: number): FittedTexts {
  const left = without === undefined ? [] : [without];
  for (let part = 0; part < PARTS; part++) {
    if (part === without) continue;
    const trees = readKinds(fitKinds(samples, [...left, part]));
    for (const sample of samples) if (sample.part === part) writeKinds(sample, trees);
  }
  return { blocks: fitBlocks(samples, without), kinds: fitKinds(samples, left) };
}

function check(samples: readonly Sample[], scorer: Scorer): void {
  const rows: unknown[] = [];
  let right = 0;
  const known = samples.filter(({ kind, page }) => kind >= 0 && page.dataset === 'wcxb').length;
  for (let part = 0; part < PARTS; part++) {
    const texts = fitAll(samples, part);
    const fitted: Fitted = { blocks: readTrees(texts.blocks, FEATURES), kinds: readKinds(texts.kinds) };
    for (const sample of samples) {
      if (sample.part !== part) continue;
      const { page, body } = sample;
      const url = page.url || 'http://localhost/';
      const selected = sample.survey.blocks.length ? selectContent(sample.survey, sample.facts, fitted) : null;
      const { markdown } = toMarkdown(selected ? copyKept(body, sample.survey, selected.keep) : body, {
        ...MARKDOWN_STYLE_DEFAULTS,
        pageUrl: url,
        baseUrl: url,
        gfm: 'all',
        retainLinks: 'all',
        retainImages: 'all',
        keepImgDataUrl: false,
      });
      const score = scorer.scorePage(page.dataset, markdown, page.gold);
      rows.push({ dataset: page.dataset, id: page.id, empty: !markdown.trim(), score });
      if (page.dataset === 'wcxb' && selected?.choice && sample.kind >= 0) {
        const { kinds } = selected.choice;
        if (kinds.indexOf(Math.max(...kinds)) === sample.kind) right++;
      }
    }
  }
  console.log(scorer.table(scorer.report(rows)));
  console.log(`kinds right: ${right} of ${known} pages of wcxb`);
}

const HEAD = '/** Fitted by bench/fit/fit.ts; trees.ts says how to read it. Not written by hand. */\n';

function write({ blocks, kinds }: FittedTexts): void {
  const folder = path.resolve(import.meta.dirname, '../../src/reader/extract');
  writeFileSync(path.join(folder, 'weights.ts'), `${HEAD}export const WEIGHTS = \`\n${blocks}\n\`;\n`);
  const rows = FITTED_KINDS.map((kind, at) => `  ${kind}: \`\n${kinds[at]}\n\`,\n`).join('');
  const type = "import type { FITTED_KINDS } from './page-features.ts';\n\n";
  const open = 'export const KIND_WEIGHTS: Record<(typeof FITTED_KINDS)[number], string> = {\n';
  writeFileSync(path.join(folder, 'kind-weights.ts'), `${HEAD}${type}${open}${rows}};\n`);
}

const folder = positionals[0];
if (!folder || !flags.scorer) throw new Error('give the folder of pages, and the scoring module with --scorer');
const scorer: Scorer = await import(pathToFileURL(path.resolve(flags.scorer)).href);
const samples: Sample[] = [];
for await (const page of scorer.pages(folder)) samples.push(sampleOf(page, scorer));
for (const { name, html, expected } of ownPages()) {
  const { url, kind, content } = expected;
  if (!url || !kind || !content) continue;
  samples.push(sampleOf({ dataset: 'own', id: name, url, html, gold: { type: kind } }, scorer, expected));
}
if (flags.check) check(samples, scorer);
else write(fitAll(samples));
