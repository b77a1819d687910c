/** What the caller's own selectors make of a page: pieces taken out, then the parts that become the page. */
import { problem } from '#errors.ts';
import { append, children, type Document, detach, ELEMENT, Element, find, following } from '#html/node.ts';
import { compileSelectors, SelectorError, selectAll } from '#html/select.ts';
import { type Notes, textIn } from './extract/content/removals.ts';
import type { Options } from './options/resolve.ts';

/** What selectors matched nothing, by the option that they stand in. */
export interface Unmatched {
  readonly removeSelector: readonly string[];
  readonly targetSelector: readonly string[];
}

/**
 * Removes, then narrows (contract, section 10), and tells `notes` of what goes; gives the selectors that matched nothing. AssertionFailureError when nothing
 * matches the target, ParamValidationError for a selector that costs too much on this page.
 */
export function applySelectors(
  document: Document,
  { removeSelector, targetSelector }: Pick<Options, 'removeSelector' | 'targetSelector'>,
  notes?: Notes,
): Unmatched {
  const unmatched = { removeSelector: [] as string[], targetSelector: [] as string[] };
  for (const text of removeSelector) {
    const found = matching(document, text, 'removeSelector');
    if (!found.length) unmatched.removeSelector.push(text);
    for (const element of found) {
      if (notes && stands(element)) {
        notes.add({ step: 'selector', rule: `removeSelector: ${text}`, node: element });
      }
      remove(element);
    }
  }
  if (!targetSelector.length) return unmatched;
  const taken = new Set<Element>();
  for (const text of targetSelector) {
    const found = matching(document, text, 'targetSelector');
    if (!found.length) unmatched.targetSelector.push(text);
    for (const element of found) {
      if (!isInside(element, taken)) taken.add(element);
    }
  }
  if (!taken.size) {
    throw problem('AssertionFailureError', {
      path: 'targetSelector',
      message: `Nothing on the page matches ${targetSelector.join(', ')}`,
    });
  }
  const body = find(document, 'body')!;
  if (taken.has(body)) return unmatched;
  const kept = [...taken].filter((element) => element.name !== 'html');
  if (kept.length < taken.size) return unmatched;
  if (notes) noteOutside(notes, body, taken);
  for (const element of kept) detach(element);
  while (body.first) detach(body.first);
  for (const element of kept) append(body, element);
  return unmatched;
}

/** Notes the largest pieces of the page that have no target in or around them. */
function noteOutside(notes: Notes, body: Element, targets: ReadonlySet<Element>): void {
  const around = new Set<Element>();
  for (const target of targets) {
    let at = target.parent;
    while (at?.type === ELEMENT && !around.has(at)) {
      around.add(at);
      at = at.parent;
    }
  }
  let node = following(body, body);
  while (node) {
    const isTarget = node.type === ELEMENT && targets.has(node);
    const isAround = node.type === ELEMENT && around.has(node) && !isTarget;
    if (!isTarget && !isAround && /\S/.test(textIn(node))) {
      notes.add({ step: 'selector', rule: 'outside of targetSelector', node });
    }
    node = following(node, body, !isAround);
  }
}

/** What makes a document a document stays; it is emptied instead. */
function remove(element: Element): void {
  if (element.name === 'html' || element.name === 'body' || element.name === 'head') {
    for (const inner of children(element)) {
      if (element.name !== 'html') detach(inner);
      else if (inner.type === ELEMENT) remove(inner);
    }
  } else detach(element);
}

/** A selector may be sound and still cost too much on a page. */
function matching(document: Document, selector: string, path: string): Element[] {
  try {
    return selectAll(document, compileSelectors(selector));
  } catch (error) {
    if (error instanceof SelectorError) throw problem('ParamValidationError', { path, message: error.message });
    throw error;
  }
}

/** Whether an element is still in the document. */
function stands(element: Element): boolean {
  let node: Element | Document | null = element;
  while (node instanceof Element) node = node.parent;
  return node !== null;
}

function isInside(element: Element, others: ReadonlySet<Element>): boolean {
  for (let node: Element | Document | null = element; node instanceof Element; node = node.parent) {
    if (others.has(node)) return true;
  }
  return false;
}
