/** The images of a page in document order. URL rules: docs/reference/wire/reader.md, Images. */
import { createHash } from 'node:crypto';
import { attribute, type Document, ELEMENT, type Element, elements } from '#html/node.ts';
import { resolveUrl } from './links.ts';

export interface PageImage {
  url: string;
  alt: string;
}

export interface ImageUrlOptions {
  /** Keep `data:` URLs instead of replacing them with a name made from their hash. */
  keepDataUrl?: boolean;
  /** Origin in the names of data URLs. Default: `http://localhost`, unless the document has its own base URL. */
  origin?: string;
}

const isDataUrl = (url: string) => /^data:/i.test(url);

/** The URL of the first candidate of a srcset, without white space or a trailing comma. */
function firstOfSrcset(srcset: string): string {
  const written = /[^\s,]\S*/.exec(srcset)?.[0] ?? '';
  let end = written.length;
  while (end > 0 && written[end - 1] === ',') end--;
  return written.slice(0, end);
}

/**
 * Attributes where lazy-loading scripts keep the URL. The first is documented (docs/reference/wire/reader.md,
 * Images).
 */
const LAZY_ATTRIBUTES = ['data-src', 'data-original', 'data-lazy-src'];

/** The URL of an image as written in the page; '' if it has none. */
function writtenUrl(image: Element): string {
  const own = ownUrl(image);
  if (own) return own;
  const source = pictureSource(image);
  return source ? ownUrl(source) : '';
}

function ownUrl(element: Element): string {
  const written = (attribute(element, 'src') ?? '').trim() || firstOfSrcset(attribute(element, 'srcset') ?? '');
  if (written && !isDataUrl(written)) return written;
  for (const name of LAZY_ATTRIBUTES) {
    const lazy = (attribute(element, name) ?? '').trim();
    if (lazy && !isDataUrl(lazy)) return lazy;
  }
  return written;
}

/** The first `source` of the picture element around an image. */
function pictureSource(image: Element): Element | null {
  const { parent } = image;
  if (parent?.type !== ELEMENT || parent.name !== 'picture') return null;
  for (let node = parent.first; node; node = node.next) {
    if (node.type === ELEMENT && node.name === 'source' && ownUrl(node)) return node;
  }
  return null;
}

/** The absolute URL of an image. A data URL becomes `blob:{origin}/{md5}`. Null if the image has no URL. */
export function imageUrl(image: Element, baseUrl: string, options: ImageUrlOptions = {}): string | null {
  const written = writtenUrl(image);
  if (!written) return null;
  if (!isDataUrl(written)) return resolveUrl(written, baseUrl);
  if (options.keepDataUrl) return written;
  return `blob:${options.origin ?? 'http://localhost'}/${createHash('md5').update(written).digest('hex')}`;
}

/**
 * Lists the `images` that have a URL. Alt text is the `alt` attribute, else `title`. Images that are no longer under
 * `root` are invisible and get no alt text.
 */
export function collectImages(
  root: Document | Element,
  baseUrl: string,
  options: ImageUrlOptions = {},
  images: readonly Element[] = [...elements(root, 'img')],
): PageImage[] {
  const attached = new Set(elements(root, 'img'));
  const found: PageImage[] = [];
  for (const image of images) {
    const url = imageUrl(image, baseUrl, options);
    if (url === null) continue;
    const text = attached.has(image) ? attribute(image, 'alt') || attribute(image, 'title') || '' : '';
    found.push({ url, alt: text.replace(/\s+/g, ' ').trim() });
  }
  return found;
}
