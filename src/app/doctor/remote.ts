/** Checks what is on other machines: the bucket, the search engine of the index, browsers, and workers. */
import { randomUUID } from 'node:crypto';
import { remoteBrowsers } from '#app/browser.ts';
import { bucketOf } from '#app/shared-blobs.ts';
import type { Config } from '#config.ts';
import { connectRemote } from '#reader/index.ts';
import { askOpenSearch } from '#search/index.ts';
import { blobName } from '#storage/blobs/blobs.ts';
import { openS3Blobs } from '#storage/blobs/s3.ts';
import { openQueueConnection } from '#storage/work-queue/connection.ts';
import { readCounts } from '#storage/work-queue/counts.ts';
import { broken, type Check, type CheckResult, ok } from './finding.ts';

export const remoteChecks = (config: Config): Check[] => [
  ...(config.blobsUrl === undefined
    ? []
    : [{ group: 'Stores' as const, name: 'Bucket', run: () => checkBucket(config) }]),
  ...(config.indexUrl === undefined
    ? []
    : [{ group: 'Stores' as const, name: 'Search engine', run: () => checkIndex(config.indexUrl!) }]),
  ...(config.remoteWork.length === 0
    ? []
    : [{ group: 'Machine' as const, name: 'Workers', run: () => checkWorkers(config) }]),
  ...(config.browserUrl.length === 0
    ? []
    : [{ group: 'Machine' as const, name: 'Remote browsers', run: () => checkBrowsers(config) }]),
];

/** Whether a worker is running for each kind of work that this server sends to workers. */
async function checkWorkers({ remoteWork, redisUrl }: Config): Promise<CheckResult> {
  const advice = 'Set LECTERN_REDIS_URL to the Redis or Valkey server that the servers and workers share';
  if (redisUrl === undefined) return broken('remoteWork needs redisUrl', advice);
  const connection = await openQueueConnection(redisUrl);
  try {
    const counts = await readCounts(connection, remoteWork);
    if (counts.length === 0) return broken('Redis does not respond', advice);
    const none = counts.filter(({ workers }) => workers === 0).map(({ kind }) => kind);
    if (none.length)
      return broken(
        `no worker is running for ${none.join(', ')}`,
        `Start \`lectern worker --work ${none.join(',')}\` with the same LECTERN_REDIS_URL`,
      );
    return ok(counts.map(({ kind, workers }) => `${kind}: ${workers}`).join(', '));
  } finally {
    connection.close();
  }
}

/** Writes, reads and removes an object. */
async function checkBucket(config: Config): Promise<CheckResult> {
  try {
    const blobs = await openS3Blobs(bucketOf(config)!);
    try {
      const bytes = Buffer.from(`lectern doctor ${randomUUID()}`);
      const name = blobName(bytes);
      await blobs.put(name, bytes);
      const read = await blobs.get(name);
      await blobs.remove(name);
      if (read && (await blobs.get(name)) === undefined) return ok('objects can be written, read and removed');
      return broken(
        read ? 'does not remove objects' : 'does not return written objects',
        'Check that its user has the permissions GetObject, PutObject and DeleteObject under the prefix',
      );
    } finally {
      blobs.close();
    }
  } catch (error) {
    const { message, cause } = error as Error;
    return broken(
      cause instanceof Error ? `${message}: ${cause.name}: ${cause.message}` : message,
      'Check LECTERN_BLOBS_URL, LECTERN_BLOBS_ENDPOINT and the keys, and that the bucket exists',
    );
  }
}

async function checkIndex(url: string): Promise<CheckResult> {
  try {
    return ok(`OpenSearch ${await askOpenSearch(url)}`);
  } catch (error) {
    return broken((error as Error).message, 'Check LECTERN_INDEX_URL, and that its user may use the index');
  }
}

async function checkBrowsers(config: Config): Promise<CheckResult> {
  const advice = 'Check LECTERN_BROWSER_URL and LECTERN_BROWSER_TOKEN. Servers use the other browsers meanwhile';
  try {
    const answers = await Promise.all(
      remoteBrowsers(config).map(async (address) => {
        try {
          const { browser, version } = await connectRemote(address, {
            token: config.browserToken,
            onDropped: () => {},
          });
          await browser.close();
          return { name: address.name, version, failure: undefined };
        } catch (error) {
          return { name: address.name, version: undefined, failure: (error as Error).message };
        }
      }),
    );
    const failed = answers.filter(({ failure }) => failure !== undefined);
    if (failed.length > 0) return broken(failed.map(({ name, failure }) => `${name}: ${failure}`).join(', '), advice);
    return ok(answers.map(({ name, version }) => `${name}: Chromium ${version}`).join(', '));
  } catch (error) {
    return broken((error as Error).message, advice);
  }
}
