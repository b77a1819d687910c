/**
 * The way to services that the operator configured: model servers, a rendering service. Their addresses are trusted and
 * not held against the guard; the region they are in is. Redirects are not followed: they could lead out of it.
 */
import { finished } from 'node:stream/promises';
import type { Agent, Dispatcher } from 'undici';
import { problem } from '#errors.ts';
import { setKey } from '#own.ts';
import { limitTime, type TimeLimit } from './fetch/time-limit.ts';
import { basicAuthorization, credentialsOf } from './proxy/proxy-table.ts';
import { createRegion, type RegionOptions } from './region.ts';

export interface TrustedOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends everything at once; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** From the call to the last byte. Default 120 s. */
  readonly timeoutMs?: number;
  /** Of the body. Default 64 MiB. */
  readonly maxBytes?: number;
}

export interface TrustedResponse {
  readonly status: number;
  /** Names in lower case; a repeated header is joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes, once. */
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  /** DownstreamServiceFailureError when the body is no JSON. */
  json(): Promise<unknown>;
  /** Closes the connection unread. */
  discard(): void;
}

/**
 * Throws DownstreamServiceFailureError (not inside the region, cannot be reached, too late, too large, broken off) or
 * the reason of the signal. No address, header or body of a service is in a message.
 */
export interface TrustedFetch {
  (url: URL | string, options?: TrustedOptions): Promise<TrustedResponse>;
  /** Throws what a call would throw before it connects: DownstreamServiceFailureError for a service outside the region. */
  check(url: URL | string): void;
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;

export function createTrustedFetch(rules: RegionOptions): TrustedFetch {
  const region = createRegion(rules);
  let agent: Promise<Agent> | undefined;
  let closed = false;

  const fetch = async (address: URL | string, options: TrustedOptions = {}): Promise<TrustedResponse> => {
    const url = new URL(address);
    region.require(url, 'service');
    options.signal?.throwIfAborted();
    if (closed) throw failed('cannot be reached any more');
    agent ??= startAgent();
    const limit = limitTime(options.signal, options.timeoutMs ?? 120_000, new Error('time is up'));
    try {
      const answer = await (await agent).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: (options.method ?? 'GET').toUpperCase() as Dispatcher.HttpMethod,
        headers: withUserInfo(url, options.headers ?? {}),
        body: options.body ?? null,
        signal: limit.signal,
      });
      return response(answer, { limit, outer: options.signal, maxBytes: options.maxBytes ?? 64 * 1024 ** 2 });
    } catch (error) {
      limit.end();
      options.signal?.throwIfAborted();
      throw limit.isUp() ? late(error) : failed('cannot be reached', error);
    }
  };

  return Object.assign(fetch, {
    check: (address: URL | string) => region.require(new URL(address), 'service'),
    async close() {
      closed = true;
      await (await agent)?.destroy().catch(() => {});
    },
  });
}

async function startAgent(): Promise<Agent> {
  const { Agent } = await import('undici');
  return new Agent({ connect: { timeout: CONNECT_MS }, headersTimeout: 0, bodyTimeout: 0 });
}

/** Credentials in an address are meant to be sent, unless there are others. */
function withUserInfo(url: URL, headers: Readonly<Record<string, string>>): Record<string, string> {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const credentials = credentialsOf(url);
  if (isNamed || !credentials) return { ...headers };
  return { ...headers, authorization: basicAuthorization(credentials) };
}

const failed = (what: string, cause?: unknown) =>
  problem('DownstreamServiceFailureError', { message: `A service needed for this request ${what}` }, cause);

const late = (cause: unknown) => failed('did not answer in time', cause);

interface Bounds {
  readonly limit: TimeLimit;
  readonly outer: AbortSignal | undefined;
  readonly maxBytes: number;
}

function response(answer: Dispatcher.ResponseData, { limit, outer, maxBytes }: Bounds): TrustedResponse {
  finished(answer.body).then(limit.end, limit.end);
  const discard = () => void answer.body.on('error', () => {}).destroy();

  async function* read(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    const stream: AsyncIterable<Uint8Array> = answer.body;
    try {
      for await (const chunk of stream) {
        bytes += chunk.length;
        if (bytes > maxBytes) break;
        yield chunk;
      }
    } catch (error) {
      outer?.throwIfAborted();
      throw limit.isUp() ? late(error) : failed('broke off its answer', error);
    }
    if (bytes > maxBytes) throw failed('answered with more than can be read');
  }

  async function text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }

  const body = read();
  return {
    status: answer.statusCode,
    headers: joined(answer.headers),
    body,
    text,
    async json() {
      const given = await text();
      try {
        return JSON.parse(given) as unknown;
      } catch (error) {
        throw failed('answered with something other than JSON', error);
      }
    },
    discard,
  };
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) setKey(plain, name, typeof value === 'string' ? value : value.join(', '));
  }
  return plain;
}
