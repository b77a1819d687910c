/** Properties of the page as a whole, as input for the features: its title, its types, and the words of its URL. */

import { isUrl } from '#is-url.ts';
import type { PageMetadata } from '../metadata/metadata.ts';
import type { PageFacts } from './features.ts';

/** Path of a front page: empty, a language, or an index. */
const ROOT = /^\/(?:[a-z]{2}(?:[-_][a-z]{2})?\/?)?(?:(?:index|default|home)(?:\.\w{2,5})?\/?)?$/i;

export function pageFacts(metadata: PageMetadata, url: string, readClass: (name: string) => number): PageFacts {
  const hasUrl = isUrl(url);
  const { pathname, search } = new URL(hasUrl ? url : 'http://localhost/');
  const segments = pathname.split('/').filter(Boolean);
  return {
    title: metadata.title,
    types: metadata.types,
    hasUrl,
    path: pathname,
    pathAndQuery: pathname + search,
    isRoot: ROOT.test(pathname) && !/[?&](?:p|id|page|t|topic|article)=/i.test(search),
    urlParts: readClass(segments.join(' ')),
    urlDepth: segments.length,
  };
}

/** The facts that the page itself states. Content is chosen by these alone, so that it is the same at every URL. */
export const withoutUrl = (facts: PageFacts): PageFacts => ({
  ...facts,
  hasUrl: false,
  path: '/',
  pathAndQuery: '/',
  isRoot: false,
  urlParts: 0,
  urlDepth: 0,
});
