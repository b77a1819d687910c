/**
 * Finds the links that a crawl follows from a page. They come from the whole original page, including parts that
 * options remove.
 */
import { attribute, type Document, ELEMENT, type Element, following } from '#html/node.ts';
import { relTokens } from '../metadata/head-links.ts';
import { documentBaseUrl, resolveUrl } from './links.ts';

export interface CrawlLink {
  /** An http(s) URL without fragment, unless the fragment is a client-side route (`#/…`). */
  readonly url: string;
  /** Whether every link to it has `rel="nofollow"`. */
  readonly nofollow: boolean;
}

export interface CrawlLinks {
  /** URL of the page after redirects. */
  readonly url: string;
  /** In document order, each URL once, at most 10,000. */
  readonly links: readonly CrawlLink[];
  /** Whether the page forbids following its links (a meta element `robots` with `nofollow` or `none`). */
  readonly nofollow: boolean;
}

const MAX_LINKS = 10_000;

/** `url` is the final URL after redirects. Relative links resolve against it unless the page has a `<base>`. */
export function findCrawlLinks(document: Document, url: string): CrawlLinks {
  const baseUrl = documentBaseUrl(document, url);
  const found = new Map<string, boolean>();
  let nofollow = false;
  for (let node = following(document, document); node; node = following(node, document)) {
    if (node.type !== ELEMENT) continue;
    if (node.name === 'meta') nofollow ||= forbidsFollowing(node);
    const href = linkIn(node);
    if (href === null) continue;
    const target = withoutFragment(resolveUrl(href, baseUrl));
    if (target === undefined) continue;
    const before = found.get(target);
    if (before === undefined && found.size >= MAX_LINKS) continue;
    const isNofollow = /\bnofollow\b/i.test(attribute(node, 'rel') ?? '');
    found.set(target, isNofollow && before !== false);
  }
  return { url, links: [...found].map(([target, isNofollow]) => ({ url: target, nofollow: isNofollow })), nofollow };
}

/** The URL in a text or image-map link, a previous/next page link, or a frame of a frame set. */
function linkIn(element: Element): string | null {
  switch (element.name) {
    case 'a':
    case 'area':
      return attribute(element, 'href');
    case 'frame':
      return attribute(element, 'src');
    case 'link':
      return relTokens(attribute(element, 'rel') ?? '').some((rel) => rel === 'next' || rel === 'prev')
        ? attribute(element, 'href')
        : null;
    default:
      return null;
  }
}

const forbidsFollowing = (meta: Element): boolean =>
  attribute(meta, 'name')?.trim().toLowerCase() === 'robots' &&
  (attribute(meta, 'content') ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .some((word) => word === 'nofollow' || word === 'none');

function withoutFragment(target: string | null): string | undefined {
  if (target === null || !/^https?:\/\//.test(target)) return undefined;
  const at = target.indexOf('#');
  return at < 0 || /^#!?\//.test(target.slice(at, at + 3)) ? target : target.slice(0, at);
}
