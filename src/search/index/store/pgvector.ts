/** Vector search with pgvector 0.7 or later (https://github.com/pgvector/pgvector), if the database provides it. */
import { createHash } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { quantizedValues } from '../vectors/quantize.ts';
import type { NearPassage } from './index-store.ts';

export interface VectorTable {
  /** Writes vectors in the same transaction that stores the codes. */
  write(db: Kysely<never>, model: string, codes: readonly Coded[]): Promise<void>;
  nearest(model: string, vector: Float32Array, within: CandidateFilter, limit: number): Promise<NearPassage[]>;
}

/**
 * If `among` (a query that returns ids) is set, the vectors of all these ids are compared. Otherwise the vector index
 * is searched, and its results are filtered by owner.
 */
export type CandidateFilter =
  | { readonly among: RawBuilder<unknown> }
  | { readonly among?: undefined; readonly owners: readonly string[] | undefined };

export interface Coded {
  readonly id: number;
  readonly code: Uint8Array;
}

/** Key of the advisory lock: an arbitrary number that is not used for anything else. */
const LOCK = 7_305_805;
/** Number of vectors that `addMissing` copies at once. */
const AT_ONCE = 500;
/** Maximum number of dimensions for a pgvector index on halfvec. */
const MAX_INDEXED_DIMENSIONS = 4_000;
/**
 * Number of candidates that the index considers for each result (`hnsw.ef_search`), and the maximum that pgvector
 * accepts.
 */
const CANDIDATES_PER_RESULT = 2;
const MAX_CANDIDATES = 1_000;

/** Returns `undefined` if the extension cannot be installed or is too old, or if the database is unavailable. */
export async function openVectorTable(db: Kysely<never>): Promise<VectorTable | undefined> {
  if (!(await prepareTable(db))) return undefined;
  const indexed = new Set<string>();

  /** Each model needs its own index, because the number of dimensions is part of the index. */
  async function makeIndex(on: Kysely<never>, model: string, dimensions: number): Promise<void> {
    const key = `${dimensions} ${model}`;
    if (indexed.has(key) || dimensions > MAX_INDEXED_DIMENSIONS) return;
    const name = `index_near_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
    await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(on);
    await sql`CREATE INDEX IF NOT EXISTS ${sql.id(name)} ON index_near
      USING hnsw ((embedding::halfvec(${sql.lit(dimensions)})) halfvec_cosine_ops)
      WHERE model = ${sql.lit(model)} AND vector_dims(embedding) = ${sql.lit(dimensions)}`.execute(on);
    indexed.add(key);
  }

  async function write(on: Kysely<never>, model: string, codes: readonly Coded[]): Promise<void> {
    const nonZero = codes.flatMap(({ id, code }) => {
      const values = quantizedValues(code);
      return values.some((value) => value !== 0) ? [{ id, values }] : [];
    });
    if (nonZero.length === 0) return;
    await makeIndex(on, model, nonZero[0]!.values.length);
    await sql`
      INSERT INTO index_near (passage, model, embedding)
      SELECT v.passage, ${model}, n.embedding::vector
      FROM unnest(${nonZero.map(({ id }) => id)}::bigint[], ${nonZero.map(({ values }) => `[${values.join(',')}]`)}::text[])
        AS n (id, embedding)
      JOIN index_vectors v ON v.passage = n.id
      ORDER BY v.passage
      ON CONFLICT (passage) DO UPDATE SET model = excluded.model, embedding = excluded.embedding
    `.execute(on);
  }

  async function nearest(
    model: string,
    vector: Float32Array,
    only: CandidateFilter,
    limit: number,
  ): Promise<NearPassage[]> {
    const half = sql`halfvec(${sql.lit(vector.length)})`;
    const queryVector = sql`${`[${vector.join(',')}]`}::${half}`;
    const distance = sql`(n.embedding::${half} <=> ${queryVector})`;
    const own = sql`n.model = ${sql.lit(model)} AND vector_dims(n.embedding) = ${sql.lit(vector.length)}`;
    const query = only.among
      ? sql<NearPassage>`
          WITH allowed AS MATERIALIZED (${only.among}), near AS MATERIALIZED (
            SELECT n.passage AS id, ${distance} AS distance FROM index_near n JOIN allowed a ON a.id = n.passage WHERE ${own}
          )
          SELECT id, 1 - distance AS similarity FROM near ORDER BY distance LIMIT ${limit}`
      : sql<NearPassage>`
          SELECT n.passage AS id, 1 - ${distance} AS similarity FROM index_near n WHERE ${own} ${ownedBy(only.owners)}
          ORDER BY ${distance} LIMIT ${limit}`;
    return db.transaction().execute(async (within) => {
      const candidates = Math.min(MAX_CANDIDATES, limit * CANDIDATES_PER_RESULT);
      await sql`SELECT set_config('hnsw.ef_search', ${String(candidates)}, true)`.execute(within);
      return (await query.execute(within)).rows;
    });
  }

  const table: VectorTable = { write, nearest };
  try {
    await addMissing(db, table);
    return table;
  } catch {
    // An incomplete table would give incomplete results, so vectors are compared in this process instead.
    return undefined;
  }
}

const ownedBy = (owners: readonly string[] | undefined): RawBuilder<unknown> =>
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
    // Creating extensions is not permitted, or the server is unavailable. The next start tries again.
    return false;
  }
}

/** Adds vectors that were stored before the extension was installed. */
async function addMissing(db: Kysely<never>, table: VectorTable): Promise<void> {
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
        table.write(
          within,
          model,
          rows.filter((row) => row.model === model),
        ),
      );
    }
  }
}
