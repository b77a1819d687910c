/** A page as the reader answers it, as the index takes it. */
import type { Page } from '#reader/index.ts';
import type { IndexablePage } from './local-index.ts';

/** Undefined when there is no Markdown of it, or no address. `url` is that of the answer unless it is given. */
export function indexableOf(page: Page, url: string = page.url): IndexablePage | undefined {
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
