/**
 * The index in PostgreSQL, shared by any number of servers. Terms are stored as tsvectors built here, vectors as bytes.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Migration } from '#storage/database/migrate.ts';
import { openPostgres } from '#storage/database/postgres.ts';
import type { Log } from '#telemetry/log.ts';
import { ONLY_ALL, OPERATOR } from '../owners.ts';
import { type Filters, isUnfiltered } from '../query/filters.ts';
import type { FieldTerms, PreparedPage } from '../write/prepare-page.ts';
import type { IndexStore, PassageRow, UnembeddedRow } from './index-store.ts';
import { openVectorTable } from './pgvector.ts';
import { conditionsOf, storable } from './postgres-conditions.ts';
import { createWordFrequencies, type RunQuery } from './postgres-frequencies.ts';

export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  {
    name: 'the local index',
    async up(db) {
      await sql`CREATE TABLE index_pages (
        id BIGSERIAL PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, path TEXT NOT NULL, ext TEXT NOT NULL,
        title TEXT NOT NULL, description TEXT NOT NULL, site_name TEXT NOT NULL, language TEXT NOT NULL,
        published_at BIGINT, indexed_at BIGINT NOT NULL, hash TEXT NOT NULL UNIQUE, bytes BIGINT NOT NULL
      )`.execute(db);
      await sql`CREATE INDEX index_pages_by_host ON index_pages (host text_pattern_ops)`.execute(db);
      await sql`CREATE INDEX index_pages_by_age ON index_pages (indexed_at, id)`.execute(db);
      await sql`CREATE TABLE index_passages (
        id BIGSERIAL PRIMARY KEY, page BIGINT NOT NULL REFERENCES index_pages (id) ON DELETE CASCADE,
        heading TEXT NOT NULL, text TEXT NOT NULL, start_at INTEGER NOT NULL, end_at INTEGER NOT NULL,
        terms TSVECTOR NOT NULL
      )`.execute(db);
      await sql`CREATE INDEX index_passages_by_page ON index_passages (page)`.execute(db);
      await sql`CREATE INDEX index_passages_by_terms ON index_passages USING gin (terms)`.execute(db);
      await sql`CREATE TABLE index_vectors (
        seq BIGSERIAL PRIMARY KEY, passage BIGINT NOT NULL UNIQUE REFERENCES index_passages (id) ON DELETE CASCADE,
        model TEXT NOT NULL, code BYTEA NOT NULL
      )`.execute(db);
    },
  },
  {
    name: 'owners of pages in the local index',
    async up(db) {
      await sql`ALTER TABLE index_pages RENAME COLUMN url TO key`.execute(db);
      await sql`ALTER TABLE index_pages ADD COLUMN url TEXT NOT NULL DEFAULT '',
        ADD COLUMN owner TEXT NOT NULL DEFAULT ${sql.lit(ONLY_ALL)}`.execute(db);
      // The URLs by which earlier pages were read are unknown; files were added by the operator.
      await sql`UPDATE index_pages SET url = key,
        owner = CASE WHEN key LIKE 'file:%' THEN ${OPERATOR} ELSE ${ONLY_ALL} END`.execute(db);
      await sql`CREATE INDEX index_pages_by_url ON index_pages (url)`.execute(db);
      await sql`CREATE INDEX index_pages_by_owner ON index_pages (owner)`.execute(db);
    },
  },
];

interface Tables {
  index_pages: { id: number };
}

/** The tsvector weights D, C, B, A: of URLs and variants, text, headings, titles. */
const WEIGHTS = '{0.2, 0.33, 0.67, 1}';
const PRUNED_AT_ONCE = 50;
/** Limits of tsvector positions (PostgreSQL manual, 12.11), and the gap between two fields, which no phrase spans. */
const MAX_POSITION = 16_383;
const MAX_POSITIONS_PER_TERM = 255;
const FIELD_GAP = 2;

/** Throws if the server refuses the connection. While the server is unavailable, each call tries again. */
export async function openPostgresIndex(url: string, log?: Pick<Log, 'warn'>): Promise<IndexStore> {
  const store = await openPostgres<Tables>(url, { module: 'index', migrations: POSTGRES_MIGRATIONS, log });
  const { db } = store;
  const rows = async <Row>(query: RawBuilder<Row>): Promise<Row[]> => (await query.execute(db)).rows;
  const idsOf = async (query: RawBuilder<{ id: number }>) => (await rows(query)).map(({ id }) => id);
  const frequencies = createWordFrequencies(rows);
  const near = await openVectorTable(db as unknown as Kysely<never>);
  const matching = (filters: Filters) =>
    sql<{
      id: number;
    }>`SELECT p.id FROM index_passages p JOIN index_pages g ON g.id = p.page WHERE ${conditionsOf(filters)}`;

  return {
    async write(pages) {
      const order = pages.map((_, at) => at).sort((a, b) => (pages[a]!.key < pages[b]!.key ? -1 : 1));
      const added = new Array<boolean>(pages.length).fill(false);
      await db.transaction().execute(async (within) => {
        // In the order of their keys, so that two servers cannot deadlock.
        for (const at of order) {
          added[at] = await writePage(pages[at]!, async (query) => (await query.execute(within)).rows);
        }
      });
      return added;
    },
    remove: async (url) => (await idsOf(sql`DELETE FROM index_pages WHERE url = ${url} RETURNING id`)).length > 0,
    async byWords(slots, filters, limit) {
      const looked = await frequencies.weigh(slots);
      if (looked.length === 0) return [];
      const any = looked.map(({ query }) => query).join(' | ');
      const where =
        isUnfiltered(filters) && !filters.owners
          ? sql``
          : sql`AND p.page IN (SELECT g.id FROM index_pages g WHERE ${conditionsOf(filters)})`;
      return idsOf(sql`
        SELECT p.id, (
          SELECT sum(s.weight * ts_rank(${WEIGHTS}::real[], p.terms, s.query::tsquery, 1))
          FROM unnest(${looked.map(({ query }) => query)}::text[], ${looked.map(({ weight }) => weight)}::float8[])
            AS s (query, weight)
        ) AS score
        FROM index_passages p WHERE p.terms @@ ${any}::tsquery ${where} ORDER BY score DESC, p.id LIMIT ${limit}`);
    },
    filteredIds: (filters) => idsOf(matching(filters)),
    newest: (filters, limit) =>
      idsOf(sql`SELECT (SELECT min(p.id) FROM index_passages p WHERE p.page = g.id) AS id FROM index_pages g
        WHERE ${conditionsOf(filters)} ORDER BY g.indexed_at DESC, g.id DESC LIMIT ${limit}`),
    rows: (ids) =>
      rows<PassageRow>(sql`SELECT p.id, p.page, p.heading, p.text, p.start_at AS start, p.end_at AS "end", g.url,
        g.title, g.description, g.site_name AS "siteName", g.language, g.published_at AS "publishedAt"
        FROM index_passages p JOIN index_pages g ON g.id = p.page WHERE p.id = ANY(${ids}::bigint[])`),
    textsOf: async (page) =>
      (await rows<{ text: string }>(sql`SELECT text FROM index_passages WHERE page = ${page} ORDER BY id`)).map(
        ({ text }) => text,
      ),
    withoutVector: (model, after, limit) =>
      rows<UnembeddedRow>(sql`SELECT p.id, g.title, p.heading, p.text
        FROM index_passages p JOIN index_pages g ON g.id = p.page
        WHERE p.id > ${after}
          AND NOT EXISTS (SELECT 1 FROM index_vectors v WHERE v.passage = p.id AND v.model = ${model})
        ORDER BY p.id LIMIT ${limit}`),
    async writeCodes(model, codes) {
      await db.transaction().execute(async (within) => {
        // Vectors of the same model, perhaps from another server, stay; those of another model are replaced.
        await sql`
          INSERT INTO index_vectors (passage, model, code)
          SELECT p.id, ${model}, c.code
          FROM unnest(${codes.map(({ id }) => id)}::bigint[], ${codes.map(({ code }) => Buffer.from(code))}::bytea[])
            AS c (id, code)
          JOIN index_passages p ON p.id = c.id
          ORDER BY p.id
          FOR KEY SHARE OF p
          ON CONFLICT (passage) DO UPDATE
            SET seq = nextval('index_vectors_seq_seq'), model = excluded.model, code = excluded.code
            WHERE index_vectors.model <> excluded.model`.execute(within);
        await near?.write(within as unknown as Kysely<never>, model, codes);
      });
    },
    ...(near && {
      nearest: (model, vector, filters, limit) =>
        isUnfiltered(filters)
          ? near.nearest(model, vector, { owners: filters.owners }, limit)
          : near.nearest(model, vector, { among: matching(filters) }, limit),
    }),
    codesFrom: (model, seq, limit) =>
      rows(sql`SELECT v.seq, v.passage AS id, v.code, g.owner
        FROM index_vectors v JOIN index_passages p ON p.id = v.passage JOIN index_pages g ON g.id = p.page
        WHERE v.seq >= ${seq} AND v.model = ${model} ORDER BY v.seq LIMIT ${limit}`),
    async codes(model, ids) {
      const found = await rows<{ id: number; code: Uint8Array }>(
        sql`SELECT passage AS id, code FROM index_vectors WHERE model = ${model} AND passage = ANY(${ids}::bigint[])`,
      );
      return new Map(found.map(({ id, code }) => [id, code]));
    },
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
        const ids = await idsOf(sql`DELETE FROM index_pages WHERE id IN (
          SELECT o.id FROM (
            SELECT id, sum(bytes) OVER (ORDER BY indexed_at, id) - bytes AS before
            FROM (SELECT * FROM index_pages ORDER BY indexed_at, id LIMIT ${PRUNED_AT_ONCE}) oldest
          ) o WHERE o.before < (SELECT sum(bytes) FROM index_pages) - ${maxBytes}
        ) RETURNING id`);
        removed = ids.length;
      }
      return pruned;
    },
    async clear() {
      // Not TRUNCATE, which would wait for readers.
      await rows(sql`DELETE FROM index_pages`);
      frequencies.forget();
    },
    close: () => store.close(),
  };
}

async function writePage(page: PreparedPage, rows: RunQuery): Promise<boolean> {
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
  // Another server inserted it first.
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

/** Terms are letters and digits, so they need no escaping. */
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
