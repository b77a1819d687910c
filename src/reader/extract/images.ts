/** The images of a page in document order, with the address rules of the reader's contract (6.2, 6.4). */
import { createHash } from 'node:crypto';
import { attribute, type Document, type Element, elements } from '#html/node.ts';
import { resolveUrl } from './links.ts';

export interface PageImage {
  url: string;
  alt: string;
}

export interface ImageAddressOptions {
  /** Keep `data:` addresses instead of naming them by their hash. */
  keepDataUrl?: boolean;
  /** Origin for the names of data URLs; `http://localhost` unless the document has its own base. */
  origin?: string;
}

const isData = (address: string) => /^data:/i.test(address);

/** The first candidate of a srcset; its address has no white space and no comma at its end. */
function firstOfSrcset(srcset: string): string {
  const address = /[^\s,]\S*/.exec(srcset)?.[0] ?? '';
  let end = address.length;
  while (end > 0 && address[end - 1] === ',') end--;
  return address.slice(0, end);
}

/** The address of an image as it stands in the page; '' when it has none. */
export function rawImageAddress(image: Element): string {
  let address = (attribute(image, 'src') ?? '').trim();
  if (!address) address = firstOfSrcset(attribute(image, 'srcset') ?? '');
  if (!address || isData(address)) {
    const lazy = (attribute(image, 'data-src') ?? '').trim();
    if (lazy && !isData(lazy)) address = lazy;
  }
  return address;
}

/** The address of an image as it is shown: absolute, a data URL named `blob:{origin}/{md5}`; null without one. */
export function imageAddress(image: Element, baseUrl: string, options: ImageAddressOptions = {}): string | null {
  const address = rawImageAddress(image);
  if (!address) return null;
  if (!isData(address)) return resolveUrl(address, baseUrl);
  if (options.keepDataUrl) return address;
  return `blob:${options.origin ?? 'http://localhost'}/${createHash('md5').update(address).digest('hex')}`;
}

/** Every image under `root` that has an address; alt is the `alt` attribute, else `title`. */
export function collectImages(
  root: Document | Element,
  baseUrl: string,
  options: ImageAddressOptions = {},
): PageImage[] {
  const images: PageImage[] = [];
  for (const image of elements(root, 'img')) {
    const url = imageAddress(image, baseUrl, options);
    if (url === null) continue;
    const alt = (attribute(image, 'alt') || attribute(image, 'title') || '').replace(/[\r\n]+/g, '\n').trim();
    images.push({ url, alt });
  }
  return images;
}
