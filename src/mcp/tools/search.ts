/** Two search tools: the web, and the local index of pages this server has read. */
import * as z from 'zod';
import type { FoundPage, SearchOptions } from '#client/index.ts';
import { describe } from '#http/openapi.ts';
import { findStaleWarning, loadTokens, OPTIONS } from '#reader/index.ts';
import { ALL_OPTIONS, SEARCH_TYPES } from '#search/index.ts';
import { divideTokens, takeExcerpt } from '../budget.ts';
import { ToolError } from '../failures.ts';
import { defineTool, maxTokens, type ToolCall, textResult } from '../tool.ts';
import { markUntrusted, withoutMarks } from '../untrusted-marks.ts';

type Name = keyof typeof ALL_OPTIONS;

const option = <Schema extends z.ZodType>(name: Name, schema: Schema) =>
  schema.optional().describe(describe(ALL_OPTIONS[name]));

const MAX_RESULTS = 20;
const DEFAULT_RESULTS = 5;

const shared = {
  query: z.string().min(1).describe(describe(ALL_OPTIONS.q)),
  num: z.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS).describe(`Number of results, 1 to ${MAX_RESULTS}.`),
  page: option('page', z.int().min(1)),
  content: z
    .enum(['none', 'passages', 'pages'])
    .default('none')
    .describe(
      '`none` is fast: titles, URLs and descriptions. `passages` reads the pages and returns the passages most relevant to the query. `pages` returns the beginnings of the pages.',
    ),
  site: option('site', z.union([z.string(), z.array(z.string())])),
  max_tokens: maxTokens(),
};

/** Options that the arguments above set, or that have no effect in these tools. */
const EXCLUDED_OPTIONS = [
  'q',
  'num',
  'count',
  'page',
  'site',
  'respondWith',
  'passages',
  'withFavicons',
  'explain',
  'trace',
] as const;
const FURTHER_OPTIONS = Object.keys(ALL_OPTIONS).filter((name) => !EXCLUDED_OPTIONS.some((other) => other === name));

/** Describes `options`. The reader options are listed only in read_url. */
const furtherOptions = (own: readonly string[]) => {
  const names = FURTHER_OPTIONS.filter((name) => !(name in OPTIONS) && !own.includes(name));
  return z
    .record(z.string(), z.unknown())
    .optional()
    .describe(`Further search options by name: ${names.join(', ')}; and reader options as in read_url.`);
};

export const searchWeb = defineTool({
  name: 'search_web',
  title: 'Search the web',
  description:
    'Searches the web and returns titles, URLs and descriptions, optionally with page content (`content`). Read a result with read_url.',
  input: z.strictObject({
    ...shared,
    type: option('type', z.enum(SEARCH_TYPES)),
    sources: option('sources', z.union([z.string(), z.array(z.string())])),
    gl: option('gl', z.string()),
    hl: option('hl', z.string()),
    since: option('since', z.string()),
    until: option('until', z.string()),
    provider: option('provider', z.string()),
    options: furtherOptions(['type', 'sources', 'gl', 'hl', 'since', 'until', 'provider']),
  }),
  openWorld: true,
  steps: () => 1,
  progressMessage: ({ query }) => `Searching for ${query}`,
  run: (args, call) => search(args, call, {}),
});

export const searchIndex = defineTool({
  name: 'search_index',
  title: 'Search pages read before',
  description:
    'Searches the local index of pages this Lectern server has read, by words and meaning. Makes no requests to the web.',
  input: z.strictObject({ ...shared, options: furtherOptions(['provider', 'engine', 'sources', 'fallback']) }),
  openWorld: false,
  steps: () => 1,
  progressMessage: ({ query }) => `Searching the index for ${query}`,
  run: (args, call) => search(args, call, { provider: 'reader' }),
});

interface Given {
  readonly query: string;
  readonly content: 'none' | 'passages' | 'pages';
  readonly max_tokens: number;
  readonly options?: Record<string, unknown> | undefined;
  readonly [name: string]: unknown;
}

async function search(args: Given, call: ToolCall, set: SearchOptions) {
  const { query, content, max_tokens: tokens, options = {}, ...own } = args;
  const budget = tokens - OVERHEAD_TOKENS;
  for (const name of Object.keys(options)) {
    if (FURTHER_OPTIONS.includes(name)) continue;
    throw new ToolError(`options.${name}: unknown option. Available: ${FURTHER_OPTIONS.join(', ')}.`);
  }
  const searchOptions = { ...options, ...own, ...CONTENT_OPTIONS[content](budget), ...set } as SearchOptions;
  const { pages, meta } = await call.client.search(query, searchOptions, { signal: call.signal });
  if (pages.length === 0) return textResult(`No results for ${JSON.stringify(query)}. Try other or fewer words.`);
  await loadTokens();
  const entries = pages.map((page, at) => ({
    head: withoutMarks(formatHead(page, at + 1)),
    body: withoutMarks(formatBody(page)),
  }));
  const heads = entries.map(({ head }) => head).join('\n\n');
  const list = await takeExcerpt(heads, 0, budget);
  const left = Math.max(0, budget - list.tokens);
  const shares = divideTokens(
    entries.map(({ body }) => ({ text: body, overheadTokens: SEPARATOR_TOKENS })),
    left,
  );
  const texts = await Promise.all(
    entries.map(async ({ head, body }, at) => {
      const most = shares[at]! - SEPARATOR_TOKENS;
      if (!body || most < 1) return head;
      const piece = await takeExcerpt(body, 0, most);
      return `${head}\n\n${piece.text.trimEnd()}${piece.end < body.length ? '\n[cut here]' : ''}`;
    }),
  );
  const whole = list.end < heads.length ? list.text : texts.join('\n\n');
  const cut = list.end < heads.length ? 'Some results did not fit: raise `max_tokens` or lower `num`.' : '';
  const notice = meta.notice ? `The server notes: ${meta.notice}` : '';
  const source = `${pages.length} search results`;
  return textResult([markUntrusted(whole, source), cut, notice].filter(Boolean).join('\n'));
}

/** Tokens reserved for the text around the results. */
const OVERHEAD_TOKENS = 200;
/** Number of tokens in the separator between two texts. */
const SEPARATOR_TOKENS = 8;
const MIN_PASSAGE_TOKENS = 100;
const MAX_PASSAGE_TOKENS = 50_000;

const CONTENT_OPTIONS: Record<Given['content'], (budget: number) => SearchOptions> = {
  none: () => ({ respondWith: 'no-content' }),
  // The rest of the budget is for titles, URLs and descriptions.
  passages: (budget) => ({
    passages: Math.min(MAX_PASSAGE_TOKENS, Math.max(MIN_PASSAGE_TOKENS, Math.floor(budget * 0.8))),
  }),
  pages: () => ({}),
};

function formatHead(
  { title, url, description, source, attribution, date, warning }: FoundPage,
  number: number,
): string {
  const stale = findStaleWarning(warning);
  const origin = attribution ?? source;
  return [
    `${number}. ${oneLine(title)}`,
    url,
    origin && `Source: ${oneLine(origin)}`,
    date && `Date: ${date}`,
    description,
    stale && `Warning: ${stale}`,
  ]
    .filter(Boolean)
    .join('\n   ');
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

const formatBody = ({ passages, content }: FoundPage): string =>
  passages
    ? passages.map(({ heading, text }) => (heading ? `(${oneLine(heading)}) ${text}` : text)).join('\n\n')
    : content;
