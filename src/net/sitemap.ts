/** Addresses in a sitemap (sitemaps.org): those of pages, or of further sitemaps. Linear, whatever the file. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { decodeXML } from 'entities';
import { problem } from '#errors.ts';
import type { GuardedFetch } from './fetch.ts';

export interface Sitemap {
  /** Whether the addresses are of further sitemaps. */
  readonly isIndex: boolean;
  readonly urls: readonly string[];
}

/** As many as the protocol lets one file have. */
const MAX_URLS = 50_000;
const MAX_URL_UNITS = 4_000;

const MAX_BYTES = 60_000_000;
const GZIP = [0x1f, 0x8b];

/**
 * The sitemap at an address, packed or not; undefined when something else is there. Throws what the fetch throws, and
 * AssertionFailureError for another status than 200 and for a file that cannot be unpacked.
 */
export async function fetchSitemap(
  fetch: GuardedFetch,
  url: string,
  { signal, userAgent }: { readonly signal: AbortSignal; readonly userAgent?: string | undefined },
): Promise<Sitemap | undefined> {
  const headers = { ...(userAgent && { 'user-agent': userAgent }) };
  const response = await fetch(url, { signal, headers, maxBytes: MAX_BYTES });
  if (response.status !== 200) {
    response.discard();
    const message = `The sitemap was answered with ${response.status}`;
    throw problem('AssertionFailureError', { targetStatus: response.status, message });
  }
  const { bytes } = await response.collect();
  return readSitemap((await unpacked(bytes)).toString('utf8'));
}

async function unpacked(bytes: Uint8Array): Promise<Buffer> {
  if (bytes[0] !== GZIP[0] || bytes[1] !== GZIP[1]) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return promisify(gunzip)(bytes, { maxOutputLength: MAX_BYTES }).catch((error: unknown) => {
    throw problem('AssertionFailureError', { message: 'The sitemap is damaged' }, error);
  });
}

/** Undefined for what is no sitemap. A text file of addresses, one a line, is one too. */
export function readSitemap(text: string): Sitemap | undefined {
  const root = /<(?:[\w-]{1,20}:)?(urlset|sitemapindex)[\s>]/.exec(text.slice(0, 4_000));
  if (!root) return readLines(text);
  const urls: string[] = [];
  const opening = /<(?:[\w-]{1,20}:)?loc\s*>/g;
  for (let match = opening.exec(text); match && urls.length < MAX_URLS; match = opening.exec(text)) {
    const end = text.indexOf('</', opening.lastIndex);
    if (end < 0) break;
    const inner = text.slice(opening.lastIndex, end).trim();
    const cdata = /^<!\[CDATA\[(.*)\]\]>$/s.exec(inner);
    addIfAddress(urls, cdata ? cdata[1]! : decodeXML(inner));
    opening.lastIndex = end;
  }
  return { isIndex: root[1] === 'sitemapindex', urls };
}

function readLines(text: string): Sitemap | undefined {
  if (!/^\s*https?:\/\//.test(text)) return undefined;
  const urls: string[] = [];
  for (const line of text.split('\n')) {
    if (urls.length >= MAX_URLS) break;
    addIfAddress(urls, line);
  }
  return { isIndex: false, urls };
}

function addIfAddress(urls: string[], text: string): void {
  const address = text.trim();
  if (address.length <= MAX_URL_UNITS && /^https?:\/\//i.test(address) && URL.canParse(address)) urls.push(address);
}
