/** Images, numbered in the order they are written (contract, 6.2). */
import { attribute, ELEMENT, type Element } from '#html/node.ts';
import { imageAddress } from '../../extract/images.ts';
import { escapeLinkText } from '../escape.ts';
import { oneLine, withoutControls } from '../one-line.ts';
import { type Enter, SKIP, type State } from '../state.ts';
import { safeDestination } from '../url.ts';
import { fallbackFormula } from './math.ts';

export const image: Enter = (state, element) => {
  const formula = state.gfm ? fallbackFormula(element) : null;
  if (formula === '') return SKIP;
  if (formula !== null) {
    state.inline.formula(formula);
    return SKIP;
  }
  const { retainImages } = state.options;
  if (retainImages === 'none') return SKIP;
  const url = addressOf(state, element);
  if (url === null) return SKIP;
  const alt = oneLine(attribute(element, 'alt') || attribute(element, 'title') || '');
  const onlyAlt = retainImages === 'alt' || retainImages === 'alt_p';
  if (onlyAlt && alt === '') return SKIP;
  const index = state.images.length + 1;
  state.images.push({ index, url, alt });
  const label = `Image ${index}${alt === '' ? '' : `: ${state.clean(alt)}`}`;
  if (onlyAlt) state.inline.text(`(${label})`);
  else state.inline.raw(`![${escapeLinkText(label)}](${safeDestination(withoutControls(url))})`);
  return SKIP;
};

function addressOf({ options }: State, element: Element): string | null {
  const { baseUrl, keepImgDataUrl, documentBase } = options;
  const addressed = hasAddress(element) ? element : (pictureSource(element) ?? element);
  const origin = documentBase !== undefined && URL.canParse(documentBase) ? new URL(documentBase).origin : undefined;
  return imageAddress(addressed, baseUrl, { keepDataUrl: keepImgDataUrl, ...(origin && { origin }) });
}

const hasAddress = (element: Element): boolean =>
  ['src', 'srcset', 'data-src'].some((name) => (attribute(element, name) ?? '').trim() !== '');

/** The first source of the picture around an image that has no address of its own. */
function pictureSource(element: Element): Element | null {
  const { parent } = element;
  if (parent?.type !== ELEMENT || parent.name !== 'picture') return null;
  for (let node = parent.first; node; node = node.next) {
    if (node.type === ELEMENT && node.name === 'source' && hasAddress(node)) return node;
  }
  return null;
}
