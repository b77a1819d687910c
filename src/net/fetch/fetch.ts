/**
 * The guarded fetch: the only function that requests URLs chosen by callers. Each hop of a redirect chain is checked
 * and resolved once, and the connection goes to the checked IP address. All limits are enforced here, regardless of
 * what the server declares.
 */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { setOwnValue } from '#own-value.ts';
import type { Trace } from '#telemetry/trace.ts';
import type { ChannelRequest, ChannelResponse } from '../connect/channel.ts';
import { createConnections, type Lease } from '../connect/connections.ts';
import { UnprocessedRequestError } from '../connect/http2.ts';
import { proxyStatusProblem } from '../connect/proxy-handshake.ts';
import { isHttpProxy, type ProxyRules, proxyProblem } from '../connect/tunnel.ts';
import { basicAuthorization, credentialsOf } from '../proxy/proxy-table.ts';
import { type Collected, collect, failIfTruncated } from './body.ts';
import { enforceMinSpeed, limitBytes, tooLarge } from './body-limits.ts';
import { createByteQueue } from './byte-queue.ts';
import { ACCEPT_ENCODING, decodeContent, parseContentEncoding, unreadableEncoding } from './content-encoding.ts';
import type { CookieJar } from './cookies.ts';
import { createLifetime, type Lifetime, noResponseInTime } from './lifetime.ts';
import { type Hop, MAX_REDIRECTS, nextHop, tooManyRedirects } from './redirect.ts';

/**
 * Called before a redirect is followed. Resolves to allow the redirect, possibly after a delay (crawl politeness), or
 * throws RedirectRefusedError to refuse it. The delay counts towards the fetch's timeout, which aborts `signal`.
 */
export type CheckRedirect = (to: URL, from: URL, signal: AbortSignal) => Promise<void>;

/** A `checkRedirect` function refused the redirect. The fetch rethrows this error unchanged; do not retry. */
export class RedirectRefusedError extends Error {
  override readonly name: string = 'RedirectRefusedError';
}

export interface FetchOptions {
  readonly method?: string;
  /**
   * Request headers, sent in this order with `accept-encoding` added. After a redirect to another site, only safe
   * headers are sent.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Aborts the fetch, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout from the call to the last byte, including redirects. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Timeout of one connection attempt, including TLS. Default: 3 s, or 6 s through a proxy. */
  readonly connectTimeoutMs?: number;
  /** Timeout from the request to the response headers, on each hop. Default: `timeoutMs`. */
  readonly firstByteTimeoutMs?: number;
  /** Maximum size of the body, both encoded and decoded. Default: 1 GiB. */
  readonly maxBytes?: number;
  /** Maximum number of redirects. Default: 10. */
  readonly maxRedirects?: number;
  /** Minimum speed of the body, measured over five seconds of waiting. Default: 32 KiB/s; 0 disables the check. */
  readonly minBytesPerSecond?: number;
  /** Cookie jar. Its cookies are sent, and the cookies of each response are stored in it. */
  readonly jar?: CookieJar | undefined;
  readonly acceptInvalidCertificates?: boolean;
  /** Proxy to use, from `parseProxyUrl` or the operator's table. */
  readonly proxy?: URL | undefined;
  readonly onRedirect?: (from: URL, to: URL, status: number) => void;
  /** Called before each redirect; see CheckRedirect. */
  readonly checkRedirect?: CheckRedirect | undefined;
  readonly trace?: Trace | undefined;
}

export interface FetchResponse {
  /** The final URL after redirects, with the fragment. */
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case; repeated headers are joined with a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  readonly redirected: boolean;
  /** The decoded bytes; they can be read once. Throws a problem if a limit is exceeded or the body is incomplete. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Like `body`, but throws AbortedError if the body is incomplete. For consumers that can use a partial body. */
  readonly parts: AsyncIterable<Uint8Array>;
  /**
   * Returns the body, or the part that arrived and why it is incomplete. Throws AssertionFailureError if nothing
   * arrived.
   */
  collect(): Promise<Collected>;
  /** Closes the connection without reading the body. */
  discard(): void;
}

/**
 * Throws SecurityCompromiseError (URL not allowed), ParamValidationError with `path` set to `url` (host does not
 * exist), AssertionFailureError (unreachable, no response, too many redirects), TargetFileTooLargeError, the signal's
 * reason, or the RedirectRefusedError of `checkRedirect`.
 */
export interface GuardedFetch {
  (url: URL | string, options?: FetchOptions): Promise<FetchResponse>;
  /** Closes all connections; later calls fail. */
  close(): Promise<void>;
}

export function createFetch(rules: ProxyRules): GuardedFetch {
  const { guard } = rules;
  const connections = createConnections(rules);

  const fetch = async (url: URL | string, options: FetchOptions = {}): Promise<FetchResponse> => {
    const lifetime = createLifetime(options.signal, options.timeoutMs ?? 30_000);
    try {
      const { maxRedirects = MAX_REDIRECTS } = options;
      let hop = firstHop(url, options);
      for (let redirects = 0; ; redirects++) {
        guard.checkUrl(hop.url);
        const { lease, answer } = await send(hop, options, lifetime);
        const headers = plainHeaders(answer.headers);
        storeCookies(options.jar, answer.headers['set-cookie'], hop.url);
        const next = redirectOf(hop, answer, headers.location, lease);
        if (!next) return response(hop, answer, headers, lease, lifetime, options, redirects > 0);
        lease.release(await drain(answer));
        if (redirects >= maxRedirects) throw tooManyRedirects(answer.statusCode);
        options.trace?.count('redirects', 1);
        guard.checkUrl(next.url);
        await options.checkRedirect?.(next.url, hop.url, lifetime.signal);
        options.onRedirect?.(hop.url, next.url, answer.statusCode);
        hop = next;
      }
    } catch (error) {
      lifetime.end();
      throw error instanceof RedirectRefusedError ? error : lifetime.requestError(error);
    }
  };

  /**
   * Sends one request and waits for the response headers. Retries once if a reused connection turned out to be closed.
   */
  const send = async (
    hop: Hop,
    options: FetchOptions,
    lifetime: Lifetime,
  ): Promise<{ lease: Lease; answer: ChannelResponse }> => {
    const { proxy, acceptInvalidCertificates = false, trace } = options;
    const { connectTimeoutMs = proxy ? 6_000 : 3_000 } = options;
    let http1Only = false;
    for (let fresh = false; ; fresh = true) {
      const lease = await connections.lease(hop.url, {
        connectTimeoutMs,
        acceptInvalidCertificates,
        proxy,
        signal: lifetime.signal,
        fresh,
        http1Only,
        trace,
      });
      const endSpan = trace?.span('first_byte', { reused: lease.reused });
      try {
        const pending = lease.channel.request(requestOf(hop, options, lifetime.signal));
        const answer = await within(options.firstByteTimeoutMs ?? MAX_TIMER_MS, pending);
        endSpan?.({ status: answer.statusCode });
        if (answer.statusCode === 407 && isSentToProxy(hop.url, proxy)) throw proxyRefusal(proxy, answer);
        return { lease, answer };
      } catch (error) {
        endSpan?.();
        lease.release(false);
        if (error instanceof DeadlineExceededError) throw noResponseInTime(error);
        if (lifetime.signal.aborted) throw error;
        const isUnprocessed = error instanceof UnprocessedRequestError;
        const canRetry = !fresh && (isUnprocessed || (lease.reused && /^(?:GET|HEAD)$/.test(hop.method)));
        if (!canRetry) throw isSentToProxy(hop.url, proxy) ? proxyProblem(error, proxy) : error;
        http1Only = isUnprocessed && error.reason === 'http/1.1 required';
      }
    }
  };

  return Object.assign(fetch, { close: () => connections.close() });
}

/** The longest delay that Node timers support. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function firstHop(target: URL | string, { method = 'GET', headers = {}, body }: FetchOptions): Hop {
  if (!isUrl(String(target))) throw problem('ParamValidationError', { path: 'url', message: 'The URL is not valid' });
  const url = new URL(target);
  url.username = '';
  url.password = '';
  return { url, method: method.toUpperCase(), headers: { 'accept-encoding': ACCEPT_ENCODING, ...headers }, body };
}

function requestOf(
  { url, method, headers, body }: Hop,
  { jar, proxy }: FetchOptions,
  signal: AbortSignal,
): ChannelRequest {
  const credentials = proxy && isSentToProxy(url, proxy) ? credentialsOf(proxy) : undefined;
  return {
    path: `${isSentToProxy(url, proxy) ? url.origin : ''}${url.pathname}${url.search}`,
    method,
    headers: {
      ...withCookies(headers, jar?.getCookieStringSync(url.href)),
      ...(credentials && { 'proxy-authorization': basicAuthorization(credentials) }),
    },
    body: body ?? null,
    signal,
  };
}

async function* traced(bytes: AsyncIterable<Uint8Array>, trace: Trace): AsyncGenerator<Uint8Array> {
  const endSpan = trace.span('download');
  try {
    for await (const chunk of bytes) {
      trace.count('bytes', chunk.length);
      yield chunk;
    }
  } finally {
    endSpan();
  }
}

/** Whether the request is sent to the proxy in absolute form, so that the proxy itself may respond. */
const isSentToProxy = (url: URL, proxy: URL | undefined): proxy is URL =>
  proxy !== undefined && url.protocol === 'http:' && isHttpProxy(proxy);

function proxyRefusal(proxy: URL, answer: ChannelResponse) {
  answer.body.on('error', () => {}).destroy();
  return proxyProblem(proxyStatusProblem(answer.statusCode, credentialsOf(proxy) !== undefined), proxy);
}

function withCookies(headers: Readonly<Record<string, string>>, cookies: string | undefined): Record<string, string> {
  if (!cookies) return { ...headers };
  const own = Object.keys(headers).find((name) => name.toLowerCase() === 'cookie') ?? 'cookie';
  return { ...headers, [own]: headers[own] ? `${headers[own]}; ${cookies}` : cookies };
}

function redirectOf(hop: Hop, answer: ChannelResponse, location: string | undefined, lease: Lease): Hop | undefined {
  try {
    return nextHop(hop, answer.statusCode, location);
  } catch (error) {
    lease.release(false);
    throw error;
  }
}

function plainHeaders(headers: ChannelResponse['headers']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) setOwnValue(plain, name, typeof value === 'string' ? value : value.join(', '));
  }
  return plain;
}

function storeCookies(jar: CookieJar | undefined, header: string | string[] | undefined, url: URL) {
  if (!jar || !header) return;
  for (const text of typeof header === 'string' ? [header] : header)
    jar.setCookieSync(text, url.href, { ignoreError: true });
}

const MAX_DRAINED_BYTES = 4_096;

/** Reads the body of a redirect if it is small and arrives quickly, so that the connection can be reused. */
async function drain({ headers, body }: ChannelResponse): Promise<boolean> {
  const length = headers['content-length'];
  let bytes = 0;
  const ended = new Promise<boolean>((resolve) => {
    body.once('end', () => resolve(true)).once('close', () => resolve(false));
    body.on('error', () => resolve(false));
    body.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > MAX_DRAINED_BYTES) resolve(false);
    });
  });
  const isSmall = length === undefined || Number(length) <= MAX_DRAINED_BYTES;
  if (isSmall && (await within(length === undefined ? 100 : 500, ended).catch(() => false))) return true;
  body.destroy();
  return false;
}

async function* bytesOf({ body, isTruncated }: ChannelResponse): AsyncGenerator<Uint8Array> {
  yield* createByteQueue(body).take();
  if (isTruncated?.()) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
}

function response(
  hop: Hop,
  answer: ChannelResponse,
  headers: Record<string, string>,
  lease: Lease,
  lifetime: Lifetime,
  options: FetchOptions,
  redirected: boolean,
): FetchResponse {
  const { maxBytes = 1024 ** 3, minBytesPerSecond = 32 * 1024, trace } = options;
  const discard = () => {
    lifetime.end();
    answer.body.on('error', () => {}).destroy();
    lease.release(false);
  };
  const encodings = parseContentEncoding(headers['content-encoding']);
  if (!encodings || Number(headers['content-length']) > maxBytes) {
    discard();
    throw encodings ? tooLarge(maxBytes) : unreadableEncoding();
  }
  // NTLM and Negotiate authenticate the whole connection, so it must not be reused for another caller.
  const isAuthenticated = Object.keys(hop.headers).some((name) => /^(?:proxy-)?authorization$/i.test(name));

  async function* read(): AsyncGenerator<Uint8Array> {
    let intact = false;
    try {
      const encoded = limitBytes(enforceMinSpeed(bytesOf(answer), minBytesPerSecond), maxBytes);
      const bytes = limitBytes(decodeContent(encoded, encodings!), maxBytes);
      yield* trace ? traced(bytes, trace) : bytes;
      intact = answer.body.readableEnded && !isAuthenticated;
    } catch (error) {
      throw lifetime.bodyError(error);
    } finally {
      if (intact) {
        lifetime.end();
        lease.release(true);
      } else discard();
    }
  }
  const bytes = read();

  return {
    url: hop.url.href,
    status: answer.statusCode,
    statusText: answer.statusText,
    headers,
    redirected,
    body: failIfTruncated(bytes),
    parts: bytes,
    collect: () => collect(bytes),
    discard,
  };
}
