/** Our own pages in test/fixtures/pages, and the comparison of extracted content with their labels. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Document, ELEMENT, type Element, following, TEXT, textOf } from '#html/node.ts';
import { compileSelectors, selectAll } from '#html/select.ts';

/** The expected result for a page: `expected.json` next to `source.html` and `why.md`. */
export interface Expected {
  kind?: string;
  url?: string;
  title?: string;
  /** Selectors of content, and selectors of parts inside it that are not content. Together they label every word. */
  content?: string[];
  except?: string[];
  /** Words that the result must contain, and words that it must not contain. */
  keep: string[];
  drop: string[];
  /** Lines that the Markdown must contain exactly. */
  markdown?: string[];
  hidden?: number;
  /** Known errors of the extraction, written by `npm run fit:known`. */
  known?: Known;
}

export interface Known {
  missing?: string[];
  extra?: string[];
  markdown?: string[];
  kind?: string;
  title?: string;
  /** The word F1 of the page, if it is below the usual minimum. */
  f1?: number;
}

export interface OwnPage {
  name: string;
  html: string;
  expected: Expected;
}

export const OWN_PAGES = path.resolve(import.meta.dirname, '../fixtures/pages');

export function ownPages(): OwnPage[] {
  return readdirSync(OWN_PAGES)
    .sort()
    .map((name) => ({
      name,
      html: readFileSync(path.join(OWN_PAGES, name, 'source.html'), 'utf8'),
      expected: JSON.parse(readFileSync(path.join(OWN_PAGES, name, 'expected.json'), 'utf8')),
    }));
}

/** The elements labelled as content, and the elements inside them that are labelled as not content. */
export function labelledElements(
  document: Document,
  { content = [], except = [] }: Expected,
): [Set<Element>, Set<Element>] {
  const find = (selectors: string[]) =>
    new Set(selectors.flatMap((selector) => selectAll(document, compileSelectors(selector))));
  return [find(content), find(except)];
}

/** Splits a text into words for comparison. Scripts without spaces are split into letters. */
export const wordsOf = (text: string): string[] =>
  text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}_]+/gu) ??
  [];

/** The text with a space at every element boundary, so that words of adjacent elements are not joined. */
function spaced(root: Element | Document, skip?: ReadonlySet<Element>): string {
  const texts: string[] = [];
  let node = following(root, root);
  while (node) {
    const remaining = node.type === ELEMENT && (skip?.has(node) || SILENT.has(node.name));
    if (node.type === TEXT) texts.push(node.value);
    else if (node.type === ELEMENT && !INLINE.has(node.name)) texts.push(' ');
    node = following(node, root, remaining);
  }
  return texts.join('');
}

const SILENT = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'svg',
  'textarea',
  'select',
  'iframe',
  'video',
  'audio',
]);
const INLINE = new Set(
  'a abbr b bdi cite code em i kbd mark q s small span strong sub sup time u wbr font ruby rt'.split(' '),
);

/** The text that the labels of a page mark as content. */
export function labelledText(document: Document, expected: Expected): string {
  const [content, except] = labelledElements(document, expected);
  const outer = [...content].filter((element) => {
    for (let at = element.parent; at && at.type === ELEMENT; at = at.parent) if (content.has(at)) return false;
    return true;
  });
  return outer.map((element) => spaced(element, except)).join(' ');
}

/** F1 over bags of words. */
export function wordF1(answer: string, labelled: string): number {
  const remaining = new Map<string, number>();
  const wanted = wordsOf(labelled);
  const found = wordsOf(answer);
  for (const word of wanted) remaining.set(word, (remaining.get(word) ?? 0) + 1);
  let hits = 0;
  for (const word of found) {
    const count = remaining.get(word) ?? 0;
    if (count > 0) hits += 1;
    remaining.set(word, count - 1);
  }
  return found.length + wanted.length === 0 ? 1 : (2 * hits) / (found.length + wanted.length);
}

/** The text of a tree on one line. */
export const singleLineText = (root: Element | Document): string => textOf(root).replace(/\s+/g, ' ');
export const spacedText = (root: Element | Document): string => spaced(root);
