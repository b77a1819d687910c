/**
 * Requests to services that the operator configured, such as model servers. Their URLs are trusted, so the guard does
 * not check them, but the region setting must permit them. Redirects are not followed, because they could leave the
 * region.
 */
import { finished } from 'node:stream/promises';
import type { Agent, Dispatcher } from 'undici';
import { problem } from '#errors.ts';
import { setOwnValue } from '#own-value.ts';
import { decodeContent, parseContentEncoding } from './fetch/content-encoding.ts';
import { limitTime, type TimeLimit } from './fetch/time-limit.ts';
import { basicAuthorization, credentialsOf } from './proxy/proxy-table.ts';
import { createRegion, type RegionOptions } from './region.ts';

export interface TrustedOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Aborts the request, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout from the call to the last byte. Default: 120 s. */
  readonly timeoutMs?: number;
  /** Maximum size of the response body. Default: 64 MiB. */
  readonly maxBytes?: number;
}

export interface TrustedResponse {
  readonly status: number;
  /** Names in lower case; repeated headers are joined with a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, without Content-Encoding; they can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  /** Throws DownstreamServiceFailureError if the body is not JSON. */
  json(): Promise<unknown>;
  /** Closes the connection without reading the body. */
  discard(): void;
}

/**
 * Throws DownstreamServiceFailureError (outside the region, unreachable, too slow, too large, incomplete) or the
 * signal's reason. Messages never contain the URL, headers or body of a service.
 */
export interface TrustedFetch {
  (url: URL | string, options?: TrustedOptions): Promise<TrustedResponse>;
  /** Throws DownstreamServiceFailureError if the service is outside the region. Does not connect. */
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
    if (closed) throw failed('cannot be reached: the server is shutting down');
    agent ??= startAgent();
    const limit = limitTime(options.signal, options.timeoutMs ?? 120_000, new Error('timed out'));
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

/** Sends the credentials in the URL, unless an Authorization header is set. */
function withUserInfo(url: URL, headers: Readonly<Record<string, string>>): Record<string, string> {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const credentials = credentialsOf(url);
  if (isNamed || !credentials) return { ...headers };
  return { ...headers, authorization: basicAuthorization(credentials) };
}

const failed = (what: string, cause?: unknown) =>
  problem('DownstreamServiceFailureError', { message: `A service needed for this request ${what}` }, cause);

const late = (cause: unknown) => failed('did not respond in time', cause);

interface Bounds {
  readonly limit: TimeLimit;
  readonly outer: AbortSignal | undefined;
  readonly maxBytes: number;
}

function response(answer: Dispatcher.ResponseData, { limit, outer, maxBytes }: Bounds): TrustedResponse {
  finished(answer.body).then(limit.end, limit.end);
  const headers = joined(answer.headers);
  const discard = () => void answer.body.on('error', () => {}).destroy();

  async function* read(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    // No coding is requested, but some services always compress. The limit applies to the decoded bytes.
    const codings = parseContentEncoding(headers['content-encoding']);
    if (codings === undefined) {
      discard();
      throw failed('sent a response with too many encodings');
    }
    const stream = codings.length ? decodeContent(answer.body, codings) : answer.body;
    try {
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > maxBytes) break;
        yield chunk;
      }
    } catch (error) {
      outer?.throwIfAborted();
      throw limit.isUp() ? late(error) : failed('sent an incomplete response', error);
    }
    if (bytes > maxBytes) throw failed('sent a response that is too large');
  }

  async function text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }

  const body = read();
  return {
    status: answer.statusCode,
    headers,
    body,
    text,
    async json() {
      const given = await text();
      try {
        return JSON.parse(given) as unknown;
      } catch (error) {
        throw failed('sent a response that is not JSON', error);
      }
    },
    discard,
  };
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) setOwnValue(plain, name, typeof value === 'string' ? value : value.join(', '));
  }
  return plain;
}
