/**
 * What a page says about itself while a selector leaves but a part of it: title and metadata still come from the whole
 * page (contract, section 10). That takes a tree of its own, since a caller may point at what nobody sees, which names
 * no title.
 */
import { parsePage } from '#html/parse.ts';
import { extractMetadata, type PageMetadata } from './extract/metadata/metadata.ts';
import { NO_STYLES, pageStyles } from './extract/visibility/page-styles.ts';
import { seePage } from './extract/visibility/seen.ts';
import type { Options } from './options/resolve.ts';
import { applySelectors } from './selectors.ts';
import type { Snapshot } from './snapshot.ts';

/** What `removeSelector` takes out says nothing. */
export function saidByPage(
  { text, engine }: Pick<Snapshot, 'text' | 'engine'>,
  { removeSelector }: Pick<Options, 'removeSelector'>,
  { url, baseUrl }: { readonly url: string; readonly baseUrl: string },
): PageMetadata {
  const { document } = parsePage(text);
  const styles = engine === 'browser' ? NO_STYLES : pageStyles(document);
  applySelectors(document, { removeSelector, targetSelector: [] });
  seePage(document, { styles });
  return extractMetadata(document, baseUrl, url);
}
