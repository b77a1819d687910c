/** Images, numbered in output order (docs/reference/wire/reader.md, Images). */
import { attribute, type Element } from '#html/node.ts';
import { isUrl } from '#is-url.ts';
import { imageUrl } from '../../extract/content/images.ts';
import { altText } from '../alt-text.ts';
import { withoutControlCharacters } from '../one-line.ts';
import { type ConversionState, type EnterHandler, SKIP } from '../state.ts';
import { encodeDestination, isSafePicture, linkTitle } from '../url.ts';
import { formulaOfImage, isDisplayMath, writeFormula } from './math.ts';

export const image: EnterHandler = (state, element) => {
  const formula = state.gfm ? formulaOfImage(element) : null;
  if (formula === '') return SKIP;
  if (formula !== null) {
    writeFormula(state, formula, isDisplayMath(element));
    return SKIP;
  }
  const { retainImages } = state.options;
  if (retainImages === 'none') return SKIP;
  const url = urlOf(state, element);
  if (url === null || !isSafePicture(url)) return SKIP;
  const alt = altText(state, element, url);
  const onlyAlt = retainImages === 'alt' || retainImages === 'alt_p';
  if (onlyAlt && alt === '') return SKIP;
  const index = state.images.length + 1;
  state.images.push({ index, url, alt });
  const label = `Image ${index}${alt === '' ? '' : ': '}`;
  if (onlyAlt) state.inline.text(`(${label}${state.clean(alt)})`);
  else {
    const destination = encodeDestination(withoutControlCharacters(url)) + state.clean(titleOf(element, alt, url));
    state.inline.image(`![${label}`, state.clean(alt), `](${destination})`);
  }
  return SKIP;
};

function urlOf({ options }: ConversionState, element: Element): string | null {
  const { baseUrl, keepImgDataUrl, documentBase, pictureUrl } = options;
  const origin = documentBase !== undefined && isUrl(documentBase) ? new URL(documentBase).origin : undefined;
  return imageUrl(element, baseUrl, { keepDataUrl: keepImgDataUrl, pictureUrl, ...(origin && { origin }) });
}

/** Maximum length of a text in which a title is searched for, in characters. */
const MAX_TITLE_CHARACTERS = 1000;

/**
 * The title after a URL, if it adds information to the alt text and to the file name, which many publishing
 * systems use as the title. If there is no alt text, the title is used instead.
 */
function titleOf(element: Element, alt: string, url: string): string {
  const title = attribute(element, 'title');
  if (!title || !attribute(element, 'alt')) return '';
  const words = wordsOf(title);
  const name = url.slice(url.lastIndexOf('/') + 1);
  return wordsOf(alt).includes(words) || wordsOf(name).startsWith(words) ? '' : linkTitle(title);
}

const wordsOf = (text: string): string =>
  text
    .slice(0, MAX_TITLE_CHARACTERS)
    .replace(/[\p{P}\s]+/gu, '')
    .toLowerCase();
