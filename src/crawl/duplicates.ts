/** Finds URLs of a crawl that lead to the same page: by redirect, by canonical URL, or by content. */
import type { WaitingPage } from './frontier.ts';
import { type NormalizedUrl, normalizeUrl } from './normalize-url.ts';
import type { NewResult, Outcome, ReadPage } from './outcome.ts';
import type { Db } from './schema.ts';

export interface Duplicate {
  /** The URL of the page that already has a result. */
  readonly of: string;
  readonly by: 'redirect' | 'canonical' | 'content';
}

/** Returns the URL under which the page with this key already has a result. It may be another URL of the same page. */
export async function findDuplicateByKey(db: Db, jobId: string, key: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('crawl_pages')
    .select(['url', 'state', 'duplicate_of'])
    .where('job_id', '=', jobId)
    .where('key', '=', key)
    .where('state', '!=', 'waiting')
    .executeTakeFirst();
  return row?.state === 'done' ? row.url : (row?.duplicate_of ?? undefined);
}

/**
 * Finds a page that has a result and is the same as this one. Checks the final URL, then the canonical URL, then the
 * content.
 */
export async function findDuplicate(
  db: Db,
  jobId: string,
  { key }: WaitingPage,
  outcome: Outcome,
): Promise<Duplicate | undefined> {
  if (outcome.kind === 'duplicate') return { of: outcome.of, by: 'redirect' };
  if (outcome.kind !== 'page') return undefined;
  const { final, canonical, content } = outcome;
  const of = final.key === key ? undefined : await findDuplicateByKey(db, jobId, final.key);
  if (of !== undefined) return { of, by: 'redirect' };
  const pages = db.selectFrom('crawl_pages').select('url').where('job_id', '=', jobId).where('state', '=', 'done');
  if (canonical) {
    const row = await pages
      .where((eb) => eb.or([eb('key', '=', canonical.key), eb('canonical', '=', canonical.key)]))
      .where('key', '!=', key)
      .limit(1)
      .executeTakeFirst();
    if (row) return { of: row.url, by: 'canonical' };
  }
  if (content === undefined) return undefined;
  const row = await pages.where('content', '=', content).limit(1).executeTakeFirst();
  return row && { of: row.url, by: 'content' };
}

/**
 * Marks the final URL of a redirected page as the same page, so that it is not read again. If the final URL was
 * waiting, returns a result for it.
 */
export async function claimFinalUrl(
  db: Db,
  jobId: string,
  { key, url, depth }: WaitingPage,
  { final }: ReadPage,
): Promise<NewResult[]> {
  if (final.key === key) return [];
  const waiting = await db
    .updateTable('crawl_pages')
    .set({ state: 'skipped', duplicate_of: url })
    .where('job_id', '=', jobId)
    .where('key', '=', final.key)
    .where('state', '=', 'waiting')
    .returning('url')
    .executeTakeFirst();
  if (waiting) return [{ event: 'skipped', body: { url: waiting.url, depth, reason: 'duplicate', of: url } }];
  await db
    .insertInto('crawl_pages')
    .values({
      ...{ job_id: jobId, key: final.key, url: final.url, host: final.host, state: 'alias', duplicate_of: url },
      ...{ rank: 0, depth, position: 0, tries: 0, ready_at: 0, content: null, canonical: null },
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return [];
}

/**
 * Returns the canonical URL declared by a page, if it is trusted. It must be on the same host, with or without `www.`.
 * It must not be the root of the site, which templates often declare on every page by mistake.
 */
export function trustedCanonical(declared: string | undefined, own: NormalizedUrl): NormalizedUrl | undefined {
  const canonical = declared === undefined ? undefined : normalizeUrl(declared);
  if (!canonical || canonical.key === own.key || bareHost(canonical.host) !== bareHost(own.host)) return undefined;
  const { pathname, search } = new URL(canonical.url);
  return pathname === '/' && !search && new URL(own.url).pathname !== '/' ? undefined : canonical;
}

const bareHost = (host: string) => host.replace(/^www\./, '');
