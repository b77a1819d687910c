/** Copies the chosen part of a page: the kept blocks, the elements around them, and the media between them. */
import {
  append,
  attribute,
  type Child,
  clone,
  type Document,
  ELEMENT,
  Element,
  following,
  insertBefore,
  type Node,
  TEXT,
  Text,
} from '#html/node.ts';
import { isCodeCell } from '../../markdown/code-text.ts';
import { BLOCK_ELEMENTS } from '../../markdown/elements/block-elements.ts';
import { PLAYER_PLACEHOLDERS } from '../../markdown/players.ts';
import { PARTS } from '../blocks/class-words.ts';
import { INLINE_ELEMENTS, NON_TEXT_ELEMENTS, type Survey } from '../blocks/survey.ts';

/** Leaf elements that are kept along with the text around them. */
const MEDIA = new Set([
  'img',
  'video',
  'audio',
  'iframe',
  'embed',
  'object',
  'amp-video',
  'amp-audio',
  'amp-iframe',
  'picture',
  'hr',
  'br',
  'wbr',
  'td',
  'th',
  'col',
  'source',
  'track',
  'input',
]);

/** Placeholders of players, which are kept regardless of their content. */
const PLACEHOLDERS = new Set(PLAYER_PLACEHOLDERS);

const partMask = (...parts: (typeof PARTS)[number][]) =>
  parts.reduce((mask, part) => mask | (1 << PARTS.indexOf(part)), 0);
const PARTS_WITHOUT_PICTURES = partMask('advert', 'share', 'author', 'related', 'nav');

/** An open element of the page; its copy is set once a descendant was kept. */
interface Open {
  source: Element;
  copy: Element | null;
  /** Whether media that are direct children of the element are kept. */
  keepsMedia: boolean;
  /** Whether the element is code, or inside code. */
  isCode: boolean;
}

/** Whether an image is part of the content, not a tracking pixel or an icon in a bar. */
function isPicture(element: Element): boolean {
  const size = (name: string) => Number.parseInt(attribute(element, name) ?? '', 10);
  return !(size('width') <= 2 || size('height') <= 2);
}

function isKeptMedia(element: Element, parts: number): boolean {
  if (element.name === 'input') return attribute(element, 'type')?.toLowerCase() === 'checkbox';
  if (element.name === 'img') return isPicture(element) && (parts & PARTS_WITHOUT_PICTURES) === 0;
  if (element.name === 'script') return /^math\//i.test(attribute(element, 'type') ?? '');
  return MEDIA.has(element.name) || PLACEHOLDERS.has(element.name);
}

const isCode = (element: Element): boolean => element.name === 'pre' || (element.name === 'td' && isCodeCell(element));

/** Elements that play a recording or show a post of another site. */
const PLAYERS = new Set(['video', 'audio', 'iframe', 'amp-video', 'amp-audio', 'amp-iframe', ...PLAYER_PLACEHOLDERS]);
const SHARE = partMask('share');
const MAX_PLAYER_NODES = 20;

/** Whether a box has its name from the site whose player is in it (`is-provider-youtube`), not from sharing. */
function isPlayerBox(box: Element, parts: number): boolean {
  if ((parts & PARTS_WITHOUT_PICTURES) !== SHARE) return false;
  if (PLAYERS.has(box.name)) return true;
  let nodes = 0;
  for (let node = following(box, box); node && nodes < MAX_PLAYER_NODES; node = following(node, box), nodes++) {
    if (node.type === ELEMENT && PLAYERS.has(node.name)) return true;
  }
  return false;
}

/**
 * Copies the body of the page (the survey's root) with only the blocks for which `keep` is 1. If `sources` is passed,
 * it maps each copied element to its original.
 */
export function copyKeptBlocks(
  root: Element | Document,
  survey: Survey,
  keep: Uint8Array,
  sources?: Map<Element, Element>,
): Element {
  const copyRoot = new Element('body');
  if (root.type === ELEMENT) sources?.set(copyRoot, root);
  const copied = (copy: Element, source: Element): Element => {
    sources?.set(copy, source);
    return copy;
  };
  const expected = expectTexts(survey, keep);
  const counts = new Int32Array(keep.length + 1);
  const words = new Float64Array(keep.length + 1);
  for (let at = 0; at < keep.length; at++) {
    counts[at + 1] = counts[at]! + keep[at]!;
    words[at + 1] = words[at]! + (keep[at] ? survey.blocks[at]!.words : 0);
  }
  const keptBlocks = (number: number) => counts[survey.endBlock[number]!]! - counts[survey.firstBlock[number]!]!;
  const keptWords = (number: number) => words[survey.endBlock[number]!]! - words[survey.firstBlock[number]!]!;
  const stack: Open[] = [];
  let number = -1;
  const copyOf = (): Element => {
    let at = stack.length - 1;
    while (at >= 0 && !stack[at]!.copy) at--;
    let copy = at >= 0 ? stack[at]!.copy! : copyRoot;
    for (at++; at < stack.length; at++) {
      const opened = copied(emptyCopy(stack[at]!.source), stack[at]!.source);
      append(copy, opened);
      stack[at]!.copy = opened;
      copy = opened;
    }
    return copy;
  };
  /** Whether a box began since the last text. */
  let isParted = false;
  const keepText = (node: Text) => {
    if (expected.has(node)) {
      const copy = copyOf();
      if (isParted) separateTexts(copy);
      isParted = false;
      append(copy, new Text(node.value));
    } else if (/\S/.test(node.value)) return;
    // The white space of code is kept with it: indentation and empty lines.
    else if (stack.at(-1)?.isCode) {
      append(copyOf(), new Text(node.value));
      isParted = false;
    } else if (stack.at(-1)?.copy) append(stack.at(-1)!.copy!, new Text(' '));
  };
  /** Whether to descend into the element. */
  const enter = (element: Element): boolean => {
    const parent = stack.at(-1);
    const keepsMedia = parent?.keepsMedia ?? false;
    isParted ||= BLOCK_ELEMENTS.has(element.name);
    if (NON_TEXT_ELEMENTS.has(element.name) || element.namespace === 'svg') {
      if (keepsMedia && isKeptMedia(element, 0)) append(copyOf(), copied(wholeCopy(element), element));
      return false;
    }
    number++;
    const own = number;
    expected.startAt(survey.firstBlock[own]!);
    const has = survey.endBlock[own]! > survey.firstBlock[own]!;
    const kept = has && keptBlocks(own) > 0;
    // The label was omitted, but not the player itself.
    if (has && !kept && keepsMedia && PLACEHOLDERS.has(element.name))
      append(copyOf(), copied(emptyCopy(element), element));
    if (has ? !kept : !keepsMedia) {
      number = survey.end[own]! - 1;
      return false;
    }
    const parts = survey.parts[own]!;
    if (!has && (parts & PARTS_WITHOUT_PICTURES) !== 0 && !isPlayerBox(element, parts)) {
      number = survey.end[own]! - 1;
      return false;
    }
    const open: Open = {
      source: element,
      copy: null,
      keepsMedia: has ? keptWords(own) * 2 >= survey.words[own]! : keepsMedia,
      isCode: parent?.isCode || isCode(element),
    };
    stack.push(open);
    // Media inside a line of kept text are kept with the line, although they contain no text.
    if (isKeptMedia(element, parts)) copyOf();
    return true;
  };
  let node: Node | null = root.type === ELEMENT ? root : root.first;
  while (node) {
    let child: Child | null = null;
    if (node.type === TEXT) keepText(node);
    else if (node.type === ELEMENT && enter(node)) {
      child = node.first;
      if (!child) stack.pop();
    }
    if (child) {
      node = child;
      continue;
    }
    while (node && (node === root || !(node as Child).next)) {
      node = node === root ? null : ((node as Child).parent as Node);
      if (node && stack.at(-1)?.source === node) stack.pop();
    }
    if (node) node = (node as Child).next;
  }
  return copyRoot;
}

/** Finds the texts of kept blocks. Callers must query them in document order, which is the survey's order. */
function expectTexts({ blocks, texts }: Survey, keep: Uint8Array) {
  let block = -1;
  let text = 0;
  const moveTo = (at: number): void => {
    block = at;
    while (block < keep.length && !keep[block]) block++;
    if (block < keep.length) text = blocks[block]!.firstText;
  };
  moveTo(0);
  return {
    /** Texts of blocks before this one will not be queried again. */
    startAt: (at: number): void => {
      if (at > block) moveTo(at);
    },
    has: (node: Text): boolean => {
      if (block >= keep.length || texts[text] !== node) return false;
      if (++text === blocks[block]!.endText) moveTo(block + 1);
      return true;
    },
  };
}

/**
 * Puts an empty box before a text that is about to be appended, if it would otherwise continue the text of another block
 * because what was between them is not copied: `one<p></p>two`.
 */
function separateTexts(copy: Element): void {
  let before: Element | null = null;
  let parent = copy;
  let last = parent.last;
  while (true) {
    while (last?.type === TEXT && !/\S/.test(last.value)) last = last.prev;
    if (last || !INLINE_ELEMENTS.has(parent.name) || parent.parent?.type !== ELEMENT) break;
    before = parent;
    last = parent.prev;
    parent = parent.parent;
  }
  if (!last || (last.type === ELEMENT && !INLINE_ELEMENTS.has(last.name))) return;
  if (before) insertBefore(new Element('div'), before);
  else append(parent, new Element('div'));
}

const emptyCopy = (element: Element): Element => new Element(element.name, element.namespace, element.attributes);

/**
 * Copies a leaf that has no text blocks: media keep their sources, other leaves (such as a formula) keep their text.
 */
function wholeCopy(element: Element): Element {
  if (element.name === 'video' || element.name === 'audio') return clone(element);
  const copy = emptyCopy(element);
  if (element.first?.type === TEXT) append(copy, new Text(element.first.value));
  return copy;
}
