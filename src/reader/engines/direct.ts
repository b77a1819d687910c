/** The direct engine: fetches alone, no scripts, one snapshot of a page or of a file. */
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
import { type Snapshot, unwritten } from '../snapshot.ts';
import { headersFor, type Self } from './direct-headers.ts';
import { refreshOf } from './direct-refresh.ts';
import { decodeBody, type EncodedBody } from './encoded-body.ts';
import type { Engine, Visit } from './engine.ts';
import { actualMedia, declaredMedia, type Media } from './media-type.ts';
import { forbidsCopies } from './no-store.ts';
import { CUT_NOTES, partNote, SENT_ON_NOTE } from './notes.ts';

export interface DirectEngineOptions extends Self {
  readonly fetch: GuardedFetch;
  /** The largest file that is read. Default 1 GiB. */
  readonly maxFileBytes?: number | undefined;
  /** Decodes a large body elsewhere than here, where others wait. */
  readonly decodeAside?: ((body: EncodedBody, signal: AbortSignal) => Promise<string>) | undefined;
}

/** Guessing the encoding of more than this takes long enough for others to notice. */
const ASIDE_BYTES = 512 * 1024;

/** The limits of a direct fetch (contract, sections 9 and 16). */
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 6;
const MAX_TEXT_BYTES = 32 * 1024 ** 2;
const MAX_FILE_BYTES = 1024 ** 3;

/** So much of a body tells what it is. */
const SNIFFED_BYTES = 4 * 1024;

/** Time kept back before the deadline, to decode what has arrived. */
const DECODE_MS = 100;

export function createDirectEngine(options: DirectEngineOptions): Engine {
  return {
    name: 'direct',
    async *visit(visit) {
      visit.signal.throwIfAborted();
      if (visit.html !== undefined) yield given(visit.url, visit.html);
      else yield await follow(visit, options);
    },
    // The fetch belongs to whoever made it.
    async close() {},
  };
}

/** What a request takes along from one address to the next. */
interface Way {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly redirects: number;
}

interface Arrival {
  readonly snapshot: Snapshot;
  readonly way: Way;
  /** Where the page sends its reader. */
  readonly next?: URL | undefined;
}

/** Reads the target, and where pages send their reader from there. */
async function follow(visit: Visit, options: DirectEngineOptions): Promise<Snapshot> {
  const { options: asked } = visit;
  const jar = visit.jar ?? toJar(parseSetCookies(asked.setCookies ?? [], visit.url));
  const proxy = asked.proxyUrl ? parseProxyUrl(asked.proxyUrl) : visit.proxy;
  const start = new URL(visit.url);
  const own = headersFor(start, asked, options);
  const headers = visit.cameFrom === undefined ? own : headersForRedirect(new URL(visit.cameFrom), start, own);
  let way: Way = { url: start, headers, redirects: 0 };
  for (;;) {
    const { snapshot, way: come, next } = await read(way, { ...visit, jar, proxy }, options);
    if (!next) return snapshot;
    // A page that sends its reader round for ever is read as it is.
    if (come.redirects >= MAX_REDIRECTS) return { ...snapshot, notes: [...snapshot.notes, SENT_ON_NOTE] };
    await visit.checkRedirect?.(next, come.url, visit.signal);
    way = { url: next, headers: headersForRedirect(come.url, next, come.headers), redirects: come.redirects + 1 };
  }
}

type Passage = Visit & { readonly jar: CookieJar };

async function read(way: Way, visit: Passage, options: DirectEngineOptions): Promise<Arrival> {
  const { response, come } = await ask(way, visit, options);
  try {
    const { headers } = response;
    const declared = declaredMedia(headers['content-type']);
    if (declared.kind === 'other') throw unreadable(declared.mediaType);
    const { start, bytes } = await peek(response.parts, SNIFFED_BYTES);
    if (!start.length) await assertContent(bytes, response.status);
    const name = fileNameOf(response.url, headers['content-disposition']);
    const media = actualMedia(declared, start, name);
    if (media.kind === 'other' || media.kind === 'unknown') throw unreadable(media.mediaType);
    if (media.kind === 'file') return { snapshot: await file(response, bytes, media, name, visit), way: come };
    const { text, truncated } = await decoded(response, bytes, media.kind, visit, options);
    return {
      snapshot: snapshotOf(response, media, text, truncated),
      way: come,
      next: nextOf(response, come, media.kind === 'html' ? text : ''),
    };
  } catch (error) {
    response.discard();
    throw error;
  }
}

async function ask(way: Way, visit: Passage, options: DirectEngineOptions) {
  const { options: asked, deadline, signal, jar, proxy, trace, checkRedirect } = visit;
  const left = deadline - performance.now() - DECODE_MS;
  let come = way;
  const response = await options.fetch(way.url, {
    headers: way.headers,
    signal,
    timeoutMs: Math.max(1, Math.min(asked.timeoutMs ?? TIMEOUT_MS, left)),
    maxRedirects: MAX_REDIRECTS - way.redirects,
    maxBytes: options.maxFileBytes ?? MAX_FILE_BYTES,
    jar,
    proxy,
    trace,
    checkRedirect,
    acceptInvalidCertificates: asked.skipCertVerification ?? false,
    onRedirect(from, to) {
      come = { url: to, headers: headersForRedirect(from, to, come.headers), redirects: come.redirects + 1 };
    },
  });
  return { response, come };
}

/** An address that sends its reader to itself has to give a cookie for it, or it would say the same again. */
function nextOf({ headers }: FetchResponse, { url }: Way, html: string): URL | undefined {
  const next = refreshOf(html, url.href, headers.refresh);
  if (!next) return undefined;
  const [here, there] = [url, next].map(({ href }) => href.split('#', 1)[0]);
  if (here === there && headers['set-cookie'] === undefined) return undefined;
  if (!next.hash) next.hash = url.hash;
  return next;
}

async function assertContent(bytes: AsyncIterable<Uint8Array>, status: number): Promise<void> {
  // Whoever broke off before the first byte is told so.
  await collect(bytes);
  throw problem('AssertionFailureError', {
    targetStatus: status,
    message: `The target answered ${status} without any content`,
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
  { decodeAside }: DirectEngineOptions,
): Promise<Pick<Collected, 'truncated'> & { text: string }> {
  const contentType = response.headers['content-type'];
  if (Number(response.headers['content-length']) > MAX_TEXT_BYTES) throw tooMuchText();
  const { bytes, truncated } = await collect(limitBytes(parts, MAX_TEXT_BYTES)).catch((error: unknown) => {
    throw error instanceof Problem && error.name === 'TargetFileTooLargeError' ? tooMuchText(error) : error;
  });
  const body = { bytes, contentType, kind };
  const aside = decodeAside && bytes.length > ASIDE_BYTES;
  const text = aside ? await decodeAside(body, signal) : decodeBody(body);
  return { text, ...(truncated && { truncated }) };
}

const tooMuchText = (cause?: unknown) =>
  problem('AssertionFailureError', { message: 'Text of more than 32 MiB cannot be read' }, cause);

const snapshotOf = (
  { url, status, statusText, headers }: FetchResponse,
  { mediaType, kind }: Media,
  text: string,
  truncated: Collected['truncated'],
): Snapshot => {
  const part = partNote(status, headers['content-range']);
  return {
    url,
    status,
    statusText,
    mediaType,
    lastModified: headers['last-modified'],
    ...(headers['retry-after'] !== undefined && { retryAfter: headers['retry-after'] }),
    ...(forbidsCopies(headers['cache-control']) && { noStore: true }),
    ...(headers['x-robots-tag'] !== undefined && { robotsTag: headers['x-robots-tag'] }),
    text,
    settled: !truncated,
    ...unwritten(kind === 'html' ? text : ''),
    notes: [...(truncated ? [CUT_NOTES[truncated]] : []), ...(part === undefined ? [] : [part])],
    ...((truncated || part !== undefined) && { partial: true }),
    engine: 'direct',
  };
};

const unreadable = (mediaType: string) =>
  problem('AssertionFailureError', {
    mediaType: mediaType.slice(0, 100) || 'unknown',
    message:
      mediaType && mediaType !== 'application/octet-stream'
        ? `Content of the type ${mediaType.slice(0, 100)} cannot be read`
        : 'The type of the content is not known and could not be told from its bytes',
  });

const given = (url: string, html: string): Snapshot => ({
  url,
  status: 200,
  statusText: 'OK',
  mediaType: 'text/html',
  text: html,
  settled: true,
  ...unwritten(html),
  notes: [],
  engine: 'given',
});
