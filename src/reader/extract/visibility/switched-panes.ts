/**
 * Panes of which a page shows one at a time: siblings with the same names, except for a word that says which of them is
 * shown (`pane` and `pane active`). The page's own names differ from those of libraries, but not this pattern.
 */
import { attribute, ELEMENT, type Element, type Parent } from '#html/node.ts';
import { isOverlay } from './disclosure.ts';
import { isOrder } from './notable.ts';

/**
 * Words that say which pane is shown. `hidden` is none of them: a paragraph with this name is hidden for good more often
 * than it is one of several.
 */
const STATE =
  /^(?:(?:is|has|state|js)[-_]?)?(?:in-?active|active|on|off|open(?:ed)?|closed?|current|selected|show|shown|collapsed|expanded)(?:[-_]\w+)?$|[-_](?:in)?active$|[-_](?:selected|current|open|closed)$/i;
/** Lines and words of a text are no panes. */
const INLINE = new Set(['p', 'span', 'a', 'b', 'i', 'em', 'strong', 'small', 'label', 'button', 'input', 'img']);
/** Names that depend on the size of the screen or on its use. Such elements show the same text in two forms. */
const SCREEN =
  /(?:^|[-_:])(?:xs|sm|md|lg|xl|xxl|mobile|phone|tablet|desktop|touch|print|screen|small|medium|large)(?:$|[-_:])/i;

/** Returns a test for elements that are one of several such panes. Each parent is examined once. */
export function createPaneDetector(): (element: Element) => boolean {
  const groups = new Map<Parent, Map<string, Set<string>>>();
  return (element) => {
    const { parent } = element;
    const names = namesOf(element);
    if (!parent || !names || isOverlay(element) || isOrder(element)) return false;
    let known = groups.get(parent);
    if (!known) {
      known = groupsIn(parent);
      groups.set(parent, known);
    }
    return (known.get(names.base)?.size ?? 0) > 1;
  };
}

/** For each set of names, the states in which it occurs. */
function groupsIn(parent: Parent): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (let node = parent.first; node; node = node.next) {
    const names = node.type === ELEMENT ? namesOf(node) : null;
    if (!names) continue;
    const states = groups.get(names.base) ?? new Set();
    states.add(names.state);
    groups.set(names.base, states);
  }
  return groups;
}

/** The names of an element with and without those of its state; null if it has only one of them, or depends on the screen. */
function namesOf(element: Element): { base: string; state: string } | null {
  if (INLINE.has(element.name)) return null;
  const classes = (attribute(element, 'class') ?? '').split(/\s+/).filter(Boolean);
  if (classes.some((name) => SCREEN.test(name))) return null;
  const base = classes.filter((name) => !STATE.test(name));
  if (base.length === 0) return null;
  return {
    base: `${element.name} ${base.sort().join(' ')}`,
    state: classes.filter((name) => STATE.test(name)).join(' '),
  };
}
