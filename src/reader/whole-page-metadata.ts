/**
 * Metadata of the whole page, for reads with selectors that reduce the page to a part (docs/reference/wire/reader.md,
 * Selectors and page changes). It is extracted from a separate tree, because a selector may target invisible elements,
 * which must not supply the title.
 */
import { parsePage } from '#html/parse.ts';
import { extractMetadata, type PageMetadata } from './extract/metadata/metadata.ts';
import { removeInvisibleParts } from './extract/visibility/invisible-parts.ts';
import { NO_STYLES, readPageStyles } from './extract/visibility/page-styles.ts';
import type { Options } from './options/resolve.ts';
import { applySelectors } from './selectors.ts';
import type { Snapshot } from './snapshot.ts';

/** Metadata of the page without the elements that match `removeSelector`. */
export function wholePageMetadata(
  { text, engine }: Pick<Snapshot, 'text' | 'engine'>,
  { removeSelector }: Pick<Options, 'removeSelector'>,
  { url, baseUrl }: { readonly url: string; readonly baseUrl: string },
): PageMetadata {
  const { document } = parsePage(text);
  const styles = engine === 'browser' ? NO_STYLES : readPageStyles(document);
  applySelectors(document, { removeSelector, targetSelector: [] });
  removeInvisibleParts(document, { styles });
  return extractMetadata(document, baseUrl, url);
}
