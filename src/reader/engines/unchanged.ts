/** Compares a fetched page with its rendering. */
import { attribute, detach, type Element, elements, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { imageUrl } from '../extract/content/images.ts';
import { extractArticle } from '../extract/extract.ts';

/**
 * The required similarity of pages that count as equal (docs/reference/wire/reader.md, Engines). On a long page, 5 %
 * may be a price table or a comment, so the number of different words is limited too.
 */
const MIN_SHARED = 0.95;
const MAX_OTHER_WORDS = 5;

/** Whether both pages have nearly the same elements, and the same words, links and images with few exceptions. */
export function isUnchanged(fetched: string, rendered: string, url: string): boolean {
  const [before, after] = [contentOf(fetched, url), contentOf(rendered, url)];
  const most = Math.max(before.words.length, after.words.length);
  const shared = countShared(before.words, after.words);
  if (most - shared > MAX_OTHER_WORDS || (most > 0 && shared / most < MIN_SHARED)) return false;
  return ratio(before.elements, after.elements) >= MIN_SHARED;
}

/** Elements without content that scripts may add or remove. */
const WITHOUT_CONTENT = new Set('script style link meta noscript template iframe base'.split(' '));

function contentOf(html: string, url: string) {
  const document = parseDocument(html);
  let count = 0;
  for (const { name } of elements(document)) if (!WITHOUT_CONTENT.has(name)) count++;
  // Compares the whole page, since a read may request more than the main content; invisible elements are removed.
  const { content } = extractArticle(document, { url, baseUrl: url, whole: true });
  for (const element of elements(content)) if (WITHOUT_CONTENT.has(element.name)) detach(element);
  const words: string[] = textOf(content).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  for (const element of elements(content)) {
    const address = element.name === 'a' ? attribute(element, 'href') : addressOfPicture(element, url);
    if (address) words.push(address);
  }
  return { elements: count, words };
}

const addressOfPicture = (element: Element, url: string) => (element.name === 'img' ? imageUrl(element, url) : null);

const ratio = (one: number, other: number) => (one === other ? 1 : Math.min(one, other) / Math.max(one, other));

/** Number of words that two texts share, counting repetitions. */
function countShared(one: readonly string[], other: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of one) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of other) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    shared++;
    left.set(word, count - 1);
  }
  return shared;
}
