/**
 * The URL of an image as the page means it (docs/reference/wire/reader.md, Images). Until its script runs, a lazy image
 * shows a placeholder and keeps the URL of the picture in another attribute.
 */
import { attribute, ELEMENT, type Element } from '#html/node.ts';
import { bestCandidate, readSrcset } from './srcset.ts';

/** Attributes in which lazy-loading scripts keep the URL. */
const LAZY_URLS = [
  'data-src',
  'data-original',
  'data-lazy-src',
  'data-lazy',
  'data-original-src',
  'data-actualsrc',
  'data-ll-src',
  'data-echo',
  'data-defer-src',
];
/** Attributes in which they keep the `srcset`. */
const LAZY_SRCSETS = ['data-srcset', 'data-lazy-srcset', 'data-original-set', 'data-ll-srcset'];

/**
 * File names of placeholders. A real picture may have such a name; it only loses if another attribute names another
 * file.
 */
const PLACEHOLDER_FILE =
  /(?:^|[/_.-])(?:blank|placeholders?|spacer|pixel|1x1|0|transparent|trans|empty|clear|dummy|gr[ae]y|white|loading|loader|spinner|lazy(?:-?load(?:er|ing)?)?|preload(?:er)?|default[_-]?image|no-?image)[^/?#]{0,20}\.(?:gif|png|jpe?g|svg|webp|avif)(?:[?#]|$)/i;
/** Longest URL that is compared with the names; longer ones are generated, or data. */
const MAX_COMPARED = 2_000;

export const isDataUrl = (url: string): boolean => /^data:/i.test(url);

const isPlaceholder = (url: string): boolean =>
  isDataUrl(url) || (url.length <= MAX_COMPARED && PLACEHOLDER_FILE.test(url));

/** The URL of an image as written in the page; '' if it has none. A placeholder only if there is nothing else. */
export function writtenUrl(image: Element): string {
  const own = ownUrl(image);
  if (own && !isPlaceholder(own)) return own;
  return pictureUrl(image) || own;
}

/** Whether an image shows nothing, or a placeholder, until a script runs. */
export function lacksPicture(image: Element): boolean {
  const url = writtenUrl(image);
  return url === '' || isPlaceholder(url);
}

function ownUrl(element: Element): string {
  const src = (attribute(element, 'src') ?? '').trim();
  if (src && !isPlaceholder(src)) return src;
  return fromSrcset(element, 'srcset', isPlaceholder) || lazyUrl(element) || src || firstOf(element);
}

/** The best candidate of a `srcset` that is not to be ignored; '' if it has none. */
function fromSrcset(element: Element, name: string, isIgnored: (url: string) => boolean): string {
  const candidates = readSrcset(attribute(element, name) ?? '').filter(({ url }) => !isIgnored(url));
  const width = Number.parseInt(attribute(element, 'width') ?? '', 10);
  return bestCandidate(candidates, width > 0 ? width : undefined) ?? '';
}

const firstOf = (element: Element): string => readSrcset(attribute(element, 'srcset') ?? '')[0]?.url ?? '';

function lazyUrl(element: Element): string {
  for (const name of LAZY_URLS) {
    const url = (attribute(element, name) ?? '').trim();
    if (isLazyUrl(url)) return url;
  }
  for (const name of LAZY_SRCSETS) {
    const url = fromSrcset(element, name, isDataUrl);
    if (url) return url;
  }
  return '';
}

/** Scripts also use these attributes for switches (`data-lazy="true"`) and for settings in JSON. */
const isLazyUrl = (text: string): boolean => /[./]/.test(text) && !/^[[{]/.test(text) && !isDataUrl(text);

/** The URL of the first `source` with one, of the picture element around an image. */
function pictureUrl(image: Element): string {
  const { parent } = image;
  if (parent?.type !== ELEMENT || parent.name !== 'picture') return '';
  for (let node = parent.first; node; node = node.next) {
    if (node.type !== ELEMENT || node.name !== 'source') continue;
    const url = ownUrl(node);
    if (url && !isPlaceholder(url)) return url;
  }
  return '';
}
