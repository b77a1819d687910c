/** Applies the caller's selectors to a page: removes elements, then reduces the page to the target elements. */
import { problem } from '#errors.ts';
import { append, children, type Document, detach, ELEMENT, Element, find, following } from '#html/node.ts';
import { compileSelectors, SelectorError, selectAll } from '#html/select.ts';
import { type RemovalLog, readableText } from './extract/content/removal-log.ts';
import type { Options } from './options/resolve.ts';

/** Selectors that matched nothing, by option. */
export interface UnmatchedSelectors {
  readonly removeSelector: readonly string[];
  readonly targetSelector: readonly string[];
}

/**
 * Removes `removeSelector` matches, reduces the page to `targetSelector` matches (docs/reference/wire/reader.md,
 * Selectors and page changes), and records removals in `removals`. Returns the selectors that matched nothing. Throws
 * AssertionFailureError if no target matches, ParamValidationError if a selector is too expensive on this page.
 */
export function applySelectors(
  document: Document,
  { removeSelector, targetSelector }: Pick<Options, 'removeSelector' | 'targetSelector'>,
  removals?: RemovalLog,
): UnmatchedSelectors {
  const unmatched = { removeSelector: [] as string[], targetSelector: [] as string[] };
  for (const text of removeSelector) {
    const found = select(document, text, 'removeSelector');
    if (!found.length) unmatched.removeSelector.push(text);
    for (const element of found) {
      if (removals && isAttached(element)) {
        removals.add({ step: 'selector', rule: `removeSelector: ${text}`, node: element });
      }
      remove(element);
    }
  }
  if (!targetSelector.length) return unmatched;
  const targets = new Set<Element>();
  for (const text of targetSelector) {
    const found = select(document, text, 'targetSelector');
    if (!found.length) unmatched.targetSelector.push(text);
    for (const element of found) {
      if (!isInside(element, targets)) targets.add(element);
    }
  }
  if (!targets.size) {
    throw problem('AssertionFailureError', {
      path: 'targetSelector',
      message: `Nothing on the page matches ${targetSelector.join(', ')}`,
    });
  }
  const body = find(document, 'body')!;
  if (targets.has(body)) return unmatched;
  const kept = [...targets].filter((element) => element.name !== 'html');
  if (kept.length < targets.size) return unmatched;
  if (removals) noteOutside(removals, body, targets);
  for (const element of kept) detach(element);
  while (body.first) detach(body.first);
  for (const element of kept) append(body, element);
  return unmatched;
}

/** Records the largest parts of the page that neither contain a target nor are inside one. */
function noteOutside(removals: RemovalLog, body: Element, targets: ReadonlySet<Element>): void {
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
    if (!isTarget && !isAround && /\S/.test(readableText(node))) {
      removals.add({ step: 'selector', rule: 'outside of targetSelector', node });
    }
    node = following(node, body, !isAround);
  }
}

/** Removes an element. `html`, `head` and `body` are emptied instead. */
function remove(element: Element): void {
  if (element.name === 'html' || element.name === 'body' || element.name === 'head') {
    for (const inner of children(element)) {
      if (element.name !== 'html') detach(inner);
      else if (inner.type === ELEMENT) remove(inner);
    }
  } else detach(element);
}

/** A selector may be valid but too expensive on a page. */
function select(document: Document, selector: string, path: string): Element[] {
  try {
    return selectAll(document, compileSelectors(selector));
  } catch (error) {
    if (error instanceof SelectorError) throw problem('ParamValidationError', { path, message: error.message });
    throw error;
  }
}

/** Whether an element is still part of the document. */
function isAttached(element: Element): boolean {
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
