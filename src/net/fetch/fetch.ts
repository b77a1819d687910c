/**
 * The guarded fetch: the one way to ask a server that a caller chose. Every hop is checked, resolved once and dialled
 * at the address that was checked; every limit is ours and none is taken from the other side's word.
 */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import { setKey } from '#own.ts';
import type { Trace } from '#telemetry/trace.ts';
import type { ChannelResponse as Answer, ChannelRequest } from '../connect/channel.ts';
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
 * Resolves when the address may be asked, which may take until its turn comes; the time of the fetch goes on, and the
 * signal is aborted when it is over. Throws NotFollowed when it may not.
 */
export type CheckRedirect = (to: URL, from: URL, signal: AbortSignal) => Promise<void>;

/** A redirect that is not followed, for a reason of who asked: thrown through to them as it is. */
export class RedirectRefusedError extends Error {
  override readonly name: string = 'NotFollowed';
}

export interface FetchOptions {
  readonly method?: string;
  /** Sent in this order, with `accept-encoding` added. Another site that a redirect leads to sees only harmless ones. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends everything at once; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** From the call to the last byte, redirects included. Default 30 s. */
  readonly timeoutMs?: number;
  /** For one connection, TLS included. Default 3 s, 6 s through a proxy. */
  readonly connectTimeoutMs?: number;
  /** From the request to the answer's headers, on each hop. Default: `timeoutMs`. */
  readonly firstByteTimeoutMs?: number;
  /** Of the body, encoded and decoded alike. Default 1 GiB. */
  readonly maxBytes?: number;
  /** Default 10. */
  readonly maxRedirects?: number;
  /** Five seconds of waiting below this end the body. Default 32 KiB/s; 0: no such rule. */
  readonly minBytesPerSecond?: number;
  /** Cookies to send, and where the cookies of every answer go. */
  readonly jar?: CookieJar | undefined;
  readonly acceptInvalidCertificates?: boolean;
  /** The proxy to go through, as `parseProxyUrl` or the operator's table gives it. */
  readonly proxy?: URL | undefined;
  readonly onRedirect?: (from: URL, to: URL, status: number) => void;
  /** Asked before an address that a redirect leads to is; see MayFollow. */
  readonly checkRedirect?: CheckRedirect | undefined;
  readonly trace?: Trace | undefined;
}

export interface FetchResponse {
  /** The address that answered, after redirects; a fragment is carried along. */
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case; a repeated header is joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  readonly redirected: boolean;
  /** The decoded bytes, once. Throws a problem when a limit is passed or the body breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The same bytes for those who can use a part: throws a Cut where they end early. */
  readonly parts: AsyncIterable<Uint8Array>;
  /** The whole body; when it ended early, what had arrived and why. AssertionFailureError: nothing had arrived. */
  collect(): Promise<Collected>;
  /** Closes the connection unread. */
  discard(): void;
}

/**
 * Throws SecurityCompromiseError (refused address), ParamValidationError with path `url` (no such host),
 * AssertionFailureError (cannot be reached, no answer, too many redirects), TargetFileTooLargeError, or the reason of
 * the signal; NotFollowed as `checkRedirect` throws it.
 */
export interface GuardedFetch {
  (url: URL | string, options?: FetchOptions): Promise<FetchResponse>;
  /** Ends every connection; later calls fail. */
  close(): Promise<void>;
}

export function createFetch(rules: ProxyRules): GuardedFetch {
  const { guard } = rules;
  const connections = createConnections(rules);

  const fetch = async (address: URL | string, options: FetchOptions = {}): Promise<FetchResponse> => {
    const life = createLifetime(options.signal, options.timeoutMs ?? 30_000);
    try {
      const { maxRedirects = MAX_REDIRECTS } = options;
      let hop = firstHop(address, options);
      for (let redirects = 0; ; redirects++) {
        guard.checkUrl(hop.url);
        const { lease, answer } = await ask(hop, options, life);
        const headers = plainHeaders(answer.headers);
        keepCookies(options.jar, answer.headers['set-cookie'], hop.url);
        const next = redirectOf(hop, answer, headers.location, lease);
        if (!next) return response(hop, answer, headers, lease, life, options, redirects > 0);
        lease.release(await drained(answer));
        if (redirects >= maxRedirects) throw tooManyRedirects(answer.statusCode);
        options.trace?.count('redirects', 1);
        guard.checkUrl(next.url);
        await options.checkRedirect?.(next.url, hop.url, life.signal);
        options.onRedirect?.(hop.url, next.url, answer.statusCode);
        hop = next;
      }
    } catch (error) {
      life.end();
      throw error instanceof RedirectRefusedError ? error : life.blame(error);
    }
  };

  /** One request and its headers; a rested connection that turns out to be closed is replaced once. */
  const ask = async (hop: Hop, options: FetchOptions, life: Lifetime): Promise<{ lease: Lease; answer: Answer }> => {
    const { proxy, acceptInvalidCertificates = false, trace } = options;
    const { connectTimeoutMs = proxy ? 6_000 : 3_000 } = options;
    let http1Only = false;
    for (let fresh = false; ; fresh = true) {
      const lease = await connections.lease(hop.url, {
        connectTimeoutMs,
        acceptInvalidCertificates,
        proxy,
        signal: life.signal,
        fresh,
        http1Only,
        trace,
      });
      const endSpan = trace?.span('first_byte', { reused: lease.reused });
      try {
        const asked = lease.channel.request(requestOf(hop, options, life.signal));
        const answer = await within(options.firstByteTimeoutMs ?? MAX_TIMER_MS, asked);
        endSpan?.({ status: answer.statusCode });
        if (answer.statusCode === 407 && isPlainByProxy(hop.url, proxy)) throw refusedBy(proxy, answer);
        return { lease, answer };
      } catch (error) {
        endSpan?.();
        lease.release(false);
        if (error instanceof DeadlineExceededError) throw noResponseInTime(error);
        if (life.signal.aborted) throw error;
        const isUnseen = error instanceof UnprocessedRequestError;
        const mayAskAgain = !fresh && (isUnseen || (lease.reused && /^(?:GET|HEAD)$/.test(hop.method)));
        if (!mayAskAgain) throw isPlainByProxy(hop.url, proxy) ? proxyProblem(error, proxy) : error;
        http1Only = isUnseen && error.reason === 'http/1.1 required';
      }
    }
  };

  return Object.assign(fetch, { close: () => connections.close() });
}

/** The longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function firstHop(address: URL | string, { method = 'GET', headers = {}, body }: FetchOptions): Hop {
  if (!URL.canParse(String(address)))
    throw problem('ParamValidationError', { path: 'url', message: 'The address is not valid' });
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return { url, method: method.toUpperCase(), headers: { 'accept-encoding': ACCEPT_ENCODING, ...headers }, body };
}

function requestOf(
  { url, method, headers, body }: Hop,
  { jar, proxy }: FetchOptions,
  signal: AbortSignal,
): ChannelRequest {
  const credentials = proxy && isPlainByProxy(url, proxy) ? credentialsOf(proxy) : undefined;
  return {
    path: `${isPlainByProxy(url, proxy) ? url.origin : ''}${url.pathname}${url.search}`,
    method,
    headers: {
      ...withCookies(headers, jar?.getCookieStringSync(url.href)),
      ...(credentials && { 'proxy-authorization': basicAuthorization(credentials) }),
    },
    body: body ?? null,
    signal,
  };
}

async function* followed(bytes: AsyncIterable<Uint8Array>, trace: Trace): AsyncGenerator<Uint8Array> {
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

/** Whether the proxy itself reads the request, and answers when it does not like it. */
const isPlainByProxy = (url: URL, proxy: URL | undefined): proxy is URL =>
  proxy !== undefined && url.protocol === 'http:' && isHttpProxy(proxy);

function refusedBy(proxy: URL, answer: Answer) {
  answer.body.on('error', () => {}).destroy();
  return proxyProblem(proxyStatusProblem(answer.statusCode, credentialsOf(proxy) !== undefined), proxy);
}

function withCookies(headers: Readonly<Record<string, string>>, cookies: string | undefined): Record<string, string> {
  if (!cookies) return { ...headers };
  const own = Object.keys(headers).find((name) => name.toLowerCase() === 'cookie') ?? 'cookie';
  return { ...headers, [own]: headers[own] ? `${headers[own]}; ${cookies}` : cookies };
}

function redirectOf(hop: Hop, answer: Answer, location: string | undefined, lease: Lease): Hop | undefined {
  try {
    return nextHop(hop, answer.statusCode, location);
  } catch (error) {
    lease.release(false);
    throw error;
  }
}

function plainHeaders(headers: Answer['headers']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) setKey(plain, name, typeof value === 'string' ? value : value.join(', '));
  }
  return plain;
}

function keepCookies(jar: CookieJar | undefined, header: string | string[] | undefined, url: URL) {
  if (!jar || !header) return;
  for (const text of typeof header === 'string' ? [header] : header)
    jar.setCookieSync(text, url.href, { ignoreError: true });
}

const MAX_DRAINED_BYTES = 4_096;

/** The body of a redirect is read only when it is small and here already, to keep the connection. */
async function drained({ headers, body }: Answer): Promise<boolean> {
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

async function* wholeOf({ body, isCut }: Answer): AsyncGenerator<Uint8Array> {
  yield* createByteQueue(body).take();
  if (isCut?.()) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
}

function response(
  hop: Hop,
  answer: Answer,
  headers: Record<string, string>,
  lease: Lease,
  life: Lifetime,
  options: FetchOptions,
  redirected: boolean,
): FetchResponse {
  const { maxBytes = 1024 ** 3, minBytesPerSecond = 32 * 1024, trace } = options;
  const discard = () => {
    life.end();
    answer.body.on('error', () => {}).destroy();
    lease.release(false);
  };
  const encodings = parseContentEncoding(headers['content-encoding']);
  if (!encodings || Number(headers['content-length']) > maxBytes) {
    discard();
    throw encodings ? tooLarge(maxBytes) : unreadableEncoding();
  }
  // NTLM and its kin authenticate a connection, which must not be passed on to the next caller then.
  const isPersonal = Object.keys(hop.headers).some((name) => /^(?:proxy-)?authorization$/i.test(name));

  async function* read(): AsyncGenerator<Uint8Array> {
    let intact = false;
    try {
      const wire = limitBytes(enforceMinSpeed(wholeOf(answer), minBytesPerSecond), maxBytes);
      const bytes = limitBytes(decodeContent(wire, encodings!), maxBytes);
      yield* trace ? followed(bytes, trace) : bytes;
      intact = answer.body.readableEnded && !isPersonal;
    } catch (error) {
      throw life.cut(error);
    } finally {
      if (intact) {
        life.end();
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
