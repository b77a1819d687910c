/** The direct engine: fetches a target without running scripts, and yields one snapshot of a page or file. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Problem, problem } from '#errors.ts';
import { type Collected, collect, peek, save } from '#net/fetch/body.ts';
import { limitBytes } from '#net/fetch/body-limits.ts';
import { type CookieJar, parseSetCookies, toJar } from '#net/fetch/cookies.ts';
import type { FetchResponse, GuardedFetch } from '#net/fetch/fetch.ts';
import { fileNameOf } from '#net/fetch/file-name.ts';
import { headersForRedirect } from '#net/fetch/redirect.ts';
import { parseProxyUrl } from '#net/proxy/proxy-table.ts';
import { responseMarksOf } from '../blocked/response-marks.ts';
import { findOmittedContent, type Snapshot } from '../snapshot.ts';
import { headersFor, type IdentityDefaults } from './direct-headers.ts';
import { refreshOf } from './direct-refresh.ts';
import { decodeBody, type EncodedBody } from './encoded-body.ts';
import type { Engine, Visit } from './engine.ts';
import { actualMedia, declaredMedia, type Media } from './media-type.ts';
import { forbidsCopies } from './no-store.ts';
import { partialResponseWarning, REDIRECT_LOOP_WARNING, TRUNCATION_WARNINGS } from './truncation-warnings.ts';

export interface DirectEngineOptions extends IdentityDefaults {
  readonly fetch: GuardedFetch;
  /** Maximum size of a file. Default: 1 GiB. */
  readonly maxFileBytes?: number | undefined;
  /** Decodes a large body in another thread. */
  readonly decodeInThread?: ((body: EncodedBody, signal: AbortSignal) => Promise<string>) | undefined;
}

/** Larger bodies are decoded outside the main thread: detecting their encoding would delay other reads. */
const IN_THREAD_BYTES = 512 * 1024;

/** Limits for a direct fetch (docs/reference/wire/reader.md, Timing, and Documents and other types). */
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 6;
const MAX_TEXT_BYTES = 32 * 1024 ** 2;
const MAX_FILE_BYTES = 1024 ** 3;

/** Number of bytes needed to detect the type of a body. */
const SNIFFED_BYTES = 4 * 1024;

/** Time reserved before the deadline to decode the received bytes. */
const DECODE_MS = 100;

export function createDirectEngine(options: DirectEngineOptions): Engine {
  return {
    name: 'direct',
    async *visit(visit) {
      visit.signal.throwIfAborted();
      if (visit.html !== undefined) yield given(visit.url, visit.html);
      else yield await follow(visit, options);
    },
    // Does nothing: the owner of `fetch` closes it.
    async close() {},
  };
}

/** State of a request that is passed along the redirect chain. */
interface Hop {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly redirects: number;
}

interface Arrival {
  readonly snapshot: Snapshot;
  readonly hop: Hop;
  /** The URL to which the page redirects. */
  readonly next?: URL | undefined;
}

/** Reads the target and follows the redirects of pages. */
async function follow(visit: Visit, options: DirectEngineOptions): Promise<Snapshot> {
  const { options: asked } = visit;
  const jar = visit.jar ?? toJar(parseSetCookies(asked.setCookies ?? [], visit.url));
  const proxy = asked.proxyUrl ? parseProxyUrl(asked.proxyUrl) : visit.proxy;
  const start = new URL(visit.url);
  const own = headersFor(start, asked, options);
  const headers = visit.referringUrl === undefined ? own : headersForRedirect(new URL(visit.referringUrl), start, own);
  let hop: Hop = { url: start, headers, redirects: 0 };
  for (;;) {
    const { snapshot, hop: last, next } = await read(hop, { ...visit, jar, proxy }, options);
    if (!next) return snapshot;
    // After too many redirects, the last page is returned unchanged, with a warning.
    if (last.redirects >= MAX_REDIRECTS) return { ...snapshot, notes: [...snapshot.notes, REDIRECT_LOOP_WARNING] };
    await visit.checkRedirect?.(next, last.url, visit.signal);
    hop = { url: next, headers: headersForRedirect(last.url, next, last.headers), redirects: last.redirects + 1 };
  }
}

type FetchVisit = Visit & { readonly jar: CookieJar };

async function read(hop: Hop, visit: FetchVisit, options: DirectEngineOptions): Promise<Arrival> {
  const { response, last } = await send(hop, visit, options);
  try {
    const { headers } = response;
    const declared = declaredMedia(headers['content-type']);
    if (declared.kind === 'other') throw unreadable(declared.mediaType);
    const { start, bytes } = await peek(response.parts, SNIFFED_BYTES);
    if (!start.length) await assertContent(bytes, response.status);
    const name = fileNameOf(response.url, headers['content-disposition']);
    const media = actualMedia(declared, start, name);
    if (media.kind === 'other' || media.kind === 'unknown') throw unreadable(media.mediaType);
    if (media.kind === 'file') return { snapshot: await file(response, bytes, media, name, visit), hop: last };
    const { text, truncated } = await decoded(response, bytes, media.kind, visit, options);
    return {
      snapshot: snapshotOf(response, media, text, truncated),
      hop: last,
      next: await nextOf(response, last, media.kind === 'html' ? text : ''),
    };
  } catch (error) {
    response.discard();
    throw error;
  }
}

async function send(hop: Hop, visit: FetchVisit, options: DirectEngineOptions) {
  const { options: asked, deadline, signal, jar, proxy, trace, checkRedirect } = visit;
  const left = deadline - performance.now() - DECODE_MS;
  let last = hop;
  const response = await options.fetch(hop.url, {
    headers: hop.headers,
    signal,
    timeoutMs: Math.max(1, Math.min(asked.timeoutMs ?? TIMEOUT_MS, left)),
    maxRedirects: MAX_REDIRECTS - hop.redirects,
    maxBytes: options.maxFileBytes ?? MAX_FILE_BYTES,
    jar,
    proxy,
    trace,
    checkRedirect,
    acceptInvalidCertificates: asked.skipCertVerification ?? false,
    onRedirect(from, to) {
      last = { url: to, headers: headersForRedirect(from, to, last.headers), redirects: last.redirects + 1 };
    },
  });
  return { response, last };
}

/**
 * The next URL. A redirect to the same URL counts only if the response sets a cookie; otherwise it would repeat
 * forever.
 */
async function nextOf({ headers }: FetchResponse, { url }: Hop, html: string): Promise<URL | undefined> {
  const next = await refreshOf(html, url.href, headers.refresh);
  if (!next) return undefined;
  const [here, there] = [url, next].map(({ href }) => href.split('#', 1)[0]);
  if (here === there && headers['set-cookie'] === undefined) return undefined;
  if (!next.hash) next.hash = url.hash;
  return next;
}

async function assertContent(bytes: AsyncIterable<Uint8Array>, status: number): Promise<void> {
  // A response that was aborted before its first byte fails at this point, with a more precise message.
  await collect(bytes);
  throw problem('AssertionFailureError', {
    targetStatus: status,
    message: `The target responded with status ${status} and no content`,
  });
}

async function file(
  response: FetchResponse,
  bytes: AsyncIterable<Uint8Array>,
  { mediaType }: Media,
  name: string | undefined,
  visit: Visit,
): Promise<Snapshot> {
  const place = path.join(await visit.folder(), randomUUID());
  const { size, truncated } = await save(bytes, place);
  const contentType = response.headers['content-type'];
  return {
    ...snapshotOf(response, { mediaType, kind: 'file' }, '', truncated),
    file: { path: place, size, mediaType, contentType, name },
  };
}

async function decoded(
  response: FetchResponse,
  parts: AsyncIterable<Uint8Array>,
  kind: EncodedBody['kind'],
  { signal }: Visit,
  { decodeInThread }: DirectEngineOptions,
): Promise<Pick<Collected, 'truncated'> & { text: string }> {
  const contentType = response.headers['content-type'];
  if (Number(response.headers['content-length']) > MAX_TEXT_BYTES) throw tooMuchText();
  const { bytes, truncated } = await collect(limitBytes(parts, MAX_TEXT_BYTES)).catch((error: unknown) => {
    throw error instanceof Problem && error.name === 'TargetFileTooLargeError' ? tooMuchText(error) : error;
  });
  const body = { bytes, contentType, kind };
  const inThread = decodeInThread && bytes.length > IN_THREAD_BYTES;
  const text = inThread ? await decodeInThread(body, signal) : await decodeBody(body);
  return { text, ...(truncated && { truncated }) };
}

const tooMuchText = (cause?: unknown) =>
  problem('AssertionFailureError', { message: 'Text larger than 32 MiB cannot be read' }, cause);

const snapshotOf = (
  { url, status, statusText, headers }: FetchResponse,
  { mediaType, kind }: Media,
  text: string,
  truncated: Collected['truncated'],
): Snapshot => {
  const part = partialResponseWarning(status, headers['content-range']);
  return {
    url,
    status,
    statusText,
    mediaType,
    lastModified: headers['last-modified'],
    ...(headers['retry-after'] !== undefined && { retryAfter: headers['retry-after'] }),
    ...(forbidsCopies(headers['cache-control']) && { noStore: true }),
    ...(headers['x-robots-tag'] !== undefined && { robotsTag: headers['x-robots-tag'] }),
    ...withMarks(responseMarksOf(headers)),
    text,
    settled: !truncated,
    ...findOmittedContent(kind === 'html' ? text : ''),
    notes: [...(truncated ? [TRUNCATION_WARNINGS[truncated]] : []), ...(part === undefined ? [] : [part])],
    ...((truncated || part !== undefined) && { partial: true }),
    engine: 'direct',
  };
};

const withMarks = (responseMarks: Snapshot['responseMarks']) => responseMarks && { responseMarks };

const unreadable = (mediaType: string) =>
  problem('AssertionFailureError', {
    mediaType: mediaType.slice(0, 100) || 'unknown',
    message:
      mediaType && mediaType !== 'application/octet-stream'
        ? `Content of the type ${mediaType.slice(0, 100)} cannot be read`
        : 'The type of the content is unknown and could not be detected from its bytes',
  });

const given = (url: string, html: string): Snapshot => ({
  url,
  status: 200,
  statusText: 'OK',
  mediaType: 'text/html',
  text: html,
  settled: true,
  ...findOmittedContent(html),
  notes: [],
  engine: 'given',
});
