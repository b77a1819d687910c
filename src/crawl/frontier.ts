/**
 * The URLs that a crawl still has to read, stored in the database. They are read in the order of rank, depth and
 * discovery.
 */
import { createHash } from 'node:crypto';
import type { NormalizedUrl } from './normalize-url.ts';
import { type Db, type PageRow, RANK } from './schema.ts';
import { newPage } from './store.ts';
import { trapKinds } from './traps.ts';

export type WaitingPage = Pick<PageRow, 'key' | 'url' | 'host' | 'rank' | 'depth' | 'tries'>;

/** The scheduler's queries about the waiting pages of one crawl. */
export interface Frontier {
  /** Returns the hosts that have waiting pages. */
  hosts(): Promise<string[]>;
  /** Returns the next pages of a host that may be read at `now`, at most `limit`. */
  nextPages(host: string, now: number, limit: number): Promise<WaitingPage[]>;
  /** The earliest time at which a page of the host may be read, in ms since 1970; `undefined` if none is waiting. */
  readyAt(host: string): Promise<number | undefined>;
  /** Whether a start URL has not been read yet. */
  hasWaitingStarts(): Promise<boolean>;
}

const COLUMNS = ['key', 'url', 'host', 'rank', 'depth', 'tries'] as const;

export function createFrontier(db: Db, jobId: string): Frontier {
  const waiting = () => db.selectFrom('crawl_pages').where('job_id', '=', jobId).where('state', '=', 'waiting');
  return {
    async hosts() {
      const rows = await waiting().select('host').distinct().execute();
      return rows.map(({ host }) => host);
    },
    async nextPages(host, now, limit) {
      return waiting()
        .select(COLUMNS)
        .where('host', '=', host)
        .where('ready_at', '<=', now)
        .orderBy('rank')
        .orderBy('depth')
        .orderBy('position')
        .limit(limit)
        .execute();
    },
    async readyAt(host) {
      const { at } = await waiting()
        .select((eb) => eb.fn.min('ready_at').as('at'))
        .where('host', '=', host)
        .executeTakeFirstOrThrow();
      return (at as number | null) ?? undefined;
    },
    async hasWaitingStarts() {
      const row = await waiting().select('key').where('rank', '=', RANK.start).limit(1).executeTakeFirst();
      return row !== undefined;
    },
  };
}

export interface FoundUrl {
  readonly normalized: NormalizedUrl;
  readonly rank: number;
  readonly depth: number;
}

interface FoundCounts {
  /** Number of URLs that the crawl has already found. */
  readonly found: number;
  readonly maxFound: number;
}

const KEYS_AT_ONCE = 500;
const ROWS_AT_ONCE = 200;

/**
 * Adds URLs that are new and do not exceed the maximum for their trap kind. Returns the host of each added URL. Must be
 * called in a transaction.
 */
export async function addFoundUrls(
  db: Db,
  jobId: string,
  candidates: readonly FoundUrl[],
  { found, maxFound }: FoundCounts,
): Promise<string[]> {
  const byKey = new Map<string, FoundUrl>();
  for (const one of candidates) if (!byKey.has(one.normalized.key)) byKey.set(one.normalized.key, one);
  const keys = [...byKey.keys()];
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const known = await db
      .selectFrom('crawl_pages')
      .select('key')
      .where('job_id', '=', jobId)
      .where('key', 'in', keys.slice(from, from + KEYS_AT_ONCE))
      .execute();
    for (const { key } of known) byKey.delete(key);
  }
  const left = Math.max(0, maxFound - found);
  const allowed = (await withinTrapLimits(db, jobId, [...byKey.values()])).slice(0, left);
  const rows = allowed.map(({ normalized, rank, depth }, at) =>
    newPage(jobId, normalized, { rank, depth, position: found + at }),
  );
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await db
      .insertInto('crawl_pages')
      .values(rows.slice(from, from + ROWS_AT_ONCE))
      .execute();
  }
  return rows.map(({ host }) => host);
}

/** Drops URLs whose trap kind has reached its maximum, except URLs from sitemaps, which the site lists on purpose. */
async function withinTrapLimits(db: Db, jobId: string, found: readonly FoundUrl[]): Promise<FoundUrl[]> {
  const kindsByUrl = new Map<FoundUrl, { readonly name: string; readonly limit: number }[]>();
  for (const one of found) {
    const kinds = one.rank === RANK.sitemap ? [] : trapKinds(new URL(one.normalized.url));
    if (!kinds.length) continue;
    kindsByUrl.set(
      one,
      kinds.map(({ name, limit }) => ({ name: hashName(name), limit })),
    );
  }
  if (!kindsByUrl.size) return [...found];
  const counts = await readCounts(db, jobId, [...new Set([...kindsByUrl.values()].flat().map(({ name }) => name))]);
  const changed = new Set<string>();
  const allowed = found.filter((one) => {
    const kinds = kindsByUrl.get(one) ?? [];
    if (kinds.some(({ name, limit }) => (counts.get(name) ?? 0) >= limit)) return false;
    for (const { name } of kinds) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      changed.add(name);
    }
    return true;
  });
  const rows = [...changed].map((kind) => ({ job_id: jobId, kind, count: counts.get(kind)! }));
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await db
      .insertInto('crawl_kinds')
      .values(rows.slice(from, from + ROWS_AT_ONCE))
      .onConflict((conflict) =>
        conflict.columns(['job_id', 'kind']).doUpdateSet((eb) => ({ count: eb.ref('excluded.count') })),
      )
      .execute();
  }
  return allowed;
}

async function readCounts(db: Db, jobId: string, names: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let from = 0; from < names.length; from += KEYS_AT_ONCE) {
    const rows = await db
      .selectFrom('crawl_kinds')
      .select(['kind', 'count'])
      .where('job_id', '=', jobId)
      .where('kind', 'in', names.slice(from, from + KEYS_AT_ONCE))
      .execute();
    for (const { kind, count } of rows) counts.set(kind, count);
  }
  return counts;
}

/** Names are hashed because databases do not index long texts. */
const hashName = (name: string): string => createHash('sha256').update(name).digest('base64url').slice(0, 22);
