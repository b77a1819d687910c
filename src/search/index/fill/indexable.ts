/** Converts a page from the reader into a page for the index, and decides which pages must not be indexed. */
import type { BlockedKind, Page, Rendition } from '#reader/index.ts';
import type { IndexablePage } from '../local-index.ts';

const CAPTCHA = /CAPTCHA/;
/** The content will not come back, unlike that behind other kinds of blocked pages. */
const GONE: ReadonlySet<BlockedKind> = new Set<BlockedKind>(['not-found', 'parked']);
/** Names of meta elements are case-insensitive (HTML standard, 4.2.5). */
const ROBOTS = /^(?:robots|googlebot)$/i;

/** Returns why a page must not be indexed; `undefined` if it may be. */
export function exclusionOf(
  { page, status, noStore, robotsTag }: Rendition,
  keepsNoStore: boolean,
): Exclusion | undefined {
  const robots = Object.entries(page.metadata ?? {}).flatMap(([name, text]) => (ROBOTS.test(name) ? [text] : []));
  if (status === 404 || status === 410) return { isPermanent: true, reason: `answered with ${status}` };
  if (status !== undefined && (status < 200 || status >= 300))
    return { isPermanent: false, reason: `answered with ${status}` };
  if (forbids([...robots, robotsTag ?? ''].join())) return { isPermanent: true, reason: 'asks not to be indexed' };
  if (noStore && !keepsNoStore) return { isPermanent: true, reason: 'forbids copies' };
  if (page.blocked)
    return { isPermanent: GONE.has(page.blocked.kind), reason: `is not the content: ${page.blocked.kind}` };
  if (CAPTCHA.test(page.warning ?? '')) return { isPermanent: false, reason: 'asks for a CAPTCHA' };
  return undefined;
}

const FORBIDDING: ReadonlySet<string> = new Set(['noindex', 'none', 'noarchive']);

/** Whether a robots directive forbids indexing. Directives with a value (`max-image-preview:none`) never do. */
const forbids = (robots: string): boolean =>
  robots
    .toLowerCase()
    .split(',')
    .filter((directive) => !directive.includes(':'))
    .flatMap((directive) => directive.split(/\s+/))
    .some((name) => FORBIDDING.has(name));

export interface Exclusion {
  /** Whether to remove an earlier copy from the index as well. */
  readonly isPermanent: boolean;
  readonly reason: string;
}

/**
 * Returns `undefined` for a page without Markdown or without a URL that can be indexed. `url` overrides the page's own
 * URL.
 */
export function toIndexablePage(page: Page, url: string = page.url): IndexablePage | undefined {
  if (!page.content || !/^(?:https?|file):/.test(url)) return undefined;
  const { metadata = {} } = page;
  const published = Date.parse(page.publishedTime ?? '');
  return {
    url,
    canonicalUrl: metadata['lectern:canonicalUrl'],
    title: page.title,
    description: page.description,
    content: page.content,
    language: metadata['lectern:language'],
    siteName: metadata['lectern:siteName'],
    ...(Number.isFinite(published) && { publishedAt: published }),
  };
}
