/** The file in which keys were kept before there was a database. Its keys go on working. */
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Accounts } from './records.ts';
import type { Db } from './schema.ts';
import { insertKey } from './store.ts';

const shape = z.array(
  z.object({ id: z.string(), name: z.string(), shown: z.string(), hash: z.string(), createdAt: z.iso.datetime() }),
);

/** Moves the keys of the file into the database, for the account of those that name none, and removes it. */
export async function takeUpKeyFile(folder: string, db: Db, accounts: Pick<Accounts, 'defaultAccount'>): Promise<void> {
  const file = path.join(folder, 'keys.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const { id: accountId } = await accounts.defaultAccount();
  for (const { id, name, shown, hash, createdAt } of shape.parse(JSON.parse(text))) {
    const record = { id, accountId, name, shown, createdAt: Date.parse(createdAt) };
    await insertKey(db, { ...record, expiresAt: null, revokedAt: null, lastUsedAt: null }, hash);
  }
  await rm(file, { force: true });
}
