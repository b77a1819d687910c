/** A connection to Redis or Valkey for binary data. Commands fail at once while it is disconnected. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Problem, problem } from '#errors.ts';
import { redisOptions } from '../redis.ts';

export interface QueueConnection {
  /** Sends a command. Texts are returned as bytes. Throws ServiceAwayError. */
  send(command: readonly (string | Uint8Array)[]): Promise<unknown>;
  /** Runs a script over the keys of the queue. Throws ServiceAwayError. */
  run(script: string, ...args: readonly (string | number | Uint8Array)[]): Promise<unknown>;
  readonly healthy: boolean;
  close(): void;
}

/** Prefix of all keys. The braces make a cluster store them on one node. */
export const PREFIX = 'lectern:{work}';
/** Length of one blocking wait, in seconds. */
export const BLOCK_S = 1;
const CONNECT_MS = 3_000;
const PING_MS = 1_000;
const SILENCE_MS = 1_000 * BLOCK_S + 3_000;
const MAX_RECONNECT_MS = 1_000;
const RETRY_AFTER_S = 2;

export const queueAway = (cause?: unknown): Problem =>
  problem(
    'ServiceAwayError',
    { message: 'The queue of work for other machines cannot be reached; try again later', retryAfter: RETRY_AFTER_S },
    cause,
  );

/** Waits up to CONNECT_MS for the server, then continues without it. Throws if the URL is invalid. */
export async function openQueueConnection(url: string): Promise<QueueConnection> {
  const { createClient, RESP_TYPES } = await import('@redis/client');
  const options = redisOptions(url, { pingMs: PING_MS, silenceMs: SILENCE_MS });
  const client = createClient({ ...options, socket: { ...options.socket, reconnectStrategy } });
  const binary = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
  let healthy = false;
  client.on('ready', () => {
    healthy = true;
  });
  client.on('error', () => {
    healthy = false;
  });
  const connecting = client.connect().catch(() => {});
  await Promise.race([connecting, sleep(CONNECT_MS, undefined, { ref: false })]);

  async function send(command: readonly (string | Uint8Array)[]): Promise<unknown> {
    try {
      return await client.sendCommand(command.map(asArgument), binary);
    } catch (error) {
      throw queueAway(error);
    }
  }

  return {
    send,
    run: (script, ...args) =>
      send(['EVAL', script, '1', PREFIX, ...args.map((arg) => (typeof arg === 'number' ? String(arg) : arg))]),
    get healthy() {
      return healthy;
    },
    close() {
      if (client.isOpen) client.destroy();
    },
  };
}

const reconnectStrategy = (retries: number): number => Math.min(50 * 2 ** Math.min(retries, 10), MAX_RECONNECT_MS);

/** The client accepts bytes only as Buffer. */
const asArgument = (value: string | Uint8Array): string | Buffer =>
  typeof value === 'string' || Buffer.isBuffer(value)
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
