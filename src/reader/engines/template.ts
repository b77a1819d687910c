/**
 * Fingerprints of pages made from the same template: their scripts, style sheets and data, and the kinds of elements
 * that scripts could find in them. A comparison of some pages applies to another page only if that page contains
 * nothing more for the scripts to act on.
 */
import { createHash, type Hash } from 'node:crypto';
import { attribute, type Child, type Document, type Element, find, following, isElement, TEXT } from '#html/node.ts';
import { codeOnLoad, contributionOf, hidingStyle } from './page-scripts.ts';

export interface Template {
  /** Hash of the scripts, style sheets and data of the page. */
  readonly code: string;
  /** Hashes of the kinds of its elements, without duplicates and in ascending order. */
  readonly kinds: Uint32Array;
  /** Number of words in the main content. */
  readonly words: number;
}

/** A page with more kinds of elements than this is not compared. */
export const MAX_ELEMENT_KINDS = 1_000;
const MAX_ATTRIBUTES = 30;
const MAX_CLASSES = 30;
const MAX_NAME_CHARACTERS = 200;

/** The template of a page; `undefined` if it cannot be compared. The number of words is added elsewhere. */
export function templateOf(document: Document): Omit<Template, 'words'> | undefined {
  const code = createHash('sha256');
  const kinds = new Set<number>();
  const filled = filledElements(document);
  const body = find(document, 'body');
  let skip = false;
  let isInBody = false;
  for (let node = following(document, document); node; node = following(node, document, skip)) {
    skip = false;
    if (!isElement(node)) continue;
    if (node === body) isInBody = true;
    hashCode(node, code);
    skip = INVISIBLE.has(node.name);
    if (isInBody && !skip) addKinds(node, filled.has(node), kinds);
    if (kinds.size > MAX_ELEMENT_KINDS) return undefined;
  }
  return { code: code.digest('hex'), kinds: Uint32Array.from(kinds).sort() };
}

/** Elements with text that is not shown, or that is shown only without scripts. */
const INVISIBLE = new Set(['script', 'style', 'noscript', 'link', 'meta', 'title', 'base']);

function hashCode(element: Element, code: Hash): void {
  if (element.name === 'noscript') return;
  const contribution =
    element.name === 'script' ? contributionOf(element) : (hidingStyle(element) ?? codeOnLoad(element));
  if (contribution !== undefined) code.update(`${element.name}\n${contribution}\0`);
}

/** Elements that are visible without text. An element is filled if it contains one of these, or text. */
const SHOWN = new Set(
  'img video audio iframe frame embed object canvas svg math input button select textarea hr'.split(' '),
);

function filledElements(document: Document): Set<Element> {
  const filled = new Set<Element>();
  let skip = false;
  for (let node: Child | null = following(document, document); node; node = following(node, document, skip)) {
    skip = isElement(node) && INVISIBLE.has(node.name);
    const counts = node.type === TEXT ? /\S/.test(node.value) : isElement(node) && SHOWN.has(node.name);
    if (!counts) continue;
    // Ancestors of a marked element are already marked, so each is visited once.
    let at = isElement(node) ? node : node.parent;
    while (at && isElement(at) && !filled.has(at)) {
      filled.add(at);
      at = at.parent;
    }
  }
  return filled;
}

/** Adds the kinds of an element: one for its name, id and attributes, and one for each class. */
function addKinds(element: Element, isFilled: boolean, kinds: Set<number>): void {
  const { name } = element;
  const state = isFilled ? '' : ' empty';
  const names = element.attributes
    .slice(0, MAX_ATTRIBUTES)
    .filter(({ name: key }) => /[-:@.]/.test(key) && !key.startsWith('aria-'))
    .map(({ name: key }) => key.slice(0, MAX_NAME_CHARACTERS))
    .sort();
  kinds.add(hashOf(`${name}${state} #${idOf(element, isFilled)} [${names}]`));
  const classes = (attribute(element, 'class') ?? '')
    .slice(0, MAX_CLASSES * MAX_NAME_CHARACTERS)
    .split(/\s+/, MAX_CLASSES);
  for (const token of classes) {
    if (token !== '' && !ENTRY_CLASS.test(token)) kinds.add(hashOf(`${name}${state} .${withoutDigits(token)}`));
  }
}

/** Classes with which publishing systems identify the entry that a page shows; they differ from page to page. */
const ENTRY_CLASS =
  /^(?:category|tag|post|postid|page-id|parent-pageid|author|term|menu-item|comment|attachment|wp-image|node|taxonomy)-/i;

/** Elements that have an id as a link target. */
const ANCHORS = new Set(
  'a h1 h2 h3 h4 h5 h6 p li dt dd section article figure sup span cite code pre tr td th'.split(' '),
);

function idOf(element: Element, isFilled: boolean): string {
  const id = attribute(element, 'id');
  if (id === null) return '';
  const isAnchor = (isFilled && ANCHORS.has(element.name)) || element.name === 'a' || /^h[1-6]$/.test(element.name);
  return isAnchor ? '' : withoutDigits(id.slice(0, MAX_NAME_CHARACTERS));
}

const withoutDigits = (text: string): string => text.slice(0, MAX_NAME_CHARACTERS).replace(/\d+/g, '0');

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
