/** The nearest vectors by pgvector, where the database has it: https://github.com/pgvector/pgvector, 0.7 or later. */
import { createHash } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { valuesOf } from './codes.ts';
import type { Near } from './index-store.ts';

export interface NearTable {
  /** In the transaction that keeps the codes. */
  keep(db: Kysely<never>, model: string, codes: readonly Coded[]): Promise<void>;
  nearest(model: string, vector: Float32Array, within: Within, limit: number): Promise<Near[]>;
}

/**
 * `among` is a query of ids, looked through one by one; else the index of the database is asked, and of what it finds
 * the pages of these owners are taken.
 */
export type Within =
  | { readonly among: RawBuilder<unknown> }
  | { readonly among?: undefined; readonly owners: readonly string[] | undefined };

export interface Coded {
  readonly id: number;
  readonly code: Uint8Array;
}

/** Any number of our own; PostgreSQL's advisory locks are named by numbers. */
const LOCK = 7_305_805;
const AT_ONCE = 500;
/** The most that pgvector's index takes of halfvec. */
const MAX_INDEXED = 4_000;
/** How many candidates the index keeps in sight for each that is wanted, and the most it may. */
const SIGHT = 2;
const MAX_SIGHT = 1_000;

/** Undefined where the extension is not there and may not be made, is too old, or the database is away. */
export async function openNearTable(db: Kysely<never>): Promise<NearTable | undefined> {
  if (!(await prepareTable(db))) return undefined;
  const indexed = new Set<string>();

  /** Vectors of a model have an index of their own, as their size is part of it. */
  async function makeIndex(on: Kysely<never>, model: string, dimensions: number): Promise<void> {
    const key = `${dimensions} ${model}`;
    if (indexed.has(key) || dimensions > MAX_INDEXED) return;
    const name = `index_near_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
    await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(on);
    await sql`CREATE INDEX IF NOT EXISTS ${sql.id(name)} ON index_near
      USING hnsw ((embedding::halfvec(${sql.lit(dimensions)})) halfvec_cosine_ops)
      WHERE model = ${sql.lit(model)} AND vector_dims(embedding) = ${sql.lit(dimensions)}`.execute(on);
    indexed.add(key);
  }

  async function keep(on: Kysely<never>, model: string, codes: readonly Coded[]): Promise<void> {
    const told = codes.flatMap(({ id, code }) => {
      const values = valuesOf(code);
      return values.some((value) => value !== 0) ? [{ id, values }] : [];
    });
    if (told.length === 0) return;
    await makeIndex(on, model, told[0]!.values.length);
    await sql`
      INSERT INTO index_near (passage, model, embedding)
      SELECT v.passage, ${model}, n.embedding::vector
      FROM unnest(${told.map(({ id }) => id)}::bigint[], ${told.map(({ values }) => `[${values.join(',')}]`)}::text[])
        AS n (id, embedding)
      JOIN index_vectors v ON v.passage = n.id
      ORDER BY v.passage
      ON CONFLICT (passage) DO UPDATE SET model = excluded.model, embedding = excluded.embedding
    `.execute(on);
  }

  async function nearest(model: string, vector: Float32Array, only: Within, limit: number): Promise<Near[]> {
    const half = sql`halfvec(${sql.lit(vector.length)})`;
    const asked = sql`${`[${vector.join(',')}]`}::${half}`;
    const distance = sql`(n.embedding::${half} <=> ${asked})`;
    const own = sql`n.model = ${sql.lit(model)} AND vector_dims(n.embedding) = ${sql.lit(vector.length)}`;
    const query = only.among
      ? sql<Near>`
          WITH allowed AS MATERIALIZED (${only.among}), near AS MATERIALIZED (
            SELECT n.passage AS id, ${distance} AS distance FROM index_near n JOIN allowed a ON a.id = n.passage WHERE ${own}
          )
          SELECT id, 1 - distance AS similarity FROM near ORDER BY distance LIMIT ${limit}`
      : sql<Near>`
          SELECT n.passage AS id, 1 - ${distance} AS similarity FROM index_near n WHERE ${own} ${owned(only.owners)}
          ORDER BY ${distance} LIMIT ${limit}`;
    return db.transaction().execute(async (within) => {
      const sight = Math.min(MAX_SIGHT, limit * SIGHT);
      await sql`SELECT set_config('hnsw.ef_search', ${String(sight)}, true)`.execute(within);
      return (await query.execute(within)).rows;
    });
  }

  const table: NearTable = { keep, nearest };
  try {
    await fillUp(db, table);
    return table;
  } catch {
    // Half of the vectors would be half of the answers: they are compared here instead.
    return undefined;
  }
}

const owned = (owners: readonly string[] | undefined): RawBuilder<unknown> =>
  owners
    ? sql`AND EXISTS (SELECT 1 FROM index_passages p JOIN index_pages g ON g.id = p.page
        WHERE p.id = n.passage AND g.owner = ANY(${owners}::text[]))`
    : sql``;

async function prepareTable(db: Kysely<never>): Promise<boolean> {
  try {
    return await db.transaction().execute(async (within) => {
      await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(within);
      const { rows } = await sql<{ version: string | null }>`SELECT coalesce(
        (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
        (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')
      ) AS version`.execute(within);
      const [major = 0, minor = 0] = (rows[0]?.version ?? '').split('.').map(Number);
      if (major === 0 && minor < 7) return false;
      await sql`CREATE EXTENSION IF NOT EXISTS vector`.execute(within);
      await sql`CREATE TABLE IF NOT EXISTS index_near (
        passage BIGINT PRIMARY KEY REFERENCES index_vectors (passage) ON DELETE CASCADE,
        model TEXT NOT NULL, embedding VECTOR NOT NULL
      )`.execute(within);
      return true;
    });
  } catch {
    // Whoever may not make extensions does without; a server that is away is asked again at the next start.
    return false;
  }
}

/** Vectors that were kept before the extension was there. */
async function fillUp(db: Kysely<never>, table: NearTable): Promise<void> {
  for (let after = 0; ; ) {
    const { rows } = await sql<Coded & { model: string }>`
      SELECT v.passage AS id, v.model, v.code FROM index_vectors v
      WHERE v.passage > ${after} AND NOT EXISTS (
        SELECT 1 FROM index_near n WHERE n.passage = v.passage AND n.model = v.model
      ) ORDER BY v.passage LIMIT ${AT_ONCE}`.execute(db);
    if (rows.length === 0) return;
    after = rows.at(-1)!.id;
    for (const model of new Set(rows.map((row) => row.model))) {
      await db.transaction().execute((within) =>
        table.keep(
          within,
          model,
          rows.filter((row) => row.model === model),
        ),
      );
    }
  }
}
