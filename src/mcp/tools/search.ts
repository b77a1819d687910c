/** Two tools that search: the web, and the pages that this server has read. */
import * as z from 'zod';
import type { FoundPage, SearchOptions } from '#client/index.ts';
import { describe } from '#http/openapi.ts';
import { loadTokens, OPTIONS, findStaleWarning } from '#reader/index.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import { pieceOf, sharesOf } from '../budget.ts';
import { ToolError } from '../failures.ts';
import { fence, withoutMarks } from '../fence.ts';
import { defineTool, maxTokens, type ToolCall, textResult } from '../tool.ts';

type Name = keyof typeof ALL_OPTIONS;

const option = <Schema extends z.ZodType>(name: Name, schema: Schema) =>
  schema.optional().describe(describe(ALL_OPTIONS[name]));

const MAX_RESULTS = 20;
const STANDARD_RESULTS = 5;

const shared = {
  query: z.string().min(1).describe(describe(ALL_OPTIONS.q)),
  num: z.int().min(1).max(MAX_RESULTS).default(STANDARD_RESULTS).describe(`How many results, 1 to ${MAX_RESULTS}.`),
  page: option('page', z.int().min(1)),
  content: z
    .enum(['none', 'passages', 'pages'])
    .default('none')
    .describe(
      '`none` is quick: titles, addresses and descriptions. `passages` reads the pages and answers the passages that fit the query best. `pages` answers the beginnings of the pages.',
    ),
  site: option('site', z.union([z.string(), z.array(z.string())])),
  max_tokens: maxTokens(),
};

/** What is set by the arguments above, or means nothing here. */
const NOT_HERE = [
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
const OTHERS = Object.keys(ALL_OPTIONS).filter((name) => !NOT_HERE.some((other) => other === name));

/** Those of the reader stand in read_url. */
const furtherOptions = (own: readonly string[]) => {
  const names = OTHERS.filter((name) => !(name in OPTIONS) && !own.includes(name));
  return z
    .record(z.string(), z.unknown())
    .optional()
    .describe(`Further options by their names: ${names.join(', ')}, and how pages are read, as in read_url.`);
};

export const searchWeb = defineTool({
  name: 'search_web',
  title: 'Search the web',
  description:
    'Searches the web and answers titles, addresses and descriptions, or what the pages say about it (`content`). Read a result with read_url.',
  input: z.strictObject({
    ...shared,
    type: option('type', z.enum(['web', 'images', 'news'])),
    gl: option('gl', z.string()),
    hl: option('hl', z.string()),
    since: option('since', z.string()),
    until: option('until', z.string()),
    provider: option('provider', z.string()),
    options: furtherOptions(['type', 'gl', 'hl', 'since', 'until', 'provider']),
  }),
  openWorld: true,
  parts: () => 1,
  doing: ({ query }) => `Searching for ${query}`,
  run: (args, call) => search(args, call, {}),
});

export const searchIndex = defineTool({
  name: 'search_index',
  title: 'Search the pages read before',
  description:
    'Searches the pages that this Lectern server has read and kept in its own index, by words and meaning. It reaches nothing outside.',
  input: z.strictObject({ ...shared, options: furtherOptions(['provider', 'engine', 'fallback']) }),
  openWorld: false,
  parts: () => 1,
  doing: ({ query }) => `Searching the index for ${query}`,
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
  const room = tokens - WORDS_AROUND;
  for (const name of Object.keys(options)) {
    if (OTHERS.includes(name)) continue;
    throw new ToolError(`options.${name}: there is no such option here. There are ${OTHERS.join(', ')}.`);
  }
  const asked = { ...options, ...own, ...ANSWERS[content](room), ...set } as SearchOptions;
  const { pages, meta } = await call.client.search(query, asked, { signal: call.signal });
  if (pages.length === 0)
    return textResult(`Nothing was found for ${JSON.stringify(query)}. Use other or fewer words.`);
  await loadTokens();
  const entries = pages.map((page, at) => ({
    head: withoutMarks(headOf(page, at + 1)),
    body: withoutMarks(bodyOf(page)),
  }));
  const heads = entries.map(({ head }) => head).join('\n\n');
  const list = await pieceOf(heads, 0, room);
  const left = Math.max(0, room - list.tokens);
  const shares = sharesOf(
    entries.map(({ body }) => ({ text: body, around: BETWEEN })),
    left,
  );
  const texts = await Promise.all(
    entries.map(async ({ head, body }, at) => {
      const most = shares[at]! - BETWEEN;
      if (!body || most < 1) return head;
      const piece = await pieceOf(body, 0, most);
      return `${head}\n\n${piece.text.trimEnd()}${piece.end < body.length ? '\n[cut here]' : ''}`;
    }),
  );
  const whole = list.end < heads.length ? list.text : texts.join('\n\n');
  const cut = list.end < heads.length ? 'There were more results than fit: raise `max_tokens` or lower `num`.' : '';
  const notice = meta.notice ? `The server notes: ${meta.notice}` : '';
  const source = `${pages.length} search results`;
  return textResult([fence(whole, source), cut, notice].filter(Boolean).join('\n'));
}

/** Our own words around the results, in tokens. */
const WORDS_AROUND = 200;
/** Tokens of what stands between two texts. */
const BETWEEN = 8;
const LEAST_PASSAGES = 100;
const MOST_PASSAGES = 50_000;

const ANSWERS: Record<Given['content'], (room: number) => SearchOptions> = {
  none: () => ({ respondWith: 'no-content' }),
  // The heads of the results need room too.
  passages: (room) => ({ passages: Math.min(MOST_PASSAGES, Math.max(LEAST_PASSAGES, Math.floor(room * 0.8))) }),
  pages: () => ({}),
};

function headOf({ title, url, description, date, warning }: FoundPage, number: number): string {
  const stale = findStaleWarning(warning);
  return [`${number}. ${oneLine(title)}`, url, date && `Date: ${date}`, description, stale && `Warning: ${stale}`]
    .filter(Boolean)
    .join('\n   ');
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

const bodyOf = ({ passages, content }: FoundPage): string =>
  passages
    ? passages.map(({ heading, text }) => (heading ? `(${oneLine(heading)}) ${text}` : text)).join('\n\n')
    : content;
