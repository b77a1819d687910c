/** The ids of the documents of a collection, and the addresses under which its index has them. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { problem } from '#errors.ts';
import type { Migration } from '#storage/database/migrate.ts';
import { openPostgres } from '#storage/database/postgres.ts';
import { openDatabase } from '#storage/database/sqlite.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import type { Log } from '#telemetry/log.ts';
import type { CollectionPlace } from './place.ts';

export interface DocumentId {
  readonly address: string;
  readonly id: string;
}

export interface DocumentIds {
  /** Runs `work` while no other server runs such work on this collection. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  addressesOf(ids: readonly string[]): Promise<DocumentId[]>;
  idsOf(addresses: readonly string[]): Promise<Map<string, string>>;
  /** Replaces what is known of these ids and addresses, none of which may occur twice. */
  put(documents: readonly DocumentId[]): Promise<void>;
  remove(addresses: readonly string[]): Promise<void>;
  /** In order of address. */
  after(address: string, limit: number): Promise<DocumentId[]>;
  close(): Promise<void>;
}

/** In PostgreSQL if the place has a URL, otherwise in a file. */
export function openDocumentIds(place: CollectionPlace, log?: Pick<Log, 'warn'>): Promise<DocumentIds> {
  return place.url === undefined ? openFile(place.folder) : openTable(place.url, place.schema, log);
}

const FILE = 'ids.db';
const FILE_MIGRATIONS = ['CREATE TABLE documents (address TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE)'];

async function openFile(folder: string): Promise<DocumentIds> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await openDatabase(path.join(folder, FILE), FILE_MIGRATIONS);
  const rows = (column: 'id' | 'address', values: readonly string[]) =>
    values.flatMap((value) => file.all<DocumentId>(`SELECT address, id FROM documents WHERE ${column} = ?`, value));
  return {
    exclusively: (work) => work(),
    addressesOf: async (ids) => rows('id', ids),
    idsOf: async (addresses) => new Map(rows('address', addresses).map(({ address, id }) => [address, id])),
    put: async (documents) =>
      file.transaction(() => {
        for (const { address, id } of documents)
          file.run('INSERT OR REPLACE INTO documents (address, id) VALUES (?, ?)', address, id);
      }),
    remove: async (addresses) =>
      file.transaction(() => {
        for (const address of addresses) file.run('DELETE FROM documents WHERE address = ?', address);
      }),
    after: async (address, limit) =>
      file.all<DocumentId>(
        'SELECT address, id FROM documents WHERE address > ? ORDER BY address LIMIT ?',
        address,
        limit,
      ),
    close: async () => file.close(),
  };
}

interface Tables {
  documents: DocumentId;
}

const TABLE_MIGRATIONS: readonly Migration[] = [
  {
    name: 'ids of documents',
    async up(db) {
      await sql`CREATE TABLE documents (address TEXT PRIMARY KEY, id TEXT NOT NULL)`.execute(db);
      await sql`CREATE INDEX documents_by_id ON documents (id)`.execute(db);
    },
  },
];
/** One of them holds the lock of `exclusively`. */
const MAX_CONNECTIONS = 3;
/** First key of the advisory lock: an arbitrary number that is not used for anything else. The second one is of the schema. */
const LOCK = 7_305_807;
/** How long a writer waits for that of another server, and how often it tries. A statement must not wait that long. */
const LOCK_WAIT_MS = 30_000;
const LOCK_RETRY_MS = 50;
/** NUL and lone surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

function refuseUnstorable(ids: readonly string[]): void {
  if (!ids.some((id) => UNSTORABLE.test(id))) return;
  const message =
    'The id of a document has a character that PostgreSQL cannot store (NUL, or half of a surrogate pair)';
  throw problem('ParamValidationError', { path: 'id', message });
}

async function openTable(url: string, schema: string, log: Pick<Log, 'warn'> | undefined): Promise<DocumentIds> {
  const store = await openPostgres<Tables>(url, {
    module: 'collection',
    migrations: TABLE_MIGRATIONS,
    maxConnections: MAX_CONNECTIONS,
    log,
    schema: { name: schema, tables: ['documents'] },
  });
  const { db } = store;
  /** Returns `undefined` if another server holds the lock, which ends with the transaction. */
  const ifFree = <T>(work: () => Promise<T>) =>
    db.transaction().execute(async (within) => {
      const { rows } = await sql<{ taken: boolean }>`
        SELECT pg_try_advisory_xact_lock(${LOCK}::int, hashtext(${schema})) AS taken`.execute(within);
      return rows[0]!.taken ? { result: await work() } : undefined;
    });
  return {
    async exclusively(work) {
      for (const until = performance.now() + LOCK_WAIT_MS; ; ) {
        const done = await ifFree(work);
        if (done) return done.result;
        if (performance.now() > until)
          throw new DatabaseUnavailableError(new Error('another server writes to this collection'));
        await sleep(LOCK_RETRY_MS);
      }
    },
    async addressesOf(ids) {
      refuseUnstorable(ids);
      return db.selectFrom('documents').selectAll().where('id', 'in', ids).execute();
    },
    async idsOf(addresses) {
      if (addresses.length === 0) return new Map();
      const rows = await db.selectFrom('documents').selectAll().where('address', 'in', addresses).execute();
      return new Map(rows.map(({ address, id }) => [address, id]));
    },
    async put(documents) {
      const ids = documents.map(({ id }) => id);
      await db.transaction().execute(async (within) => {
        await within.deleteFrom('documents').where('id', 'in', ids).execute();
        await within
          .insertInto('documents')
          .values([...documents])
          .onConflict((on) => on.column('address').doUpdateSet((row) => ({ id: row.ref('excluded.id') })))
          .execute();
      });
    },
    async remove(addresses) {
      if (addresses.length > 0) await db.deleteFrom('documents').where('address', 'in', addresses).execute();
    },
    after: (address, limit) =>
      db.selectFrom('documents').selectAll().where('address', '>', address).orderBy('address').limit(limit).execute(),
    close: () => store.close(),
  };
}
