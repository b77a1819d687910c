/** Sitemaps of sites, packed or not, read as they arrive: however large, they hold nobody up. */
import { Readable } from 'node:stream';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { problem } from '#errors.ts';
import { peek } from '../fetch/body.ts';
import type { CheckRedirect, GuardedFetch } from '../fetch/fetch.ts';
import { createSitemapParser, type SitemapKind } from './sitemap-parser.ts';

export interface Sitemap {
  /** Whether the addresses are of further sitemaps. */
  readonly isIndex: boolean;
  readonly urls: readonly string[];
}

/** Some addresses of a sitemap, in their order. */
export interface SitemapPart {
  readonly kind: SitemapKind;
  readonly urls: readonly string[];
}

export interface SitemapOptions {
  readonly signal: AbortSignal;
  readonly userAgent?: string | undefined;
  readonly checkRedirect?: CheckRedirect | undefined;
}

/** The protocol says 50 MiB; what comes behind is left. */
const MAX_BYTES = 60_000_000;
const TIMEOUT_MS = 120_000;
const GZIP = [0x1f, 0x8b];
/** So long nothing else is done. */
const SLICE_MS = 5;
/** Text that is parsed at once. */
const PIECE_BYTES = 64 * 1024;

/**
 * The sitemap at an address, part by part; no part when something else is there. A file that breaks off or is too large has
 * the parts that were there, and then throws. Throws what the fetch throws, and AssertionFailureError for another status than
 * 200 and for a file that cannot be unpacked.
 */
export async function* sitemapParts(
  fetch: GuardedFetch,
  url: string,
  { signal, userAgent, checkRedirect }: SitemapOptions,
): AsyncGenerator<SitemapPart> {
  const headers = { ...(userAgent && { 'user-agent': userAgent }) };
  const response = await fetch(url, { signal, headers, checkRedirect, timeoutMs: TIMEOUT_MS });
  if (response.status !== 200) {
    response.discard();
    const message = `The sitemap was answered with ${response.status}`;
    throw problem('AssertionFailureError', { targetStatus: response.status, message });
  }
  const parser = createSitemapParser();
  const decoder = new TextDecoder();
  let sliceUntil = performance.now() + SLICE_MS;
  const part = (urls: readonly string[]): SitemapPart[] =>
    parser.kind && urls.length ? [{ kind: parser.kind, urls }] : [];
  for await (const piece of pieces(await unpacked(response.body))) {
    yield* part(parser.push(decoder.decode(piece, { stream: true })));
    if (parser.isOver) return;
    if (performance.now() < sliceUntil) continue;
    await othersTurn();
    sliceUntil = performance.now() + SLICE_MS;
  }
  yield* part([...parser.push(decoder.decode()), ...parser.end()]);
}

/** The same, whole; undefined when something else is there. What broke off is a failure. */
export async function fetchSitemap(
  fetch: GuardedFetch,
  url: string,
  options: SitemapOptions,
): Promise<Sitemap | undefined> {
  let kind: SitemapKind | undefined;
  const urls: string[] = [];
  for await (const part of sitemapParts(fetch, url, options)) {
    kind = part.kind;
    for (const one of part.urls) urls.push(one);
  }
  return kind && { isIndex: kind === 'sitemaps', urls };
}

async function* pieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = MAX_BYTES;
  for await (const chunk of bytes) {
    const some = chunk.subarray(0, left);
    left -= some.length;
    for (let from = 0; from < some.length; from += PIECE_BYTES) yield some.subarray(from, from + PIECE_BYTES);
    if (left === 0) return;
  }
}

async function unpacked(body: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const { start, bytes } = await peek(body, GZIP.length);
  return start[0] === GZIP[0] && start[1] === GZIP[1] ? gunzipped(bytes) : bytes;
}

async function* gunzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const packed = Readable.from(bytes);
  const gunzip = createGunzip();
  let failure: unknown;
  packed.once('error', (error) => {
    failure = error;
    gunzip.destroy(error);
  });
  try {
    for await (const chunk of packed.pipe(gunzip)) yield chunk as Uint8Array;
  } catch (error) {
    throw failure ?? problem('AssertionFailureError', { message: 'The sitemap is damaged' }, error);
  } finally {
    packed.destroy();
    gunzip.destroy();
  }
}
