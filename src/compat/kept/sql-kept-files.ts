/** Kept results in a database, which all servers share. Their bytes are split into pieces, which many calls can read. */
import { type Kysely, sql } from 'kysely';
import { orUnavailable } from '#api/unavailable.ts';
import type { Migration } from '#storage/database/migrate.ts';
import { type ModuleTables, openStore } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { KEPT_ID, type KeptFiles, type KeptRecord } from './kept-files.ts';

interface Tables {
  kept_files: { id: string; owner: string; created_at: number; record: string; size: number };
  kept_pieces: { file_id: string; start: number; bytes: Uint8Array };
}

const MIGRATIONS: readonly Migration[] = [
  {
    name: 'kept files',
    async up(db, dialect) {
      const bytes = sql.raw(dialect === 'postgres' ? 'BYTEA' : 'BLOB');
      await sql`CREATE TABLE kept_files (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, created_at BIGINT NOT NULL, record TEXT NOT NULL, size BIGINT NOT NULL
      )`.execute(db);
      await sql`CREATE INDEX kept_files_by_owner ON kept_files (owner, created_at)`.execute(db);
      await sql`CREATE TABLE kept_pieces (
        file_id TEXT NOT NULL, start BIGINT NOT NULL, bytes ${bytes} NOT NULL, PRIMARY KEY (file_id, start)
      )`.execute(db);
    },
  },
];

export const KEPT_TABLES: ModuleTables = {
  module: 'kept files',
  migrations: MIGRATIONS,
  fileIn: (dataDir) => `${dataDir}/compat/kept.db`,
};

export interface SqlKeptFilesOptions {
  readonly lifetimeMs: number;
  readonly maxTotalBytes: number;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** A piece that a read or write takes at once, in bytes. */
const PIECE_BYTES = 256 * 1024;

export async function openSqlKeptFiles<Record extends KeptRecord>(
  place: { readonly url?: string | undefined; readonly file: string },
  { lifetimeMs, maxTotalBytes, log }: SqlKeptFilesOptions,
): Promise<KeptFiles<Record>> {
  const store = await openStore<Tables>(place, { ...KEPT_TABLES, log });
  const { db } = store;
  const oldest = () => Date.now() - lifetimeMs;
  const current = () => db.selectFrom('kept_files').select('record').where('created_at', '>=', oldest());

  /** Removes results past their lifetime, and the oldest ones above the size limit. */
  async function sweep(): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM (
        SELECT id, created_at, sum(size) OVER (ORDER BY created_at DESC, id) AS total FROM kept_files
      ) AS sized WHERE created_at < ${oldest()} OR total > ${maxTotalBytes}
    `.execute(db);
    for (const { id } of rows) await removeFile(db, id);
  }

  return {
    put: (record, bytes) =>
      orUnavailable(
        (async () => {
          const text = JSON.stringify(record);
          const { id, owner, createdAt } = record;
          await db.transaction().execute(async (transaction) => {
            await removeFile(transaction, id);
            const size = text.length + (bytes?.length ?? 0);
            const row = { id, owner, created_at: createdAt, record: text, size };
            await transaction.insertInto('kept_files').values(row).execute();
            for (let start = 0; bytes && start < bytes.length; start += PIECE_BYTES) {
              const piece = Buffer.from(bytes.subarray(start, start + PIECE_BYTES));
              await transaction.insertInto('kept_pieces').values({ file_id: id, start, bytes: piece }).execute();
            }
          });
          await sweep();
        })(),
      ),
    record: (id, owner) =>
      orUnavailable(
        (async () => {
          if (!KEPT_ID.test(id)) return undefined;
          const row = await current().where('id', '=', id).executeTakeFirst();
          const record = row && (JSON.parse(row.record) as Record);
          return owner === undefined || record?.owner === owner ? record : undefined;
        })(),
      ),
    bytes: (id) =>
      orUnavailable(
        (async () => {
          if (!KEPT_ID.test(id)) return undefined;
          const pieces: Uint8Array[] = [];
          for (let start = 0; ; ) {
            const found = db.selectFrom('kept_pieces').select('bytes').where('file_id', '=', id);
            const row = await found.where('start', '=', start).executeTakeFirst();
            if (!row) return pieces.length ? Buffer.concat(pieces) : undefined;
            pieces.push(row.bytes);
            start += row.bytes.length;
          }
        })(),
      ),
    list: (owner) =>
      orUnavailable(
        (async () => {
          const rows = await current().where('owner', '=', owner).orderBy('created_at', 'desc').execute();
          return rows.map(({ record }) => JSON.parse(record) as Record);
        })(),
      ),
    remove: (id) => orUnavailable(db.transaction().execute((transaction) => removeFile(transaction, id))),
    close: () => store.close(),
  };
}

async function removeFile(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom('kept_pieces').where('file_id', '=', id).execute();
  await db.deleteFrom('kept_files').where('id', '=', id).execute();
}
