/**
 * THE table of search parameters, and which options of the reader apply to every page that is read. Parsing, checks, the
 * interface description and the documentation read it.
 */
import * as z from 'zod';
import { problem } from '#errors.ts';
import { check, type Given, gather, type Sources } from '#http/gather.ts';
import { flag, number, oneOf, texts, toBoolean } from '#http/values.ts';
import { type GivenOptions, OPTIONS, type OptionRow } from '#reader/index.ts';
import { countryOf } from './countries.ts';
import { languageOf } from './languages.ts';

/** Longer queries are refused: nothing that is searched with takes them. */
export const MAX_QUERY_CHARACTERS = 4_000;
export const MAX_RESULTS = 20;
const STANDARD_RESULTS = 10;
/** Tokens of the best passages when the caller names no number. */
const STANDARD_PASSAGE_TOKENS = 4_000;
const MAX_PASSAGE_TOKENS = 50_000;

const row = <Schema extends z.ZodType>(
  spec: Pick<OptionRow, 'meaning'> &
    Partial<Pick<OptionRow, 'fromHeader' | 'unit' | 'defaultText' | 'headers' | 'wins'>> & { readonly schema: Schema },
) => ({ headers: [] as readonly string[], wins: 'body' as const, group: 'Search' as const, ...spec });

const known = (find: (text: string) => string | undefined, message: string) =>
  z.string().transform((text, context) => {
    const found = find(text);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message, input: text });
    return z.NEVER;
  });

const operator = (header: string, meaning: string) =>
  row({
    headers: [header],
    wins: 'header',
    schema: texts().refine(
      (list) => list.length <= 20 && list.every((text) => text.length <= 200),
      'must not have more than 20 entries of 200 characters',
    ),
    fromHeader: (text) => text.split(', '),
    meaning,
  });

const moment = () =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/, 'must be a date such as 2026-01-31')
    .transform((text, context) => {
      const ms = Date.parse(text);
      if (!Number.isNaN(ms)) return ms;
      context.addIssue({ code: 'custom', message: 'must be a date such as 2026-01-31', input: text });
      return z.NEVER;
    });

const results = () => number({ min: 0, max: MAX_RESULTS, integer: true });

export const SEARCH_OPTIONS = {
  q: row({
    schema: z.string().max(MAX_QUERY_CHARACTERS),
    meaning: 'What is searched for; operators in it (`site:`, `filetype:`, `intitle:`, quotes, minus) are understood.',
  }),
  num: row({
    schema: results(),
    defaultText: String(STANDARD_RESULTS),
    meaning: 'How many results, 0 to 20. 0 reads no page and answers all that the provider lists.',
  }),
  count: row({ schema: results(), meaning: 'Another name of `num`, which it goes before.' }),
  page: row({
    schema: number({ min: 1, max: 1_000, integer: true }),
    defaultText: '1',
    meaning: 'Which page of results.',
  }),
  type: row({ schema: oneOf(['web', 'images', 'news']), defaultText: 'web', meaning: 'What is searched for.' }),
  provider: row({
    schema: z.string().transform((text) => text.trim().toLowerCase()),
    defaultText: 'those of the server, in their order',
    meaning:
      'Who is asked: a provider of this server by its name, `google` or `bing` through one that has their results, `reader` (or `local`) for the pages that this server has read.',
  }),
  engine: row({
    schema: z.string().transform((text) => text.trim().toLowerCase()),
    meaning: 'Another name of `provider`, which goes before it. The header `X-Engine` is the engine that reads pages.',
  }),
  gl: row({
    schema: known(countryOf, 'must be a two-letter country code'),
    meaning: 'The country that results are for, by its two letters.',
  }),
  hl: row({
    schema: known(languageOf, 'must be a language code such as en or zh-cn'),
    meaning: 'The language that results are in: `en`, `de`, `zh-cn`, `pt-br`, ...',
  }),
  location: row({
    schema: z
      .string()
      .max(200)
      .transform((text) => text.trim()),
    meaning: 'The place the search is made from, best a city; not every provider minds it.',
  }),
  nfpr: row({ schema: flag(), defaultText: 'false', meaning: 'The query is not corrected.' }),
  fallback: row({
    schema: flag(),
    defaultText: 'false',
    meaning: 'When the providers find nothing, the pages that this server has read are searched.',
  }),
  ext: operator('x-ext', 'Endings of the addresses.'),
  filetype: operator('x-filetype', 'File types: `pdf`.'),
  intitle: operator('x-intitle', 'What the title must have.'),
  loc: operator('x-loc', 'Countries of the pages, where a provider can tell.'),
  site: operator('x-site', 'Sites that results must be from.'),
  since: row({ schema: moment(), meaning: 'Only pages from this day on, where a provider can tell: `2026-01-31`.' }),
  until: row({ schema: moment(), meaning: 'Only pages from before this day, where a provider can tell.' }),
  passages: row({
    headers: ['x-passages'],
    wins: 'header',
    unit: 'tokens',
    schema: z.union([z.number(), z.string(), z.boolean(), z.null()]).transform((value, context) => {
      if (!toBoolean(value)) return undefined;
      const tokens = typeof value === 'string' ? Number(value) : value;
      if (tokens === 1 || typeof tokens !== 'number' || Number.isNaN(tokens)) return STANDARD_PASSAGE_TOKENS;
      if (Number.isInteger(tokens) && tokens >= 100 && tokens <= MAX_PASSAGE_TOKENS) return tokens;
      context.addIssue({
        code: 'custom',
        message: `must be true, or a number of tokens from 100 to ${MAX_PASSAGE_TOKENS}`,
        input: value,
      });
      return z.NEVER;
    }),
    defaultText: `whole pages; ${STANDARD_PASSAGE_TOKENS} when it is only turned on`,
    meaning: 'Answers the best passages of all pages, together at most so many tokens, instead of whole pages.',
  }),
  withFavicons: row({
    headers: ['x-with-favicons'],
    wins: 'header',
    schema: flag(),
    defaultText: 'false',
    meaning: 'Adds the icon of each site, as a data URL; not in streams.',
  }),
} as const;

/** Options of the reader that mean nothing here, or something else (contract, section 3). */
const NOT_FOR_PAGES = [
  'url',
  'html',
  'file',
  'pdf',
  'page',
  'tokenBudget',
  'base',
  'withGeneratedAlt',
  'assertStatusCode',
  'preloadUrl',
  'exportStorageState',
  'engine',
  'respondWith',
] as const satisfies (keyof typeof OPTIONS)[];
type ForPages = Exclude<keyof typeof OPTIONS, (typeof NOT_FOR_PAGES)[number]>;

const forPages = Object.fromEntries(
  Object.entries(OPTIONS).filter(([name]) => !NOT_FOR_PAGES.some((other) => other === name)),
) as unknown as Pick<typeof OPTIONS, ForPages>;

const NO_CONTENT = 'no-content';

export const READING_OPTIONS = {
  ...forPages,
  respondWith: {
    ...OPTIONS.respondWith,
    schema: z.string().transform((text) => text.trim().toLowerCase()),
    meaning: `${OPTIONS.respondWith.meaning} \`${NO_CONTENT}\` answers the results without reading any page.`,
  },
};

/** The reading engine can only be chosen by its header: in query and body the name is that of the provider. */
const READING_ENGINE = { engine: OPTIONS.engine };

/** Every option of this host, for its description. */
export const ALL_OPTIONS = { ...READING_OPTIONS, ...SEARCH_OPTIONS };

export type GivenSearch = Given<typeof SEARCH_OPTIONS>;

export interface GatheredSearch {
  readonly given: GivenSearch;
  readonly count: number;
  /** How each page is read; `timeout` is that of the whole search. */
  readonly reading: GivenOptions;
  readonly noContent: boolean;
}

/** What a caller gave, checked. ParamValidationError names the option at fault. */
export function gatherSearch(sources: Sources): GatheredSearch {
  const given = gather(SEARCH_OPTIONS, sources);
  const { respondWith = '', ...pages } = gather(READING_OPTIONS, sources);
  const { engine } = gather(READING_ENGINE, { headers: sources.headers });
  const formats = respondWith.replaceAll(NO_CONTENT, '');
  const isNamed = /[a-z]/.test(formats);
  if (respondWith && !isNamed && formats === respondWith) check('respondWith', OPTIONS.respondWith.schema, respondWith);
  const reading: GivenOptions = {
    ...pages,
    ...(engine !== undefined && { engine }),
    ...(isNamed && { respondWith: check('respondWith', OPTIONS.respondWith.schema, formats) }),
  };
  return { given, count: given.count ?? given.num ?? STANDARD_RESULTS, reading, noContent: formats !== respondWith };
}

/** Halves of letters, which no address can hold. */
const HALVES = /\p{Surrogate}/gu;

/** The query, trimmed. ParamValidationError when there is none, or too much of it. */
export function requireText(text: string | undefined): string {
  const query = text?.replace(HALVES, '\ufffd').trim() ?? '';
  if (query === '')
    throw problem('ParamValidationError', { path: 'q', message: 'q is missing: there is nothing to search for' });
  if (query.length > MAX_QUERY_CHARACTERS) {
    throw problem('ParamValidationError', {
      path: 'q',
      message: `q must have at most ${MAX_QUERY_CHARACTERS} characters`,
    });
  }
  return query;
}
