/** The field `html` of a result: the HTML of the page, including invisible parts. */
import { withoutControlCharacters } from '#html/characters.ts';
import { attribute, type Document, type Element, elements, find, removeAttribute, setAttribute } from '#html/node.ts';
import { outerHtml } from '#html/serialize.ts';
import type { Options } from './options/resolve.ts';
import { FRAME_ATTRIBUTE, HIDDEN_ATTRIBUTE, isHtml, type Snapshot } from './snapshot.ts';

export const wantsHtml = ({ formats }: Options): boolean => formats.has('html') || formats.has('pageshot');

/** Returns the HTML for the result. Must run before extraction, which removes nodes from the tree. */
export function htmlField(
  document: Document,
  snapshot: Snapshot,
  { removeSelector, targetSelector }: Pick<Options, 'removeSelector' | 'targetSelector'>,
): string {
  const selected = removeSelector.length > 0 || targetSelector.length > 0;
  // The HTML of a file contains marks, which were taken out of the tree.
  const isAsSent = isHtml(snapshot) && snapshot.engine !== 'browser' && !snapshot.document && !selected;
  return withoutControlCharacters(isAsSent ? snapshot.text : htmlWithoutMarks(document));
}

const ENGINE_ATTRIBUTES = [HIDDEN_ATTRIBUTE, FRAME_ATTRIBUTE];

/** The document's HTML without the attributes that the browser engine added. The attributes are restored afterwards. */
function htmlWithoutMarks(document: Document): string {
  const marked: [element: Element, name: string, value: string][] = [];
  for (const element of elements(document)) {
    for (const name of ENGINE_ATTRIBUTES) {
      const value = attribute(element, name);
      if (value === null) continue;
      marked.push([element, name, value]);
      removeAttribute(element, name);
    }
  }
  const html = outerHtml(find(document, 'html')!);
  for (const [element, name, value] of marked) setAttribute(element, name, value);
  return html;
}
