/** The images of a page in document order, with the address rules of the reader's contract (6.2, 6.4). */
import { createHash } from 'node:crypto';
import { attribute, type Document, ELEMENT, type Element, elements } from '#html/node.ts';
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

/** Where scripts that load images late keep the address until then; the first is the contract's, the others are common. */
const LAZY = ['data-src', 'data-original', 'data-lazy-src'];

/** The address of an image as it stands in the page; '' when it has none. */
function rawAddress(image: Element): string {
  const own = ownAddress(image);
  if (own) return own;
  const source = pictureSource(image);
  return source ? ownAddress(source) : '';
}

function ownAddress(element: Element): string {
  const address = (attribute(element, 'src') ?? '').trim() || firstOfSrcset(attribute(element, 'srcset') ?? '');
  if (address && !isData(address)) return address;
  for (const name of LAZY) {
    const lazy = (attribute(element, name) ?? '').trim();
    if (lazy && !isData(lazy)) return lazy;
  }
  return address;
}

/** The first source of the picture around an image. */
function pictureSource(image: Element): Element | null {
  const { parent } = image;
  if (parent?.type !== ELEMENT || parent.name !== 'picture') return null;
  for (let node = parent.first; node; node = node.next) {
    if (node.type === ELEMENT && node.name === 'source' && ownAddress(node)) return node;
  }
  return null;
}

/** The address of an image as it is shown: absolute, a data URL named `blob:{origin}/{md5}`; null without one. */
export function imageAddress(image: Element, baseUrl: string, options: ImageAddressOptions = {}): string | null {
  const address = rawAddress(image);
  if (!address) return null;
  if (!isData(address)) return resolveUrl(address, baseUrl);
  if (options.keepDataUrl) return address;
  return `blob:${options.origin ?? 'http://localhost'}/${createHash('md5').update(address).digest('hex')}`;
}

/**
 * Every one of `images` that has an address; alt is the `alt` attribute, else `title`. One that no longer stands under
 * `root` is one that nobody can see: it says nothing.
 */
export function collectImages(
  root: Document | Element,
  baseUrl: string,
  options: ImageAddressOptions = {},
  images: readonly Element[] = [...elements(root, 'img')],
): PageImage[] {
  const standing = new Set(elements(root, 'img'));
  const found: PageImage[] = [];
  for (const image of images) {
    const url = imageAddress(image, baseUrl, options);
    if (url === null) continue;
    const said = standing.has(image) ? attribute(image, 'alt') || attribute(image, 'title') || '' : '';
    found.push({ url, alt: said.replace(/\s+/g, ' ').trim() });
  }
  return found;
}
