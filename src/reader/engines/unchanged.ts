/** Whether rendering a page made a difference to what there is to read. */
import { attribute, detach, type Element, elements, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { imageAddress } from '../extract/content/images.ts';
import { extractArticle } from '../extract/extract.ts';

/**
 * How much of a page may change without its being another (contract, section 11): of a long page, a twentieth would be
 * a table of prices or a comment, so that the words are few in number as well.
 */
const ALIKE = 0.95;
const FEW_WORDS = 5;

/** Nearly the same elements, and the same words, links and pictures of the whole page but for a few. */
export function isUnchanged(fetched: string, rendered: string, url: string): boolean {
  const [before, after] = [readable(fetched, url), readable(rendered, url)];
  const most = Math.max(before.words.length, after.words.length);
  const shared = sharedBy(before.words, after.words);
  if (most - shared > FEW_WORDS || (most > 0 && shared / most < ALIKE)) return false;
  return ratio(before.elements, after.elements) >= ALIKE;
}

/** Elements that are not read, and that scripts leave behind without changing what is. */
const NOT_READ = new Set('script style link meta noscript template iframe base'.split(' '));

function readable(html: string, url: string) {
  const document = parseDocument(html);
  let count = 0;
  for (const { name } of elements(document)) if (!NOT_READ.has(name)) count++;
  // The whole page, since what is asked for is not always its main content. What nobody sees is taken out of it.
  const { content } = extractArticle(document, { url, baseUrl: url, whole: true });
  for (const element of elements(content)) if (NOT_READ.has(element.name)) detach(element);
  const words: string[] = textOf(content).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  for (const element of elements(content)) {
    const address = element.name === 'a' ? attribute(element, 'href') : addressOfPicture(element, url);
    if (address) words.push(address);
  }
  return { elements: count, words };
}

const addressOfPicture = (element: Element, url: string) =>
  element.name === 'img' ? imageAddress(element, url) : null;

const ratio = (one: number, other: number) => (one === other ? 1 : Math.min(one, other) / Math.max(one, other));

/** How many words two texts share, each as often as it stands in both. */
function sharedBy(one: readonly string[], other: readonly string[]): number {
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
