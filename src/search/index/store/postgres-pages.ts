/** Writes, removes and counts the pages of the index in PostgreSQL. */
import { sql } from 'kysely';
import { ONLY_ALL } from '../owners.ts';
import type { FieldTerms, PreparedPage } from '../write/prepare-page.ts';
import type { IndexStore } from './index-store.ts';
import { storable } from './postgres-conditions.ts';
import type { RunQuery } from './postgres-frequencies.ts';

const PRUNED_AT_ONCE = 50;
/**
 * Largest tsvector position, and maximum number of positions per term (PostgreSQL manual, 12.11). The gap between two
 * fields prevents phrases from matching across them.
 */
const MAX_POSITION = 16_383;
const MAX_POSITIONS_PER_TERM = 255;
const FIELD_GAP = 2;

/** Counts pages, and removes the oldest ones. */
export function sizeQueries(rows: RunQuery): Pick<IndexStore, 'stats' | 'prune'> {
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

/** Writes a page. Returns false if the owner already has its content. */
export async function writePage(page: PreparedPage, rows: RunQuery): Promise<boolean> {
  const { key, owner, url, host, ext, title, description, siteName, language, publishedAt, indexedAt, hash, bytes } =
    page;
  const [same] = await rows<{ key: string }>(
    sql`UPDATE index_pages SET indexed_at = greatest(indexed_at, ${indexedAt}) WHERE hash = ${hash} RETURNING key`,
  );
  if (same?.key === key) return false;
  await rows(sql`DELETE FROM index_pages WHERE key = ${key} OR (url = ${url} AND owner = ${ONLY_ALL})`);
  if (same) return false;
  const [made] = await rows<{ id: number }>(sql`
    INSERT INTO index_pages
      (key, owner, url, host, path, ext, title, description, site_name, language, published_at, indexed_at, hash, bytes)
    VALUES (${key}, ${owner}, ${url}, ${host}, ${storable(new URL(url).pathname.toLowerCase())}, ${ext}, ${storable(title)},
      ${storable(description)}, ${storable(siteName)}, ${language}, ${publishedAt}, ${indexedAt}, ${hash}, ${bytes})
    ON CONFLICT DO NOTHING RETURNING id`);
  // Another server inserted the page first.
  if (!made) return false;
  const { passages } = page;
  await rows(sql`
    INSERT INTO index_passages (page, heading, text, start_at, end_at, terms)
    SELECT ${made.id}, heading, text, start_at, end_at, terms::tsvector
    FROM unnest(
      ${passages.map(({ heading }) => storable(heading))}::text[], ${passages.map(({ text }) => storable(text))}::text[],
      ${passages.map(({ start }) => start)}::int[], ${passages.map(({ end }) => end)}::int[],
      ${passages.map(({ terms }) => vectorOf(terms))}::text[]
    ) WITH ORDINALITY AS p (heading, text, start_at, end_at, terms, place)
    ORDER BY place`);
  return true;
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
