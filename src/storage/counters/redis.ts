/** Counters in Redis or Valkey, shared by any number of servers: one script a take, which is one round trip. */
import { createHash, randomUUID } from 'node:crypto';
import type { Log } from '#telemetry/log.ts';
import { redisOptions } from '../redis.ts';
import {
  type Counters,
  CountersUnavailableError,
  LEASE_MS,
  type Lease,
  type Taken,
  type WindowState,
} from './counters.ts';
import { RENEW, SETTLE, TAKE } from './redis-scripts.ts';

export interface RedisCountersOptions {
  /** What all keys begin with. The braces make that a cluster keeps them on one node, as a take over several needs. */
  readonly prefix?: string;
  /** Milliseconds, in place of the server's own time: for tests. */
  readonly clock?: () => number;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

const PREFIX = 'lectern:';
const CONNECT_MS = 3_000;
/** A server that hangs is noticed by this: there is an answer to a ping a second, or none. */
const PING_MS = 1_000;
const SILENCE_MS = 3_000;
const LONGEST_PAUSE_MS = 2_000;
const RENEWED_AT_ONCE = 1_000;

/** A `redis://` or `rediss://` address; waits for the server for a few seconds, and goes on without it. */
export async function openRedisCounters(
  url: string,
  { prefix = PREFIX, clock, log }: RedisCountersOptions = {},
): Promise<Counters> {
  const { createClient, ErrorReply } = await import('@redis/client');
  let healthy = false;
  const options = redisOptions(url, { pingMs: PING_MS, silenceMs: SILENCE_MS });
  const client = createClient({ ...options, socket: { ...options.socket, reconnectStrategy } });
  const heard = (answered: boolean, error?: unknown) => {
    if (healthy && !answered) log?.warn({ err: error }, 'the store of limits cannot be reached: it is tried again');
    healthy = answered;
  };
  client.on('error', (error) => heard(false, error));
  client.on('ready', () => {
    heard(true);
    // Ahead of all else, so that no script has to be sent again behind what came after it.
    for (const script of SCRIPTS) client.sendCommand(['SCRIPT', 'LOAD', script]).catch(() => {});
    for (const lease of unreleased.values()) giveBack(lease);
  });

  const held = new Map<string, Lease>();
  /** What the server may still hold for us: given back again when it can be reached, or callers would wait for its end. */
  const unreleased = new Map<string, Lease>();
  let made = 0;
  const owner = randomUUID();
  const keyOf = (kind: 'window' | 'lease', bucket: string) => `${prefix}{counters}:${kind}:${bucket}`;
  const time = () => (clock ? String(clock()) : '');
  const run = runner((command) => client.sendCommand(command));
  /** What nobody waits for, until the end. */
  const underWay = new Set<Promise<unknown>>();
  const say = (work: Promise<unknown>) => {
    const done = work.catch(() => {}).finally(() => underWay.delete(done));
    underWay.add(done);
  };

  const giveBack = ({ bucket, id }: Lease) => {
    say(client.sendCommand(['ZREM', keyOf('lease', bucket), id]).then(() => unreleased.delete(id)));
  };

  const renew = () => {
    const leases = [...held.values()];
    for (let at = 0; at < leases.length; at += RENEWED_AT_ONCE) {
      const some = leases.slice(at, at + RENEWED_AT_ONCE);
      const keys = some.map(({ bucket }) => keyOf('lease', bucket));
      say(run(RENEW, keys, [time(), ...some.map(({ id }) => id)]));
    }
  };
  const renewing = setInterval(renew, LEASE_MS / 3);
  renewing.unref();

  const connecting = client.connect().catch(() => {});
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())]);
  if (!healthy) log?.warn('the store of limits cannot be reached: it is tried again');

  return {
    async take(take) {
      made += 1;
      const id = take.lease ? `${owner}:${made}` : '';
      const lease = take.lease && { bucket: take.lease.bucket, id };
      const keys = take.windows.map(({ bucket }) => keyOf('window', bucket));
      if (take.lease) keys.unshift(keyOf('lease', take.lease.bucket));
      const facts = take.windows.flatMap(({ amount, limit }) => [String(amount), String(limit)]);
      const isSent = client.isReady;
      let answer: number[];
      try {
        answer = (await run(TAKE, keys, [time(), id, String(take.lease?.limit ?? ''), ...facts])) as number[];
      } catch (cause) {
        // Without a word from the server it may have been granted.
        if (lease && isSent && !(cause instanceof ErrorReply)) unreleased.set(id, lease);
        throw new CountersUnavailableError('the store of limits cannot be reached', { cause });
      }
      if (lease && answer[0] === 1) held.set(id, lease);
      return toTaken(answer, lease);
    },
    settle(bucket, slot, change) {
      say(run(SETTLE, [keyOf('window', bucket)], [time(), String(slot), String(change)]));
    },
    release(lease) {
      held.delete(lease.id);
      unreleased.set(lease.id, lease);
      giveBack(lease);
    },
    get healthy() {
      return healthy;
    },
    async close() {
      clearInterval(renewing);
      await Promise.all(underWay);
      if (client.isOpen) client.destroy();
      await connecting;
    },
  };
}

/** The pause before the next attempt to connect grows to two seconds. */
const reconnectStrategy = (retries: number): number => Math.min(50 * 2 ** Math.min(retries, 10), LONGEST_PAUSE_MS);

const SCRIPTS = [TAKE, SETTLE, RENEW];

/** Runs scripts by their digest; the text is sent when the server has forgotten it. */
function runner(send: (command: string[]) => Promise<unknown>) {
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

/** The digest that the protocol asks for. */
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

function toTaken(answer: readonly number[], lease: Lease | undefined): Taken {
  if (answer[0] === 1) return { ok: true, slot: answer[1]!, windows: states(answer.slice(2)), lease };
  const [, over, current, limit, waitMs] = answer as [number, number, number, number, number];
  return { ok: false, over: over === -1 ? 'lease' : over, current, limit, waitMs, windows: states(answer.slice(5)) };
}

function states(numbers: readonly number[]): WindowState[] {
  const list: WindowState[] = [];
  for (let at = 0; at < numbers.length; at += 2) list.push({ used: numbers[at]!, resetMs: numbers[at + 1]! });
  return list;
}
