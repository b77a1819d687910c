/** Redirects by a `Refresh` header or meta element (HTML standard, "shared declarative refresh steps"). */
import { isUrl } from '#is-url.ts';

/** A longer delay means that the page itself should be read. */
const MAX_DELAY_S = 5;
const EXAMINED_CHARACTERS = 64 * 1024;

/**
 * Returns the target to which a `Refresh` header, or else a meta element early in the page, redirects within five
 * seconds.
 */
export async function refreshOf(html: string, url: string, header: string | undefined): Promise<URL | undefined> {
  const named = refreshOfHeader(header, url);
  if (named) return named;
  const start = html.slice(0, EXAMINED_CHARACTERS);
  if (!/http-equiv\s{0,10}=\s{0,10}["']?\s{0,10}refresh/i.test(start)) return undefined;
  // Few pages have one, so the parser is loaded only for them.
  const { metaRefresh } = await import('./meta-refresh.ts');
  return metaRefresh(start, url);
}

/** Returns the target of a `Refresh` header, under the same conditions. */
export const refreshOfHeader = (header: string | undefined, url: string): URL | undefined =>
  header === undefined ? undefined : parseRefresh(header, url);

const MAX_CONTENT_CHARACTERS = 8_192;
const REFRESH = /^(?:(\d+)(?:\.[\d.]*)?|\.[\d.]*)(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(.*)$/is;

/** Parses `3; url=/next`. `undefined` if the delay is longer, or the URL is missing or not http(s). */
export function parseRefresh(text: string, base: string): URL | undefined {
  const found = REFRESH.exec(text.slice(0, MAX_CONTENT_CHARACTERS).trim());
  if (!found || Number(found[1]) > MAX_DELAY_S) return undefined;
  const [, , rest] = found;
  const quoted = /^(["'])([^"']*)/.exec(rest!);
  const address = (quoted ? quoted[2]! : rest!).trim();
  if (!address || !isUrl(address, base)) return undefined;
  const url = new URL(address, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}
