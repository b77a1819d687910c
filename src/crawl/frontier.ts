/** What is still to be read, in the database: taken in the order of rank, depth and finding. */
import { createHash } from 'node:crypto';
import type { Address } from './address.ts';
import { type Db, type PageRow, RANK } from './schema.ts';
import { newPage } from './store.ts';
import { kindsOf } from './traps.ts';

export type WaitingPage = Pick<PageRow, 'key' | 'url' | 'host' | 'rank' | 'depth' | 'tries'>;

const WAITING = ['key', 'url', 'host', 'rank', 'depth', 'tries'] as const;

const waitingOf = (db: Db, jobId: string, host: string) =>
  db.selectFrom('crawl_pages').where('job_id', '=', jobId).where('host', '=', host).where('state', '=', 'waiting');

/** The pages of a host whose turn it is. */
export async function nextPages(
  db: Db,
  jobId: string,
  host: string,
  now: number,
  most: number,
): Promise<WaitingPage[]> {
  return waitingOf(db, jobId, host)
    .select(WAITING)
    .where('ready_at', '<=', now)
    .orderBy('rank')
    .orderBy('depth')
    .orderBy('position')
    .limit(most)
    .execute();
}

/** When a page of a host may be read at the earliest, in ms since 1970; undefined when none waits. */
export async function hostReadyAt(db: Db, jobId: string, host: string): Promise<number | undefined> {
  const { at } = await waitingOf(db, jobId, host)
    .select((eb) => eb.fn.min('ready_at').as('at'))
    .executeTakeFirstOrThrow();
  return (at as number | null) ?? undefined;
}

export async function waitingHosts(db: Db, jobId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('crawl_pages')
    .select('host')
    .distinct()
    .where('job_id', '=', jobId)
    .where('state', '=', 'waiting')
    .execute();
  return rows.map(({ host }) => host);
}

/** Whether a page that the caller named has not been read yet. */
export async function startsWait(db: Db, jobId: string): Promise<boolean> {
  const row = await db
    .selectFrom('crawl_pages')
    .select('key')
    .where('job_id', '=', jobId)
    .where('state', '=', 'waiting')
    .where('rank', '=', RANK.start)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export interface Found {
  readonly address: Address;
  readonly rank: number;
  readonly depth: number;
}

interface Bounds {
  /** How many addresses were found before. */
  readonly found: number;
  readonly most: number;
}

const KEYS_AT_ONCE = 500;
const ROWS_AT_ONCE = 200;

/** Adds addresses that are new, and not too many of their kind; their hosts. To be called in a transaction. */
export async function addFound(db: Db, jobId: string, given: readonly Found[], bounds: Bounds): Promise<string[]> {
  const byKey = new Map<string, Found>();
  for (const one of given) if (!byKey.has(one.address.key)) byKey.set(one.address.key, one);
  const keys = [...byKey.keys()];
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const some = keys.slice(from, from + KEYS_AT_ONCE);
    const known = await db
      .selectFrom('crawl_pages')
      .select('key')
      .where('job_id', '=', jobId)
      .where('key', 'in', some)
      .execute();
    for (const { key } of known) byKey.delete(key);
  }
  const left = Math.max(0, bounds.most - bounds.found);
  const allowed = (await ofAllowedKinds(db, jobId, [...byKey.values()])).slice(0, left);
  const rows = allowed.map(({ address, rank, depth }, at) =>
    newPage(jobId, address, { rank, depth, position: bounds.found + at }),
  );
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await db
      .insertInto('crawl_pages')
      .values(rows.slice(from, from + ROWS_AT_ONCE))
      .execute();
  }
  return rows.map(({ host }) => host);
}

/** Those of which there are not too many of a kind yet; what a sitemap names the site means. */
async function ofAllowedKinds(db: Db, jobId: string, found: readonly Found[]): Promise<Found[]> {
  const kinds = new Map<Found, { readonly name: string; readonly most: number }[]>();
  for (const one of found) {
    const those = one.rank === RANK.sitemap ? [] : kindsOf(new URL(one.address.url));
    if (those.length)
      kinds.set(
        one,
        those.map(({ name, most }) => ({ name: hashed(name), most })),
      );
  }
  if (!kinds.size) return [...found];
  const counts = await countsOf(db, jobId, [...new Set([...kinds.values()].flat().map(({ name }) => name))]);
  const changed = new Set<string>();
  const allowed = found.filter((one) => {
    const those = kinds.get(one) ?? [];
    if (those.some(({ name, most }) => (counts.get(name) ?? 0) >= most)) return false;
    for (const { name } of those) {
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

async function countsOf(db: Db, jobId: string, names: readonly string[]): Promise<Map<string, number>> {
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

/** Databases index no long texts. */
const hashed = (name: string): string => createHash('sha256').update(name).digest('base64url').slice(0, 22);
