/** The table of crawl options. It is used for parsing, the OpenAPI description and the guide. */
import * as z from 'zod';
import type { Given, OptionSource, OptionTable } from '#http/gather.ts';
import { flag, number, object, oneOf, texts } from '#http/values.ts';
import type { DetailLevel } from '#reader/index.ts';
import { MAX_URL } from './normalize-url.ts';
import { SCOPES, type Scope } from './scope.ts';

export interface CrawlRow extends OptionSource {
  readonly meaning: string;
  readonly unit?: string;
  readonly defaultText?: string;
}

const row = <Schema extends z.ZodType>(spec: {
  readonly schema: Schema;
  readonly meaning: string;
  readonly unit?: string;
  readonly defaultText?: string;
}) => ({ headers: [] as readonly string[], wins: 'body' as const, ...spec });

const MAX_STARTS = 100;
const MAX_PATTERNS = 50;
const MAX_PATTERN_LENGTH = 500;
const MAX_DEPTH = 100;
const MAX_DELAY_MS = 60_000;

const patterns = () =>
  texts()
    .refine((list) => list.length <= MAX_PATTERNS, `must not have more than ${MAX_PATTERNS} patterns`)
    .refine(
      (list) => list.every((text) => text.length <= MAX_PATTERN_LENGTH),
      `must not have a pattern of more than ${MAX_PATTERN_LENGTH} characters`,
    );

export const CRAWL_OPTIONS = {
  url: row({
    schema: z
      .string()
      .transform((text) => text.trim())
      .refine((text) => text.length > 0, 'is empty')
      .refine((text) => text.length <= MAX_URL, `must have at most ${MAX_URL} characters`),
    meaning: 'URL where the crawl starts.',
  }),
  urls: row({
    schema: texts()
      .refine((list) => list.length > 0, 'is empty')
      .refine((list) => list.length <= MAX_STARTS, `must not have more than ${MAX_STARTS} entries`)
      .refine(
        (list) => list.every((text) => text.length <= MAX_URL),
        `must have entries of at most ${MAX_URL} characters`,
      ),
    meaning: 'Several URLs where the crawl starts, instead of `url`.',
  }),
  limit: row({
    schema: number({ min: 1, integer: true }),
    unit: 'pages',
    defaultText: '100',
    meaning: 'Maximum number of URLs to read. Failures and duplicates count; URLs that robots.txt forbids do not.',
  }),
  depth: row({
    schema: number({ min: 0, max: MAX_DEPTH, integer: true }),
    unit: 'links',
    defaultText: '3',
    meaning:
      'Maximum distance from a start URL, in links; 0 reads only the start URLs. URLs from sitemaps count as one link away.',
  }),
  scope: row({
    schema: oneOf(SCOPES),
    defaultText: 'path',
    meaning:
      'Which links are followed: `path` below the folder of the start (for `/docs/intro`: `/docs/`), `host` on its host, `domain` on all hosts of its registrable domain.',
  }),
  include: row({
    schema: patterns(),
    meaning:
      'Follows only URLs that match one of these patterns: globs (`/docs/**`, `*.pdf`, `https://a.example/*`), or regular expressions between slashes (`/\\/v[0-9]+\\//`).',
  }),
  exclude: row({ schema: patterns(), meaning: 'Does not follow URLs that match one of these patterns.' }),
  sitemap: row({
    schema: flag(),
    defaultText: 'true',
    meaning:
      'Reads the sitemaps that robots.txt names, otherwise /sitemap.xml, including indexes and gzip files. Their URLs within the scope are read before links.',
  }),
  robots: row({
    schema: flag(),
    defaultText: 'true',
    meaning: 'Obeys robots.txt (as `lectern`), its Crawl-delay, and `nofollow` links.',
  }),
  delayMs: row({
    schema: number({ min: 0, max: MAX_DELAY_MS, integer: true }),
    unit: 'ms',
    defaultText: 'set by the operator, otherwise 500',
    meaning: 'Delay between reads from the same host; a longer Crawl-delay takes precedence.',
  }),
  concurrency: row({
    schema: number({ min: 1, integer: true }),
    defaultText: '1',
    meaning: 'Maximum number of pages of one host to read at once.',
  }),
  options: row({
    schema: object(z.record(z.string(), z.unknown())),
    meaning: 'Reader options for every page, by their names in a JSON body: `{"preset": "spider"}`.',
  }),
  cancelOnClose: row({
    schema: flag(),
    defaultText: 'false',
    meaning: 'If the response is a stream: cancels the crawl when the client disconnects.',
  }),
} as const satisfies OptionTable & Record<string, CrawlRow>;

export type GivenCrawl = Given<typeof CRAWL_OPTIONS>;

/** What APIs of other products ask of a crawl, beyond the options of callers. */
export interface CrawlExtras {
  /** Stores these details with each page. */
  readonly details?: DetailLevel | undefined;
  /** Every start URL gets a result of its own, even if several lead to the same page. */
  readonly keepsDuplicates?: boolean | undefined;
  /** What regular expressions are matched against; the URL by default. */
  readonly expressionsOn?: 'path' | undefined;
  /** Removes the query of the URLs that are found. */
  readonly dropsQueries?: boolean | undefined;
}

/** The complete, validated options of a crawl. */
export interface CrawlPlan extends CrawlExtras {
  readonly starts: readonly string[];
  readonly limit: number;
  readonly depth: number;
  readonly scope: Scope;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly sitemap: boolean;
  readonly robots: boolean;
  readonly delayMs: number;
  readonly concurrency: number;
}

export const DEFAULT_LIMIT = 100;
export const DEFAULT_DEPTH = 3;

/** Limits set by the operator. */
export interface CrawlLimits {
  /** Maximum value of `limit`. */
  readonly maxPages: number;
  /** Maximum value of `concurrency`. */
  readonly hostPages: number;
  /** Default value of `delayMs`. */
  readonly delayMs: number;
}
