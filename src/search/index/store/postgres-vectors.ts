/** Reads and writes the vectors of the index in PostgreSQL. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Filters, isUnfiltered } from '../query/filters.ts';
import type { IndexStore, UnembeddedRow } from './index-store.ts';
import type { VectorTable } from './pgvector.ts';
import type { RunQuery } from './postgres-frequencies.ts';

type VectorQueries = Pick<
  IndexStore,
  'lastPassage' | 'withoutVector' | 'writeCodes' | 'nearest' | 'codesFrom' | 'codes'
>;

export interface VectorQueryTools {
  readonly rows: RunQuery;
  /** The pgvector table, if the database provides pgvector. */
  readonly vectorTable: VectorTable | undefined;
  /** Builds a query for the passages that match filters. */
  readonly matching: (filters: Filters) => RawBuilder<{ id: number }>;
}

export function vectorQueries<Tables>(
  db: Kysely<Tables>,
  { rows, vectorTable, matching }: VectorQueryTools,
): VectorQueries {
  return {
    async lastPassage() {
      const [found] = await rows<{ last: number }>(sql`SELECT coalesce(max(id), 0) AS last FROM index_passages`);
      return Number(found!.last);
    },
    withoutVector: (model, after, limit) =>
      rows<UnembeddedRow>(sql`SELECT p.id, g.title, p.heading, p.text
        FROM index_passages p JOIN index_pages g ON g.id = p.page
        WHERE p.id > ${after}
          AND NOT EXISTS (SELECT 1 FROM index_vectors v WHERE v.passage = p.id AND v.model = ${model})
        ORDER BY p.id LIMIT ${limit}`),
    async writeCodes(model, codes) {
      await db.transaction().execute(async (within) => {
        // Vectors of the same model, perhaps stored by another server, are retained; those of another model are
        // replaced.
        await sql`
          INSERT INTO index_vectors (passage, model, code)
          SELECT p.id, ${model}, c.code
          FROM unnest(${codes.map(({ id }) => id)}::bigint[], ${codes.map(({ code }) => Buffer.from(code))}::bytea[])
            AS c (id, code)
          JOIN index_passages p ON p.id = c.id
          ORDER BY p.id
          FOR KEY SHARE OF p
          ON CONFLICT (passage) DO UPDATE
            SET seq = DEFAULT, model = excluded.model, code = excluded.code
            WHERE index_vectors.model <> excluded.model`.execute(within);
        await vectorTable?.write(within as unknown as Kysely<never>, model, codes);
      });
    },
    ...(vectorTable && {
      nearest: (model, vector, filters, limit) =>
        isUnfiltered(filters)
          ? vectorTable.nearest(model, vector, { owners: filters.owners }, limit)
          : vectorTable.nearest(model, vector, { among: matching(filters) }, limit),
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
  };
}
