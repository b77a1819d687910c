/** A batch module with workers and test models in a separate process that tests can kill. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundleProcess } from '../../test/support/bundled.ts';
import { openTestBatch } from './batch.suite.ts';

export interface WorkerOptions {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly redisUrl?: string | undefined;
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

if (process.argv[1] === FILE && process.send) {
  const { batchMs, ...place } = JSON.parse(process.argv[2]!) as WorkerOptions;
  await openTestBatch({ ...place, leaseMs: LEASE_MS }, { batchMs });
  process.on('disconnect', () => process.exit());
  process.on('message', () => process.send!(process.resourceUsage().maxRSS * 1024));
  process.send('works');
}
