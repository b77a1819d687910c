/**
 * API keys: 256 random bits behind a readable prefix, kept only as a keyed hash. A key is shown once, when it is made.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeWhole } from '#storage/files.ts';

const PREFIX = 'lectern_';
const SECRET_BYTES = 32;

/** What is kept of a key. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  /** The start of the key, so that people can tell their keys apart. */
  readonly shown: string;
  /** HMAC-SHA-256 of the key under the installation's own secret, in hex. */
  readonly hash: string;
  readonly createdAt: string;
}

/** Where key records live. */
export interface KeyStore {
  /** 32 bytes made at the first start, never shown. */
  readonly secret: Uint8Array;
  find(hash: string): KeyRecord | undefined;
  readonly size: number;
  add(record: KeyRecord): Promise<void>;
}

export interface Keys {
  /** Whether any key exists yet. */
  readonly empty: boolean;
  /** A new key; its text is nowhere else. */
  mint(name: string): Promise<{ key: string; record: KeyRecord }>;
  /** The record of a key, or undefined when it is not ours. */
  identify(key: string): KeyRecord | undefined;
}

export function createKeys(store: KeyStore): Keys {
  const hashOf = (key: string) => createHmac('sha256', store.secret).update(key).digest('hex');
  return {
    get empty() {
      return store.size === 0;
    },
    async mint(name) {
      const key = PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
      const record: KeyRecord = {
        id: randomUUID(),
        name,
        shown: `${key.slice(0, PREFIX.length + 4)}…`,
        hash: hashOf(key),
        createdAt: new Date().toISOString(),
      };
      await store.add(record);
      return { key, record };
    },
    // The look-up is by the keyed hash, so its timing tells nothing about a key that exists.
    identify: (key) => (key.startsWith(PREFIX) ? store.find(hashOf(key)) : undefined),
  };
}

export async function openKeyStore(dataDir: string): Promise<KeyStore> {
  const dir = path.join(dataDir, 'accounts');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const recordsFile = path.join(dir, 'keys.json');
  const secret = await ownSecret(path.join(dir, 'secret'));
  const records = JSON.parse((await readIfThere(recordsFile))?.toString('utf8') ?? '[]') as KeyRecord[];
  const byHash = new Map(records.map((record) => [record.hash, record]));
  let writing = Promise.resolve();
  return {
    secret,
    find: (hash) => byHash.get(hash),
    get size() {
      return byHash.size;
    },
    async add(record) {
      byHash.set(record.hash, record);
      writing = writing.then(() => writeWhole(recordsFile, `${JSON.stringify([...byHash.values()], null, 2)}\n`));
      await writing;
    },
  };
}

async function ownSecret(file: string): Promise<Uint8Array> {
  const known = await readIfThere(file);
  if (known) return known;
  const made = randomBytes(32);
  await writeWhole(file, made);
  return made;
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
