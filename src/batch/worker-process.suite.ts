/** A batch module with workers and test models in a separate process that tests can kill. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Blobs } from '#storage/blobs/blobs.ts';
import { openS3Blobs } from '#storage/blobs/s3.ts';
import type { BucketOptions } from '#storage/blobs/s3-objects.ts';
import { bundleProcess } from '../../test/support/bundled.ts';
import { openTestBatch } from './batch.suite.ts';

export interface WorkerOptions {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly redisUrl?: string | undefined;
  /** A bucket for large pieces. */
  readonly bucketOptions?: BucketOptions | undefined;
  /** The worker kills itself when it has written its first object, before the row that refers to it. */
  readonly diesAfterObject?: boolean;
  readonly batchMs: number;
}

/** How long the job of a killed worker remains leased, in milliseconds. */
const LEASE_MS = 500;
const FILE = fileURLToPath(import.meta.url);
let bundle: Promise<string> | undefined;

/** A small heap makes garbage collection frequent, so that a leak becomes visible. */
export const SMALL_HEAP = ['--max-semi-space-size=2', '--max-old-space-size=64'] as const;

/** Resolves once the worker is running. */
export async function startWorkerProcess(
  place: WorkerOptions,
  nodeOptions: readonly string[] = [],
): Promise<ChildProcess> {
  bundle ??= bundleProcess(FILE);
  const child = fork(await bundle, [JSON.stringify(place)], { execArgv: [...nodeOptions] });
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (message !== 'works') throw new Error(`the worker ended with ${message}`);
  return child;
}

/** Peak memory of the process, in bytes. */
export async function peakBytes(child: ChildProcess): Promise<number> {
  child.send('peak');
  const [bytes] = await once(child, 'message');
  return bytes as number;
}

/** Kills the process without giving it a chance to clean up. */
export async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const dyingAfterObject = (blobs: Blobs): Blobs => ({
  ...blobs,
  async put(name, bytes) {
    await blobs.put(name, bytes);
    process.kill(process.pid, 'SIGKILL');
  },
});

if (process.argv[1] === FILE && process.send) {
  const { batchMs, bucketOptions, diesAfterObject, ...place } = JSON.parse(process.argv[2]!) as WorkerOptions;
  const blobs = bucketOptions && (await openS3Blobs(bucketOptions));
  const bucket = blobs && diesAfterObject ? dyingAfterObject(blobs) : blobs;
  await openTestBatch({ ...place, bucket, leaseMs: LEASE_MS }, { batchMs });
  process.on('disconnect', () => process.exit());
  process.on('message', () => process.send!(process.resourceUsage().maxRSS * 1024));
  process.send('works');
}
