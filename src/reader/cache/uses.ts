/**
 * Records when copies were last used. Writes are batched, because a write for each hit would cost more than the hit.
 */
import type { Database } from '#storage/database/sqlite.ts';
import type { IndexQueries } from './index-queries.ts';

/** Maximum number of uses noted in memory before they are written. */
const MAX_NOTED_USES = 1_000;

export interface Uses {
  note(id: string, usedAt: number): void;
  /** Forgets a copy that was removed. */
  forget(id: string): void;
  write(): void;
}

export function createUses(database: Database, rows: Pick<IndexQueries, 'setUsedAt'>): Uses {
  const uses = new Map<string, number>();

  function write(): void {
    database.transaction(() => {
      for (const [id, usedAt] of uses) rows.setUsedAt(id, usedAt);
    });
    uses.clear();
  }

  return {
    note(id, usedAt) {
      uses.set(id, usedAt);
      if (uses.size > MAX_NOTED_USES) write();
    },
    forget: (id) => uses.delete(id),
    write,
  };
}
