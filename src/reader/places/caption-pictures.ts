/** Gives the pictures of a document that have no alt text their captions as alt text. */
import { isCaption } from '#documents/caption.ts';
import {
  attribute,
  type Child,
  type Document,
  ELEMENT,
  type Element,
  elements,
  setAttribute,
  TEXT,
  textOf,
} from '#html/node.ts';
import { isUninformativeAlt } from '../markdown/alt-text.ts';
import { oneLine } from '../markdown/one-line.ts';

/** Longest alt text, in characters. */
const LONGEST = 300;
/** Number of blocks searched on each side of a picture. */
const NEAR_BLOCKS = 2;
const BLOCKS: ReadonlySet<string> = new Set('p div figure li td section blockquote'.split(' '));

export function captionPictures(document: Document): void {
  for (const image of elements(document, 'img')) {
    if (!isUninformativeAlt(attribute(image, 'alt') ?? '')) continue;
    const caption = captionOf(image);
    if (caption !== '') setAttribute(image, 'alt', shortened(caption));
  }
}

function captionOf(image: Element): string {
  const figure = around(image, 'figure');
  if (figure) for (const caption of elements(figure, 'figcaption')) return oneLine(textOf(caption));
  let block: Element = image;
  while (block.parent?.type === ELEMENT && !BLOCKS.has(block.name)) block = block.parent;
  const own = oneLine(textOf(block));
  if (isCaption(own)) return own;
  return near(block, 'next') || near(block, 'prev');
}

/** The caption among the blocks after or before a block; '' if other text is closer. */
function near(block: Element, side: 'next' | 'prev'): string {
  let seen = 0;
  for (let node: Child | null = block[side]; node && seen < NEAR_BLOCKS; node = node[side]) {
    if (node.type !== ELEMENT && node.type !== TEXT) continue;
    const text = oneLine(textOf(node));
    if (isCaption(text)) return text;
    if (text !== '') return '';
    if (node.type === ELEMENT) seen += 1;
  }
  return '';
}

function around(element: Element, name: string): Element | null {
  let node = element.parent;
  while (node?.type === ELEMENT && node.name !== name) node = node.parent;
  return node?.type === ELEMENT ? node : null;
}

function shortened(text: string): string {
  if (text.length <= LONGEST) return text;
  const cut = text.slice(0, LONGEST);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), LONGEST / 2))}…`;
}
