/** The bucket of batch jobs, for tests: its contents, and damage to them. */
import { openS3Blobs } from '#storage/blobs/s3.ts';
import { type BucketOptions, openS3Objects, parseBucketUrl } from '#storage/blobs/s3-objects.ts';
import { openStore } from '#storage/database/store.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import type { LogKind, Tables } from './schema.ts';

/** Keys of objects of the bucket start with two characters of the object's name. */
const keyOf = (name: string) => `${name.slice(0, 2)}/${name}`;

export async function openTestBucket(options: BucketOptions, databaseUrl: string) {
  const { ListObjectsV2Command, S3Client } = await import('@aws-sdk/client-s3');
  const { endpoint, credentials, pathStyle } = options;
  const client = new S3Client({
    ...{ endpoint: endpoint!, credentials: credentials!, region: 'us-east-1' },
    forcePathStyle: pathStyle,
  });
  const { bucket, prefix } = parseBucketUrl(options.url);
  const objects = await openS3Objects(options);
  const blobs = await openS3Blobs(options);
  const store = await openStore<Tables>({ url: databaseUrl, file: '' }, { module: 'batch', migrations: MIGRATIONS });
  const { db } = store;
  return {
    blobs,
    db,
    /** The names of all objects in the bucket. */
    async names(): Promise<string[]> {
      const names: string[] = [];
      for (let token: string | undefined; ; ) {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token }),
        );
        for (const { Key } of page.Contents ?? []) names.push(Key!.split('/').at(-1)!);
        token = page.NextContinuationToken;
        if (token === undefined) return names.sort();
      }
    },
    /** The names of the objects that rows refer to. */
    async referred(): Promise<string[]> {
      const names: (string | null)[] = [];
      for (const table of ['batch_pieces', 'batch_file_pieces'] as const)
        for (const { object } of await db.selectFrom(table).select('object').execute()) names.push(object);
      return names.filter((name) => name !== null).sort();
    },
    /** The objects that no piece refers to, according to the database. */
    listed: async () => (await db.selectFrom('batch_objects').select('name').execute()).map(({ name }) => name).sort(),
    piecesOf: (jobId: string, kind: LogKind) =>
      db
        .selectFrom('batch_pieces')
        .selectAll()
        .where('job_id', '=', jobId)
        .where('kind', '=', kind)
        .orderBy('start')
        .execute(),
    damage: (name: string, bytes: Uint8Array) => objects.put(keyOf(name), bytes),
    remove: (name: string) => objects.remove(keyOf(name)),
    async close() {
      blobs.close();
      objects.close();
      client.destroy();
      await store.close();
    },
  };
}

export type TestBucket = Awaited<ReturnType<typeof openTestBucket>>;
