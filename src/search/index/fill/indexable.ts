/** A page as the reader answers it, as the index takes it. */
import type { Page, Rendition } from '#reader/index.ts';
import type { IndexablePage } from '../local-index.ts';

const CAPTCHA = /CAPTCHA/;
/** Names of meta elements are of either case (HTML, 4.2.5.1). */
const ROBOTS = /^(?:robots|googlebot)$/i;

/** What keeps a page from being found, in a few words; undefined for a page that is there and may be found. */
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
  if (CAPTCHA.test(page.warning ?? '')) return { isPermanent: false, reason: 'asks for a CAPTCHA' };
  return undefined;
}

const FORBIDDING: ReadonlySet<string> = new Set(['noindex', 'none', 'noarchive']);

/** Whether one of the directives forbids it; what stands behind a colon is the value of another (`max-image-preview:none`). */
const forbids = (robots: string): boolean =>
  robots
    .toLowerCase()
    .split(',')
    .filter((directive) => !directive.includes(':'))
    .flatMap((directive) => directive.split(/\s+/))
    .some((name) => FORBIDDING.has(name));

export interface Exclusion {
  /** Whether what was kept of the page before must go, too. */
  readonly isPermanent: boolean;
  readonly reason: string;
}

/** Undefined when there is no Markdown of it, or no address. `url` is that of the answer unless it is given. */
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
