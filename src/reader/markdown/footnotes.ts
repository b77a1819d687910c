/**
 * Footnotes as written by wikis and Markdown renderers: a short link (`1`, `[2]`, `*`) to an element of the page that
 * contains the note. Both ends must be in the tree; unpaired ones are not changed.
 */
import { attribute, type Document, ELEMENT, type Element, following, type Node, TEXT } from '#html/node.ts';

export interface Footnotes {
  /** Labels of the anchors that refer to a note, and of the elements that contain one. */
  readonly references: ReadonlyMap<Element, string>;
  readonly notes: ReadonlyMap<Element, string>;
  /** Ids at and around the references, which are the targets of backlinks. */
  readonly sources: ReadonlySet<string>;
}

const NONE: Footnotes = { references: new Map(), notes: new Map(), sources: new Set() };

const LABEL =
  /^[[(]?\s*(\d{1,4}|[a-z]{1,2}|[ivxlc]{1,6}|(?:[a-z]{1,2}|note|lower-alpha)[ -]?\d{1,3}|[*†‡§¶#]{1,3})\s*[\])]?$/i;
const REFERENCE_CLASS = /\b(?:foot-?note|fn|noteref|reference)/i;
const NOTE_ELEMENTS: ReadonlySet<string> = new Set(['li', 'p', 'div', 'aside', 'dd', 'td']);
const MAX_LABEL_CHARACTERS = 24;

/** The fragment of a URL that refers to the page itself, else null. */
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
  const candidates: Candidate[] = [];
  const targets = new Map<string, Target | null>();
  for (let node = following(root, root); node; node = following(node, root)) {
    if (node.type !== ELEMENT || node.name !== 'a') continue;
    const anchor = node;
    const href = attribute(anchor, 'href');
    if (href === null || !href.includes('#')) continue;
    const target = fragmentOf(href, pageUrl);
    const label = target === null ? null : referenceLabel(anchor);
    if (target === null || label === null) continue;
    candidates.push({ anchor, target, label });
    targets.set(target, null);
  }
  return candidates.length === 0 ? NONE : pair(candidates, locate(root, candidates, targets), targets);
}

interface Candidate {
  readonly anchor: Element;
  readonly target: string;
  readonly label: string;
}

interface Target {
  readonly holder: Element;
  /** Position in document order. */
  readonly order: number;
  /** Whether the element contains several notes; if so, it is not used for any of them. */
  shared: boolean;
}

/** Finds the targets of the candidates and the position of each candidate in document order. */
function locate(
  root: Document | Element,
  candidates: readonly Candidate[],
  targets: Map<string, Target | null>,
): ReadonlyMap<Element, number> {
  const orders = new Map<Element, number>(candidates.map(({ anchor }) => [anchor, 0]));
  const held = new Map<Element, Target>();
  let order = 0;
  for (let element = following(root, root); element; element = following(element, root)) {
    if (element.type !== ELEMENT) continue;
    order += 1;
    if (orders.has(element)) orders.set(element, order);
    for (const { name, value } of element.attributes) {
      if ((name !== 'id' && name !== 'name') || targets.get(value) !== null) continue;
      const holder = noteElementOf(element, root);
      if (!holder) continue;
      const earlier = held.get(holder);
      if (earlier) earlier.shared = true;
      const target = { holder, order, shared: earlier !== undefined };
      held.set(holder, target);
      targets.set(value, target);
    }
  }
  return orders;
}

/** A reference precedes its note; a link in the other direction is a backlink. */
function pair(
  candidates: readonly Candidate[],
  orders: ReadonlyMap<Element, number>,
  targets: ReadonlyMap<string, Target | null>,
): Footnotes {
  const references = new Map<Element, string>();
  const notes = new Map<Element, string>();
  const sources = new Set<string>();
  const usedLabels = new Set<string>();
  let last = 0;
  for (const { anchor, target, label } of candidates) {
    const found = targets.get(target);
    if (!found || found.shared || orders.get(anchor)! > found.order || contains(found.holder, anchor)) continue;
    let noteLabel = notes.get(found.holder);
    if (noteLabel === undefined) {
      noteLabel = label;
      while (usedLabels.has(noteLabel) || noteLabel === '') noteLabel = String(++last);
      usedLabels.add(noteLabel);
      notes.set(found.holder, noteLabel);
    }
    references.set(anchor, noteLabel);
    addIds(anchor, sources);
  }
  return { references, notes, sources };
}

const LEVELS_AROUND = 2;

function addIds(anchor: Element, ids: Set<string>): void {
  let node: Node | null = anchor;
  for (let level = 0; node?.type === ELEMENT && level <= LEVELS_AROUND; level++, node = node.parent) {
    for (const { name, value } of node.attributes) if (name === 'id' || name === 'name') ids.add(value);
  }
}

/**
 * The label of a link that looks like a reference to a note: '' if its text is only a symbol; null if it does not look
 * like a reference.
 */
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

/** Whether an element shows only the label of a note. */
export function showsOnlyLabel(element: Element): boolean {
  const text = shortText(element);
  return text !== null && LABEL.test(text);
}

const isRaised = (anchor: Element): boolean => {
  const { parent, first } = anchor;
  return (parent?.type === ELEMENT && parent.name === 'sup') || (first?.type === ELEMENT && first.name === 'sup');
};

/** The text of an element if it is at most as long as a label, else null. */
function shortText(element: Element): string | null {
  let text = '';
  for (let node: Node | null = following(element, element); node; node = following(node, element)) {
    if (node.type === TEXT) text += node.value;
    if (text.length > MAX_LABEL_CHARACTERS) return null;
  }
  return text.trim();
}

const LEVELS_UP = 4;

/** The element that contains a note: the target itself, or the block that starts with the target. */
function noteElementOf(target: Element, root: Node): Element | null {
  let node: Node | null = target;
  for (let level = 0; node?.type === ELEMENT && node !== root && level < LEVELS_UP; level++, node = node.parent) {
    if (NOTE_ELEMENTS.has(node.name)) return node;
    if (node.name === 'dt') return definitionOf(node);
    for (let before = node.prev; before; before = before.prev) {
      if (before.type === ELEMENT || (before.type === TEXT && before.value.trim() !== '')) return null;
    }
  }
  return null;
}

/** The definition of a term in a definition list, if it is the next element. */
export function definitionOf(term: Element): Element | null {
  let node = term.next;
  while (node && node.type !== ELEMENT) node = node.next;
  return node?.name === 'dd' ? node : null;
}

const MAX_CLIMB = 600;

function contains(holder: Element, inner: Element): boolean {
  for (let node: Node | null = inner, climbed = 0; node && climbed < MAX_CLIMB; node = node.parent, climbed++) {
    if (node === holder) return true;
  }
  return false;
}

const ARROWS = /^(?:[\s↩↑↵⤴^⇑⬆[\]]|\ufe0e|\ufe0f)*$/;

/** Whether an anchor inside a note is a backlink: a symbol or a label, rather than words of the note. */
export function isBacklink(anchor: Element, pageUrl: string, { sources }: Footnotes): boolean {
  const fragment = fragmentOf(attribute(anchor, 'href') ?? '', pageUrl);
  const text = fragment === null ? null : shortText(anchor);
  if (fragment === null || text === null) return false;
  return ARROWS.test(text) || sources.has(fragment) || (/ref/i.test(fragment) && LABEL.test(text));
}
