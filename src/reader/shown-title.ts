/** Tells whether a document shows its own title at its start. The title is then not written before the content. */
import { type Document, ELEMENT, type Element, find, following, TEXT } from '#html/node.ts';

const BLOCKS: ReadonlySet<string> = new Set(
  'h1 h2 h3 h4 h5 h6 p li td th dt dd pre blockquote caption figcaption div section article table ul ol hr'.split(' '),
);
/** Length of the text that counts as the start of a document, in characters: a letterhead or a title page. */
const START_LENGTH = 1_000;

/** Whether one of the first blocks has the same letters and digits as the title. */
export function showsTitle(root: Document | Element, title: string): boolean {
  const wanted = lettersOf(title);
  if (wanted === '') return false;
  const body = find(root, 'body') ?? root;
  let text = '';
  let seen = 0;
  let skip = false;
  for (let node = following(body, body); node && seen < START_LENGTH; node = following(node, body, skip)) {
    skip = false;
    if (node.type === TEXT) {
      text += node.value;
      seen += node.value.length;
    } else if (node.type === ELEMENT) {
      // The numbers of footnotes are not part of a title.
      skip = node.name === 'sup';
      const isBlock = BLOCKS.has(node.name);
      // A title may be a line of a paragraph, or several lines.
      if (!isBlock && node.name !== 'br') continue;
      if (text.length <= 2 * title.length + 100 && lettersOf(text) === wanted) return true;
      if (isBlock) text = '';
    }
  }
  return lettersOf(text.slice(0, 2 * title.length + 100)) === wanted;
}

const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
