/**
 * Keeps the footnotes that the kept text refers to. They often stand below everything else, and the trees take their list
 * for a footer.
 */
import { attribute, ELEMENT, type Element, following, type Node, type Text, textOf } from '#html/node.ts';
import type { Survey } from '../blocks/survey.ts';

/** `1`, `[2]`, `(a)`, `*`: the text of a link to a note. */
const LABEL = /^[[(]?(?:\d{1,3}|[a-z]|[ivx]{1,4}|[*†‡§]{1,3})[\])]?$/i;
const MAX_LABEL_CHARACTERS = 8;
/** A longer element is a section, not a note. Number of words. */
const MAX_WORDS = 200;

/** Changes `keep` in place. */
export function keepNotes(survey: Survey, keep: Uint8Array): void {
  const targets = findReferences(survey, keep);
  if (targets.size === 0) return;
  for (let at = 1; at < survey.elements.length; at++) {
    const id = attribute(survey.elements[at]!, 'id');
    if (!id || !targets.has(id) || survey.words[at]! > MAX_WORDS || !hasBacklink(survey.elements[at]!)) continue;
    keep.fill(1, survey.firstBlock[at], survey.endBlock[at]);
  }
}

/** Levels of elements inside a link: `<a><sup>1</sup></a>`. */
const MAX_LEVELS = 3;

/** The ids to which kept text refers by a label. */
function findReferences({ blocks, texts }: Survey, keep: Uint8Array): ReadonlySet<string> {
  const ids = new Set<string>();
  for (let at = 0; at < keep.length; at++) {
    if (!keep[at]) continue;
    const { firstText, endText } = blocks[at]!;
    for (let text = firstText; text < endText; text++) {
      const href = linkAround(texts[text]!);
      if (href?.startsWith('#')) ids.add(href.slice(1));
    }
  }
  return ids;
}

/** The target of the link that has only this label as its text. */
function linkAround(text: Text): string | null {
  if (text.value.length > MAX_LABEL_CHARACTERS) return null;
  let node: Node | null = text.parent;
  for (let level = 0; node?.type === ELEMENT && level < MAX_LEVELS; level++, node = node.parent) {
    if (node.name === 'a') return isLabel(node) ? attribute(node, 'href') : null;
  }
  return null;
}

function isLabel(anchor: Element): boolean {
  const text = textOf(anchor).trim();
  return text.length <= MAX_LABEL_CHARACTERS && LABEL.test(text);
}

function hasBacklink(note: Element): boolean {
  for (let node = following(note, note); node; node = following(node, note)) {
    if (node.type === ELEMENT && node.name === 'a' && attribute(node, 'href')?.startsWith('#')) return true;
  }
  return false;
}
