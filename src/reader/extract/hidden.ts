/**
 * Leaves out what a person cannot see, so that no text reaches a model that its reader would not have met: hidden
 * elements, text without size or contrast, and characters that have no picture.
 */
import {
  attribute,
  type Child,
  children,
  type Document,
  detach,
  ELEMENT,
  type Element,
  TEXT,
  type Text,
  textOf,
} from '#html/node.ts';
import { HIDDEN_ATTRIBUTE } from '../snapshot.ts';
import { looksTheSame, type Rgb, readInlineStyle, type Visibility } from './inline-style.ts';

/** What text inherits from the elements around it. */
interface Ink {
  readonly invisible: boolean;
  readonly zeroFont: boolean;
  readonly color: Rgb | 'transparent' | null;
  readonly background: Rgb | 'other' | null;
}

const INK: Ink = { invisible: false, zeroFont: false, color: null, background: null };

/** Elements that never hold text for reading; their text is not judged. */
const NO_TEXT = new Set(['script', 'style', 'template', 'head', 'title']);

/** What is heard, or waits for its player, without being seen: kept for those who ask for media, without its words. */
const MEDIA = new Set(['audio', 'video']);
const MEDIA_PARTS = new Set(['source', 'track']);
const PLAYED = new Set([
  'src',
  'type',
  'poster',
  'controls',
  'width',
  'height',
  'loop',
  'muted',
  'autoplay',
  'preload',
]);

const MAY_HIDE_CHARACTERS = /[\u180e\u200b-\u200f\u2060-\u2064\ufeff\udb40]|[\ufe00-\ufe0f]/;
// A lone zero-width character joins or splits letters in many scripts; a run of them, or a variation selector after
// another, only carries what nobody sees.
const ZERO_WIDTH_RUN = /[\u180e\u200b-\u200f\u2060-\u2064\ufeff]{2,}|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}/gu;
// The flags of England, Scotland and Wales are a black flag with tags: the one honest use.
const TAGS = /(\u{1f3f4}[\u{e0061}-\u{e007a}]{2,6}\u{e007f})|[\u{e0000}-\u{e007f}]+/gu;

/** Text without what only machines see in it. */
export function withoutHiddenCharacters(text: string): string {
  if (!MAY_HIDE_CHARACTERS.test(text)) return text;
  return text.replace(TAGS, (_, flag?: string) => flag ?? '').replace(ZERO_WIDTH_RUN, '');
}

const styles = () => {
  const known = new Map<string, Visibility>();
  return (style: string): Visibility => {
    let visibility = known.get(style);
    if (!visibility) {
      visibility = readInlineStyle(style);
      known.set(style, visibility);
    }
    return visibility;
  };
};

/** Why an element with all under it is not seen, or null. */
function hiddenReason(element: Element, style: Visibility | null): string | null {
  if (style?.gone) return 'inline style';
  const { attributes } = element;
  for (let at = 0; at < attributes.length; at++) {
    const { name, value } = attributes[at]!;
    if (name === HIDDEN_ATTRIBUTE) return 'not seen in the browser';
    if (name === 'hidden' && value.toLowerCase() !== 'until-found') return 'hidden attribute';
    if (name === 'popover') return 'closed popover';
  }
  if (element.name === 'dialog' && attribute(element, 'open') === null) return 'closed dialog';
  return null;
}

function keepMedium(medium: Element): void {
  const bare = (element: Element) => {
    element.attributes = element.attributes.filter(({ name }) => PLAYED.has(name));
  };
  bare(medium);
  for (const child of children(medium)) {
    if (child.type === ELEMENT && MEDIA_PARTS.has(child.name)) bare(child);
    else detach(child);
  }
}

const inked = (ink: Ink, style: Visibility): Ink => ({
  invisible: style.invisible ?? ink.invisible,
  zeroFont: style.zeroFont ?? ink.zeroFont,
  color: style.color ?? ink.color,
  background: style.background ?? ink.background,
});

function canBeRead(ink: Ink): boolean {
  if (ink.invisible || ink.zeroFont || ink.color === 'transparent') return false;
  return !(ink.color && ink.background && ink.background !== 'other' && looksTheSame(ink.color, ink.background));
}

function cleanText(node: Text): boolean {
  const value = withoutHiddenCharacters(node.value);
  if (value === node.value) return false;
  node.value = value;
  return true;
}

function cleanAttributes(element: Element): void {
  for (const entry of element.attributes) {
    if (entry.name === 'alt' || entry.name === 'title') entry.value = withoutHiddenCharacters(entry.value);
  }
}

/**
 * Takes out of the document what cannot be seen and returns how many pieces that were. `html` and `body` are never
 * taken out, though what they hide in their own style is inherited as CSS has it. `onRemove` hears of each piece
 * while it still stands in the tree, and of text that lost characters and stays.
 */
export function removeHidden(document: Document, onRemove?: (node: Child, reason: string) => void): number {
  const readStyle = styles();
  const inks: Ink[] = [INK];
  const holders: Element[] = [];
  let count = 0;
  const remove = (node: Child, reason: string) => {
    onRemove?.(node, reason);
    detach(node);
    count++;
  };
  const faded: Element[] = [];
  let seen = 0;
  let node: Child | null = document.first;
  while (node) {
    const next: Child | null = node.next;
    let down: Child | null = null;
    if (node.type === TEXT) {
      if (!canBeRead(inks[inks.length - 1]!) && /\S/.test(node.value)) remove(node, 'unreadable text');
      else {
        if (cleanText(node)) {
          onRemove?.(node, 'invisible characters');
          count++;
        }
        seen += node.value.length;
      }
    } else if (node.type === ELEMENT && !NO_TEXT.has(node.name)) {
      const value = node.attributes.length > 0 ? attribute(node, 'style') : null;
      const style = value ? readStyle(value) : null;
      const reason = hiddenReason(node, style);
      if (reason !== null && MEDIA.has(node.name)) keepMedium(node);
      else if (style?.faded && reason === 'inline style' && node.first) faded.push(node);
      else if (reason !== null && node.name !== 'body' && node.name !== 'html') remove(node, reason);
      else {
        if (node.name === 'img' || node.name === 'a') cleanAttributes(node);
        if (node.first) {
          const ink = inks[inks.length - 1]!;
          inks.push(style ? inked(ink, style) : ink);
          holders.push(node);
          down = node.first;
        }
      }
    }
    node = down ?? next;
    while (!node && holders.length > 0) {
      node = holders.pop()!.next;
      inks.pop();
    }
  }
  for (const element of faded) {
    const length = textOf(element).length;
    // A script that fades the page in starts with all of it transparent; hiding a part leaves the rest to be seen.
    if (length > 1000 && length > 2 * seen) seen += length;
    else remove(element, 'inline style');
  }
  return count;
}
