/**
 * Fits the trees that choose content: `npm run fit:extraction -- <folder> --scorer <module> [--check]` writes
 * src/reader/extract/weights.ts. With `--check` nothing is written: the sites are cut into five parts, each part is
 * extracted with trees fitted to the other four, and the score of all is what pages never seen would get.
 *
 * The scorer is the module that bench/extraction.ts takes; it also exports `stripMarkdown`.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Document, type Element, find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '#reader/extract/class-words.ts';
import { pageFacts } from '#reader/extract/facts.ts';
import { describeBlocks, FEATURES, type PageFacts } from '#reader/extract/features.ts';
import { removeHidden } from '#reader/extract/hidden.ts';
import { copyKept } from '#reader/extract/keep.ts';
import { extractMetadata } from '#reader/extract/metadata.ts';
import { selectContent } from '#reader/extract/select-content.ts';
import { settle } from '#reader/extract/settle.ts';
import { type Survey, survey } from '#reader/extract/survey.ts';
import { readTrees } from '#reader/extract/trees.ts';
import { MARKDOWN_STYLE_DEFAULTS } from '#reader/markdown/style.ts';
import { toMarkdown } from '#reader/markdown/to-markdown.ts';
import { type BoostOptions, boost, cutIntoBins, writeTrees } from './boost.ts';
import { type Gold, labelBySnippets, labelByText, wordsOf } from './labels.ts';

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
const PARTS = 5;
/** What a page of each set counts; sets whose gold is another extractor's output count less. */
const PAGE_WEIGHTS: Record<string, number> = { aeb: 1.2, wcxb: 1 };
const OTHER_WEIGHT = 0.4;
const SNIPPET_WEIGHT = 0.12;

interface TestPage {
  dataset: string;
  id: string;
  url: string;
  html: string;
  gold: Gold;
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
  rows: Float32Array;
  answer: Float32Array;
  weight: Float32Array;
  /** Pages of one site are always in the same part. */
  part: number;
}

const readClass = createClassReader();

function siteOf({ url, id }: TestPage): string {
  return URL.canParse(url) ? new URL(url).hostname.split('.').slice(-2).join('.') : id;
}

function sampleOf(page: TestPage, { stripMarkdown }: Scorer): Sample {
  const url = page.url || 'http://localhost/';
  const document = parseDocument(page.html);
  settle(document);
  const facts = pageFacts(extractMetadata(document, url), url, readClass);
  removeHidden(document);
  const body = find(document, 'body') ?? document;
  const surveyed = survey(body, readClass);
  const blocks = surveyed.blocks.map((block) => wordsOf(block.texts.map((text) => text.value).join('')));
  const strip = (snippets: string[] | undefined) => snippets?.map(stripMarkdown) ?? [];
  const labels =
    page.gold.text === undefined
      ? labelBySnippets(blocks, { with: strip(page.gold.with), without: strip(page.gold.without) }, SNIPPET_WEIGHT)
      : labelByText(blocks, wordsOf(stripMarkdown(page.gold.text)), PAGE_WEIGHTS[page.dataset] ?? OTHER_WEIGHT);
  const part = createHash('md5').update(siteOf(page)).digest()[0]! % PARTS;
  return { page, body, survey: surveyed, facts, rows: describeBlocks(surveyed, facts), ...labels, part };
}

/** Trees fitted to every sample outside one part, as text. */
function createFitter(samples: Sample[]): (without?: number) => string {
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
  return (without) => {
    const rows = Int32Array.from(answers.keys()).filter((row) => weights[row]! > 0 && parts[row] !== without);
    return writeTrees(boost(bins, rows, answers, weights, OPTIONS), FEATURES);
  };
}

function check(samples: Sample[], fitTrees: (without?: number) => string, scorer: Scorer): void {
  const rows: unknown[] = [];
  for (let part = 0; part < PARTS; part++) {
    const trees = readTrees(fitTrees(part), FEATURES);
    for (const sample of samples) {
      if (sample.part !== part) continue;
      const { page, body } = sample;
      const url = page.url || 'http://localhost/';
      const selected = sample.survey.blocks.length ? selectContent(sample.survey, sample.facts, trees) : null;
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
    }
  }
  console.log(scorer.table(scorer.report(rows)));
}

const { values: flags, positionals } = parseArgs({
  options: { scorer: { type: 'string' }, check: { type: 'boolean' } },
  allowPositionals: true,
});
const folder = positionals[0];
if (!folder || !flags.scorer) throw new Error('give the folder of pages, and the scoring module with --scorer');
const scorer: Scorer = await import(pathToFileURL(path.resolve(flags.scorer)).href);
const samples: Sample[] = [];
for await (const page of scorer.pages(folder)) samples.push(sampleOf(page, scorer));
const fitTrees = createFitter(samples);
if (flags.check) check(samples, fitTrees, scorer);
else {
  const target = path.resolve(import.meta.dirname, '../../src/reader/extract/weights.ts');
  const head = '/** Fitted by bench/fit/fit.ts; trees.ts says how to read it. Not written by hand. */';
  writeFileSync(target, `${head}\nexport const WEIGHTS = \`\n${fitTrees()}\n\`;\n`);
}
