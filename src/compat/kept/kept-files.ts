/**
 * Results that a dialect keeps for a caller for a while. Each is a record in JSON and its bytes: here in two files of a
 * folder, and in `sql-kept-files.ts` in a database that servers share. They are removed after their lifetime, or
 * earlier, oldest first, if they exceed the size limit together.
 */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { writeAtomically } from '#storage/files.ts';

export interface KeptRecord {
  readonly id: string;
  /** The account that may see the file. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export interface KeptFiles<Record extends KeptRecord> {
  put(record: Record, bytes?: Uint8Array): Promise<void>;
  /** The record; `undefined` if there is none for this owner. Without an owner, that of any owner. */
  record(id: string, owner?: string): Promise<Record | undefined>;
  bytes(id: string): Promise<Uint8Array | undefined>;
  /** The records of an owner, newest first. */
  list(owner: string): Promise<Record[]>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

export interface KeptFilesOptions {
  readonly dir: string;
  readonly lifetimeMs: number;
  readonly maxTotalBytes: number;
}

/** Other ids exist nowhere. */
export const KEPT_ID = /^[\w-]{1,80}$/;

export function createKeptFiles<Record extends KeptRecord>({
  dir,
  lifetimeMs,
  maxTotalBytes,
}: KeptFilesOptions): KeptFiles<Record> {
  const recordPath = (id: string) => path.join(dir, `${id}.json`);
  const bytesPath = (id: string) => path.join(dir, `${id}.bin`);

  async function read(id: string): Promise<Record | undefined> {
    if (!KEPT_ID.test(id)) return undefined;
    const text = await readFile(recordPath(id), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const record = JSON.parse(text) as Record;
    return Date.now() - record.createdAt > lifetimeMs ? undefined : record;
  }

  async function remove(id: string): Promise<void> {
    if (!KEPT_ID.test(id)) return;
    await Promise.all([recordPath(id), bytesPath(id)].map((file) => rm(file, { force: true })));
  }

  async function ids(): Promise<string[]> {
    const names = await readdir(dir).catch(() => []);
    return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
  }

  async function sweep(): Promise<void> {
    const found = await Promise.all(
      (await ids()).map(async (id) => {
        const sizes = await Promise.all(
          [recordPath(id), bytesPath(id)].map((file) => stat(file).catch(() => undefined)),
        );
        return {
          id,
          at: sizes[0]?.mtimeMs ?? 0,
          size: sizes.reduce((sum, facts) => sum + (facts?.size ?? 0), 0),
        };
      }),
    );
    let total = 0;
    for (const { id, at, size } of found.sort((a, b) => b.at - a.at)) {
      total += size;
      if (Date.now() - at > lifetimeMs || total > maxTotalBytes) await remove(id);
    }
  }

  return {
    async put(record, bytes) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      if (bytes) await writeAtomically(bytesPath(record.id), bytes);
      await writeAtomically(recordPath(record.id), Buffer.from(JSON.stringify(record)));
      await sweep();
    },
    async record(id, owner) {
      const record = await read(id);
      return owner === undefined || record?.owner === owner ? record : undefined;
    },
    bytes: (id) => (KEPT_ID.test(id) ? readFile(bytesPath(id)).catch(() => undefined) : Promise.resolve(undefined)),
    async list(owner) {
      const records = await Promise.all((await ids()).map(read));
      return records
        .filter((record) => record !== undefined && record.owner === owner)
        .map((record) => record!)
        .sort((a, b) => b.createdAt - a.createdAt);
    },
    remove,
    async close() {},
  };
}
