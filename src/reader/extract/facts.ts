/** What the page as a whole says, for the features: its title, types, and the words of its address. */
import type { PageFacts } from './features.ts';
import type { PageMetadata } from './metadata.ts';

export function pageFacts(metadata: PageMetadata, url: string, readClass: (name: string) => number): PageFacts {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const segments = path.split('/').filter(Boolean);
  return {
    title: metadata.title,
    types: metadata.types,
    path,
    urlParts: readClass(segments.join(' ')),
    urlDepth: segments.length,
  };
}
