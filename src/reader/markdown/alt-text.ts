/**
 * Determines the alt text of a picture: the page's own text or, if there is none, a caption from a model
 * (docs/reference/wire/reader.md, Images).
 */
import { attribute, type Element } from '#html/node.ts';
import { imageUrl, type PageImage } from '../extract/content/images.ts';
import { oneLine } from './one-line.ts';
import type { ConversionState } from './state.ts';

/** Alt texts that say nothing except that this is an image. */
const EMPTY_WORDS = new Set(['', 'image', 'img', 'photo', 'picture', 'pic', 'alt', 'figure', 'fig', '图片']);

export const isUninformativeAlt = (alt: string): boolean => EMPTY_WORDS.has(alt.trim().toLowerCase());

/**
 * Returns the alt text of an image with the output URL `url`. Also records images that need a description from
 * a model.
 */
export function altText(state: ConversionState, element: Element, url: string): string {
  const alt = oneLine(attribute(element, 'alt') || attribute(element, 'title') || '');
  const { retainImages, captions, baseUrl } = state.options;
  if ((retainImages !== 'all_p' && retainImages !== 'alt_p') || !isUninformativeAlt(alt)) return alt;
  const caption = captions && Object.hasOwn(captions, url) ? oneLine(captions[url]!) : '';
  if (caption) return caption;
  const source = imageUrl(element, baseUrl, { keepDataUrl: true });
  if (source !== null && !state.uncaptioned.has(url)) state.uncaptioned.set(url, { url, source });
  return alt;
}

/** The images of a page; images without alt text get captions from a model. */
export const withCaptions = (images: readonly PageImage[], captions: Readonly<Record<string, string>>): PageImage[] =>
  images.map(({ url, alt }) =>
    isUninformativeAlt(alt) && Object.hasOwn(captions, url) ? { url, alt: oneLine(captions[url]!) } : { url, alt },
  );
