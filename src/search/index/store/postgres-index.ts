/**
 * The index in PostgreSQL, which any number of servers can share. Terms are stored as tsvectors that are built here,
 * and vectors as bytes.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { openPostgres } from '#storage/database/postgres.ts';
import type { Log } from '#telemetry/log.ts';
import type { Filters } from '../query/filters.ts';
import { type IndexStore, type PassageRow, SHARED_OVERLAP, type StoredPage } from './index-store.ts';
import { openVectorTable } from './pgvector.ts';
import { anyOf, conditionsOf } from './postgres-conditions.ts';
import { createWordFrequencies } from './postgres-frequencies.ts';
import { POSTGRES_MIGRATIONS } from './postgres-migrations.ts';
import { sizeQueries, writePages } from './postgres-pages.ts';
import { vectorQueries } from './postgres-vectors.ts';
import { findByWords, MAX_CANDIDATES } from './postgres-words.ts';

export interface PostgresIndexOptions {
  /** The schema for the tables. Default: the first of the search path. */
  readonly schema?: string | undefined;

  /** Maximum number of passages that are ranked because of rare words (postgres-words.ts). */
  readonly maxCandidates?: number | undefined;
}

interface Tables {
  index_pages: { id: number };
}

const TABLES = ['index_pages', 'index_passages', 'index_vectors', 'index_near'];
/** There may be many schemas. */
const MAX_CONNECTIONS_IN_SCHEMA = 4;

/** Throws if the server rejects the connection. If the server is unavailable, each call tries again. */
export async function openPostgresIndex(
  url: string,
  log?: Pick<Log, 'warn'>,
  { schema, maxCandidates = MAX_CANDIDATES }: PostgresIndexOptions = {},
): Promise<IndexStore> {
  const store = await openPostgres<Tables>(url, {
    module: 'index',
    migrations: POSTGRES_MIGRATIONS,
    log,
    ...(schema !== undefined && {
      schema: { name: schema, tables: TABLES },
      maxConnections: MAX_CONNECTIONS_IN_SCHEMA,
    }),
  });
  const { db } = store;
  const rows = async <Row>(query: RawBuilder<Row>): Promise<Row[]> => (await query.execute(db)).rows;
  const idsOf = async (query: RawBuilder<{ id: number }>) => (await rows(query)).map(({ id }) => id);
  const frequencies = createWordFrequencies(rows);
  const vectorTable = await openVectorTable(db as unknown as Kysely<never>);
  const matching = (filters: Filters) =>
    sql<{
      id: number;
    }>`SELECT p.id FROM index_passages p JOIN index_pages g ON g.id = p.page WHERE ${conditionsOf(filters)}`;

  return {
    overlap: SHARED_OVERLAP,
    write: (pages) =>
      db.transaction().execute((within) => writePages(pages, async (query) => (await query.execute(within)).rows)),
    remove: async (url) => (await idsOf(sql`DELETE FROM index_pages WHERE url = ${url} RETURNING id`)).length > 0,
    async byWords(slots, filters, limit) {
      const weighted = await frequencies.weigh(slots);
      if (weighted.length === 0) return { matches: [], slots: [] };
      const averageTerms = await frequencies.averageTerms();
      return db
        .transaction()
        .execute((within) =>
          findByWords(within as unknown as Kysely<never>, weighted, { filters, limit, maxCandidates, averageTerms }),
        );
    },
    async coverage(slots, ids) {
      const found = await rows<{ id: number; weight: number }>(sql`
        SELECT p.id, sum(s.weight) AS weight
        FROM index_passages p
        JOIN unnest(${slots.map(({ slot }) => anyOf(slot))}::text[], ${slots.map(({ weight }) => weight)}::float8[])
          AS s (query, weight) ON p.terms @@ s.query::tsquery
        WHERE p.id = ANY(${ids}::bigint[]) GROUP BY p.id`);
      return new Map(found.map(({ id, weight }) => [id, weight]));
    },
    async pagesOf(ids) {
      const found = await rows<{ id: number; page: number }>(
        sql`SELECT id, page FROM index_passages WHERE id = ANY(${ids}::bigint[])`,
      );
      return new Map(found.map(({ id, page }) => [id, page]));
    },
    filteredIds: (filters) => idsOf(matching(filters)),
    newest: (filters, limit) =>
      idsOf(sql`SELECT (SELECT min(p.id) FROM index_passages p WHERE p.page = g.id) AS id FROM index_pages g
        WHERE ${conditionsOf(filters)} ORDER BY g.indexed_at DESC, g.id DESC LIMIT ${limit}`),
    rows: (ids) =>
      rows<PassageRow>(sql`SELECT p.id, p.page, p.heading, p.text, p.start_at AS start, p.end_at AS "end", g.url,
        g.title, g.description, g.site_name AS "siteName", g.language, g.published_at AS "publishedAt"
        FROM index_passages p JOIN index_pages g ON g.id = p.page WHERE p.id = ANY(${ids}::bigint[])`),
    async storedPages(after, limit) {
      const found = await rows<Omit<StoredPage, 'passages'>>(sql`
        SELECT id, key, owner, url, host, ext, title, description, site_name AS "siteName", language,
          published_at AS "publishedAt", indexed_at AS "indexedAt", hash, bytes
        FROM index_pages WHERE id > ${after} ORDER BY id LIMIT ${limit}`);
      const passages = await rows<StoredPage['passages'][number] & { page: number }>(sql`
        SELECT page, heading, text, start_at AS start, end_at AS "end" FROM index_passages
        WHERE page = ANY(${found.map(({ id }) => id)}::bigint[]) ORDER BY id`);
      return found.map((stored) => ({
        ...stored,
        passages: passages.filter(({ page }) => page === stored.id).map(({ page: _, ...passage }) => passage),
      }));
    },
    textsOf: async (page) =>
      (await rows<{ text: string }>(sql`SELECT text FROM index_passages WHERE page = ${page} ORDER BY id`)).map(
        ({ text }) => text,
      ),
    urlsAmong: async (urls) =>
      (await rows<{ url: string }>(sql`SELECT DISTINCT url FROM index_pages WHERE url = ANY(${urls}::text[])`)).map(
        ({ url }) => url,
      ),
    ...vectorQueries(db, { rows, vectorTable, matching }),
    ...sizeQueries(rows),
    async clear() {
      // TRUNCATE would have to wait for readers.
      await rows(sql`DELETE FROM index_pages`);
      frequencies.forget();
    },
    close: () => store.close(),
  };
}
