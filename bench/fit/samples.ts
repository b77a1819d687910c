/** Annotated pages and our own pages as training samples. */
import { createHash } from 'node:crypto';
import { type Document, type Element, find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '#reader/extract/blocks/class-words.ts';
import { type Survey, survey } from '#reader/extract/blocks/survey.ts';
import { extractMetadata } from '#reader/extract/metadata/metadata.ts';
import { computeBlockFeatures, createPageContext, type PageFacts } from '#reader/extract/trees/features.ts';
import { pageFacts, withoutUrl } from '#reader/extract/trees/page-facts.ts';
import { computePageFeatures, FITTED_KINDS, PAGE_FEATURES } from '#reader/extract/trees/page-features.ts';
import { createTokenModel } from '#reader/extract/trees/token-model.ts';
import { scoreTokens } from '#reader/extract/trees/token-scores.ts';
import { removeInvisibleParts } from '#reader/extract/visibility/invisible-parts.ts';
import type { MicroPage } from '../../test/support/micro-pages/micro-page.ts';
import { type Expected, labelledElements, labelledText, ownPages } from '../../test/support/own-pages.ts';
import type { Scorer, TestPage } from '../scorer.ts';
import { labelBySnippets, labelByText, wordsOf } from './labels.ts';
import { labelMicroPage, microTestPages } from './micro-labels.ts';
import { labelByMarks } from './own-pages.ts';

/** Number of parts for cross-validation. */
export const PARTS = 5;
/** Weight of a page in each set. Sets whose gold text is the output of another extractor have a lower weight. */
const PAGE_WEIGHTS: Record<string, number> = { aeb: 1.2, wcxb: 1, own: 0.6 };
const OTHER_WEIGHT = 0.4;
const SNIPPET_WEIGHT = 0.12;

type FittedKind = (typeof FITTED_KINDS)[number];
/** Kinds that rules derive from a fitted kind. */
const FINER: Record<string, FittedKind> = {
  question: 'forum',
  search: 'listing',
  home: 'listing',
  table: 'listing',
  video: 'article',
};

export interface Sample {
  page: TestPage;
  body: Document | Element;
  survey: Survey;
  facts: PageFacts;
  /** PAGE_FEATURES without those of the URL. */
  numbers: Float32Array;
  /** Index into FITTED_KINDS; -1 if unknown. */
  kind: number;
  /** FEATURES of each block. Those of tokens and the probabilities of the kinds are filled in before each fit. */
  rows: Float32Array;
  answer: Float32Array;
  weight: Float32Array;
  site: string;
  /** All pages of a site are in the same part. */
  part: number;
  /** For our own pages: the expectation, and the text that is labelled as content. */
  own?: { expected: Expected; text: string };
  micro?: MicroPage;
}

const readClass = createClassReader();

const NO_TOKENS = (surveyed: Survey) => scoreTokens(surveyed, createTokenModel(0, []));

/** Host names that do not identify a site. */
const NO_SITE = new Set(['localhost', 'fakehost']);

function siteOf({ url, id }: TestPage): string {
  const { hostname } = new URL(URL.canParse(url) ? url : 'http://localhost/');
  return NO_SITE.has(hostname) ? id : hostname.split('.').slice(-2).join('.');
}

function kindOf({ dataset, gold }: TestPage): number {
  const kind = gold.type ?? (dataset === 'aeb' ? 'article' : '');
  return FITTED_KINDS.indexOf((FINER[kind] ?? kind) as FittedKind);
}

const textOf = ({ texts }: Survey, from: number, to: number): string =>
  texts
    .slice(from, to)
    .map((text) => text.value)
    .join('');

interface SampleOptions {
  cut: string;
  expected?: Expected;
  micro?: MicroPage;
}

function sampleOf(page: TestPage, { stripMarkdown }: Scorer, { cut, expected, micro }: SampleOptions): Sample {
  const url = page.url || 'http://localhost/';
  const document = parseDocument(page.html);
  const marked = expected && labelledElements(document, expected);
  const own = expected && { expected, text: labelledText(document, expected) };
  removeInvisibleParts(document, { allowsLastResort: true });
  const facts = pageFacts(extractMetadata(document, url), url, readClass);
  const body = find(document, 'body') ?? document;
  const surveyed = survey(body, readClass);
  const weight = PAGE_WEIGHTS[page.dataset] ?? OTHER_WEIGHT;
  const blocks = surveyed.blocks.map(({ firstText, endText }) => wordsOf(textOf(surveyed, firstText, endText)));
  const strip = (snippets: string[] | undefined) => snippets?.map(stripMarkdown) ?? [];
  const labels = micro
    ? labelMicroPage(surveyed, micro)
    : marked
      ? labelByMarks(surveyed, marked, weight)
      : page.gold.text === undefined
        ? labelBySnippets(blocks, { with: strip(page.gold.with), without: strip(page.gold.without) }, SNIPPET_WEIGHT)
        : labelByText(blocks, wordsOf(stripMarkdown(page.gold.text)), weight);
  const site = micro ? micro.family : siteOf(page);
  const features = new Float32Array(PAGE_FEATURES.length);
  const kinds = new Float32Array(FITTED_KINDS.length);
  let rows = new Float32Array();
  if (surveyed.blocks.length > 0) {
    const ground = createPageContext(surveyed);
    features.set(computePageFeatures(surveyed, ground.records, withoutUrl(facts)));
    rows = computeBlockFeatures(surveyed, ground, {
      ...withoutUrl(facts),
      features,
      kinds,
      tokens: NO_TOKENS(surveyed),
    }) as typeof rows;
  }
  return {
    page: { ...page, html: '', gold: { ...(own && { text: own.text }), ...page.gold } },
    body,
    survey: surveyed,
    facts,
    numbers: features,
    kind: kindOf(page),
    rows,
    ...labels,
    site,
    part:
      createHash('md5')
        .update(site + cut)
        .digest()[0]! % PARTS,
    ...(own && { own }),
    ...(micro && { micro }),
  };
}

/** Whether the labels of one of our own pages are complete enough for fitting. */
export const isLabelled = ({ url, kind, content }: Expected): boolean => Boolean(url && kind && content);

/**
 * The pages of a folder, at most `limit` of each set, and our own pages. `cut` is an arbitrary word. A different word
 * splits the sites differently.
 */
export async function readSamples(
  folder: string,
  scorer: Scorer,
  { limit, cut = '' }: { limit?: number | undefined; cut?: string | undefined } = {},
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for await (const page of scorer.pages(folder, limit ? { limit } : {})) samples.push(sampleOf(page, scorer, { cut }));
  for (const { name, html, expected } of ownPages()) {
    if (!isLabelled(expected)) continue;
    const { url = '', kind = '' } = expected;
    samples.push(sampleOf({ dataset: 'own', id: name, url, html, gold: { type: kind } }, scorer, { cut, expected }));
  }
  for (const { page, micro } of microTestPages()) samples.push(sampleOf(page, scorer, { cut, micro }));
  return samples;
}
