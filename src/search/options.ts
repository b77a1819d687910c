/**
 * The table of search parameters, and of the reader options that apply to every page. It is used for parsing,
 * validation, the OpenAPI description and the documentation.
 */
import * as z from 'zod';
import { problem } from '#errors.ts';
import { check, type Given, gather, type Sources } from '#http/gather.ts';
import { openWords, showAs, showBoth } from '#http/shown-schema.ts';
import { flag, number, oneOf, texts, toBoolean } from '#http/values.ts';
import { type GivenOptions, MODEL_FORMATS, OPTIONS, type OptionRow, SINGLE_FORMATS } from '#reader/index.ts';
import { parseCountry } from './countries.ts';
import { parseLanguage } from './languages.ts';
import { SEARCH_TYPES } from './source-groups.ts';

/** Longer queries are rejected, because no provider accepts them. */
export const MAX_QUERY_CHARACTERS = 4_000;
export const MAX_RESULTS = 20;
const DEFAULT_RESULTS = 10;
/** Default maximum number of tokens in passages. */
const DEFAULT_PASSAGE_TOKENS = 4_000;
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

/** Maximum number of sources that a request may name. */
const MAX_SOURCES = 20;

const results = () => number({ min: 0, max: MAX_RESULTS, integer: true });

const PASSAGE_NUMBER = { type: 'integer', minimum: 100, maximum: MAX_PASSAGE_TOKENS } as const;
const PASSAGES_FORM = {
  json: { anyOf: [PASSAGE_NUMBER, { type: 'boolean' }, { type: 'string' }, { type: 'null' }] },
  text: { anyOf: [PASSAGE_NUMBER, { type: 'boolean' }, { type: 'string' }] },
};

export const SEARCH_OPTIONS = {
  q: row({
    schema: z.string().max(MAX_QUERY_CHARACTERS),
    meaning: 'The query. It may contain operators: `site:`, `filetype:`, `intitle:`, quotes, minus.',
  }),
  num: row({
    schema: results(),
    defaultText: String(DEFAULT_RESULTS),
    meaning: 'Number of results, 0 to 20. 0 returns the whole list of the provider without reading pages.',
  }),
  count: row({ schema: results(), meaning: 'Alias of `num`, which it overrides.' }),
  page: row({
    schema: number({ min: 1, max: 1_000, integer: true }),
    defaultText: '1',
    meaning: 'Page of results, from 1.',
  }),
  type: row({
    schema: oneOf(SEARCH_TYPES),
    defaultText: 'web',
    meaning:
      'Kind of results. `web`, `images` and `news` are answered by all providers that have them. The other values select public sources of that kind; `scholar` is an alias of `papers`.',
  }),
  provider: row({
    schema: z.string().transform((text) => text.trim().toLowerCase()),
    defaultText: 'the providers of the server, in their order',
    meaning:
      'Provider to query: a provider of this server by its name, `google` or `bing` through a provider that has their results, or `reader` (or `local`) for the pages that this server has read.',
  }),
  sources: row({
    schema: showBoth(z.union([z.string(), z.array(z.string())]), {
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: MAX_SOURCES }],
    })
      .transform((value) =>
        [value]
          .flat()
          .flatMap((text) => text.split(','))
          .map((name) => name.trim().toLowerCase())
          .filter(Boolean),
      )
      .refine((names) => names.length <= MAX_SOURCES, `must not have more than ${MAX_SOURCES} names`),
    defaultText: 'the providers of the server, and the public sources that fit the query',
    meaning:
      'Providers and public sources to query together, by name, separated by commas: `wikipedia,stackoverflow`. `all` queries all that are on, `reader` the pages that this server has read.',
  }),
  engine: row({
    schema: z.string().transform((text) => text.trim().toLowerCase()),
    meaning: 'Alias of `provider`, which overrides it. The `X-Engine` header selects the engine that reads pages.',
  }),
  gl: row({
    schema: known(parseCountry, 'must be a two-letter country code'),
    meaning: 'Country of the searcher, as a two-letter code.',
  }),
  hl: row({
    schema: known(parseLanguage, 'must be a language code such as en or zh-cn'),
    meaning: 'Language of the results: `en`, `de`, `zh-cn`, `pt-br`, ...',
  }),
  location: row({
    schema: z
      .string()
      .max(200)
      .transform((text) => text.trim()),
    meaning: 'Place of the searcher, preferably a city. Some providers ignore it.',
  }),
  nfpr: row({ schema: flag(), defaultText: 'false', meaning: 'Turns off spelling correction for the query.' }),
  fallback: row({
    schema: flag(),
    defaultText: 'false',
    meaning: 'Searches the pages that this server has read if the providers find nothing.',
  }),
  ext: operator('x-ext', 'File extensions that URLs must have.'),
  filetype: operator('x-filetype', 'File types that results must have: `pdf`.'),
  intitle: operator('x-intitle', 'Text that titles must contain.'),
  loc: operator('x-loc', 'Countries of the pages, if the provider supports it.'),
  site: operator('x-site', 'Sites that results must be on.'),
  since: row({ schema: moment(), meaning: 'Only pages from this day on, if the provider supports it: `2026-01-31`.' }),
  until: row({ schema: moment(), meaning: 'Only pages before this day, if the provider supports it.' }),
  passages: row({
    headers: ['x-passages'],
    wins: 'header',
    unit: 'tokens',
    schema: showAs(z.union([z.number(), z.string(), z.boolean(), z.null()]), PASSAGES_FORM).transform(
      (value, context) => {
        if (!toBoolean(value)) return undefined;
        const tokens = typeof value === 'string' ? Number(value) : value;
        if (tokens === 1 || typeof tokens !== 'number' || Number.isNaN(tokens)) return DEFAULT_PASSAGE_TOKENS;
        if (Number.isInteger(tokens) && tokens >= 100 && tokens <= MAX_PASSAGE_TOKENS) return tokens;
        context.addIssue({
          code: 'custom',
          message: `must be true, or a number of tokens from 100 to ${MAX_PASSAGE_TOKENS}`,
          input: value,
        });
        return z.NEVER;
      },
    ),
    defaultText: `whole pages; ${DEFAULT_PASSAGE_TOKENS} if set to true`,
    meaning: 'Returns the best passages of all pages instead of whole pages, within this total number of tokens.',
  }),
  withFavicons: row({
    headers: ['x-with-favicons'],
    wins: 'header',
    schema: flag(),
    defaultText: 'false',
    meaning: 'Adds the icon of each site as a data URL. Not in streams.',
  }),
} as const;

/** Reader options that have no meaning, or a different one, in a search (docs/reference/wire/search.md, Parameters). */
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
  'assertNotBlocked',
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
    schema: openWords([...SINGLE_FORMATS, ...MODEL_FORMATS, NO_CONTENT], z.string(), {
      description: 'Several formats, such as `markdown+html`.',
    }).transform((text) => text.trim().toLowerCase()),
    meaning: `${OPTIONS.respondWith.meaning} \`${NO_CONTENT}\` returns the results without reading pages.`,
  },
};

/** This engine is selected only by a header: in the query string and body, `engine` is an alias of `provider`. */
const READING_ENGINE = { engine: OPTIONS.engine };

/** All options of the search API, for its description. */
export const ALL_OPTIONS = { ...READING_OPTIONS, ...SEARCH_OPTIONS };

export type GivenSearch = Given<typeof SEARCH_OPTIONS>;

export interface GatheredSearch {
  readonly given: GivenSearch;
  readonly count: number;
  /** Reader options of each page. `timeout` applies to the whole search. */
  readonly reading: GivenOptions;
  readonly noContent: boolean;
}

/** Collects and validates the options of a request. Throws a ParamValidationError that names the invalid option. */
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
  return { given, count: given.count ?? given.num ?? DEFAULT_RESULTS, reading, noContent: formats !== respondWith };
}

/** Lone surrogates, which no URL can contain. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Returns the trimmed query. Throws ParamValidationError if it is missing or too long. */
export function requireText(text: string | undefined): string {
  const query = text?.replace(LONE_SURROGATES, '\ufffd').trim() ?? '';
  if (query === '')
    throw problem('ParamValidationError', { path: 'q', message: 'q is required: the query to search for' });
  if (query.length > MAX_QUERY_CHARACTERS) {
    throw problem('ParamValidationError', {
      path: 'q',
      message: `q must have at most ${MAX_QUERY_CHARACTERS} characters`,
    });
  }
  return query;
}
