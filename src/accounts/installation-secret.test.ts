import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openAccounts } from './open.ts';

it.each([0, 31])('does not start with a secret that is damaged: %i bytes', async (length) => {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-secret-'));
  const folder = path.join(dataDir, 'accounts');
  await mkdir(folder);
  await writeFile(path.join(folder, 'secret'), Buffer.alloc(length));
  await expect(openAccounts({ dataDir })).rejects.toThrow('the secret that keys are hashed with is damaged');
  await rm(dataDir, { recursive: true });
});

it('does not start without its secret when there are keys, and starts when it is restored', async () => {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-secret-'));
  const module = await openAccounts({ dataDir });
  const { id } = await module.accounts.defaultAccount();
  const { key } = await module.accounts.mintKey({ accountId: id, name: 'mine' });
  await module.close();
  const file = path.join(dataDir, 'accounts', 'secret');
  await rename(file, `${file}.aside`);
  await expect(openAccounts({ dataDir })).rejects.toThrow('the secret that keys are hashed with is missing');
  await rename(`${file}.aside`, file);
  const again = await openAccounts({ dataDir });
  expect(await again.accounts.identify(key)).toBeDefined();
  await again.close();
  await rm(dataDir, { recursive: true });
});
