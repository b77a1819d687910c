/** THE table of what a crawl may be asked for. Parsing, the interface description and the guide read it. */
import * as z from 'zod';
import type { Given, OptionSource, OptionTable } from '#http/gather.ts';
import { flag, number, object, oneOf, texts } from '#http/values.ts';
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
    meaning: 'Where to start.',
  }),
  urls: row({
    schema: texts()
      .refine((list) => list.length > 0, 'is empty')
      .refine((list) => list.length <= MAX_STARTS, `must not have more than ${MAX_STARTS} entries`)
      .refine(
        (list) => list.every((text) => text.length <= MAX_URL),
        `must have entries of at most ${MAX_URL} characters`,
      ),
    meaning: 'Where to start, when there are several places; in place of `url`.',
  }),
  limit: row({
    schema: number({ min: 1, integer: true }),
    unit: 'pages',
    defaultText: '100',
    meaning:
      'How many addresses are read at most; those that fail or turn out to be duplicates count, those that robots.txt forbids do not.',
  }),
  depth: row({
    schema: number({ min: 0, max: MAX_DEPTH, integer: true }),
    unit: 'links',
    defaultText: '3',
    meaning: 'How many links away from where it starts; 0 reads nothing else. Addresses of sitemaps are one link away.',
  }),
  scope: row({
    schema: oneOf(SCOPES),
    defaultText: 'path',
    meaning:
      'How far links are followed: `path` below the folder of the start (of `/docs/intro` that is `/docs/`), `host` on its host, `domain` on all hosts of its registrable domain.',
  }),
  include: row({
    schema: patterns(),
    meaning:
      'Only addresses that fit one of these are followed: globs (`/docs/**`, `*.pdf`, `https://a.example/*`), or regular expressions between slashes (`/\\/v[0-9]+\\//`).',
  }),
  exclude: row({ schema: patterns(), meaning: 'Addresses that fit one of these are not followed.' }),
  sitemap: row({
    schema: flag(),
    defaultText: 'true',
    meaning:
      'Reads the sitemaps that robots.txt names, or /sitemap.xml, indexes and packed ones included; what they name within the scope is read first.',
  }),
  robots: row({
    schema: flag(),
    defaultText: 'true',
    meaning:
      'Keeps to robots.txt (as `lectern`) with its Crawl-delay, and follows no link that asks not to be followed.',
  }),
  delayMs: row({
    schema: number({ min: 0, max: MAX_DELAY_MS, integer: true }),
    unit: 'ms',
    defaultText: 'that of the server, 500 unless the operator says otherwise',
    meaning: 'The pause between two reads of a host; a longer Crawl-delay wins.',
  }),
  concurrency: row({
    schema: number({ min: 1, integer: true }),
    defaultText: '1',
    meaning: 'How many pages of one host are read at once.',
  }),
  options: row({
    schema: object(z.record(z.string(), z.unknown())),
    meaning: 'Options of the reader for every page, by their names in a body: `{"preset": "spider"}`.',
  }),
  cancelOnClose: row({
    schema: flag(),
    defaultText: 'false',
    meaning: 'Of an answer that is a stream: whether the crawl ends when the client leaves. Otherwise it goes on.',
  }),
} as const satisfies OptionTable & Record<string, CrawlRow>;

export type GivenCrawl = Given<typeof CRAWL_OPTIONS>;

/** What a crawl is to do, complete. */
export interface CrawlPlan {
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

/** What the operator allows. */
export interface CrawlLimits {
  /** Pages that one crawl may read. */
  readonly maxPages: number;
  /** Pages of one host that a crawl may read at once. */
  readonly hostPages: number;
  /** The pause between reads of a host where a crawl names none. */
  readonly delayMs: number;
}
