/** The tables of the room as they are now; the migrations make them. Times are milliseconds since 1970. */
import type { Kysely } from 'kysely';
import type { JobColumns } from '#storage/jobs/table.ts';

export interface JobRow extends JobColumns {
  account_id: string | null;
  /** JSON, as are `options` and `bases`. */
  plan: string;
  options: string;
  /** Addresses around which the scope lies: the starts, and where they redirect. */
  bases: string;
  /** 1 until the sitemaps were read. */
  sitemaps_due: number;
  found: number;
  done: number;
  failed: number;
  skipped: number;
  /** Addresses that were read, whatever came of it. */
  read: number;
  tokens: number;
  last_seq: number;
  /** 1 when its pages are to be removed. */
  litter: number;
}

/** `alias` is another address of a page that is known; it is none of those found. */
export type PageState = 'waiting' | 'done' | 'failed' | 'skipped' | 'alias';

export interface PageRow {
  job_id: string;
  /** Address.key */
  key: string;
  url: string;
  host: string;
  state: PageState;
  /** What is read before what: see Rank. */
  rank: number;
  depth: number;
  /** The how many-th address that was found. */
  position: number;
  tries: number;
  ready_at: number;
  /** Of what was read: a hash of its text, and the key of the address that it calls its own. */
  content: string | null;
  canonical: string | null;
  /** Of a duplicate or an alias: the address of the page. */
  duplicate_of: string | null;
}

export interface Tables {
  crawl_jobs: JobRow;
  crawl_pages: PageRow;
  /** What became of each address, in the order of its becoming known. */
  crawl_results: {
    job_id: string;
    seq: number;
    event: 'page' | 'failed' | 'skipped';
    /** JSON. */
    body: string;
  };
  /** How many addresses were followed of each kind that may have no end. */
  crawl_kinds: { job_id: string; kind: string; count: number };
  /** What was read and is not charged yet. */
  crawl_charges: {
    id: string;
    job_id: string;
    account_id: string;
    owner: string;
    model: string;
    tokens: number;
    at: number;
    ms: number;
    /** JSON of what was set aside for it. */
    reserve: string | null;
  };
}

export type Db = Kysely<Tables>;

/** Where a crawl starts, what sitemaps name, what links lead to, and what is tried again. */
export const RANK = { start: 0, sitemap: 1, link: 2, retry: 3 } as const;
