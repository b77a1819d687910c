/**
 * Recognizes by name the elements that scripts reveal on request or on scrolling: accordions, tabs, parts that fade in.
 * Applied only on pages with scripts, and only to elements that style sheets hide.
 */
import type { Element } from '#html/node.ts';

const OPENED =
  /accordi|collaps|faq|toggle|expand|read-?more|show-?more|(?:^|[\s_-])(?:tabs?|panel|answer|details|dropdown)(?:[_-]{1,2}(?:content|body|pane|panel|text|item|inner))|tab-?(?:pane|panel|content)/i;
const FADED_IN = /anim|fade|aos|wow|reveal|appear|scroll|transition|loading|loaded|lazy|in-?view|invisible/i;

/** Whether scripts may reveal the element, judged by its class and attribute names. */
export function mayBeRevealed({ attributes }: Element, kind: string): boolean {
  const names = kind === 'opacity' || kind === 'visibility' ? FADED_IN : OPENED;
  for (const { name, value } of attributes) {
    if (name === 'class' && names.test(value)) return true;
    if (name.startsWith('data-') && names.test(name)) return true;
    if (name === 'role' && value === 'tabpanel' && names === OPENED) return true;
  }
  return false;
}
