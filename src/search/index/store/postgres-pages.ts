/** Writes, removes and counts the pages of the index in PostgreSQL. */
import { sql } from 'kysely';
import { ONLY_ALL } from '../owners.ts';
import type { FieldTerms, PreparedPage } from '../write/prepare-page.ts';
import type { IndexStore } from './index-store.ts';
import { storable } from './postgres-conditions.ts';
import type { RunQuery } from './postgres-frequencies.ts';
import { roundsOf } from './rounds.ts';

const PRUNED_AT_ONCE = 50;
/** Key of the advisory lock: an arbitrary number that is not used for anything else. */
const LOCK = 7_305_806;
/**
 * Largest tsvector position, and maximum number of positions per term (PostgreSQL manual, 12.11). The gap between two
 * fields prevents phrases from matching across them.
 */
const MAX_POSITION = 16_383;
const MAX_POSITIONS_PER_TERM = 255;
const FIELD_GAP = 2;

/** Counts pages, and removes the oldest ones. */
export function sizeQueries(rows: RunQuery): Pick<IndexStore, 'stats' | 'languages' | 'bytes' | 'prune'> {
  return {
    async stats(model) {
      const [sums] = await rows<{ pages: number; bytes: number; onlyAll: number; oldestAt: number | null }>(sql`
        SELECT count(*) AS pages, coalesce(sum(bytes), 0) AS bytes,
          count(*) FILTER (WHERE owner = ${ONLY_ALL}) AS "onlyAll", min(indexed_at) AS "oldestAt" FROM index_pages`);
      const [counts] = await rows<{ passages: number; vectors: number }>(sql`
        SELECT (SELECT count(*) FROM index_passages) AS passages,
          (SELECT count(*) FROM index_vectors WHERE ${model ?? null}::text IS NULL OR model = ${model ?? null}) AS vectors`);
      const languages = await rows<{ language: string; count: number }>(sql`
        SELECT language, count(*) AS count FROM index_pages WHERE language <> ''
        GROUP BY language ORDER BY count(*) DESC, language`);
      return {
        ...counts!,
        pages: sums!.pages,
        bytes: sums!.bytes,
        onlyAll: sums!.onlyAll,
        oldestAt: sums!.oldestAt ?? undefined,
        languages: Object.fromEntries(languages.map(({ language, count }) => [language, count])),
      };
    },
    async languages() {
      const found = await rows<{ language: string; count: number }>(
        sql`SELECT language, count(*) AS count FROM index_pages GROUP BY language ORDER BY count(*) DESC, language`,
      );
      return new Map(found.map(({ language, count }) => [language, count]));
    },
    async bytes() {
      const [found] = await rows<{ bytes: number }>(sql`SELECT coalesce(sum(bytes), 0) AS bytes FROM index_pages`);
      return found!.bytes;
    },
    async prune(maxBytes) {
      let pruned = 0;
      for (let removed = 1; removed > 0; pruned += removed) {
        const ids = await rows<{ id: number }>(sql`DELETE FROM index_pages WHERE id IN (
          SELECT o.id FROM (
            SELECT id, sum(bytes) OVER (ORDER BY indexed_at, id) - bytes AS before
            FROM (SELECT * FROM index_pages ORDER BY indexed_at, id LIMIT ${PRUNED_AT_ONCE}) oldest
          ) o WHERE o.before < (SELECT sum(bytes) FROM index_pages) - ${maxBytes}
        ) RETURNING id`);
        removed = ids.length;
      }
      return pruned;
    },
  };
}

/**
 * Writes pages in one transaction, with a few statements for all of them. Returns, for each page, false if the owner
 * already has its content.
 */
export async function writePages(pages: readonly PreparedPage[], rows: RunQuery): Promise<boolean[]> {
  // Writers take turns, because two that write the same pages in different orders would block each other.
  await rows(sql`SELECT pg_advisory_xact_lock(${LOCK})`);
  const added = new Set<PreparedPage>();
  for (const round of roundsOf(pages)) for (const page of await writeRound(round, rows)) added.add(page);
  return pages.map((page) => added.has(page));
}

/** Returns the pages that were added. */
async function writeRound(pages: readonly PreparedPage[], rows: RunQuery): Promise<PreparedPage[]> {
  const known = await rows<{ key: string; hash: string }>(sql`
    UPDATE index_pages p SET indexed_at = greatest(p.indexed_at, n.indexed_at)
    FROM unnest(${pages.map(({ hash }) => hash)}::text[], ${pages.map(({ indexedAt }) => indexedAt)}::bigint[])
      AS n (hash, indexed_at)
    WHERE p.hash = n.hash RETURNING p.key, p.hash`);
  const keys = new Map(known.map(({ key, hash }) => [hash, key]));
  const replaced = pages.filter(({ key, hash }) => keys.get(hash) !== key);
  if (replaced.length === 0) return [];
  await rows(sql`
    DELETE FROM index_pages WHERE key = ANY(${replaced.map(({ key }) => key)}::text[])
      OR (owner = ${ONLY_ALL} AND url = ANY(${replaced.map(({ url }) => url)}::text[]))`);
  const fresh = replaced.filter(({ hash }) => !keys.has(hash));
  if (fresh.length === 0) return [];
  const ids = await insertPages(fresh, rows);
  const inserted = fresh.filter(({ key }) => ids.has(key));
  await insertPassages(inserted, ids, rows);
  return inserted;
}

/** Returns the ids of the inserted pages by their keys. */
async function insertPages(pages: readonly PreparedPage[], rows: RunQuery): Promise<Map<string, number>> {
  const column = <Value>(read: (page: PreparedPage) => Value) => pages.map(read);
  const made = await rows<{ id: number; key: string }>(sql`
    INSERT INTO index_pages
      (key, owner, url, host, path, ext, title, description, site_name, language, published_at, indexed_at, hash, bytes)
    SELECT * FROM unnest(
      ${column(({ key }) => key)}::text[], ${column(({ owner }) => owner)}::text[], ${column(({ url }) => url)}::text[],
      ${column(({ host }) => host)}::text[],
      ${column(({ url }) => storable(new URL(url).pathname.toLowerCase()))}::text[],
      ${column(({ ext }) => ext)}::text[], ${column(({ title }) => storable(title))}::text[],
      ${column(({ description }) => storable(description))}::text[],
      ${column(({ siteName }) => storable(siteName))}::text[], ${column(({ language }) => language)}::text[],
      ${column(({ publishedAt }) => publishedAt)}::bigint[], ${column(({ indexedAt }) => indexedAt)}::bigint[],
      ${column(({ hash }) => hash)}::text[], ${column(({ bytes }) => bytes)}::bigint[]
    ) ON CONFLICT DO NOTHING RETURNING id, key`);
  return new Map(made.map(({ id, key }) => [key, id]));
}

async function insertPassages(
  pages: readonly PreparedPage[],
  ids: ReadonlyMap<string, number>,
  rows: RunQuery,
): Promise<void> {
  const passages = pages.flatMap(({ key, passages: own }) =>
    own.map((passage) => ({ ...passage, page: ids.get(key)! })),
  );
  await rows(sql`
    INSERT INTO index_passages (page, heading, text, start_at, end_at, terms)
    SELECT page, heading, text, start_at, end_at, terms::tsvector
    FROM unnest(
      ${passages.map(({ page }) => page)}::bigint[], ${passages.map(({ heading }) => storable(heading))}::text[],
      ${passages.map(({ text }) => storable(text))}::text[], ${passages.map(({ start }) => start)}::int[],
      ${passages.map(({ end }) => end)}::int[], ${passages.map(({ terms }) => vectorOf(terms))}::text[]
    ) WITH ORDINALITY AS p (page, heading, text, start_at, end_at, terms, place)
    ORDER BY place`);
}

/** Builds a tsvector. Terms are letters and digits, so they need no escaping. */
function vectorOf(terms: FieldTerms): string {
  const places = new Map<string, string[]>();
  let position = 1;
  const add = (text: string, weight: string) => {
    for (const term of text ? text.split(' ') : []) {
      const own = places.get(term) ?? [];
      if (own.length < MAX_POSITIONS_PER_TERM) own.push(`${Math.min(position, MAX_POSITION)}${weight}`);
      places.set(term, own);
      position += 1;
    }
    position += FIELD_GAP;
  };
  add(terms.title, 'A');
  add(terms.heading, 'B');
  add(terms.body, 'C');
  add(terms.also, 'D');
  add(terms.address, 'D');
  return [...places].map(([term, at]) => `'${term}':${at.join(',')}`).join(' ');
}
