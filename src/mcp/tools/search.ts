/** Two search tools: the web, and the local index of pages this server has read. */
import * as z from 'zod';
import type { FoundPage, SearchOptions } from '#client/index.ts';
import { findStaleWarning, loadTokens } from '#reader/index.ts';
import { ALL_OPTIONS, SEARCH_TYPES } from '#search/index.ts';
import { divideTokens, takeExcerpt } from '../budget.ts';
import { ToolError } from '../failures.ts';
import { OPTIONS_URI } from '../reading.ts';
import { unlisted } from '../schema.ts';
import { fitStructured, UNTRUSTED_RESULTS } from '../structured.ts';
import { defineTool, maxTokens, type ToolCall, textResult } from '../tool.ts';
import { markUntrusted, withoutMarks } from '../untrusted-marks.ts';

const MAX_RESULTS = 20;
const DEFAULT_RESULTS = 5;

const textOrList = () => z.union([z.string(), z.array(z.string())]);

/** A search option that is a tool argument too, but is described only in the resource. */
const rare = <Schema extends z.ZodType>(schema: Schema) => unlisted(schema.optional());

const shared = {
  query: z.string().min(1),
  num: z.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS),
  page: rare(z.int().min(1)),
  content: z
    .enum(['none', 'passages', 'pages'])
    .default('none')
    .describe('`passages`: those of each page that answer the query; `pages`: their beginnings.'),
  site: rare(textOrList()),
  max_tokens: maxTokens(),
};

/** A list for programs. JSON encloses each text, so no text can pass for a part of the list. */
const output = z.looseObject({
  results: z.array(
    z.looseObject({
      url: z.string(),
      title: z.string(),
      description: z.string().optional(),
      content: z.string().optional(),
    }),
  ),
});

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
export const FURTHER_SEARCH_OPTIONS = Object.keys(ALL_OPTIONS).filter(
  (name) => !EXCLUDED_OPTIONS.some((other) => other === name),
);

const furtherOptions = (examples: string) =>
  z.record(z.string(), z.unknown()).optional().describe(`More by name, see ${OPTIONS_URI}: ${examples}, ...`);

export const searchWeb = defineTool({
  name: 'search_web',
  title: 'Search the web',
  description: 'Searches the web; returns titles, URLs and descriptions, with page content if asked for.',
  input: z.strictObject({
    ...shared,
    type: rare(z.enum(SEARCH_TYPES)),
    sources: rare(textOrList()),
    gl: rare(z.string()),
    hl: rare(z.string()),
    since: rare(z.string()),
    until: rare(z.string()),
    provider: rare(z.string()),
    options: furtherOptions('type (news, papers, code), site, since, until, gl, hl, page'),
  }),
  output,
  openWorld: true,
  steps: () => 1,
  progressMessage: ({ query }) => `Searching for ${query}`,
  run: (args, call) => search(args, call, {}),
});

export const searchIndex = defineTool({
  name: 'search_index',
  title: 'Search pages read before',
  description: 'Searches the pages that this server has read, by words and meaning, without the web.',
  input: z.strictObject({ ...shared, options: furtherOptions('site, since') }),
  output,
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
    if (FURTHER_SEARCH_OPTIONS.includes(name)) continue;
    throw new ToolError(`options.${name}: unknown option. Available: ${FURTHER_SEARCH_OPTIONS.join(', ')}.`);
  }
  const searchOptions = { ...options, ...own, ...CONTENT_OPTIONS[content](budget), ...set } as SearchOptions;
  const { pages, meta } = await call.client.search(query, searchOptions, { signal: call.signal });
  if (pages.length === 0) {
    const text = `No results for ${JSON.stringify(query)}. Try other or fewer words.`;
    return { ...textResult(text), structuredContent: { results: [], notes: [text] } };
  }
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
  const notes = [cut, notice].filter(Boolean);
  return {
    ...textResult([markUntrusted(whole, source), ...notes].join('\n')),
    structuredContent: await fitStructured({ tokens, bodyTokens: left, count: pages.length }, (count, bodyTokens) =>
      structure(pages.slice(0, count), bodyTokens, notes),
    ),
  };
}

/** The same results as data. `bodyTokens` limits the contents together; 0 leaves them out. */
async function structure(pages: readonly FoundPage[], bodyTokens: number, notes: readonly string[]) {
  const bodies = pages.map((page) => withoutMarks(formatBody(page)));
  const shares = divideTokens(
    bodies.map((text) => ({ text, overheadTokens: 0 })),
    bodyTokens,
  );
  const results = await Promise.all(
    pages.map(async ({ title, url, description, source, attribution, date, warning }, at) => ({
      url,
      title: withoutMarks(title),
      ...(description && { description: withoutMarks(description) }),
      ...((attribution ?? source) && { source: attribution ?? source }),
      ...(date && { date }),
      ...(bodies[at] && shares[at]! > 0 && { content: (await takeExcerpt(bodies[at], 0, shares[at]!)).text.trimEnd() }),
      ...(findStaleWarning(warning) && { warning: findStaleWarning(warning) }),
    })),
  );
  return { untrusted: UNTRUSTED_RESULTS, results, ...(notes.length > 0 && { notes }) };
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
