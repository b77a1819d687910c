/** URLs of a page: the base URL for relative ones, and a list of the links in document order. */
import { attribute, type Document, ELEMENT, type Element, elements, following, type Node, TEXT } from '#html/node.ts';
import { isUrl } from '#is-url.ts';

/** The text of a link, with white space collapsed, and its URL. */
export type Link = [text: string, url: string];

const MAX_URL_CHARACTERS = 65_536;

/**
 * Absolute URLs that `new URL()` leaves unchanged: a host of plain labels, no port, no dot segments, nothing to encode.
 * Most URLs of a page match, and this test is ten times cheaper than parsing them.
 */
const NORMALIZED_URL = new RegExp(
  [
    String.raw`^https?:\/\/(?:[a-z\d]+(?:-[a-z\d]+)*\.)+[a-z]{2,}`,
    String.raw`(?:\/(?!\.)[\w\-~!$&()*+,;=:@.]*)+(?:\?[\w\-~!$&()*+,;=:@./?%]*)?$`,
  ].join(''),
);

/** The base of a document that came without a URL. */
const NO_BASE = /^blob:(?!http)/;

/**
 * The absolute form of a URL found in a page, or null if it does not resolve. In a document without a URL, a relative
 * URL stays as written, because nothing says what it is relative to.
 */
export function resolveUrl(written: string, baseUrl: string): string | null {
  if (written.length > MAX_URL_CHARACTERS) return null;
  if (NORMALIZED_URL.test(written)) return written;
  const text = written.trim();
  if (NO_BASE.test(baseUrl)) return resolveWithoutBase(text);
  try {
    return new URL(text, baseUrl).href;
  } catch {
    return null;
  }
}

/** Any base: it only serves to check that a relative URL is valid. */
const ANY_BASE = 'https://base.invalid/';

function resolveWithoutBase(text: string): string | null {
  if (isUrl(text)) return new URL(text).href;
  return text !== '' && isUrl(text, ANY_BASE) ? text : null;
}

/** The base for relative URLs: the first `<base href>` with an http(s) URL, else `url`. */
export function documentBaseUrl(document: Document, url: string): string {
  if (!document.mayHaveBase) return url;
  let node = following(document, document);
  for (; node; node = following(node, document)) {
    if (node.type !== ELEMENT || node.name !== 'base') continue;
    const href = attribute(node, 'href');
    if (href === null) continue;
    const resolved = resolveUrl(href, url);
    return resolved !== null && /^https?:/.test(resolved) ? resolved : url;
  }
  return url;
}

/** The anchors under `root` that have an `href`, in document order. */
export function anchorsIn(root: Document | Element): Element[] {
  return [...elements(root, 'a')].filter((anchor) => attribute(anchor, 'href') !== null);
}

/**
 * Lists the links of `anchors` with absolute URLs; a URL that does not resolve is returned as written. Mode 'all' keeps
 * every link; 'unique' keeps the first text of each URL. Anchors that are no longer under `root` are invisible: their
 * URL replaces their text.
 */
export function collectLinks(
  root: Document | Element,
  baseUrl: string,
  mode: 'all' | 'unique' = 'all',
  anchors: readonly Element[] = anchorsIn(root),
): Link[] {
  const texts = textsOfAnchors(root);
  const links: Link[] = [];
  const first = new Map<string, { index: number; isVisible: boolean }>();
  for (const anchor of anchors) {
    const href = attribute(anchor, 'href')!;
    const url = resolveUrl(href, baseUrl) ?? href.trim();
    const text = texts.get(anchor);
    const link: Link = [text ?? url, url];
    const before = mode === 'unique' ? first.get(url) : undefined;
    if (!before) {
      first.set(url, { index: links.length, isVisible: text !== undefined });
      links.push(link);
    } else if (!before.isVisible && text !== undefined) {
      links[before.index] = link;
      before.isVisible = true;
    }
  }
  return links;
}

/** The text of each anchor that has an `href`, with white space collapsed. An anchor ends where the next one begins. */
function textsOfAnchors(root: Document | Element): Map<Element, string> {
  const texts = new Map<Element, string>();
  let open: { anchor: Element; pieces: string[] } | null = null;
  const close = () => {
    if (!open) return;
    texts.set(open.anchor, open.pieces.join('').replace(/\s+/g, ' ').trim());
    open = null;
  };
  let node: Node | null = following(root, root);
  let end: Node | null = null;
  while (node) {
    if (open && node === end) close();
    if (node.type === ELEMENT && node.name === 'a') {
      if (attribute(node, 'href') !== null) {
        close();
        open = { anchor: node, pieces: [] };
        end = following(node, root, true);
      }
    } else if (open && node.type === TEXT) open.pieces.push(node.value);
    const skipped: boolean = node.type === ELEMENT && (node.name === 'script' || node.name === 'style');
    node = following(node, root, skipped);
  }
  close();
  return texts;
}
