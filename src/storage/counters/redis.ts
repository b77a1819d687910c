/**
 * Counters in Redis or Valkey, shared by any number of servers. Each call of `take` runs one script in one round trip.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Log } from '#telemetry/log.ts';
import { redisOptions } from '../redis.ts';
import {
  type Counters,
  CountersUnavailableError,
  LEASE_MS,
  type Lease,
  type TakeResult,
  type WindowState,
} from './counters.ts';
import { RENEW, SETTLE, TAKE } from './redis-scripts.ts';

export interface RedisCountersOptions {
  /** Prefix of all keys. */
  readonly prefix?: string;
  /** Current time in milliseconds, used instead of the server's time in tests. */
  readonly clock?: () => number;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

const PREFIX = 'lectern:';
const CONNECT_MS = 3_000;
/** Interval between pings, in milliseconds. A missing reply reveals a server that hangs. */
const PING_MS = 1_000;
const SILENCE_MS = 3_000;
const MAX_RECONNECT_MS = 2_000;
const RENEW_BATCH = 1_000;

/** Connects to a `redis://` or `rediss://` URL. Waits up to CONNECT_MS for the server, then continues without it. */
export async function openRedisCounters(
  url: string,
  { prefix = PREFIX, clock, log }: RedisCountersOptions = {},
): Promise<Counters> {
  const { createClient, ErrorReply } = await import('@redis/client');
  let healthy = false;
  const options = redisOptions(url, { pingMs: PING_MS, silenceMs: SILENCE_MS });
  const client = createClient({ ...options, socket: { ...options.socket, reconnectStrategy } });
  const setHealthy = (answered: boolean, error?: unknown) => {
    if (healthy && !answered) log?.warn({ err: error }, 'the rate-limit store cannot be reached: reconnecting');
    healthy = answered;
  };
  client.on('error', (error) => setHealthy(false, error));
  client.on('ready', () => {
    setHealthy(true);
    // The scripts are loaded first, because a script that is sent again after a NOSCRIPT error would run after later
    // commands.
    for (const script of SCRIPTS) client.sendCommand(['SCRIPT', 'LOAD', script]).catch(() => {});
    for (const lease of unreleased.values()) sendRelease(lease);
  });

  const held = new Map<string, Lease>();
  /**
   * Leases that may still exist on the server. Their release is repeated after a reconnect; otherwise they would block
   * others until they expire.
   */
  const unreleased = new Map<string, Lease>();
  let leaseCount = 0;
  const owner = randomUUID();
  // A cluster stores keys with the same text in braces on one node, which a script that uses several keys requires.
  const keyOf = (kind: 'window' | 'lease', bucket: string) => `${prefix}{counters}:${kind}:${bucket}`;
  const time = () => (clock ? String(clock()) : '');
  const run = createScriptRunner((command) => client.sendCommand(command));
  /** Commands that no caller is waiting for. `close` waits for them. */
  const pending = new Set<Promise<unknown>>();
  const runInBackground = (work: Promise<unknown>) => {
    const done = work.catch(() => {}).finally(() => pending.delete(done));
    pending.add(done);
  };

  const sendRelease = ({ bucket, id }: Lease) => {
    runInBackground(client.sendCommand(['ZREM', keyOf('lease', bucket), id]).then(() => unreleased.delete(id)));
  };

  const renew = () => {
    const leases = [...held.values()];
    for (let at = 0; at < leases.length; at += RENEW_BATCH) {
      const some = leases.slice(at, at + RENEW_BATCH);
      const keys = some.map(({ bucket }) => keyOf('lease', bucket));
      runInBackground(run(RENEW, keys, [time(), ...some.map(({ id }) => id)]));
    }
  };
  const renewalTimer = setInterval(renew, LEASE_MS / 3);
  renewalTimer.unref();

  const connecting = client.connect().catch(() => {});
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())]);
  if (!healthy) log?.warn('the rate-limit store cannot be reached: reconnecting');

  return {
    async take(take) {
      leaseCount += 1;
      const id = take.lease ? `${owner}:${leaseCount}` : '';
      const lease = take.lease && { bucket: take.lease.bucket, id };
      const keys = take.windows.map(({ bucket }) => keyOf('window', bucket));
      if (take.lease) keys.unshift(keyOf('lease', take.lease.bucket));
      const facts = take.windows.flatMap(({ amount, limit }) => [String(amount), String(limit)]);
      const isSent = client.isReady;
      let answer: number[];
      try {
        answer = (await run(TAKE, keys, [time(), id, String(take.lease?.limit ?? ''), ...facts])) as number[];
      } catch (cause) {
        // Without a reply, the server may still have granted the lease.
        if (lease && isSent && !(cause instanceof ErrorReply)) unreleased.set(id, lease);
        throw new CountersUnavailableError('the rate-limit store cannot be reached', { cause });
      }
      if (lease && answer[0] === 1) held.set(id, lease);
      return toTaken(answer, lease);
    },
    settle(bucket, slot, change) {
      runInBackground(run(SETTLE, [keyOf('window', bucket)], [time(), String(slot), String(change)]));
    },
    release(lease) {
      held.delete(lease.id);
      unreleased.set(lease.id, lease);
      sendRelease(lease);
    },
    get healthy() {
      return healthy;
    },
    async close() {
      clearInterval(renewalTimer);
      await Promise.all(pending);
      if (client.isOpen) client.destroy();
      await connecting;
    },
  };
}

/** Exponential back-off before the next connection attempt, in milliseconds. */
const reconnectStrategy = (retries: number): number => Math.min(50 * 2 ** Math.min(retries, 10), MAX_RECONNECT_MS);

const SCRIPTS = [TAKE, SETTLE, RENEW];

/** Runs scripts by their digest, and sends the script text if the server does not know the digest. */
function createScriptRunner(send: (command: string[]) => Promise<unknown>) {
  const digests = new Map(SCRIPTS.map((script) => [script, sha1(script)]));
  return async (script: string, keys: readonly string[], values: readonly string[]): Promise<unknown> => {
    const rest = [String(keys.length), ...keys, ...values];
    try {
      return await send(['EVALSHA', digests.get(script)!, ...rest]);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return send(['EVAL', script, ...rest]);
    }
  };
}

/** EVALSHA identifies scripts by SHA-1. */
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

function toTaken(answer: readonly number[], lease: Lease | undefined): TakeResult {
  if (answer[0] === 1) return { ok: true, slot: answer[1]!, windows: states(answer.slice(2)), lease };
  const [, over, current, limit, waitMs] = answer as [number, number, number, number, number];
  return { ok: false, over: over === -1 ? 'lease' : over, current, limit, waitMs, windows: states(answer.slice(5)) };
}

function states(numbers: readonly number[]): WindowState[] {
  const list: WindowState[] = [];
  for (let at = 0; at < numbers.length; at += 2) list.push({ used: numbers[at]!, resetMs: numbers[at + 1]! });
  return list;
}
