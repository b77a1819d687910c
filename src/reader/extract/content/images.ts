/** The images of a page in document order. URL rules: docs/reference/wire/reader.md, Images. */
import { createHash } from 'node:crypto';
import { attribute, type Document, type Element, elements } from '#html/node.ts';
import { isDataUrl, writtenUrl } from './image-source.ts';
import { resolveUrl } from './links.ts';

export interface PageImage {
  url: string;
  alt: string;
}

export interface ImageUrlOptions {
  /** Keeps `data:` URLs instead of replacing them with a name made from their hash. */
  keepDataUrl?: boolean;
  /** Origin in the names of data URLs. Default: `http://localhost`, unless the document has its own base URL. */
  origin?: string;
  /** Returns the URL under which a picture with a `data:` URL can be fetched; `undefined` if it cannot. */
  pictureUrl?: ((dataUrl: string) => string | undefined) | undefined;
}

/** The absolute URL of an image. A data URL becomes `blob:{origin}/{md5}`. Null if the image has no URL. */
export function imageUrl(image: Element, baseUrl: string, options: ImageUrlOptions = {}): string | null {
  const written = writtenUrl(image);
  if (!written) return null;
  if (!isDataUrl(written)) return resolveUrl(written, baseUrl);
  if (options.keepDataUrl) return written;
  const served = options.pictureUrl?.(written);
  if (served) return served;
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
