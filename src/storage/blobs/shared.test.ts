/** The stores of blobs that several servers share, with a real database and a real S3 store. */
import { Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresUrl, type S3Service, s3Bucket, startS3 } from '../../../test/support/services.ts';
import { openStore } from '../database/store.ts';
import { testBlobs } from './blobs.suite.ts';
import { blobName } from './blobs.ts';
import { BLOB_MIGRATION, type BlobTables, createPostgresBlobs } from './postgres.ts';
import { openS3Blobs, type S3Blobs } from './s3.ts';
import { openS3Objects, parseBucketUrl } from './s3-objects.ts';

const hasPostgres = (await postgresUrl()) !== undefined;
const hasS3 = (await s3Bucket()) !== undefined;

describe.skipIf(!hasPostgres)('in a database', () => {
  testBlobs('PostgreSQL', async () => {
    const store = await openStore<BlobTables>(
      { url: await postgresUrl(), file: '' },
      { module: 'blobs', migrations: [BLOB_MIGRATION] },
    );
    expect(store.db).toBeInstanceOf(Kysely);
    return {
      blobs: createPostgresBlobs(store.db),
      async damage(name, bytes) {
        const { numUpdatedRows } = await store.db
          .updateTable('blobs')
          .set({ bytes: Buffer.from(bytes) })
          .where('name', '=', name)
          .executeTakeFirst();
        expect(numUpdatedRows).toBe(1n);
      },
      close: () => store.close(),
    };
  });
});

describe.skipIf(!hasS3)('in a bucket', () => {
  testBlobs('S3', async () => {
    const bucket = (await s3Bucket())!;
    const blobs = await openS3Blobs(bucket);
    const objects = await openS3Objects(bucket);
    return {
      blobs,
      damage: (name, bytes) => objects.put(`${name.slice(0, 2)}/${name}`, bytes),
      async close() {
        blobs.close();
        objects.close();
      },
    };
  });

  describe('that fails', () => {
    let service: S3Service;
    let blobs: S3Blobs;
    const messages: string[] = [];
    const note = (_: unknown, message?: string) => void messages.push(message ?? '');
    const bytes = Buffer.from('a cup of tea');
    const name = blobName(bytes);
    beforeAll(async () => {
      service = (await startS3())!;
      blobs = await openS3Blobs({ ...(await service.makeBucket('tea')), log: { warn: note, info: note } as never });
      await blobs.put(name, bytes);
    }, 60_000);
    afterAll(async () => {
      blobs?.close();
      await service?.close();
    });

    const refusal = { name: 'BlobsUnavailableError' };
    const untilRead = () =>
      expect.poll(() => blobs.get(name).catch(() => 'away'), { timeout: 60_000, interval: 200 }).toEqual(bytes);

    it('is reported once, fails at once while it is away, and is used again when it answers', async () => {
      await service.kill();
      for (let n = 0; n < 20; n++) await expect(blobs.get(name)).rejects.toMatchObject(refusal);
      expect(blobs.healthy).toBe(false);
      expect(messages).toEqual([expect.stringContaining('the S3 store cannot be read')]);
      await service.start();
      await untilRead();
      expect(blobs.healthy).toBe(true);
      expect(messages).toEqual([expect.stringContaining('cannot be read'), 'the S3 store can be read again']);
    }, 120_000);

    it('counts as healthy when it answers again, although nobody reads or writes', async () => {
      const other = blobName(Buffer.from('other'));
      service.suspend();
      for (let n = 0; n < 3; n++) {
        await expect(blobs.get(other)).rejects.toMatchObject(refusal);
        await expect(blobs.put(other, Buffer.from('other'))).rejects.toMatchObject(refusal);
      }
      expect(blobs.healthy).toBe(false);
      service.resume();
      await expect.poll(() => blobs.healthy, { timeout: 100_000, interval: 500 }).toBe(true);
    }, 120_000);

    it('does not keep a reader waiting while it hangs', async () => {
      service.suspend();
      // More reads than the time limit of one would allow within the limit of the test.
      for (let n = 0; n < 100; n++) await expect(blobs.get(name)).rejects.toMatchObject(refusal);
      service.resume();
      await untilRead();
    }, 60_000);

    it('is away with wrong credentials or without the bucket, and not merely empty', async () => {
      const bucket = { url: 's3://tea', endpoint: service.url, pathStyle: true };
      const wrong = { accessKeyId: 'test:lectern', secretAccessKey: 'wrong' };
      for (const options of [
        { ...bucket, credentials: wrong },
        { ...bucket, url: 's3://coffee', credentials: service.credentials },
      ]) {
        const other = await openS3Blobs(options);
        await expect(other.get(name)).rejects.toMatchObject(refusal);
        await expect(other.put(name, bytes)).rejects.toMatchObject(refusal);
        other.close();
      }
    });
  });
});

it('reads the URL of a bucket', () => {
  expect(parseBucketUrl('s3://tea')).toEqual({ bucket: 'tea', prefix: '' });
  expect(parseBucketUrl('s3://tea/leaves/green/')).toEqual({ bucket: 'tea', prefix: 'leaves/green/' });
  for (const wrong of ['s3://', 's3://T', 'http://tea', 's3://tea?a', 's3://tea/a#b'])
    expect(() => parseBucketUrl(wrong)).toThrow('s3://bucket');
});
