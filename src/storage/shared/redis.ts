/** Shared values in Redis or Valkey. A change is written only if nobody else changed the value since it was read. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#telemetry/log.ts';
import { redisOptions } from '../redis.ts';
import { READ, REPLACE, SET } from './redis-scripts.ts';
import { type Change, type SharedStore, SharedUnavailableError, type SharedValues, type Space } from './values.ts';

export interface RedisValuesOptions {
  /** Prefix of all keys. */
  readonly prefix?: string | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

const PREFIX = 'lectern:';
const CONNECT_MS = 3_000;
const PING_MS = 1_000;
const SILENCE_MS = 3_000;
const MAX_RECONNECT_MS = 2_000;
/** Attempts of a change that other servers make at the same time. */
const MAX_ATTEMPTS = 50;
const MAX_PAUSE_MS = 20;

type Send = (command: string[]) => Promise<unknown>;

/** Waits up to CONNECT_MS for the server, then continues without it. */
export async function openRedisValues(
  url: string,
  { prefix = PREFIX, log }: RedisValuesOptions = {},
): Promise<SharedStore> {
  const { createClient } = await import('@redis/client');
  const options = redisOptions(url, { pingMs: PING_MS, silenceMs: SILENCE_MS });
  const client = createClient({ ...options, socket: { ...options.socket, reconnectStrategy } });
  let healthy = false;
  client.on('ready', () => {
    healthy = true;
  });
  client.on('error', () => {
    healthy = false;
  });
  const send: Send = async (command) => {
    try {
      return await client.sendCommand(command);
    } catch (error) {
      throw new SharedUnavailableError(error);
    }
  };
  const connecting = client.connect().catch(() => {});
  await Promise.race([connecting, sleep(CONNECT_MS, undefined, { ref: false })]);
  if (!healthy) log?.warn('the store of shared state cannot be reached: reconnecting');
  return {
    // A cluster stores keys with the same text in braces on one node, which a script that uses several keys requires.
    space: (space) => createSpace(send, `${prefix}{shared}:${space.name}`, space),
    get healthy() {
      return healthy;
    },
    async close() {
      if (client.isOpen) client.destroy();
      await connecting;
    },
  };
}

const reconnectStrategy = (retries: number): number => Math.min(50 * 2 ** Math.min(retries, 10), MAX_RECONNECT_MS);

function createSpace(send: Send, index: string, { maxValues }: Space): SharedValues {
  const keyOf = (name: string) => `${index}:${name}`;
  /** The changes of this process to one value follow each other, so that they do not compete. */
  const chains = new Map<string, Promise<unknown>>();
  const facts = (name: string, value: string, keepMs: number) => [
    ...[keyOf(name), index, value],
    ...[String(Math.max(1, Math.ceil(keepMs))), String(maxValues), name],
  ];

  async function change<Result>(
    name: string,
    decide: (value: string | undefined, nowMs: number) => Change<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const [now, current] = (await send(['EVAL', READ, '1', keyOf(name)])) as [number, string | null | undefined];
      const { value, keepMs = 0, result } = decide(current ?? undefined, now);
      if (value === undefined) return result;
      const expected = typeof current === 'string' ? ['1', current] : ['0'];
      if ((await send(['EVAL', REPLACE, '2', ...facts(name, value, keepMs), ...expected])) === 1) return result;
      if (attempt >= MAX_ATTEMPTS) throw new SharedUnavailableError(new Error('too many changes at the same time'));
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
  }

  return {
    async get(names) {
      if (!names.length) return [];
      const found = (await send(['MGET', ...names.map(keyOf)])) as (string | null)[];
      return found.map((value) => value ?? undefined);
    },
    async set(name, value, keepMs) {
      await send(['EVAL', SET, '2', ...facts(name, value, keepMs)]);
    },
    async update(name, decide) {
      const before = chains.get(name) ?? Promise.resolve();
      const work = before.then(() => change(name, decide));
      const done = work.catch(() => {});
      chains.set(name, done);
      void done.then(() => {
        if (chains.get(name) === done) chains.delete(name);
      });
      return work;
    },
    async remove(name) {
      await send(['DEL', keyOf(name)]);
    },
  };
}
