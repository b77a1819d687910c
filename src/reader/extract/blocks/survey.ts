/**
 * Indexes a page in arrays, called its survey. One forward pass numbers its elements, splits its text into blocks and
 * counts words; one backward pass sums the counts up the tree. Later steps read these arrays instead of walking the
 * tree again.
 *
 * A block is a run of text that is not interrupted by a block-level element: a paragraph, a heading, a cell, or the
 * direct text of a list item.
 */
import { attribute, type Child, type Document, ELEMENT, type Element, type Node, TEXT, type Text } from '#html/node.ts';
import { readPhrases } from './phrases.ts';

export interface Block {
  /** Number of the block-level element that contains the text. */
  owner: number;
  /** Index in `Survey.texts` of its first text node, and one past its last. */
  firstText: number;
  endText: number;
  /** The text with white space collapsed; at most MAX_TEXT_CHARACTERS characters. */
  text: string;
  words: number;
  linkWords: number;
  characters: number;
  digits: number;
  capitals: number;
  commas: number;
  sentences: number;
  /** Number of words on the page before this block. */
  wordsBefore: number;
  phrases: number;
}

export interface Survey {
  elements: Element[];
  /** Number of the parent, by element; -1 for the root. Parents have lower numbers than their children. */
  parent: Int32Array;
  /** One past the number of the last descendant, by element. */
  end: Int32Array;
  /** Mask of PARTS from the element's own class, id and role. */
  parts: Int32Array;
  /** Index of the element's class attribute in `classTexts`; 0, the first, means none. */
  classes: Int32Array;
  classTexts: string[];
  /** By element: index of the first block in it or its descendants, and one past the last. */
  firstBlock: Int32Array;
  endBlock: Int32Array;
  words: Int32Array;
  linkWords: Int32Array;
  /** By element: number of words in blocks that read like prose. */
  proseWords: Int32Array;
  blocks: Block[];
  /** The text nodes of all blocks. */
  texts: Text[];
  /** False if the page exceeds the maximum size for a survey. */
  complete: boolean;
}

const MAX_TEXT_CHARACTERS = 400;

/** Maximum size of a page for a survey. No page made for people is that large, and scoring it would take seconds. */
const MAX_BLOCKS = 250_000;
const MAX_ELEMENTS = 500_000;

/** Elements with text that is never content. */
export const NON_TEXT_ELEMENTS = new Set(
  (
    'script style template noscript textarea select option svg iframe object embed canvas audio video map head title datalist ' +
    'input amp-ad amp-embed amp-sticky-ad'
  ).split(' '),
);

/** Inline elements, which do not split the text. */
export const INLINE_ELEMENTS = new Set(
  (
    'a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math nobr picture q rp rt ruby s ' +
    'samp small source span strike strong sub sup time tt u var wbr image mjx-container annotation semantics mrow mi mo mn msup msub mfrac'
  ).split(' '),
);

const isWide = (code: number) =>
  (code >= 0x3040 && code <= 0x30ff) ||
  (code >= 0x3400 && code <= 0x9fff) ||
  (code >= 0xac00 && code <= 0xd7af) ||
  (code >= 0x0e00 && code <= 0x0eff);

/** Character classes for counting; the classes up to CAPITAL are part of a word. */
const LETTER = 0;
const DIGIT = 1;
const CAPITAL = 2;
const SPACE = 3;
/** May be inside a word, but does not start one. */
const JOINT = 4;
const BREAK = 5;
const COMMA = 6;
const FULL_STOP = 7;
const WIDE_FULL_STOP = 8;
const WIDE = 9;

const ASCII_KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code <= 0x20) return SPACE;
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return LETTER;
  if (/[A-Z]/.test(character)) return CAPITAL;
  if (/\d/.test(character)) return DIGIT;
  if (/['_]/.test(character)) return JOINT;
  if (/[.!?]/.test(character)) return FULL_STOP;
  return character === ',' ? COMMA : BREAK;
});

function kindBeyondAscii(code: number): number {
  if (code === 0xa0) return SPACE;
  if (isWide(code)) return WIDE;
  if (code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0x0964) return WIDE_FULL_STOP;
  if (code === 0x3001 || code === 0xff0c || code === 0x060c) return COMMA;
  if ((code >= 0x2010 && code <= 0x206f && code !== 0x2019) || (code >= 0xa1 && code <= 0xbf)) return BREAK;
  return LETTER;
}

/** Adds the counts of a text to its block. In scripts without spaces, every two characters count as a word. */
function count(text: string, block: Block): void {
  let inWord = false;
  let wide = 0;
  let words = 0;
  let spaces = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = code < 0x80 ? ASCII_KINDS[code]! : kindBeyondAscii(code);
    if (kind <= CAPITAL) {
      if (kind === CAPITAL) block.capitals++;
      else if (kind === DIGIT) block.digits++;
      if (!inWord) words++;
      inWord = true;
      continue;
    }
    if (kind === SPACE) spaces++;
    else if (kind === COMMA) block.commas++;
    else if (kind === WIDE) wide++;
    else if (kind === WIDE_FULL_STOP) block.sentences++;
    else if (kind === FULL_STOP && !(text.charCodeAt(at + 1) > 0x20)) block.sentences++;
    if (kind !== JOINT) inWord = false;
  }
  block.words += words + ((wide + 1) >> 1);
  block.characters += text.length - spaces;
}

/** Whether a block reads like sentences rather than a label. */
export const isProse = (block: Block): boolean =>
  block.words >= 10 &&
  block.linkWords * 2 < block.words &&
  (block.sentences > 0 || block.commas > 0 || block.words > 25);

/** Indexes the descendants of `root`. `readClass` returns the parts of the page that a name indicates. */
export function survey(root: Document | Element, readClass: (name: string) => number): Survey {
  const surveyor = new Surveyor(readClass);
  let node: Node | null = root.type === ELEMENT ? root : root.first;
  while (node && !surveyor.isFull) {
    if (node.type === TEXT) surveyor.read(node);
    else if (node.type === ELEMENT && surveyor.enter(node)) {
      if (node.first) {
        node = node.first;
        continue;
      }
      surveyor.leave();
    }
    while (node && (node === root || !(node as Child).next)) {
      node = node === root ? null : (node.parent as Node);
      if (node && node.type === ELEMENT) surveyor.leave();
    }
    if (node) node = (node as Child).next;
  }
  return surveyor.finish();
}

/** Initial capacity in elements; doubled when full. */
const INITIAL_CAPACITY = 2048;

/** The columns of data for each element. */
const COLUMNS = [
  'parent',
  'end',
  'parts',
  'classes',
  'firstBlock',
  'endBlock',
  'words',
  'linkWords',
  'proseWords',
] as const satisfies readonly (keyof Survey)[];

/** State of survey(): its results so far and its position. */
class Surveyor {
  readonly #found: Survey;
  readonly #readClass: (name: string) => number;
  /** Templates repeat a class on many elements, so the number and the mask of each class attribute are cached. */
  readonly #classNumbers = new Map<string, number>();
  readonly #classParts: number[] = [0];
  /** For each element, the block-level element to which its text belongs. */
  #owners: Int32Array = new Int32Array(INITIAL_CAPACITY);
  /** For each element, whether it is inside an anchor. */
  #isInAnchor: Uint8Array = new Uint8Array(INITIAL_CAPACITY);
  /** For each element, whether it splits the text around it. */
  #isBlockLevel: Uint8Array = new Uint8Array(INITIAL_CAPACITY);
  /** Number of the open element; -1 for none. */
  #current = -1;
  #block: Block | null = null;
  #wordsBefore = 0;

  constructor(readClass: (name: string) => number) {
    this.#readClass = readClass;
    this.#found = {
      elements: [],
      parent: new Int32Array(INITIAL_CAPACITY),
      end: new Int32Array(INITIAL_CAPACITY),
      parts: new Int32Array(INITIAL_CAPACITY),
      classes: new Int32Array(INITIAL_CAPACITY),
      classTexts: [''],
      firstBlock: new Int32Array(INITIAL_CAPACITY),
      endBlock: new Int32Array(INITIAL_CAPACITY),
      words: new Int32Array(INITIAL_CAPACITY),
      linkWords: new Int32Array(INITIAL_CAPACITY),
      proseWords: new Int32Array(INITIAL_CAPACITY),
      blocks: [],
      texts: [],
      complete: true,
    };
  }

  get isFull(): boolean {
    return this.#found.blocks.length > MAX_BLOCKS || this.#found.elements.length > MAX_ELEMENTS;
  }

  #grow(): void {
    const size = this.#owners.length * 2;
    for (const column of COLUMNS) this.#found[column] = grown(this.#found[column], size);
    this.#owners = grown(this.#owners, size);
    this.#isInAnchor = grownBytes(this.#isInAnchor, size);
    this.#isBlockLevel = grownBytes(this.#isBlockLevel, size);
  }

  /** Opens an element; returns false if its text is never content. */
  enter(element: Element): boolean {
    const kind = kindOf(element);
    if (kind === NON_TEXT) return false;
    const found = this.#found;
    const above = this.#current;
    const number = found.elements.length;
    if (number === this.#owners.length) this.#grow();
    found.elements.push(element);
    found.parent[number] = above;
    found.parts[number] = this.#readNames(element, number);
    this.#isBlockLevel[number] = kind === BLOCK_LEVEL ? 1 : 0;
    if (kind === BLOCK_LEVEL) this.#closeBlock();
    found.firstBlock[number] = this.#block ? found.blocks.length - 1 : found.blocks.length;
    this.#owners[number] = kind === BLOCK_LEVEL || above < 0 ? number : this.#owners[above]!;
    const isAnchor = element.name === 'a' && attribute(element, 'href') !== null;
    this.#isInAnchor[number] = isAnchor || (above >= 0 && this.#isInAnchor[above] === 1) ? 1 : 0;
    this.#current = number;
    return true;
  }

  /** Returns the parts that the names of an element indicate, and assigns a number to its class. */
  #readNames(element: Element, number: number): number {
    // The name of a custom element describes its purpose, like a class.
    let mask = element.name.includes('-') ? this.#readClass(element.name) : 0;
    const { attributes } = element;
    for (let at = 0; at < attributes.length; at++) {
      const { name, value } = attributes[at]!;
      if (value === '') continue;
      if (name === 'class') {
        const known = this.#numberOfClass(value);
        this.#found.classes[number] = known;
        mask |= this.#classParts[known]!;
      } else if (name !== 'href' && name !== 'style' && NAMING_ATTRIBUTES.has(name)) mask |= this.#readClass(value);
    }
    return mask;
  }

  #numberOfClass(text: string): number {
    const known = this.#classNumbers.get(text);
    if (known !== undefined) return known;
    const number = this.#found.classTexts.push(text) - 1;
    this.#classNumbers.set(text, number);
    this.#classParts.push(this.#readClass(text));
    return number;
  }

  leave(): void {
    const found = this.#found;
    const number = this.#current;
    if (this.#isBlockLevel[number] === 1) this.#closeBlock();
    found.end[number] = found.elements.length;
    found.endBlock[number] = found.blocks.length;
    this.#current = found.parent[number]!;
  }

  read(node: Text): void {
    const current = this.#current;
    if (current < 0) return;
    let block = this.#block;
    if (!block) {
      if (isBlank(node.value)) return;
      block = newBlock(this.#owners[current]!, this.#found.texts.length);
      this.#block = block;
      this.#found.blocks.push(block);
    }
    block.endText = this.#found.texts.push(node);
    const before = block.words;
    count(node.value, block);
    if (this.#isInAnchor[current]) block.linkWords += block.words - before;
    if (block.text.length < MAX_TEXT_CHARACTERS) block.text += node.value.slice(0, MAX_TEXT_CHARACTERS);
  }

  finish(): Survey {
    this.#closeBlock();
    const found = this.#found;
    found.complete = !this.isFull;
    if (!found.complete) return found;
    for (const column of COLUMNS) found[column] = found[column].subarray(0, found.elements.length);
    sumUpwards(found);
    return found;
  }

  #closeBlock(): void {
    const block = this.#block;
    if (!block) return;
    this.#block = null;
    if (block.words === 0 && block.characters === 0) {
      this.#found.blocks.pop();
      this.#found.texts.length = block.firstText;
      return;
    }
    block.text = collapsed(block.text);
    block.wordsBefore = this.#wordsBefore;
    this.#wordsBefore += block.words;
    block.phrases = readPhrases(block.text, block.digits > 0);
  }
}

function grown(column: Int32Array, size: number): Int32Array {
  const wide = new Int32Array(size);
  wide.set(column);
  return wide;
}

function grownBytes(column: Uint8Array, size: number): Uint8Array {
  const wide = new Uint8Array(size);
  wide.set(column);
  return wide;
}

/** How an element affects the text around it. */
const BLOCK_LEVEL = 0;
const INLINE = 1;
const NON_TEXT = 2;
const KINDS = new Map([
  ...[...INLINE_ELEMENTS].map((name) => [name, INLINE] as const),
  ...[...NON_TEXT_ELEMENTS].map((name) => [name, NON_TEXT] as const),
]);

function kindOf({ name, namespace }: Element): number {
  if (namespace === 'svg') return NON_TEXT;
  const kind = KINDS.get(name) ?? BLOCK_LEVEL;
  return kind === BLOCK_LEVEL && namespace === 'math' ? INLINE : kind;
}

function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) continue;
    return code >= 0x80 && !/\S/.test(text);
  }
  return true;
}

/** Most texts contain nothing to collapse, and testing is cheaper than replacing. */
function collapsed(text: string): string {
  const trimmed = text.trim();
  return UNEVEN_SPACE.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed;
}

const UNEVEN_SPACE = /[^\S ]| {2}/;

const newBlock = (owner: number, firstText: number): Block => ({
  owner,
  firstText,
  endText: firstText,
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

/**
 * Attributes other than `class` with values that indicate the part of the page. Pages with generated class names set
 * these attributes for tests and components.
 */
export const NAMING_ATTRIBUTES = new Set(
  (
    'id role itemprop itemtype aria-label data-testid data-test data-test-id data-qa data-component ' +
    'data-component-name data-module data-widget data-block data-section data-section-type data-type data-role data-hook'
  ).split(' '),
);
function sumUpwards(found: Survey): void {
  const { elements, parent, words, linkWords, proseWords } = found;
  const size = elements.length;
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
