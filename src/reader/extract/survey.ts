/**
 * A survey of a page: one pass that numbers its elements, cuts its text into blocks and counts words; one pass back
 * that sums the counts up the tree. Everything later reads these arrays and never walks the tree again.
 *
 * A block is a run of text that no block-level border cuts: a paragraph, a heading, a cell, a list item's own text.
 */
import { attribute, type Child, type Document, ELEMENT, type Element, type Node, TEXT, type Text } from '#html/node.ts';
import { readPhrases } from './phrases.ts';

export interface Block {
  /** Number of the block-level element that holds the text. */
  owner: number;
  texts: Text[];
  /** White space collapsed; at most LONGEST_TEXT characters of it. */
  text: string;
  words: number;
  linkWords: number;
  characters: number;
  digits: number;
  capitals: number;
  commas: number;
  sentences: number;
  /** Words of the page before this block. */
  wordsBefore: number;
  phrases: number;
}

export interface Survey {
  elements: Element[];
  /** Number of the parent, -1 for the root. A parent's number is below its children's. */
  parent: number[];
  /** One past the last element under this one. */
  end: number[];
  /** Mask of PARTS of the element's own class, id and role. */
  parts: number[];
  /** First block in or under the element, and one past the last. */
  firstBlock: number[];
  endBlock: number[];
  words: number[];
  linkWords: number[];
  /** Words in blocks that read like prose. */
  proseWords: number[];
  blocks: Block[];
}

const LONGEST_TEXT = 400;

/** Elements whose text is never content. */
export const SILENT = new Set(
  'script style template noscript textarea select option svg iframe object embed canvas audio video map head title datalist input'.split(
    ' ',
  ),
);

/** Elements that stand in a line of text and do not cut it. */
export const INLINE = new Set(
  (
    'a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math nobr picture q rp rt ruby s ' +
    'samp small source span strike strong sub sup time tt u var wbr image mjx-container annotation semantics mrow mi mo mn msup msub mfrac'
  ).split(' '),
);

/** What a run of characters holds; added up over a block. */
interface Counts {
  words: number;
  characters: number;
  digits: number;
  capitals: number;
  commas: number;
  sentences: number;
}

const isWide = (code: number) =>
  (code >= 0x3040 && code <= 0x30ff) ||
  (code >= 0x3400 && code <= 0x9fff) ||
  (code >= 0xac00 && code <= 0xd7af) ||
  (code >= 0x0e00 && code <= 0x0eff);

/** Adds what a text holds. Scripts without spaces count a word for every two characters. */
function count(text: string, counts: Counts): void {
  let inWord = false;
  let wide = 0;
  let words = 0;
  let characters = 0;
  let digits = 0;
  let capitals = 0;
  let commas = 0;
  let sentences = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === 0xa0) {
      inWord = false;
      continue;
    }
    characters++;
    if (code >= 0x61 && code <= 0x7a) {
      if (!inWord) words++;
      inWord = true;
    } else if (code >= 0x41 && code <= 0x5a) {
      capitals++;
      if (!inWord) words++;
      inWord = true;
    } else if (code >= 0x30 && code <= 0x39) {
      digits++;
      if (!inWord) words++;
      inWord = true;
    } else if (code < 0x80) {
      if (code === 0x2c) commas++;
      else if (code === 0x2e || code === 0x21 || code === 0x3f) {
        const next = text.charCodeAt(at + 1);
        if (!(next > 0x20)) sentences++;
      }
      if (code !== 0x27 && code !== 0x5f) inWord = false;
    } else if (isWide(code)) {
      wide++;
      inWord = false;
    } else if (code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0x0964) {
      sentences++;
      inWord = false;
    } else if (code === 0x3001 || code === 0xff0c || code === 0x060c) {
      commas++;
      inWord = false;
    } else if ((code >= 0x2010 && code <= 0x206f && code !== 0x2019) || (code >= 0xa1 && code <= 0xbf)) inWord = false;
    else {
      if (!inWord) words++;
      inWord = true;
    }
  }
  counts.words += words + ((wide + 1) >> 1);
  counts.characters += characters;
  counts.digits += digits;
  counts.capitals += capitals;
  counts.commas += commas;
  counts.sentences += sentences;
}

/** Whether a block reads like sentences rather than like a label. */
export const isProse = (block: Block): boolean =>
  block.words >= 10 &&
  block.linkWords * 2 < block.words &&
  (block.sentences > 0 || block.commas > 0 || block.words > 25);

/** Surveys what stands under `root`; `readClass` gives the parts that names speak of. */
export function survey(root: Document | Element, readClass: (name: string) => number): Survey {
  const found: Survey = {
    elements: [],
    parent: [],
    end: [],
    parts: [],
    firstBlock: [],
    endBlock: [],
    words: [],
    linkWords: [],
    proseWords: [],
    blocks: [],
  };
  const { elements, parent, end, firstBlock, endBlock, blocks } = found;
  let open: Block | null = null;
  let wordsBefore = 0;
  // The block-level element that text belongs to, and whether an anchor is open, for each open element.
  const stack: number[] = [];
  const owners: number[] = [];
  const anchored: boolean[] = [];
  const closeBlock = () => {
    if (!open) return;
    if (open.words === 0 && open.characters === 0) blocks.pop();
    else finish(open);
    open = null;
  };
  const finish = (block: Block) => {
    block.text = block.text.replace(/\s+/g, ' ').trim();
    block.wordsBefore = wordsBefore;
    wordsBefore += block.words;
    block.phrases = readPhrases(block.text);
  };
  const enter = (element: Element) => {
    const number = elements.length;
    elements.push(element);
    const above = stack.length > 0 ? stack[stack.length - 1]! : -1;
    parent.push(above);
    end.push(0);
    found.parts.push(readNames(element, readClass));
    const inline = INLINE.has(element.name) || element.namespace === 'math';
    if (!inline) closeBlock();
    firstBlock.push(open ? blocks.length - 1 : blocks.length);
    endBlock.push(0);
    stack.push(number);
    owners.push(inline && owners.length > 0 ? owners[owners.length - 1]! : number);
    anchored.push(
      (anchored.length > 0 && anchored[anchored.length - 1]!) ||
        (element.name === 'a' && attribute(element, 'href') !== null),
    );
  };
  const leave = () => {
    const number = stack.pop()!;
    owners.pop();
    anchored.pop();
    const { name, namespace } = elements[number]!;
    if (!INLINE.has(name) && namespace !== 'math') closeBlock();
    end[number] = elements.length;
    endBlock[number] = blocks.length;
  };
  const read = (node: Text) => {
    if (stack.length === 0) return;
    if (!open) {
      if (!/\S/.test(node.value)) return;
      open = newBlock(owners[owners.length - 1]!);
      blocks.push(open);
    }
    const before = open.words;
    count(node.value, open);
    open.texts.push(node);
    if (anchored[anchored.length - 1]) open.linkWords += open.words - before;
    if (open.text.length < LONGEST_TEXT) open.text += node.value.slice(0, LONGEST_TEXT);
  };
  let node: Node | null = root.type === ELEMENT ? root : root.first;
  while (node) {
    let down: Child | null = null;
    if (node.type === TEXT) read(node);
    else if (node.type === ELEMENT && !SILENT.has(node.name) && node.namespace !== 'svg') {
      enter(node);
      down = node.first;
      if (!down) leave();
    }
    if (down) {
      node = down;
      continue;
    }
    while (node && (node === root || !(node as Child).next)) {
      node = node === root ? null : (node.parent as Node);
      if (node && node.type === ELEMENT && stack.length > 0 && elements[stack[stack.length - 1]!] === node) leave();
    }
    if (node) node = (node as Child).next;
  }
  while (stack.length > 0) leave();
  sum(found);
  return found;
}

const newBlock = (owner: number): Block => ({
  owner,
  texts: [],
  text: '',
  words: 0,
  linkWords: 0,
  characters: 0,
  digits: 0,
  capitals: 0,
  commas: 0,
  sentences: 0,
  wordsBefore: 0,
  phrases: 0,
});

const NAMING = new Set(['class', 'id', 'role', 'itemprop', 'itemtype']);

function readNames(element: Element, readClass: (name: string) => number): number {
  let mask = 0;
  for (const entry of element.attributes) if (NAMING.has(entry.name) && entry.value) mask |= readClass(entry.value);
  return mask;
}

function sum(found: Survey): void {
  const { elements, parent, words, linkWords, proseWords } = found;
  const size = elements.length;
  for (let at = 0; at < size; at++) {
    words.push(0);
    linkWords.push(0);
    proseWords.push(0);
  }
  for (const block of found.blocks) {
    words[block.owner]! += block.words;
    linkWords[block.owner]! += block.linkWords;
    if (isProse(block)) proseWords[block.owner]! += block.words;
  }
  for (let at = size - 1; at > 0; at--) {
    const above = parent[at]!;
    if (above < 0) continue;
    words[above]! += words[at]!;
    linkWords[above]! += linkWords[at]!;
    proseWords[above]! += proseWords[at]!;
  }
}
