/** Redirects by a `Refresh` header or meta element (HTML standard, "shared declarative refresh steps"). */
import { attribute, type Element, elements, isElement } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { isUrl } from '#is-url.ts';

/** A longer delay means that the page itself should be read. */
const MAX_DELAY_S = 5;
const EXAMINED_CHARACTERS = 64 * 1024;

/**
 * Returns the target to which a `Refresh` header, or else a meta element early in the page, redirects within five
 * seconds.
 */
export function refreshOf(html: string, url: string, header: string | undefined): URL | undefined {
  const named = header === undefined ? undefined : parseRefresh(header, url);
  if (named) return named;
  const start = html.slice(0, EXAMINED_CHARACTERS);
  return /http-equiv\s{0,10}=\s{0,10}["']?\s{0,10}refresh/i.test(start) ? metaRefresh(start, url) : undefined;
}

function metaRefresh(html: string, url: string): URL | undefined {
  const document = parseDocument(html);
  const base = [...elements(document, 'base')].find((element) => attribute(element, 'href') !== null);
  const href = base && attribute(base, 'href')!.trim();
  const from = href && isUrl(href, url) ? new URL(href, url).href : url;
  for (const meta of elements(document, 'meta')) {
    const content = attribute(meta, 'content');
    const isRefresh = attribute(meta, 'http-equiv')?.trim().toLowerCase() === 'refresh';
    if (!isRefresh || !content || isInNoscript(meta)) continue;
    const to = parseRefresh(content, from);
    if (to) return to;
  }
  return undefined;
}

function isInNoscript(element: Element): boolean {
  for (let parent = element.parent; isElement(parent); parent = parent.parent) {
    if (parent.name === 'noscript') return true;
  }
  return false;
}

const MAX_CONTENT_CHARACTERS = 8_192;
const REFRESH = /^(?:(\d+)(?:\.[\d.]*)?|\.[\d.]*)(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(.*)$/is;

/** Parses `3; url=/next`. `undefined` if the delay is longer, or the URL is missing or not http(s). */
function parseRefresh(text: string, base: string): URL | undefined {
  const found = REFRESH.exec(text.slice(0, MAX_CONTENT_CHARACTERS).trim());
  if (!found || Number(found[1]) > MAX_DELAY_S) return undefined;
  const [, , rest] = found;
  const quoted = /^(["'])([^"']*)/.exec(rest!);
  const address = (quoted ? quoted[2]! : rest!).trim();
  if (!address || !isUrl(address, base)) return undefined;
  const url = new URL(address, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}
