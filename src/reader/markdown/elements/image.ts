/** Images, numbered in the order they are written (contract, 6.2). */
import { attribute, type Element } from '#html/node.ts';
import { imageAddress } from '../../extract/images.ts';
import { altText } from '../alt-text.ts';
import { withoutControls } from '../one-line.ts';
import { type Enter, SKIP, type State } from '../state.ts';
import { isSafePicture, linkTitle, safeDestination } from '../url.ts';
import { fallbackFormula, isInDisplay, writeFormula } from './math.ts';

export const image: Enter = (state, element) => {
  const formula = state.gfm ? fallbackFormula(element) : null;
  if (formula === '') return SKIP;
  if (formula !== null) {
    writeFormula(state, formula, isInDisplay(element));
    return SKIP;
  }
  const { retainImages } = state.options;
  if (retainImages === 'none') return SKIP;
  const url = addressOf(state, element);
  if (url === null || !isSafePicture(url)) return SKIP;
  const alt = altText(state, element, url);
  const onlyAlt = retainImages === 'alt' || retainImages === 'alt_p';
  if (onlyAlt && alt === '') return SKIP;
  const index = state.images.length + 1;
  state.images.push({ index, url, alt });
  const label = `Image ${index}${alt === '' ? '' : ': '}`;
  if (onlyAlt) state.inline.text(`(${label}${state.clean(alt)})`);
  else {
    const address = safeDestination(withoutControls(url)) + titleOf(state, element);
    state.inline.image(`![${label}`, state.clean(alt), `](${address})`);
  }
  return SKIP;
};

function titleOf({ options }: State, element: Element): string {
  const title = options.imageTitles && attribute(element, 'alt') ? attribute(element, 'title') : null;
  return linkTitle(title ?? null);
}

function addressOf({ options }: State, element: Element): string | null {
  const { baseUrl, keepImgDataUrl, documentBase } = options;
  const origin = documentBase !== undefined && URL.canParse(documentBase) ? new URL(documentBase).origin : undefined;
  return imageAddress(element, baseUrl, { keepDataUrl: keepImgDataUrl, ...(origin && { origin }) });
}
