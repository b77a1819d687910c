/** Redirects by a meta element in the page. */
import { attribute, type Element, elements, isElement } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { isUrl } from '#is-url.ts';
import { parseRefresh } from './direct-refresh.ts';

/** Returns the target of the first refresh that has one. */
export function metaRefresh(html: string, url: string): URL | undefined {
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
