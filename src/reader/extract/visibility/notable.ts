/**
 * Decides whether a hidden part is worth a warning. Most pages hide some text for good reasons: skip links, labels for
 * screen readers, menus, messages for later. All of it is left out, but a warning about it would only teach people to
 * ignore warnings.
 */
import { attribute, type Child, ELEMENT, type Element, following, TEXT, textOf } from '#html/node.ts';
import { HIDDEN_ATTRIBUTE } from '../../snapshot.ts';

/** Longest text that markup for accessibility explains: such labels are a sentence or two. */
const MAX_EXPLAINED_LETTERS = 200;
/** Longest text that a page may hide without explanation, such as "Loading" or "Copied to the clipboard". */
const MAX_LABEL_LETTERS = 40;
/** A part with this share of its letters in links and controls is a menu, however long. */
const MENU_SHARE = 0.7;
/** Number of ancestors that may explain a hidden part. */
const MAX_LEVELS = 4;
/** Longest text that is searched for words addressed to machines. */
const MAX_SEARCHED_CHARACTERS = 50_000;

/** Text that speaks to a model rather than to a person. */
const TO_MACHINES = [
  /\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,60}\b(?:instructions?|prompts?|previous|prior|above|rules|guidelines|everything)\b/i,
  /\b(?:system|hidden|secret|initial) ?prompt\b|<\|[a-z_]{1,20}\|>|\[\/?inst\]|\bprompt injection\b/i,
  /\b(?:language models?|LLMs?|AI (?:assistants?|agents?|models?|systems?|crawlers?|bots?)|chat ?bots?|ChatGPT|GPT-?\d|Claude|Gemini|Copilot)\b/i,
  /\bobey\b|\byou are (?:now )?(?:an? )?(?:AI|assistant|agent|model|bot)\b|\bas an AI\b|\byour (?:new )?(?:task|instructions?|role) (?:is|are)\b/i,
  /\b(?:do not|don't|never) (?:tell|mention|reveal|inform)\b|\b(?:tell|inform|convince) the user\b|\bin your (?:answer|response|summary|reply)\b/i,
  /\bignorier(?:e|en|t)\b|\bignor(?:ez|er|a|e|are)\b[^.]{0,60}\binstruc|忽略|无视|無視|指示に従|игнорир/iu,
];

const speaksToMachines = (text: string): boolean => {
  const start = text.slice(0, MAX_SEARCHED_CHARACTERS);
  return TO_MACHINES.some((pattern) => pattern.test(start));
};

/** Longest text that can be an order; articles about models are longer. */
const MAX_ORDER_LETTERS = 2_000;

/** Parts with more nodes are not examined further, since hidden parts may be nested. */
const MAX_ORDER_NODES = 2_000;

/** Whether a part consists of an order to a model. */
export function isOrder(part: Child): boolean {
  let nodes = 0;
  for (let node = following(part, part); node; node = following(node, part))
    if (++nodes > MAX_ORDER_NODES) return false;
  const { letters, text } = readText(part);
  return letters <= MAX_ORDER_LETTERS && speaksToMachines(text);
}

/** Whether text that an image or a link loses is worth a warning. */
export const isNotableLabel = (text: string): boolean => text.length > MAX_EXPLAINED_LETTERS || speaksToMachines(text);

export interface HiddenPart {
  readonly node: Child;
  /** How the part is hidden. */
  readonly kind: string;
}

/** Whether a part that is about to be removed is worth a warning. It must still be in the tree. */
export function isNotable({ node, kind }: HiddenPart): boolean {
  const { letters, controlLetters, text } = readText(node);
  if (speaksToMachines(text)) return true;
  if (letters === 0) return false;
  const technique = techniqueOf(node, kind);
  // No page needs words in the color of their background.
  if (technique === 'disguised') return letters > 1 && /\p{L}\s+\p{L}/u.test(text);
  if (letters <= MAX_LABEL_LETTERS && technique === 'state') return false;
  if (controlLetters >= letters * MENU_SHARE) return false;
  return letters > MAX_EXPLAINED_LETTERS || !isExplained(node);
}

/** `state`: a part that is shown at times. `aside`: clipped or moved away, as labels for screen readers are. */
type Technique = 'state' | 'aside' | 'disguised';

function techniqueOf(node: Child, kind: string): Technique {
  const mark = node.type === ELEMENT ? attribute(node, HIDDEN_ATTRIBUTE) : null;
  const how = mark || kind;
  if (how === 'color' || how === 'covered') return 'disguised';
  return how === 'size' || how === 'place' || how === 'offscreen' ? 'aside' : 'state';
}

/** Elements and roles whose parts are labels, messages or controls. */
const EXPLAINING_ELEMENTS = new Set(
  'a button caption dialog figcaption form label legend nav menu option summary svg th time'.split(' '),
);
const EXPLAINING_ATTRIBUTES = /^(?:role|aria-.+|popover)$/;
const EXPLAINING_CLASSES =
  /(?:^|[\s_-])(?:sr|a11y|screen-?reader|visually-?hidden|off-?screen|assistive|accessib\w*|skip|tooltip|modal|dropdown)(?:$|[\s_-])|sr-?only|visually-?hidden|screen-?reader|skip-?(?:link|to|nav)|element-invisible/i;

function isExplained(node: Child): boolean {
  let at: Element | null = node.type === ELEMENT ? node : parentOf(node);
  for (let level = 0; at && level <= MAX_LEVELS; level++, at = parentOf(at)) {
    if (EXPLAINING_ELEMENTS.has(at.name)) return true;
    for (const { name, value } of at.attributes) {
      if (EXPLAINING_ATTRIBUTES.test(name)) return true;
      // Names of the elements around it say nothing about this part.
      if (level === 0 && (name === 'class' || name === 'id') && EXPLAINING_CLASSES.test(value.slice(0, 500)))
        return true;
    }
  }
  return false;
}

const parentOf = ({ parent }: Child): Element | null => (parent?.type === ELEMENT ? parent : null);

const CONTROLS = new Set(['a', 'button', 'label', 'select', 'textarea', 'option', 'summary', 'legend']);
const NO_TEXT = new Set(['script', 'style', 'template', 'head', 'title']);

interface PartText {
  /** Letters outside of pictures. */
  readonly letters: number;
  /** Letters within links and controls. */
  readonly controlLetters: number;
  /** Includes the alternative texts of pictures. */
  readonly text: string;
}

function readText(root: Child): PartText {
  if (root.type === TEXT) return { letters: root.value.trim().length, controlLetters: 0, text: root.value };
  const texts: string[] = root.type === ELEMENT ? [attribute(root, 'alt') ?? ''] : [];
  let letters = 0;
  let controlLetters = 0;
  let control: Element | null = root.type === ELEMENT && CONTROLS.has(root.name) ? root : null;
  let end: Child | null = null;
  let node = following(root, root);
  while (node) {
    if (node === end) control = null;
    if (node.type === TEXT) {
      const count = node.value.trim().length;
      texts.push(node.value, ' ');
      letters += count;
      if (control) controlLetters += count;
    } else if (!control && node.type === ELEMENT && CONTROLS.has(node.name)) {
      control = node;
      end = following(node, root, true) as Child | null;
    }
    if (node.type === ELEMENT && node.name === 'img') texts.push(attribute(node, 'alt') ?? '', ' ');
    node = following(node, root, node.type === ELEMENT && NO_TEXT.has(node.name));
  }
  return { letters, controlLetters, text: texts.join('') };
}

/** The text that an element loses if only its labels are removed. */
export const labelsOf = (element: Element): string =>
  ['alt', 'title', 'aria-label'].map((name) => attribute(element, name) ?? '').join(' ') + textOf(element);
