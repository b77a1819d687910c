import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { postgresUrl, s3Bucket } from '../../test/support/services.ts';
import { openTestBucket } from './bucket.suite.ts';
import { killWorkers } from './kill.suite.ts';

const KILLS = 4;
const url = await postgresUrl();
const bucketOptions = await s3Bucket();

describe.each(['sqlite', 'postgres', 'postgres with a bucket'] as const)('%s', (place) => {
  const isPostgres = place !== 'sqlite';
  const hasBucket = place === 'postgres with a bucket';
  it.skipIf((isPostgres && !url) || (hasBucket && !bucketOptions))(
    'loses no line and repeats none when workers are killed',
    { timeout: 400_000 },
    async () => {
      const dataDir = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
      try {
        const stores = {
          databaseUrl: hasBucket ? await postgresUrl() : isPostgres ? url : undefined,
          bucketOptions: hasBucket ? bucketOptions : undefined,
        };
        const report = await killWorkers({ dataDir, ...stores, batchMs: hasBucket ? 1 : 15 }, KILLS);
        expect(report).toMatchObject({ kills: KILLS, lost: 0, repeated: 0, wrong: 0 });
        expect(report.duringWork).toBeGreaterThan(KILLS / 2);
        if (hasBucket) await expectObjectsKnown(stores.databaseUrl!);
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
  );
});

/** A killed worker may leave objects, but they are listed for removal. */
async function expectObjectsKnown(databaseUrl: string): Promise<void> {
  const bucket = await openTestBucket(bucketOptions!, databaseUrl);
  try {
    const [names, referred, listed] = [await bucket.names(), await bucket.referred(), await bucket.listed()];
    expect(referred.length).toBeGreaterThan(0);
    expect(names).toEqual(expect.arrayContaining(referred));
    expect([...referred, ...listed]).toEqual(expect.arrayContaining(names));
  } finally {
    await bucket.close();
  }
}
