/**
 * Addresses of a page: what relative ones resolve against, and the list of its links in document order.
 */
import { attribute, type Document, ELEMENT, type Element, following, type Node, TEXT } from '#html/node.ts';

/** Link text and address; the text has its white space collapsed. */
export type Link = [text: string, url: string];

const LONGEST_URL = 65_536;

/**
 * Absolute addresses that `URL` gives back as they are: a host of plain labels, no port, no dots for folders, nothing to
 * encode. Most of a page's are of these, and to see it costs a tenth of parsing them.
 */
const SETTLED = new RegExp(
  [
    String.raw`^https?:\/\/(?:[a-z\d]+(?:-[a-z\d]+)*\.)+[a-z]{2,}`,
    String.raw`(?:\/(?!\.)[\w\-~!$&()*+,;=:@.]*)+(?:\?[\w\-~!$&()*+,;=:@./?%]*)?$`,
  ].join(''),
);

/** The absolute form of an address found in a page, or null when it has none. */
export function resolveUrl(address: string, baseUrl: string): string | null {
  if (address.length > LONGEST_URL) return null;
  if (SETTLED.test(address)) return address;
  try {
    return new URL(address.trim(), baseUrl).href;
  } catch {
    return null;
  }
}

/** What relative addresses resolve against: the first `<base href>` that is an http(s) address, else `url`. */
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

/**
 * The links under `root` in document order, with absolute addresses; one that does not resolve stays as written.
 * With `mode` 'all' none is left out; with 'unique' `file:` and `javascript:` are dropped and the first text of an
 * address wins.
 */
export function collectLinks(root: Document | Element, baseUrl: string, mode: 'all' | 'unique' = 'all'): Link[] {
  const links: Link[] = [];
  const seen = new Set<string>();
  let open: { anchor: Element; url: string; pieces: string[] } | null = null;
  const close = () => {
    if (!open) return;
    const text = open.pieces.join('').replace(/\s+/g, ' ').trim();
    if (mode === 'all') links.push([text, open.url]);
    else if (!seen.has(open.url) && !/^(?:file|javascript):/i.test(open.url)) {
      seen.add(open.url);
      links.push([text, open.url]);
    }
    open = null;
  };
  let node: Node | null = following(root, root);
  let end: Node | null = null;
  while (node) {
    if (open && node === end) close();
    if (node.type === ELEMENT && node.name === 'a') {
      const href = attribute(node, 'href');
      if (href !== null) {
        close();
        open = { anchor: node, url: resolveUrl(href, baseUrl) ?? href.trim(), pieces: [] };
        end = following(node, root, true);
      }
    } else if (open && node.type === TEXT) open.pieces.push(node.value);
    const skipped: boolean = node.type === ELEMENT && (node.name === 'script' || node.name === 'style');
    node = following(node, root, skipped);
  }
  close();
  return links;
}
