/** Reads and writes the vectors of the index in SQLite. */
import type { Database } from '#storage/database/sqlite.ts';
import type { CodeRow, IndexStore, UnembeddedRow } from './index-store.ts';

type VectorQueries = Pick<IndexStore, 'lastPassage' | 'withoutVector' | 'writeCodes' | 'codesFrom' | 'codes'>;

export function vectorQueries(database: Database): VectorQueries {
  return {
    lastPassage: async () => database.get<{ last: number }>('SELECT coalesce(max(id), 0) AS last FROM passages')!.last,
    withoutVector: async (model, after, limit) =>
      database.all<UnembeddedRow>(
        `SELECT p.id, g.title, p.heading, p.text FROM passages p JOIN pages g ON g.id = p.page
         WHERE p.id > ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage = p.id AND v.model = ?)
         ORDER BY p.id LIMIT ?`,
        after,
        model,
        limit,
      ),
    async writeCodes(model, codes) {
      database.transaction(() => {
        for (const { id, code } of codes) {
          database.run(
            `INSERT OR REPLACE INTO vectors (passage, model, code)
             SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM passages WHERE id = ?)`,
            id,
            model,
            code,
            id,
          );
        }
      });
    },
    codesFrom: async (model, seq, limit) =>
      database.all<CodeRow>(
        `SELECT v.seq, v.passage AS id, v.code, g.owner
         FROM vectors v JOIN passages p ON p.id = v.passage JOIN pages g ON g.id = p.page
         WHERE v.seq >= ? AND v.model = ? ORDER BY v.seq LIMIT ?`,
        seq,
        model,
        limit,
      ),
    async codes(model, ids) {
      const found = database.all<{ id: number; code: Uint8Array }>(
        'SELECT passage AS id, code FROM vectors WHERE model = ? AND passage IN (SELECT value FROM json_each(?))',
        model,
        JSON.stringify(ids),
      );
      return new Map(found.map(({ id, code }) => [id, code]));
    },
  };
}
