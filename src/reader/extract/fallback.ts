/** When no block is sure to be content: the largest piece of the page that is not plainly its frame. */
import { attribute, type Element } from '#html/node.ts';
import type { Survey } from './survey.ts';

const FRAME = new Set(['nav', 'footer', 'aside', 'header', 'form', 'dialog']);
const FRAME_ROLES = new Set(['navigation', 'contentinfo', 'complementary', 'banner', 'search', 'dialog']);

const isFrame = (element: Element): boolean =>
  FRAME.has(element.name) || FRAME_ROLES.has(attribute(element, 'role') ?? '');

/** Keeps every block outside the frame of the page; every block at all when nothing stands outside. */
export function keepOutsideFrame(survey: Survey): Uint8Array {
  const framed = new Uint8Array(survey.elements.length);
  for (let at = 0; at < framed.length; at++) {
    const above = survey.parent[at]!;
    framed[at] = isFrame(survey.elements[at]!) || (above >= 0 && framed[above]) ? 1 : 0;
  }
  const keep = new Uint8Array(survey.blocks.length);
  let words = 0;
  for (let at = 0; at < keep.length; at++) {
    const { owner } = survey.blocks[at]!;
    if (framed[owner]) continue;
    keep[at] = 1;
    words += survey.blocks[at]!.words;
  }
  return words > 0 ? keep : keep.fill(1);
}
