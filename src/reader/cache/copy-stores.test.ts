// Full run only: needs a database server.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { blobName } from '#storage/blobs/blobs.ts';
import { openSharedBlobs } from '#storage/blobs/open.ts';
import { openS3Objects } from '#storage/blobs/s3-objects.ts';
import { postgresUrl, s3Bucket } from '../../../test/support/services.ts';
import { page } from './cache.suite.ts';
import { type StoreLimits, testCopyStore } from './copy-store.suite.ts';
import { openLocalCopyStore } from './local-store.ts';
import { openSharedCopyStore } from './shared/shared-store.ts';

/** Longer than an upload takes here. */
const UNUSED_MS = 3_000;
const hasPostgres = (await postgresUrl()) !== undefined;
const hasS3 = (await s3Bucket()) !== undefined;

describe('in a folder', () => {
  testCopyStore(async (limits) => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'copies-'));
    const store = await openLocalCopyStore({ dir, ...limits });
    const files = () =>
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.parentPath.includes('blobs'))
        .map((entry) => path.join(entry.parentPath, entry.name));
    return {
      store,
      loseContent: async () => {
        for (const file of files()) rmSync(file);
      },
      blobs: async () => files(),
      async close() {
        await store.close();
        rmSync(dir, { recursive: true });
      },
    };
  });

  it('stores the last copy of each page, and the others if one of those that are put at the same time cannot be written', async () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'copies-'));
    const warnings: string[] = [];
    const log = { warn: (_: unknown, message: string) => void warnings.push(message) } as never;
    const store = await openLocalCopyStore({ dir, maxBytes: 1e9, keepMs: 1e9, clock: () => 1_800_000_000_000, log });
    const screenshot = Buffer.from('a picture');
    mkdirSync(path.join(dir, 'blobs'), { recursive: true });
    // In place of the folder of this blob.
    writeFileSync(path.join(dir, 'blobs', blobName(screenshot).slice(0, 2)), '');
    const captured = { engine: 'auto', patience: 0 } as const;
    await Promise.all([
      store.put('broken', page('tea', { screenshot }), captured),
      store.put('whole', page('drizzle'), captured),
      store.put('whole', page('rain'), captured),
    ]);
    const any = { serves: () => true, maxAgeMs: 1e9, pictures: true };
    expect(await store.find('broken', any)).toBeUndefined();
    expect((await store.find('whole', any))?.text).toContain('rain');
    expect(warnings).toEqual(['cached copies cannot be read or written']);
    await store.close();
    rmSync(dir, { recursive: true });
  });
});

async function openShared(limits: Omit<StoreLimits, 'log'>, unusedMs: number) {
  const databaseUrl = (await postgresUrl())!;
  const bucket = await s3Bucket();
  const files = await openSharedBlobs({ databaseUrl, bucket });
  const store = await openSharedCopyStore({ databaseUrl, blobs: files.blobs, unusedMs, ...limits });
  return { databaseUrl, bucket, files, store };
}

describe.skipIf(!hasPostgres)('in PostgreSQL', () => {
  testCopyStore(async (limits) => {
    const databaseUrl = (await postgresUrl())!;
    const files = await openSharedBlobs({ databaseUrl });
    const store = await openSharedCopyStore({ databaseUrl, blobs: files.blobs, unusedMs: UNUSED_MS, ...limits });
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    return {
      store,
      loseContent: async () => void (await client.query('DELETE FROM blobs')),
      blobs: async () => (await client.query('SELECT name FROM blobs')).rows,
      async close() {
        await store.close();
        await files.close();
        await client.end();
      },
    };
  });
});

describe.skipIf(!hasPostgres || !hasS3)('in PostgreSQL and a bucket', () => {
  testCopyStore(async (limits) => {
    const { databaseUrl, bucket, files, store } = await openShared(limits, UNUSED_MS);
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const objects = await openS3Objects(bucket!);
    const hashes = async () =>
      (await client.query('SELECT hash FROM cache_blobs ORDER BY hash')).rows.map(({ hash }) => hash as string);
    const keyOf = (hash: string) => `${hash.slice(0, 2)}/${hash}`;
    return {
      store,
      loseContent: async () => void (await Promise.all((await hashes()).map((hash) => objects.remove(keyOf(hash))))),
      async blobs() {
        const found = await Promise.all(
          (await hashes()).map(async (hash) => ((await objects.get(keyOf(hash))) ? [hash] : [])),
        );
        return found.flat();
      },
      async close() {
        await store.close();
        await files.close();
        objects.close();
        await client.end();
      },
    };
  });

  it('spares the content of a removed copy for a while, because another server may refer to it again', async () => {
    let now = 1_800_000_000_000;
    const { files, store } = await openShared({ maxBytes: 1e6, keepMs: 1_000, clock: () => now }, 60_000);
    const wanted = { serves: () => true, maxAgeMs: 1_000, pictures: false };
    const captured = { engine: 'auto', patience: 0 } as const;
    await store.put('key', page('tea'), captured);
    now += 1_001;
    await store.sweep();
    expect(await store.find('key', wanted)).toBeUndefined();
    await store.put('key', page('tea'), captured);
    await store.sweep();
    expect((await store.find('key', wanted))?.text).toContain('tea');
    await store.close();
    await files.close();
  });
});
