/** The fields of Tavily's requests, and what they are in ours (docs/reference/wire/compat.md, Tavily). */
import * as z from 'zod';
import { booleanText, numberText, textList } from '../fields.ts';

const domains = () => textList().optional();
const RANGES = ['day', 'week', 'month', 'year', 'd', 'w', 'm', 'y'] as const;
const date = () => z.string().regex(/^\d{4}-\d\d-\d\d$/, 'must be a date such as 2026-01-31');

export const SEARCH_FIELDS = z.object({
  query: z.string().meta({ description: '`q` of the search host.' }),
  search_depth: z
    .enum(['basic', 'advanced', 'fast', 'ultra-fast'])
    .default('basic')
    .meta({ description: 'With `advanced`, pages are read and `content` has their best passages.' }),
  topic: z.enum(['general', 'news', 'finance']).default('general').meta({ description: '`news` is `type`.' }),
  max_results: numberText().pipe(z.number().int().min(0).max(20)).default(5).meta({ description: '`num`.' }),
  time_range: z.enum(RANGES).optional().meta({ description: '`since`, counted back from now.' }),
  days: numberText().pipe(z.number().int().min(1)).optional().meta({ description: '`since`, for `topic` news.' }),
  start_date: date().optional().meta({ description: '`since`.' }),
  end_date: date().optional().meta({ description: '`until`.' }),
  include_domains: domains().meta({ description: '`site`.' }),
  exclude_domains: domains().meta({ description: 'Excluded sites.' }),
  country: z.string().optional().meta({ description: '`gl`, for a name or a code that this server knows.' }),
  include_answer: z.union([booleanText(), z.enum(['basic', 'advanced'])]).default(false),
  include_raw_content: z.union([booleanText(), z.enum(['markdown', 'text'])]).default(false),
  include_images: booleanText().default(false),
  include_image_descriptions: booleanText().default(false),
  include_favicon: booleanText().default(false),
  include_usage: booleanText().default(false),
});
export type TavilySearch = z.output<typeof SEARCH_FIELDS>;

/** Fields of a search that have no effect. */
export const IGNORED_SEARCH_FIELDS = [
  'include_answer',
  'auto_parameters',
  'exact_match',
  'safe_search',
  'filter_by_language',
];

const MAX_URLS = 20;

export const EXTRACT_FIELDS = z.object({
  urls: z
    .union([z.string().transform((url) => [url]), z.array(z.string())])
    .refine((list) => list.length > 0 && list.length <= MAX_URLS, `must have 1 to ${MAX_URLS} entries`)
    .meta({ description: 'The URLs to read.' }),
  extract_depth: z.enum(['basic', 'advanced']).default('basic').meta({ description: 'Ignored: the engine is `auto`.' }),
  format: z.enum(['markdown', 'text']).default('markdown').meta({ description: '`respondWith`.' }),
  include_images: booleanText().default(false).meta({ description: '`withImagesSummary`.' }),
  include_favicon: booleanText().default(false),
  include_usage: booleanText().default(false),
  timeout: numberText()
    .pipe(z.number().min(1).max(60))
    .default(30)
    .meta({ description: '`timeout` of each page, in seconds.' }),
});
export type TavilyExtract = z.output<typeof EXTRACT_FIELDS>;

const expressions = (what: string) =>
  z
    .union([z.string().transform((text) => [text]), z.array(z.string())])
    .default([])
    .meta({ description: `Regular expressions for the ${what}. \`^\` and \`$\` only at the ends.` });

const whole = (min: number, max: number) => numberText().pipe(z.number().int().min(min).max(max));

const SITE_FIELDS = {
  url: z.string().meta({ description: 'URL where the crawl starts.' }),
  max_depth: whole(1, 5).default(1).meta({ description: '`depth`.' }),
  max_breadth: whole(1, 500).default(20).meta({ description: 'Ignored: all links are followed, up to `limit`.' }),
  limit: whole(1, 100_000).default(50).meta({ description: '`limit`, at most that of this server.' }),
  select_paths: expressions('paths to follow'),
  select_domains: expressions('domains to follow'),
  exclude_paths: expressions('paths not to follow'),
  exclude_domains: expressions('domains not to follow'),
  allow_external: booleanText().default(true).meta({ description: 'Ignored: links to other domains are left out.' }),
  instructions: z.string().optional().meta({ description: 'Puts the pages first that fit best. Ignored by `/map`.' }),
  include_usage: booleanText().default(false),
  timeout: numberText()
    .pipe(z.number().min(10).max(150))
    .default(150)
    .meta({ description: 'Time limit in seconds. The answer has the pages read until then.' }),
};

export const MAP_FIELDS = z.object(SITE_FIELDS);
export type TavilyMap = z.output<typeof MAP_FIELDS>;

export const CRAWL_FIELDS = z.object({
  ...SITE_FIELDS,
  extract_depth: z.enum(['basic', 'advanced']).default('basic').meta({ description: 'Ignored: the engine is `auto`.' }),
  format: z.enum(['markdown', 'text']).default('markdown').meta({ description: '`respondWith`.' }),
  include_images: booleanText().default(false).meta({ description: '`withImagesSummary`.' }),
  include_favicon: booleanText().default(false).meta({ description: 'Ignored.' }),
});

/** Fields that neither a crawl nor a map heeds. */
export const IGNORED_CRAWL_FIELDS = ['max_breadth', 'allow_external', 'chunks_per_source', 'include_favicon'];

export const DAYS: Readonly<Record<(typeof RANGES)[number], number>> = {
  ...{ day: 1, week: 7, month: 31, year: 366 },
  ...{ d: 1, w: 7, m: 31, y: 366 },
};
