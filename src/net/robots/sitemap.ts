/** Parses sitemaps as a stream, whether or not they are gzipped. Large files do not block the event loop. */
import { Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { problem } from '#errors.ts';
import { peek } from '../fetch/body.ts';
import type { CheckRedirect, GuardedFetch } from '../fetch/fetch.ts';
import { createSitemapParser, type SitemapKind } from './sitemap-parser.ts';

export interface Sitemap {
  /** Whether the URLs point to further sitemaps. */
  readonly isIndex: boolean;
  readonly urls: readonly string[];
}

/** A batch of URLs from a sitemap, in order. */
export interface SitemapPart {
  readonly kind: SitemapKind;
  readonly urls: readonly string[];
}

export interface SitemapOptions {
  readonly signal: AbortSignal;
  readonly userAgent?: string | undefined;
  readonly checkRedirect?: CheckRedirect | undefined;
}

/** Maximum size; the rest of a larger file is ignored. The protocol allows 50 MiB. */
const MAX_BYTES = 60_000_000;
const TIMEOUT_MS = 120_000;
const GZIP = [0x1f, 0x8b];
/** Time after which parsing yields to the event loop, in milliseconds. */
const MAX_BLOCKING_MS = 5;
/** Size of a piece that is parsed without yielding. */
const PIECE_BYTES = 64 * 1024;

/**
 * Parses a sitemap in batches; yields none if the file is not a sitemap. For an incomplete file, yields the batches
 * before the break and then throws. Throws the errors from the fetch, and AssertionFailureError for a status other than
 * 200 or for damaged gzip data.
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
    const message = `The sitemap has the status ${response.status}`;
    throw problem('AssertionFailureError', { targetStatus: response.status, message });
  }
  const parser = createSitemapParser();
  const decoder = new TextDecoder();
  let yieldAt = performance.now() + MAX_BLOCKING_MS;
  const batch = (urls: readonly string[]): SitemapPart[] =>
    parser.kind && urls.length ? [{ kind: parser.kind, urls }] : [];
  for await (const piece of pieces(await decompressed(response.body))) {
    yield* batch(parser.push(decoder.decode(piece, { stream: true })));
    if (parser.isDone) return;
    if (performance.now() < yieldAt) continue;
    await yieldToEventLoop();
    yieldAt = performance.now() + MAX_BLOCKING_MS;
  }
  yield* batch([...parser.push(decoder.decode()), ...parser.end()]);
}

/** Fetches a complete sitemap; undefined if the file is not a sitemap. Throws if the sitemap is incomplete. */
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

async function decompressed(body: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const { start, bytes } = await peek(body, GZIP.length);
  return start[0] === GZIP[0] && start[1] === GZIP[1] ? gunzip(bytes) : bytes;
}

async function* gunzip(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const compressed = Readable.from(bytes);
  const decoder = createGunzip();
  let failure: unknown;
  compressed.once('error', (error) => {
    failure = error;
    decoder.destroy(error);
  });
  try {
    for await (const chunk of compressed.pipe(decoder)) yield chunk as Uint8Array;
  } catch (error) {
    throw failure ?? problem('AssertionFailureError', { message: 'The sitemap is damaged' }, error);
  } finally {
    compressed.destroy();
    decoder.destroy();
  }
}
