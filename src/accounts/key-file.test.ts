import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openAccounts } from './open.ts';

it('keeps the keys working that were in a file', async () => {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-key-file-'));
  const folder = path.join(dataDir, 'accounts');
  await mkdir(folder);
  const secret = Buffer.alloc(32, 7);
  const key = `lectern_${'k'.repeat(43)}`;
  const hash = createHmac('sha256', secret).update(key).digest('hex');
  const record = { id: 'a', name: 'first key', shown: 'lectern_kkkk…', createdAt: '2026-01-02T03:04:05.000Z' };
  await writeFile(path.join(folder, 'secret'), secret);
  await writeFile(path.join(folder, 'keys.json'), JSON.stringify([{ ...record, hash }]));
  for (const start of ['first', 'second']) {
    const room = await openAccounts({ dataDir });
    expect(await room.accounts.identify(key), start).toMatchObject({
      key: { ...record, createdAt: Date.UTC(2026, 0, 2, 3, 4, 5), expiresAt: null, revokedAt: null },
      account: { id: 'default', plan: 'premium' },
    });
    await room.close();
    expect(await readdir(folder)).not.toContain('keys.json');
  }
  await rm(dataDir, { recursive: true });
});

it.each([0, 31])('does not start with a secret that is damaged: %i bytes', async (length) => {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-secret-'));
  const folder = path.join(dataDir, 'accounts');
  await mkdir(folder);
  await writeFile(path.join(folder, 'secret'), Buffer.alloc(length));
  await expect(openAccounts({ dataDir })).rejects.toThrow('the secret of the keys is damaged');
  await rm(dataDir, { recursive: true });
});
