/**
 * What scripts show to a reader who asks for it, or gets there: questions that open, tabs, parts that fade in. Their
 * names say so. That counts only in pages that have scripts, and only against style sheets.
 */
import type { Element } from '#html/node.ts';

const OPENED =
  /accordi|collaps|faq|toggle|expand|read-?more|show-?more|(?:^|[\s_-])(?:tabs?|panel|answer|details|dropdown)(?:[_-]{1,2}(?:content|body|pane|panel|text|item|inner))|tab-?(?:pane|panel|content)/i;
const FADED_IN = /anim|fade|aos|wow|reveal|appear|scroll|transition|loading|loaded|lazy|in-?view|invisible/i;

/** Whether scripts of the page may well show the element, by its class and the names of its attributes. */
export function isRevealed({ attributes }: Element, kind: string): boolean {
  const names = kind === 'opacity' || kind === 'visibility' ? FADED_IN : OPENED;
  for (const { name, value } of attributes) {
    if (name === 'class' && names.test(value)) return true;
    if (name.startsWith('data-') && names.test(name)) return true;
    if (name === 'role' && value === 'tabpanel' && names === OPENED) return true;
  }
  return false;
}
