/** The tables of the crawl module after all migrations. Times are milliseconds since 1970. */
import type { Kysely } from 'kysely';
import type { JobColumns } from '#storage/jobs/table.ts';

export interface JobRow extends JobColumns {
  account_id: string | null;
  /** JSON, like `options` and `bases`. */
  plan: string;
  options: string;
  /** URLs that define the scope: the start URLs, or the targets of their redirects. */
  bases: string;
  /** 1 until the sitemaps have been read. */
  sitemaps_due: number;
  found: number;
  done: number;
  failed: number;
  skipped: number;
  /** Number of URLs that count toward the page limit. */
  read: number;
  tokens: number;
  last_seq: number;
  /** JSON that the caller of the module stores with the job; null if there is none. */
  data: string | null;
  /** The key by which the caller recognizes a repeated request; null if there is none. */
  request_key: string | null;
  /** 1 if its pages and results must be deleted. */
  litter: number;
}

/** `alias` is another URL of a page that has been read; it does not count as found. */
export type PageState = 'waiting' | 'done' | 'failed' | 'skipped' | 'alias';

export interface PageRow {
  job_id: string;
  /** NormalizedUrl.key */
  key: string;
  url: string;
  host: string;
  state: PageState;
  /** Determines the order of reading; see RANK. */
  rank: number;
  depth: number;
  /** Position in the order of discovery, starting at 0. */
  position: number;
  tries: number;
  ready_at: number;
  /** For a page that has been read: a hash of its text, and the key of its canonical URL. */
  content: string | null;
  canonical: string | null;
  /** For a duplicate or an alias: the URL whose result contains the page. */
  duplicate_of: string | null;
}

export interface Tables {
  crawl_jobs: JobRow;
  crawl_pages: PageRow;
  /** The outcome of each URL, numbered in the order of writing. */
  crawl_results: {
    job_id: string;
    seq: number;
    event: 'page' | 'failed' | 'skipped';
    /** JSON. */
    body: string;
  };
  /** Number of URLs found for each trap kind. */
  crawl_kinds: { job_id: string; kind: string; count: number };
  /** Reads that have not been charged yet. */
  crawl_charges: {
    id: string;
    job_id: string;
    account_id: string;
    owner: string;
    model: string;
    tokens: number;
    at: number;
    ms: number;
    /** JSON of the billing reservation. */
    reserve: string | null;
  };
}

export type Db = Kysely<Tables>;

/** Pages with a lower rank are read first: start URLs, URLs from sitemaps, links, and retries. */
export const RANK = { start: 0, sitemap: 1, link: 2, retry: 3 } as const;
