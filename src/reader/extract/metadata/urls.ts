/** URLs that a page declares for itself and for its picture. */
import { isUrl } from '#is-url.ts';
import { resolveUrl } from '../content/links.ts';

/** Longer ones are data, not URLs. */
const MAX_URL_CHARACTERS = 4_096;

/** The absolute form of an http(s) URL; undefined for any other URL, and for one that is too long. */
export function absoluteWebUrl(written: string, baseUrl: string): string | undefined {
  const text = written.trim();
  if (text === '' || text.length > MAX_URL_CHARACTERS || /[<>{}\t\r\n]/.test(text)) return undefined;
  const resolved = resolveUrl(text, baseUrl);
  return resolved !== null && resolved.length <= MAX_URL_CHARACTERS && /^https?:\/\/[^/]*[^/.]/i.test(resolved)
    ? resolved
    : undefined;
}

/** Placeholder pictures. */
const PLACEHOLDER =
  /(?:^|[/_-])(?:blank|placeholder|spacer|pixel|1x1|transparent|no-?image|default-image)[^/]{0,20}\.(?:gif|png|jpe?g|svg|webp)(?:[?#]|$)/i;

/** The URL of a picture; undefined if it is a placeholder. */
export function pictureUrl(written: string, baseUrl: string): string | undefined {
  const resolved = absoluteWebUrl(written, baseUrl);
  return resolved === undefined || PLACEHOLDER.test(resolved) ? undefined : resolved;
}

/** Whether the URL is that of a site's front page, in any language. */
export function isFrontPage(url: string): boolean {
  if (!/^https?:/i.test(url) || !isUrl(url)) return false;
  const { pathname, searchParams } = new URL(url);
  if (!/^\/(?:[a-z]{2}(?:[-_][a-z]{2})?\/?)?(?:index\.\w{2,5}|home|default\.aspx?)?$/i.test(pathname)) return false;
  return [...searchParams.keys()].every((name) => /^(?:utm_\w+|ref|srsltid|[a-z]+clid|lang|hl)$/i.test(name));
}
