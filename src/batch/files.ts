/**
 * Files that callers upload. They are stored in the database, or in the bucket beside it, because all servers share them.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { problem } from '#errors.ts';
import { newJobId } from '#storage/jobs/access.ts';
import {
  type BatchDb,
  claimObjects,
  contentMissing,
  lengthOf,
  readContent,
  releaseObjects,
  splitBytes,
  withObjects,
} from './objects.ts';
import type { FileRow } from './schema.ts';

/** Times are milliseconds since 1970. */
export interface StoredFile {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly purpose: string;
  /** As the caller declared it. */
  readonly mediaType: string | null;
  /** Signs URLs of the file. */
  readonly secret: string;
  readonly bytes: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface NewFile extends Pick<StoredFile, 'owner' | 'name' | 'purpose'> {
  readonly mediaType?: string | undefined;
  readonly content: Uint8Array;
  /** How long the file is kept. */
  readonly keepMs: number;
}

export interface FilePage {
  readonly limit: number;
  /** The id after which the page begins. */
  readonly after?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly purpose?: string | undefined;
}

export interface Files {
  /** Throws ResourceLimitExceededError if the owner's files would be too large together, and BlobsUnavailableError. */
  add(file: NewFile): Promise<StoredFile>;
  find(id: string): Promise<StoredFile | undefined>;
  list(owner: string, page: FilePage): Promise<StoredFile[]>;
  remove(id: string): Promise<void>;
  /**
   * Throws if the file is removed in the meantime. Throws BlobsUnavailableError, and a problem that names the file if a
   * part of it is missing or damaged.
   */
  read(file: Pick<StoredFile, 'id' | 'bytes'>): AsyncIterable<Uint8Array>;
}

/** Maximum size of all files of an owner, in bytes. */
const MAX_OWNER_BYTES = 1_000_000_000;

export function createFiles(store: BatchDb, now: () => number): Files {
  return {
    async add({ owner, name, purpose, mediaType, content, keepMs }) {
      const createdAt = now();
      const file: FileRow = {
        id: newJobId('file', createdAt).replace('_', '-'),
        owner,
        name,
        purpose,
        media_type: mediaType ?? null,
        secret: randomBytes(32).toString('base64url'),
        bytes: content.length,
        created_at: createdAt,
        expires_at: createdAt + keepMs,
      };
      await withObjects(store, splitBytes(content), (pieces) =>
        store.db.transaction().execute(async (transaction) => {
          // SQLite transactions are exclusive. In PostgreSQL, this lock serializes uploads of one owner.
          if (store.dialect === 'postgres') {
            await sql`SELECT pg_advisory_xact_lock(hashtext(${owner}))`.execute(transaction);
          }
          const { used } = await transaction
            .selectFrom('batch_files')
            .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('bytes'), sql<number>`0`).as('used'))
            .where('owner', '=', owner)
            .executeTakeFirstOrThrow();
          if (Number(used) + file.bytes > MAX_OWNER_BYTES) {
            const message = `Your files may have at most ${MAX_OWNER_BYTES} bytes together: delete some`;
            throw problem('ResourceLimitExceededError', { path: 'file', message });
          }
          await transaction.insertInto('batch_files').values(file).execute();
          let start = 0;
          for (const piece of pieces) {
            await claimObjects(transaction, [piece]);
            await transaction
              .insertInto('batch_file_pieces')
              .values({ file_id: file.id, start, ...piece })
              .execute();
            start += lengthOf(piece);
          }
        }),
      );
      return fileOf(file);
    },

    async find(id) {
      const found = store.db.selectFrom('batch_files').selectAll().where('id', '=', id);
      const row = await found.where('expires_at', '>', now()).executeTakeFirst();
      return row && fileOf(row);
    },

    async list(owner, { limit, after, order, purpose }) {
      let found = store.db.selectFrom('batch_files').selectAll().where('owner', '=', owner);
      found = found.where('expires_at', '>', now());
      if (purpose !== undefined) found = found.where('purpose', '=', purpose);
      // Ids sort by the time of the upload.
      if (after !== undefined) found = found.where('id', order === 'asc' ? '>' : '<', after);
      return (await found.orderBy('id', order).limit(limit).execute()).map(fileOf);
    },

    remove: (id) => removeFile(store, id),

    async *read({ id, bytes }) {
      for (let start = 0; start < bytes; ) {
        const piece = await findPiece(store, id, start);
        const content = piece && (await readContent(store, piece));
        // The object of a piece that was just deleted is missing, too.
        if (!piece || (!content && !(await findPiece(store, id, start)))) throw new Error('the file has been removed');
        if (!content) throw contentMissing(`file ${id}`, start, piece);
        yield content;
        start += content.length;
      }
    },
  };
}

const findPiece = ({ db }: BatchDb, id: string, start: number) =>
  db
    .selectFrom('batch_file_pieces')
    .select(['bytes', 'object', 'length'])
    .where('file_id', '=', id)
    .where('start', '=', start)
    .executeTakeFirst();

async function removeFile({ db }: BatchDb, id: string): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const deleted = transaction.deleteFrom('batch_file_pieces').where('file_id', '=', id).returning('object');
    await releaseObjects(transaction, await deleted.execute());
    await transaction.deleteFrom('batch_files').where('id', '=', id).execute();
  });
}

/** Removes files past their expiry time. */
export async function removeExpiredFiles(store: BatchDb, now: number): Promise<void> {
  const due = store.db.selectFrom('batch_files').select('id').where('expires_at', '<=', now);
  for (const { id } of await due.execute()) await removeFile(store, id);
}

const fileOf = ({
  id,
  owner,
  name,
  purpose,
  media_type,
  secret,
  bytes,
  created_at,
  expires_at,
}: FileRow): StoredFile => ({
  id,
  owner,
  name,
  purpose,
  mediaType: media_type,
  secret,
  bytes: Number(bytes),
  createdAt: Number(created_at),
  expiresAt: Number(expires_at),
});
