/** The installation's secret, under which keys are hashed: made once, never shown. */
import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeWhole } from '#storage/files.ts';
import type { Db } from './schema.ts';

const SECRET_BYTES = 32;
const ROW = 'key secret';

/**
 * In a file of the data folder that its owner alone may read. Processes that start at once agree on one. Throws when it is
 * lost and there are keys: a new one would make strangers of all of them.
 */
export async function openFileSecret(folder: string, hasKeys: () => Promise<boolean>): Promise<Uint8Array> {
  const file = path.join(folder, 'secret');
  const known = await readIfThere(file);
  if (known) return whole(known);
  if (await hasKeys()) throw new Error(`the secret of the keys is lost: ${file} is not there`);
  const made = `${file}.${randomUUID()}`;
  await writeWhole(made, randomBytes(SECRET_BYTES));
  // A link is made whole or not at all, and never over another's.
  await link(made, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(made);
  return whole(await readFile(file));
}

/** Keys are never hashed under what anybody could guess, and those made under the whole secret would not be known. */
function whole(secret: Buffer): Buffer {
  if (secret.length === SECRET_BYTES) return secret;
  throw new Error(`the secret of the keys is damaged: it has ${secret.length} bytes, not ${SECRET_BYTES}`);
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** In the database, where several servers share it: the first one makes it. */
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
  return whole(Buffer.from(row!.value, 'base64url'));
}
