/**
 * What pages that one template made have in common: the scripts and style sheets that they bring, the data for those,
 * and the kinds of elements that scripts could find in them. What rendering showed of some pages says something of
 * another only if that one has nothing more for its scripts to work with.
 */
import { createHash, type Hash } from 'node:crypto';
import { attribute, type Child, type Document, type Element, find, following, isElement, TEXT } from '#html/node.ts';
import { broughtBy, codeOnLoad, hidingStyle } from './page-scripts.ts';

export interface Template {
  /** A hash of the scripts, the style sheets and the data that the page brings. */
  readonly code: string;
  /** Hashes of the kinds of elements that it has, each once, in ascending order. */
  readonly kinds: Uint32Array;
  /** Words of its main content. */
  readonly words: number;
}

/** A page with more kinds of elements is like no other. */
export const MOST_KINDS = 1_000;
const MAX_ATTRIBUTES = 30;
const MAX_CLASSES = 30;
const MAX_NAME = 200;

/** Undefined for a page that nothing can be compared with. Words are counted elsewhere. */
export function templateOf(document: Document): Omit<Template, 'words'> | undefined {
  const code = createHash('sha256');
  const kinds = new Set<number>();
  const filled = withContent(document);
  const body = find(document, 'body');
  let skip = false;
  let isInBody = false;
  for (let node = following(document, document); node; node = following(node, document, skip)) {
    skip = false;
    if (!isElement(node)) continue;
    if (node === body) isInBody = true;
    noteCode(node, code);
    skip = UNSEEN.has(node.name);
    if (isInBody && !skip) noteKinds(node, filled.has(node), kinds);
    if (kinds.size > MOST_KINDS) return undefined;
  }
  return { code: code.digest('hex'), kinds: Uint32Array.from(kinds).sort() };
}

/** Elements whose text is not shown, or only to those who run no scripts. */
const UNSEEN = new Set(['script', 'style', 'noscript', 'link', 'meta', 'title', 'base']);

function noteCode(element: Element, code: Hash): void {
  if (element.name === 'noscript') return;
  const brought = element.name === 'script' ? broughtBy(element) : (hidingStyle(element) ?? codeOnLoad(element));
  if (brought !== undefined) code.update(`${element.name}\n${brought}\0`);
}

/** Elements that are something to see by themselves, and those that hold such, or text. */
const SHOWN = new Set(
  'img video audio iframe frame embed object canvas svg math input button select textarea hr'.split(' '),
);

function withContent(document: Document): Set<Element> {
  const filled = new Set<Element>();
  let skip = false;
  for (let node: Child | null = following(document, document); node; node = following(node, document, skip)) {
    skip = isElement(node) && UNSEEN.has(node.name);
    const counts = node.type === TEXT ? /\S/.test(node.value) : isElement(node) && SHOWN.has(node.name);
    if (!counts) continue;
    // Ancestors of a marked element are marked already, so each is passed once.
    let at = isElement(node) ? node : node.parent;
    while (at && isElement(at) && !filled.has(at)) {
      filled.add(at);
      at = at.parent;
    }
  }
  return filled;
}

/** An element is of one kind by its name, id and attributes, and of one more by each of its classes. */
function noteKinds(element: Element, isFilled: boolean, kinds: Set<number>): void {
  const { name } = element;
  const state = isFilled ? '' : ' empty';
  const names = element.attributes
    .slice(0, MAX_ATTRIBUTES)
    .filter(({ name: key }) => /[-:@.]/.test(key) && !key.startsWith('aria-'))
    .map(({ name: key }) => key.slice(0, MAX_NAME))
    .sort();
  kinds.add(hashOf(`${name}${state} #${idOf(element, isFilled)} [${names}]`));
  const classes = (attribute(element, 'class') ?? '').slice(0, MAX_CLASSES * MAX_NAME).split(/\s+/, MAX_CLASSES);
  for (const token of classes) {
    if (token !== '' && !NAMES_THE_ENTRY.test(token)) kinds.add(hashOf(`${name}${state} .${withoutDigits(token)}`));
  }
}

/** Classes by which publishing systems name the entry that a page shows: they differ from page to page. */
const NAMES_THE_ENTRY =
  /^(?:category|tag|post|postid|page-id|parent-pageid|author|term|menu-item|comment|attachment|wp-image|node|taxonomy)-/i;

/** Pieces of text that have an id so that links can lead there. */
const ANCHORS = new Set(
  'a h1 h2 h3 h4 h5 h6 p li dt dd section article figure sup span cite code pre tr td th'.split(' '),
);

function idOf(element: Element, isFilled: boolean): string {
  const id = attribute(element, 'id');
  if (id === null) return '';
  const isAnchor = (isFilled && ANCHORS.has(element.name)) || element.name === 'a' || /^h[1-6]$/.test(element.name);
  return isAnchor ? '' : withoutDigits(id.slice(0, MAX_NAME));
}

const withoutDigits = (text: string): string => text.slice(0, MAX_NAME).replace(/\d+/g, '0');

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
