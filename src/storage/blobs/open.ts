/** Opens the store of blobs that several servers share. */
import type { Kysely } from 'kysely';
import type { Log } from '#telemetry/log.ts';
import { openStore } from '../database/store.ts';
import { PICTURES_MIGRATION, type PictureTables } from '../shared-pictures-table.ts';
import type { Blobs } from './blobs.ts';
import { BLOB_MIGRATION, type BlobTables, createPostgresBlobs } from './postgres.ts';
import { openS3Blobs } from './s3.ts';
import type { BucketOptions } from './s3-objects.ts';

export interface SharedBlobs {
  /** In the bucket if there is one, else in the database. */
  readonly blobs: Blobs;
  /** The bucket. `undefined` without one. Content that must not be lost cannot be in the table of the database. */
  readonly bucket: Blobs | undefined;
  /** The database, for the module of pictures. */
  readonly pictureTables: Kysely<PictureTables>;
  /** Whether the database, and the bucket if there is one, answered to the last request. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

export interface SharedBlobsOptions {
  readonly databaseUrl: string;
  readonly bucket?: BucketOptions | undefined;
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
}

/** Name of the module in the table of migrations. */
export const SHARED_FILES_MODULE = 'shared files';
export const SHARED_FILES_MIGRATIONS = [BLOB_MIGRATION, PICTURES_MIGRATION];

/** Continues if the database or the bucket cannot be reached. Throws if the database denies access. */
export async function openSharedBlobs({ databaseUrl, bucket, log }: SharedBlobsOptions): Promise<SharedBlobs> {
  const store = await openStore<BlobTables & PictureTables>(
    { url: databaseUrl, file: '' },
    { module: SHARED_FILES_MODULE, migrations: SHARED_FILES_MIGRATIONS, log },
  );
  const objects = bucket && (await openS3Blobs({ ...bucket, log }));
  return {
    blobs: objects ?? createPostgresBlobs(store.db as unknown as Kysely<BlobTables>),
    bucket: objects,
    pictureTables: store.db as unknown as Kysely<PictureTables>,
    get healthy() {
      return store.healthy && (objects?.healthy ?? true);
    },
    async close() {
      objects?.close();
      await store.close();
    },
  };
}
