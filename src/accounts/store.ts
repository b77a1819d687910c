/** Key records in a file of the data folder, readable by its owner only. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeWhole } from '#storage/files.ts';
import type { KeyRecord, KeyStore } from './keys.ts';

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
