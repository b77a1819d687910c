/** The fields of requests in versions 1 and 2, and what they are in ours (docs/reference/wire/compat.md, Firecrawl). */
import * as z from 'zod';
import { booleanText, numberText, textList } from '../fields.ts';
import { FORMATS_FIELD } from './formats.ts';

export type Version = 'v1' | 'v2';

const MAX_WAIT_MS = 60_000;
const MAX_BATCH_URLS = 1_000;
const MAX_MAP_LINKS = 30_000;

const milliseconds = () => numberText().pipe(z.number().int().positive());
const whole = () => numberText().pipe(z.number().int().min(0));
/** `null` counts as a field that is not set, also within objects. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullish()
    .transform((value) => (value === null ? undefined : value))
    .optional();

const LOCATION = z.looseObject({ country: optional(z.string()), languages: optional(z.array(z.string())) });
const PARSER = z.union([
  z.string(),
  z.looseObject({
    type: z.string(),
    mode: optional(z.string()),
    maxPages: optional(numberText().pipe(z.number().int().min(1))),
    pages: optional(z.boolean()),
    pageMarkers: optional(z.boolean()),
    blocks: optional(z.boolean()),
  }),
]);

/** The options of a scrape: flat in a scrape and in a batch, in `scrapeOptions` elsewhere. */
const SCRAPE = {
  formats: optional(FORMATS_FIELD).meta({ description: 'What the document has. Default: `["markdown"]`.' }),
  jsonOptions: optional(z.record(z.string(), z.unknown())).meta({ description: 'Options of `json` in version 1.' }),
  extract: optional(z.record(z.string(), z.unknown())).meta({ description: 'Options of `extract` in version 1.' }),
  onlyMainContent: optional(booleanText()).meta({ description: '`respondWith`: `content`, or with false `markdown`.' }),
  includeTags: optional(textList()).meta({ description: '`targetSelector`.' }),
  excludeTags: optional(textList()).meta({ description: '`removeSelector`.' }),
  waitFor: optional(whole().pipe(z.number().max(MAX_WAIT_MS))).meta({
    description: 'Above 0, the page is rendered and captured when its network is idle.',
  }),
  timeout: optional(milliseconds()).meta({ description: '`timeout`, in ms.' }),
  mobile: optional(booleanText()).meta({ description: '`viewport` of a phone.' }),
  headers: optional(z.record(z.string(), z.string())).meta({
    description: '`customHeader`; `userAgent`, `referer` and `setCookies` for those headers.',
  }),
  location: optional(LOCATION).meta({ description: '`locale`, from the first language. The country is ignored.' }),
  parsers: optional(z.array(PARSER)).meta({ description: '`maxPages`, `pages` and `pageMarkers` of documents.' }),
  parsePDF: optional(booleanText()),
  maxAge: optional(whole()).meta({ description: '`cacheTolerance`, in ms; 0 is `noCache`. Default: 0 in version 1.' }),
  minAge: optional(whole()),
  storeInCache: optional(booleanText()).meta({ description: 'false is `doNotTrack`.' }),
  skipTlsVerification: optional(booleanText()).meta({ description: '`skipCertVerification`, if true is sent.' }),
  removeBase64Images: optional(booleanText()).meta({ description: 'false is `keepImgDataUrl`.' }),
  blockAds: optional(booleanText()).meta({ description: '`removeOverlay`, if true is sent with a screenshot.' }),
  zeroDataRetention: optional(booleanText()).meta({ description: '`zeroDataRetention`.' }),
  actions: optional(z.array(z.unknown())),
  changeTrackingOptions: optional(z.unknown()),
  lockdown: optional(z.unknown()),
  profile: optional(z.unknown()),
  redactPII: optional(z.unknown()),
  threatProtection: optional(z.unknown()),
  fastMode: optional(z.unknown()),
  useMock: optional(z.unknown()),
  agent: optional(z.unknown()),
};

export const SCRAPE_OPTIONS = z.object(SCRAPE);
export type ScrapeOptions = z.output<typeof SCRAPE_OPTIONS>;
const scrapeOptions = () => optional(SCRAPE_OPTIONS).meta({ description: 'The options of a scrape, for every page.' });

export const SCRAPE_FIELDS = z.object({ url: z.string().meta({ description: '`url`.' }), ...SCRAPE });

export const BATCH_FIELDS = z.object({
  urls: z
    .array(z.string())
    .refine((list) => list.length > 0 && list.length <= MAX_BATCH_URLS, `must have 1 to ${MAX_BATCH_URLS} entries`)
    .meta({ description: 'The URLs to read.' }),
  ignoreInvalidURLs: optional(booleanText()).meta({ description: 'false refuses the batch if a URL is invalid.' }),
  maxConcurrency: optional(numberText().pipe(z.number().int().min(1))).meta({ description: '`concurrency`.' }),
  appendToId: optional(z.string()),
  webhook: optional(z.unknown()),
  ...SCRAPE,
});

export const CRAWL_FIELDS = z.object({
  url: z.string().meta({ description: '`url`.' }),
  limit: optional(numberText().pipe(z.number().int().min(1))).meta({ description: '`limit`. Default: 10,000.' }),
  includePaths: optional(z.array(z.string())).meta({ description: '`include`: regular expressions on the path.' }),
  excludePaths: optional(z.array(z.string())).meta({ description: '`exclude`: regular expressions on the path.' }),
  regexOnFullURL: optional(booleanText()).meta({ description: 'Matches the expressions against the URL.' }),
  maxDiscoveryDepth: optional(whole()).meta({ description: '`depth`.' }),
  maxDepth: optional(whole()).meta({ description: 'Version 1: number of path segments below the start.' }),
  crawlEntireDomain: optional(booleanText()).meta({ description: '`scope`: `host`.' }),
  allowBackwardLinks: optional(booleanText()).meta({ description: 'Version 1: as `crawlEntireDomain`.' }),
  allowSubdomains: optional(booleanText()).meta({ description: '`scope`: `domain`.' }),
  allowExternalLinks: optional(booleanText()).meta({ description: 'true is refused.' }),
  sitemap: optional(z.enum(['include', 'skip', 'only'])).meta({ description: '`sitemap`.' }),
  ignoreSitemap: optional(booleanText()).meta({ description: 'Version 1: `sitemap`.' }),
  ignoreRobotsTxt: optional(booleanText()).meta({ description: '`robots`.' }),
  robotsUserAgent: optional(z.string()),
  ignoreQueryParameters: optional(booleanText()).meta({ description: 'Removes the query of URLs that are found.' }),
  deduplicateSimilarURLs: optional(booleanText()),
  delay: optional(numberText().pipe(z.number().min(0))).meta({ description: '`delayMs`, in seconds.' }),
  maxConcurrency: optional(numberText().pipe(z.number().int().min(1))).meta({ description: '`concurrency`.' }),
  prompt: optional(z.string()),
  webhook: optional(z.unknown()),
  zeroDataRetention: optional(booleanText()),
  scrapeOptions: scrapeOptions(),
});
export type CrawlRequestFields = z.output<typeof CRAWL_FIELDS>;

export const MAP_FIELDS = z.object({
  url: z.string().meta({ description: 'The site: its start page and its sitemaps are read.' }),
  search: optional(z.string()).meta({ description: 'Orders the URLs by how well they fit.' }),
  sitemap: optional(z.enum(['include', 'skip', 'only'])),
  ignoreSitemap: optional(booleanText()).meta({ description: 'Version 1: `sitemap` `skip`.' }),
  sitemapOnly: optional(booleanText()).meta({ description: 'Version 1: `sitemap` `only`.' }),
  includeSubdomains: optional(booleanText()).meta({ description: '`scope`: `domain`, or with false `host`.' }),
  ignoreQueryParameters: optional(booleanText()),
  limit: optional(numberText().pipe(z.number().int().min(1).max(MAX_MAP_LINKS))),
  timeout: optional(milliseconds()).meta({ description: 'What was found until then is returned. In ms.' }),
  location: optional(LOCATION),
});

const MAX_EXTRACT_URLS = 10;

export const EXTRACT_FIELDS = z.object({
  urls: z
    .array(z.string(), 'is required: the URLs of the pages')
    .refine((list) => list.length > 0 && list.length <= MAX_EXTRACT_URLS, `must have 1 to ${MAX_EXTRACT_URLS} entries`)
    .meta({ description: 'The URLs to read.' }),
  prompt: optional(z.string()).meta({ description: '`instruction`.' }),
  systemPrompt: optional(z.string()).meta({ description: '`instruction`, before `prompt`.' }),
  schema: optional(z.record(z.string(), z.unknown())).meta({ description: '`jsonSchema`.' }),
  ignoreInvalidURLs: optional(booleanText()).meta({ description: 'true leaves out invalid URLs.' }),
  showSources: optional(booleanText()),
  allowExternalLinks: optional(booleanText()),
  enableWebSearch: optional(booleanText()),
  webhook: optional(z.unknown()),
  agent: optional(z.unknown()),
  scrapeOptions: scrapeOptions(),
});

const SOURCES = ['web', 'news', 'images'] as const;
export type Source = (typeof SOURCES)[number];
const named = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.union([z.enum(names), z.looseObject({ type: z.enum(names) }).transform(({ type }) => type)]);

export const SEARCH_FIELDS = z.object({
  query: z.string().meta({ description: '`q`.' }),
  limit: optional(numberText().pipe(z.number().int().min(1).max(100))).meta({
    description: '`num`. Above 20, several pages of results.',
  }),
  sources: optional(z.array(named(SOURCES))).meta({ description: '`type`: a search for each.' }),
  categories: optional(z.array(named(['github', 'research', 'pdf']))).meta({
    description: '`site:` and `filetype:` operators.',
  }),
  includeDomains: optional(textList()).meta({ description: '`site`.' }),
  excludeDomains: optional(textList()).meta({ description: 'Excluded sites.' }),
  tbs: optional(z.string()).meta({ description: '`since` and `until`.' }),
  filter: optional(z.unknown()),
  lang: optional(z.string()).meta({ description: '`hl`.' }),
  country: optional(z.string()).meta({ description: '`gl`.' }),
  location: optional(z.union([z.string(), z.looseObject({})])).meta({ description: '`location`.' }),
  timeout: optional(numberText().pipe(z.number().positive())).meta({
    description: '`timeout` in ms; below 1,000 in seconds.',
  }),
  ignoreInvalidURLs: optional(booleanText()),
  enterprise: optional(z.unknown()),
  highlights: optional(z.unknown()),
  scrapeOptions: scrapeOptions(),
});
export type SearchRequestFields = z.output<typeof SEARCH_FIELDS>;
