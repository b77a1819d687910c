/** The entity tag of a read (docs/reference/wire/http.md, Conditional requests). */
import { entityTag } from '#http/etag.ts';
import type { BodyKind } from '#http/negotiate.ts';
import type { Options, Page, Rendition } from '#reader/index.ts';

/**
 * `undefined` for responses that differ each time. Warnings and the charge are not part of the tag, because a warning
 * says whether the page came from the cache.
 */
export function readTag(page: Page, kind: BodyKind, options: Options): string | undefined {
  if (options.trace || options.modelFormat || page.screenshotUrl || page.pageshotUrl) return undefined;
  const form = JSON.stringify([kind, [...options.formats]]);
  const known = tags.get(page)?.get(form);
  if (known !== undefined) return known;
  const { warning: _, usage: __, ...content } = page;
  const tag = entityTag(`${form}${JSON.stringify(content)}`);
  tags.set(page, new Map([...(tags.get(page) ?? []), [form, tag]]));
  return tag;
}

/** The tags of each page by form. A page from the memory of renditions is answered many times. */
const tags = new WeakMap<Page, ReadonlyMap<string, string>>();

/** Whether a response without a body costs nothing: the page came from the cache, and no model worked on it. */
export const isFreeWithoutBody = (
  { cachedAt }: Pick<Rendition, 'cachedAt'>,
  { modelFormat, retainImages }: Options,
): boolean => cachedAt !== undefined && !modelFormat && !retainImages.endsWith('_p');
