/** The store of blobs that the settings select, if several servers share one database. */
import { type Config, ConfigError } from '#config.ts';
import { openSharedBlobs, type SharedBlobs } from '#storage/blobs/open.ts';
import { type BucketOptions, parseBucketUrl } from '#storage/blobs/s3-objects.ts';
import type { Log } from '#telemetry/log.ts';

type BlobSettings = Pick<
  Config,
  'databaseUrl' | 'blobsUrl' | 'blobsEndpoint' | 'blobsRegion' | 'blobsAccessKey' | 'blobsSecretKey' | 'blobsPathStyle'
>;

/** `undefined` without a database: pages and pictures are then in the data folder. Throws ConfigError. */
export async function openConfiguredBlobs(config: BlobSettings, log: Log): Promise<SharedBlobs | undefined> {
  const { databaseUrl } = config;
  const bucket = bucketOf(config);
  if (databaseUrl !== undefined) return openSharedBlobs({ databaseUrl, bucket, log });
  if (bucket) throw new ConfigError('blobsUrl: needs databaseUrl, because the index of its objects is in the database');
  return undefined;
}

/** `undefined` without a bucket. Throws ConfigError. */
export function bucketOf({
  blobsUrl,
  blobsEndpoint,
  blobsRegion,
  blobsAccessKey,
  blobsSecretKey,
  blobsPathStyle,
}: BlobSettings): BucketOptions | undefined {
  if (blobsUrl === undefined) return undefined;
  try {
    parseBucketUrl(blobsUrl);
  } catch (error) {
    throw new ConfigError(`blobsUrl: ${(error as Error).message}`);
  }
  if ((blobsAccessKey === undefined) !== (blobsSecretKey === undefined))
    throw new ConfigError('blobsAccessKey and blobsSecretKey must be set together');
  return {
    url: blobsUrl,
    endpoint: blobsEndpoint,
    region: blobsRegion,
    credentials:
      blobsAccessKey === undefined ? undefined : { accessKeyId: blobsAccessKey, secretAccessKey: blobsSecretKey! },
    pathStyle: blobsPathStyle === undefined ? blobsEndpoint !== undefined : blobsPathStyle === 'on',
  };
}
