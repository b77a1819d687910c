/** `POST /search`: a list of results for each source, with their pages if `scrapeOptions` asks for formats. */
import { randomUUID } from 'node:crypto';
import { Problem, problem } from '#errors.ts';
import type { Answer } from '#search/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renamePath } from '../fields.ts';
import { writeDocument } from './document.ts';
import { SEARCH_FIELDS, type SearchRequestFields, type Source, type Version } from './fields.ts';
import { needsModel } from './formats.ts';
import { renameProblem } from './names.ts';
import { readTbs } from './tbs.ts';
import { type ReadPlan, toRead } from './to-read.ts';

const FIELD_NAMES = {
  q: 'query',
  num: 'limit',
  gl: 'country',
  hl: 'lang',
  since: 'tbs',
  until: 'tbs',
  site: 'includeDomains',
};
const DEFAULT_LIMIT = 5;
/** Results of one search of ours. */
const PAGE_SIZE = 20;
const LIST_S = 10;
const MAX_TIMEOUT_S = 180;
/** Some clients send seconds. */
const MIN_TIMEOUT_MS = 1_000;
const CATEGORY_SITES = {
  github: ['github.com'],
  research: ['arxiv.org', 'nature.com', 'ieee.org', 'acm.org', 'semanticscholar.org', 'pubmed.ncbi.nlm.nih.gov'],
  pdf: [],
} as const;
const TYPES = { web: 'web', news: 'news', images: 'images' } as const satisfies Record<Source, string>;

type Result = Answer['results'][number];

export const search = (version: Version) => async (call: CompatCall) => {
  const asked = readFields(SEARCH_FIELDS, call.body);
  const plan = pagesOf(asked, version);
  const warnings = [...(plan?.warnings ?? [])];
  const fields = searchFields(asked, plan, warnings);
  const sources: readonly Source[] = asked.sources?.length ? [...new Set(asked.sources)] : ['web'];
  const found = await Promise.all(
    sources.map(
      async (source) => [source, await resultsOf(call, { ...fields, type: TYPES[source] }, { asked, plan })] as const,
    ),
  ).catch((error: unknown) => {
    throw renameProblem(error instanceof Problem ? renamePath(error, FIELD_NAMES) : error, 'scrapeOptions.');
  });
  for (const [, { notice, results }] of found) {
    if (notice) warnings.push(notice);
    if (plan) warnings.push(...results.flatMap(unreadWarning));
  }
  const items = found.map(
    ([source, { results }]) =>
      [source, results.map((result, at) => writeResult(result, at, { source, plan }))] as const,
  );
  return sendJson(call.reply, {
    success: true,
    data: version === 'v1' ? (items.find(([source]) => source === 'web') ?? items[0]!)[1] : Object.fromEntries(items),
    ...(version === 'v2' && { id: randomUUID(), creditsUsed: items.reduce((sum, [, list]) => sum + list.length, 0) }),
    ...(warnings.length > 0 && { warning: warnings.join('\n') }),
  });
};

/** How to read the pages of the results; `undefined` if they are not read. */
function pagesOf({ scrapeOptions }: SearchRequestFields, version: Version): ReadPlan | undefined {
  if (!scrapeOptions?.formats?.length) return undefined;
  const plan = toRead(scrapeOptions, version, 'scrapeOptions.');
  const path = 'scrapeOptions.formats';
  if (needsModel(plan.formats)) {
    const message = `${path}: json and summary are only possible in a scrape or a batch`;
    throw problem('ParamValidationError', { path, message });
  }
  return plan;
}

function searchFields(asked: SearchRequestFields, plan: ReadPlan | undefined, warnings: string[]) {
  const { query, lang, country, location, includeDomains, excludeDomains, categories = [], tbs } = asked;
  if (includeDomains?.length && excludeDomains?.length) {
    const message = 'includeDomains and excludeDomains cannot be sent together';
    throw problem('ParamValidationError', { path: 'excludeDomains', message });
  }
  for (const name of ['filter', 'enterprise', 'highlights'] as const) {
    if (asked[name]) warnings.push(`${name} is ignored.`);
  }
  const sites = [...(includeDomains ?? []), ...categories.flatMap((name) => CATEGORY_SITES[name])];
  const excluded = (excludeDomains ?? []).map((domain) => ` -site:${domain}`).join('');
  // `base` is for a single page, and a search has a time limit of its own.
  const { base: _, timeout: __, ...reading } = plan?.given ?? {};
  return {
    q: query + excluded,
    ...(plan && { respondTiming: 'resource-idle' }),
    ...reading,
    timeout: timeoutOf(asked, plan),
    ...(!plan && { respondWith: 'no-content' }),
    ...(sites.length > 0 && { site: sites }),
    ...(categories.includes('pdf') && { filetype: ['pdf'] }),
    ...(country && { gl: country }),
    ...(lang && { hl: lang }),
    ...(typeof location === 'string' && location && { location }),
    ...(tbs && readTbs(tbs, Date.now())),
  };
}

/** Without a time limit of the caller, a search that reads pages has that of the search host. */
function timeoutOf({ timeout }: SearchRequestFields, plan: ReadPlan | undefined): number | undefined {
  if (timeout === undefined) return plan ? undefined : LIST_S;
  const seconds = timeout < MIN_TIMEOUT_MS ? timeout : Math.ceil(timeout / 1_000);
  return Math.min(seconds, MAX_TIMEOUT_S);
}

interface SearchContext {
  readonly asked: SearchRequestFields;
  readonly plan: ReadPlan | undefined;
}

/** Searches page by page until there are enough results. */
async function resultsOf(
  call: CompatCall,
  fields: Readonly<Record<string, unknown>>,
  { asked: { limit = DEFAULT_LIMIT }, plan }: SearchContext,
): Promise<{ readonly results: readonly Result[]; readonly notice?: string | undefined }> {
  const results: Result[] = [];
  let notice: string | undefined;
  for (let page = 1; results.length < limit; page++) {
    const num = Math.min(limit, PAGE_SIZE);
    const given = { ...fields, num, ...(page > 1 && { page }) };
    const answer = await call.native.search(call, given, plan && (plan.formats.html ? 'html' : 'facts'));
    const known = new Set(results.map(({ url }) => url));
    const fresh = answer.results.filter(({ url }) => !known.has(url));
    notice ??= answer.notice;
    results.push(...fresh);
    if (fresh.length === 0 || answer.results.length < num) break;
  }
  return { results: results.slice(0, limit), notice };
}

interface ItemContext {
  readonly source: Source;
  readonly plan: ReadPlan | undefined;
}

/** An item must not have a field of a document unless its page was read: clients would take it for a document. */
function writeResult(result: Result, at: number, { source, plan }: ItemContext): object {
  const { url, title, description, date, imageUrl, imageWidth, imageHeight } = result;
  const position = at + 1;
  const item =
    source === 'images'
      ? { title, imageUrl, imageWidth, imageHeight, url, position }
      : source === 'news'
        ? { title, url, snippet: description, date, imageUrl, position }
        : { url, title, description, position };
  const shown = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));
  return plan && isRead(result) ? { ...shown, ...pageOf(result, plan) } : shown;
}

const isRead = ({ details }: Result): boolean => details !== undefined;

/** Why a page is missing, although it should have been read. */
const unreadWarning = (result: Result): string[] =>
  isRead(result) || !result.warning ? [] : [`${result.url}: ${result.warning}`];

function pageOf(result: Result, { formats, documents }: ReadPlan): object {
  return writeDocument({
    page: result,
    details: result.details,
    ...{ formats, documents, sourceUrl: result.url, scrapeId: randomUUID(), warnings: [] },
  });
}
