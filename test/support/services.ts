/**
 * Real database servers for tests. Each URL is undefined if the server is not installed. In that case, its tests are
 * skipped (`describe.skipIf(!url)`), and the run prints a warning.
 */
import { inject } from 'vitest';
import type { BucketOptions } from '#storage/blobs/s3-objects.ts';

export { startPausableProxy } from './pausable-proxy.ts';
export {
  type S3Service,
  type Service,
  type SmallPostgres,
  startPgBouncer,
  startPgvector,
  startPostgres,
  startRedis,
  startS3,
  startSmallPostgres,
} from './start-services.ts';

/** `postgres://` URL of a new, empty database. */
export const postgresUrl = (): Promise<string | undefined> => ask('/postgres');

/** `redis://` URL of a new, empty logical database. */
export const redisUrl = (): Promise<string | undefined> => ask('/redis');

/** A new, empty bucket of an S3 store. */
export async function s3Bucket(): Promise<BucketOptions | undefined> {
  const answer = await ask('/s3');
  return answer === undefined ? undefined : (JSON.parse(answer) as BucketOptions);
}

async function ask(what: string): Promise<string | undefined> {
  const response = await fetch(inject('services') + what);
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer || undefined;
}
