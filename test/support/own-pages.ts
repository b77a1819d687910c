/** The pages of our own making in test/fixtures/pages, and how an answer is held against their labels. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Document, ELEMENT, type Element, following, TEXT, textOf } from '#html/node.ts';
import { compileSelectors, selectAll } from '#html/select.ts';

/** What a page must give: `expected.json` beside `source.html` and `why.md`. */
export interface Expected {
  kind?: string;
  url?: string;
  title?: string;
  /** Selectors of what is content, and of what in it is not; together they label every word. */
  content?: string[];
  except?: string[];
  /** Words that stand in the answer, and words that do not. */
  keep: string[];
  drop: string[];
  /** Lines that stand in the Markdown as they are. */
  markdown?: string[];
  hidden?: number;
  /** What extraction still gets wrong, written by `npm run fit:known`. */
  known?: Known;
}

export interface Known {
  missing?: string[];
  extra?: string[];
  markdown?: string[];
  kind?: string;
  title?: string;
  /** The word F1 that it reaches, when that is below the usual. */
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

/** The elements of content, and those in them that are not. */
export function markedElements(
  document: Document,
  { content = [], except = [] }: Expected,
): [Set<Element>, Set<Element>] {
  const find = (selectors: string[]) =>
    new Set(selectors.flatMap((selector) => selectAll(document, compileSelectors(selector))));
  return [find(content), find(except)];
}

/** Words, for comparing; scripts without spaces by the letter. */
export const wordsOf = (text: string): string[] =>
  text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}_]+/gu) ??
  [];

/** Text with a space at every border of an element, so that words of neighbours stay apart. */
function spaced(root: Element | Document, skip?: ReadonlySet<Element>): string {
  const texts: string[] = [];
  let node = following(root, root);
  while (node) {
    const left = node.type === ELEMENT && (skip?.has(node) || SILENT.has(node.name));
    if (node.type === TEXT) texts.push(node.value);
    else if (node.type === ELEMENT && !INLINE.has(node.name)) texts.push(' ');
    node = following(node, root, left);
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

/** The text that the labels of a page call its content. */
export function labelledText(document: Document, expected: Expected): string {
  const [content, except] = markedElements(document, expected);
  const outer = [...content].filter((element) => {
    for (let at = element.parent; at && at.type === ELEMENT; at = at.parent) if (content.has(at)) return false;
    return true;
  });
  return outer.map((element) => spaced(element, except)).join(' ');
}

/** F1 over bags of words. */
export function wordF1(answer: string, gold: string): number {
  const left = new Map<string, number>();
  const wanted = wordsOf(gold);
  const given = wordsOf(answer);
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let hits = 0;
  for (const word of given) {
    const count = left.get(word) ?? 0;
    if (count > 0) hits += 1;
    left.set(word, count - 1);
  }
  return given.length + wanted.length === 0 ? 1 : (2 * hits) / (given.length + wanted.length);
}

/** The text of a tree on one line. */
export const lineOf = (root: Element | Document): string => textOf(root).replace(/\s+/g, ' ');
export const spacedText = (root: Element | Document): string => spaced(root);
