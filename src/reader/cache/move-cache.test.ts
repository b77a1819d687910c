// Full run only: needs a database server.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSharedBlobs } from '#storage/blobs/open.ts';
import { postgresUrl, s3Bucket } from '../../../test/support/services.ts';
import { page } from './cache.suite.ts';
import { openLocalCopyStore } from './local-store.ts';
import { moveCache } from './move-cache.ts';
import { openSharedCopyStore } from './shared/shared-store.ts';

const limits = { maxBytes: 100_000_000, keepMs: 86_400_000, clock: Date.now };
const captured = { engine: 'auto', patience: 0 } as const;
const any = { serves: () => true, maxAgeMs: Number.POSITIVE_INFINITY, pictures: true };
const COPIES = 120;
const hasPostgres = (await postgresUrl()) !== undefined;
const hasS3 = (await s3Bucket()) !== undefined;
const dir = mkdtempSync(path.join(os.tmpdir(), 'move-cache-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe.skipIf(!hasPostgres).each(['the database', 'a bucket'])('cached pages with their content in %s', (kind) => {
  it.skipIf(kind === 'a bucket' && !hasS3)('move there and back, also after a move that was stopped', async () => {
    const folder = (name: string) => path.join(dir, kind, name);
    const local = await openLocalCopyStore({ dir: folder('from'), ...limits });
    for (let at = 0; at < COPIES; at++) {
      await local.put(`key ${at}`, page(`Tea ${at}`, { screenshot: Buffer.from(`picture ${at % 7}`) }), captured);
    }
    await local.close();

    const databaseUrl = (await postgresUrl())!;
    const bucket = kind === 'a bucket' ? await s3Bucket() : undefined;
    const { blobs, ...opened } = await openSharedBlobs({ databaseUrl, bucket });
    const to = { databaseUrl, blobs };
    const stopped = moveCache({ dir: folder('from') }, to, () => {
      throw new Error('killed');
    });
    await expect(stopped).rejects.toThrow('killed');
    expect(await moveCache({ dir: folder('from') }, to)).toEqual({ copies: COPIES, leftBehind: 0 });
    const shared = await openSharedCopyStore({ databaseUrl, blobs, ...limits });
    expect(await shared.find('key 7', any)).toMatchObject({ text: page('Tea 7').text });
    expect(Buffer.from((await shared.find('key 8', any))!.screenshot!).toString()).toBe('picture 1');
    await shared.close();

    expect(await moveCache(to, { dir: folder('back') })).toEqual({ copies: COPIES, leftBehind: 0 });
    await opened.close();
    const [first] = readdirSync(path.join(folder('back'), 'blobs'));
    rmSync(path.join(folder('back'), 'blobs', first!), { recursive: true });
    const returned = await openLocalCopyStore({ dir: folder('back'), ...limits });
    const keys = Array.from({ length: COPIES }, (_, at) => `key ${at}`);
    const found = await Promise.all(keys.map((key) => returned.find(key, any)));
    expect(found.filter((copy) => copy !== undefined).length).toBeGreaterThan(COPIES / 2);
    await returned.close();
  });

  it('leaves behind what has no content', async () => {
    const from = path.join(dir, kind, 'damaged');
    const local = await openLocalCopyStore({ dir: from, ...limits });
    for (const name of ['one', 'two']) await local.put(name, page(name), captured);
    await local.close();
    const blobs = path.join(from, 'blobs');
    rmSync(path.join(blobs, readdirSync(blobs)[0]!), { recursive: true });
    const databaseUrl = (await postgresUrl())!;
    const opened = await openSharedBlobs({ databaseUrl });
    expect(await moveCache({ dir: from }, { databaseUrl, blobs: opened.blobs })).toEqual({ copies: 1, leftBehind: 1 });
    await opened.close();
  });
});
