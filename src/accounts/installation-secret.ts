/** The installation's secret, which is used to hash keys. It is created once and never shown. */
import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { openStore } from '#storage/database/store.ts';
import { writeAtomically } from '#storage/files.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import type { Db, Tables } from './schema.ts';

const SECRET_BYTES = 32;
const ROW = 'key secret';

/**
 * Reads the secret from a file that only its owner may read, or creates it. Processes that start at the same time get
 * the same secret. Throws if the file is missing although keys exist, because a new secret would invalidate all keys.
 */
export async function openFileSecret(folder: string, hasKeys: () => Promise<boolean>): Promise<Uint8Array> {
  const file = path.join(folder, 'secret');
  const known = await readIfThere(file);
  if (known) return checkLength(known);
  if (await hasKeys())
    throw new Error(`the secret that keys are hashed with is missing: restore ${file} from a backup`);
  const made = `${file}.${randomUUID()}`;
  await writeAtomically(made, randomBytes(SECRET_BYTES));
  // Creating a hard link is atomic, and fails if another process has already created the file.
  await link(made, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(made);
  return checkLength(await readFile(file));
}

/** The secret of an installation that moves; `undefined` if it has none yet. */
export async function readInstallationSecret({ dataDir, databaseUrl }: SecretPlace): Promise<Uint8Array | undefined> {
  if (!databaseUrl) return readIfThere(path.join(dataDir, 'accounts', 'secret'));
  return withTables(databaseUrl, async (db) => {
    const row = await db.selectFrom('installation').select('value').where('name', '=', ROW).executeTakeFirst();
    return row && checkLength(Buffer.from(row.value, 'base64url'));
  });
}

/** Writes the secret of an installation that was moved here. */
export async function writeInstallationSecret({ dataDir, databaseUrl }: SecretPlace, secret: Uint8Array) {
  checkLength(Buffer.from(secret));
  if (!databaseUrl) return writeAtomically(path.join(dataDir, 'accounts', 'secret'), secret);
  const value = Buffer.from(secret).toString('base64url');
  await withTables(databaseUrl, (db) =>
    db
      .insertInto('installation')
      .values({ name: ROW, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute(),
  );
}

export interface SecretPlace {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
}

async function withTables<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const store = await openStore<Tables>({ url, file: '' }, { module: 'accounts', migrations: MIGRATIONS });
  try {
    return await work(store.db);
  } finally {
    await store.close();
  }
}

/** A truncated secret could be guessed, and its hashes would not match those of the full secret. */
function checkLength(secret: Buffer): Buffer {
  if (secret.length === SECRET_BYTES) return secret;
  throw new Error(
    `the secret that keys are hashed with is damaged: it has ${secret.length} bytes, not ${SECRET_BYTES}; restore it from a backup`,
  );
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Reads the secret from the database, where several servers share it. The first server creates it. */
export async function openDatabaseSecret(db: Db): Promise<Uint8Array> {
  const find = () => db.selectFrom('installation').select('value').where('name', '=', ROW).executeTakeFirst();
  let row = await find();
  if (!row) {
    const value = randomBytes(SECRET_BYTES).toString('base64url');
    await db
      .insertInto('installation')
      .values({ name: ROW, value })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    row = await find();
  }
  return checkLength(Buffer.from(row!.value, 'base64url'));
}
