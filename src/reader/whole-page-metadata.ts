/**
 * Metadata of the whole page, for reads that selectors reduce to a part of it (docs/reference/wire/reader.md,
 * Selectors and page changes). It is read from a separate tree: a selector may target invisible elements, which must
 * not supply the title.
 */
import { parsePage } from '#html/parse.ts';
import { extractMetadata, type PageMetadata } from './extract/metadata/metadata.ts';
import { removeInvisibleParts } from './extract/visibility/invisible-parts.ts';
import { NO_STYLES, readPageStyles } from './extract/visibility/page-styles.ts';
import type { Options } from './options/resolve.ts';
import { applySelectors } from './selectors.ts';
import type { Snapshot } from './snapshot.ts';

/** Metadata of the page without the `removeSelector` matches. */
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
