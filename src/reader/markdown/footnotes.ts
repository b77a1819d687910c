/**
 * Footnotes in the markup that wikis and Markdown renderers write: a short link (`1`, `[2]`, `*`) to an element of
 * the page that holds the note. Both ends must be in the tree; what is no pair stays what it was.
 */
import { attribute, type Document, ELEMENT, type Element, elements, following, type Node, TEXT } from '#html/node.ts';

export interface Footnotes {
  /** Labels of the anchors that refer to a note, and of the elements that hold one. */
  readonly references: ReadonlyMap<Element, string>;
  readonly notes: ReadonlyMap<Element, string>;
}

const NONE: Footnotes = { references: new Map(), notes: new Map() };

const LABEL =
  /^[[(]?\s*(\d{1,4}|[a-z]{1,2}|[ivxlc]{1,6}|(?:note|nb|lower-alpha|fn)[ -]?\d{1,3}|[*†‡§¶#]{1,3})\s*[\])]?$/i;
const REFERENCE_CLASS = /\b(?:foot-?note|fn|noteref|reference)/i;
const HOLDERS: ReadonlySet<string> = new Set(['li', 'p', 'div', 'aside', 'dd', 'td']);
const LONGEST_LABEL = 24;

/** The part after `#` when an address points into the page itself, else null. */
export function fragmentOf(href: string, pageUrl: string): string | null {
  const at = href.indexOf('#');
  if (at < 0 || at === href.length - 1) return null;
  if (at > 0 && href.slice(0, at) !== pageUrl.split('#', 1)[0]) return null;
  const fragment = href.slice(at + 1);
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

export function findFootnotes(
  root: Document | Element,
  { pageUrl, gfm }: { readonly pageUrl: string; readonly gfm: string },
): Footnotes {
  if (gfm === 'none') return NONE;
  const candidates: { anchor: Element; target: string; label: string }[] = [];
  const targets = new Map<string, Element | null>();
  for (const anchor of elements(root, 'a')) {
    const href = attribute(anchor, 'href');
    if (href === null || !href.includes('#')) continue;
    const target = fragmentOf(href, pageUrl);
    const label = target === null ? null : referenceLabel(anchor);
    if (target === null || label === null) continue;
    candidates.push({ anchor, target, label });
    targets.set(target, null);
  }
  if (candidates.length === 0) return NONE;
  for (const element of elements(root)) {
    for (const { name, value } of element.attributes) {
      if ((name === 'id' || name === 'name') && targets.get(value) === null)
        targets.set(value, holderOf(element, root));
    }
  }
  return pair(candidates, targets);
}

function pair(
  candidates: readonly { anchor: Element; target: string; label: string }[],
  targets: ReadonlyMap<string, Element | null>,
): Footnotes {
  const references = new Map<Element, string>();
  const notes = new Map<Element, string>();
  const taken = new Set<string>();
  let last = 0;
  for (const { anchor, target, label } of candidates) {
    const holder = targets.get(target);
    if (!holder || contains(holder, anchor)) continue;
    let given = notes.get(holder);
    if (given === undefined) {
      given = label;
      while (taken.has(given) || given === '') given = String(++last);
      taken.add(given);
      notes.set(holder, given);
    }
    references.set(anchor, given);
  }
  return { references, notes };
}

/** The label of a link that looks like a reference to a note: '' when it shows only a sign; null when it doesn't. */
function referenceLabel(anchor: Element): string | null {
  const text = shortText(anchor);
  const found = text === null ? null : LABEL.exec(text);
  if (!found) return null;
  const marked =
    /^[[(]/.test(text!) ||
    isRaised(anchor) ||
    attribute(anchor, 'role') === 'doc-noteref' ||
    REFERENCE_CLASS.test(attribute(anchor, 'class') ?? '');
  if (!marked) return null;
  return /^[\w -]+$/.test(found[1]!) ? found[1]!.replaceAll(' ', '-') : '';
}

const isRaised = (anchor: Element): boolean => {
  const { parent, first } = anchor;
  return (parent?.type === ELEMENT && parent.name === 'sup') || (first?.type === ELEMENT && first.name === 'sup');
};

/** The text of an element when it is no longer than a label, else null. */
function shortText(element: Element): string | null {
  let text = '';
  for (let node: Node | null = following(element, element); node; node = following(node, element)) {
    if (node.type === TEXT) text += node.value;
    if (text.length > LONGEST_LABEL) return null;
  }
  return text.trim();
}

/** The element that holds a note: the target itself, or the block that the target starts. */
function holderOf(target: Element, root: Node): Element | null {
  for (let node: Node | null = target, depth = 0; node && node !== root && depth < 4; node = node.parent, depth++) {
    if (node.type === ELEMENT && HOLDERS.has(node.name)) return node;
  }
  return null;
}

const MAX_CLIMB = 600;

function contains(holder: Element, inner: Element): boolean {
  for (let node: Node | null = inner, climbed = 0; node && climbed < MAX_CLIMB; node = node.parent, climbed++) {
    if (node === holder) return true;
  }
  return false;
}

const ARROWS = /^(?:[\s↩↑↵⤴^⇑⬆[\]]|\ufe0e|\ufe0f)*$/;

/** Whether an anchor inside a note leads back to the text. */
export function isBacklink(anchor: Element, pageUrl: string): boolean {
  const fragment = fragmentOf(attribute(anchor, 'href') ?? '', pageUrl);
  if (fragment === null) return false;
  if (/ref|back|_to|return/i.test(fragment)) return true;
  const text = shortText(anchor);
  return text !== null && ARROWS.test(text);
}
