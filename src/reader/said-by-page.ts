/**
 * What a page says about itself while a selector leaves but a part of it: title and metadata still come from the whole
 * page (contract, section 10). That takes a tree of its own, since a caller may point at what nobody sees, which names
 * no title.
 */
import { parsePage } from '#html/parse.ts';
import { removeHidden } from './extract/hidden.ts';
import { extractMetadata, type PageMetadata } from './extract/metadata.ts';
import { settle } from './extract/settle.ts';
import type { Options } from './options/resolve.ts';
import { applySelectors } from './selectors.ts';

/** `html` is that of the page; what `removeSelector` takes out says nothing. */
export function saidByPage(
  html: string,
  { removeSelector }: Pick<Options, 'removeSelector'>,
  { url, baseUrl }: { readonly url: string; readonly baseUrl: string },
): PageMetadata {
  const { document } = parsePage(html);
  applySelectors(document, { removeSelector, targetSelector: [] });
  settle(document);
  removeHidden(document);
  return extractMetadata(document, baseUrl, url);
}
