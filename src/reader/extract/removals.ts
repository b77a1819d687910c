/** Says what was left out, and why, for those who ask. */
import { attribute, type Child, ELEMENT, type Element, textOf } from '#html/node.ts';
import type { Removal } from '../article.ts';
import type { Selection } from './select-content.ts';
import type { Survey } from './survey.ts';

const MOST_REMOVALS = 500;
const LONGEST_TEXT = 100;
const LONGEST_PATH = 4;

/** The last steps of the way to an element, like `main#top > div.share`. */
export function pathOf(node: Child): string {
  const steps: string[] = [];
  let at: Child | null = node.type === ELEMENT ? node : (node.parent as Element | null);
  while (at && at.type === ELEMENT && steps.length < LONGEST_PATH) {
    const id = attribute(at, 'id')?.trim();
    const name = (attribute(at, 'class') ?? '').trim().split(/\s+/)[0];
    steps.unshift(`${at.name}${id ? `#${id.slice(0, 60)}` : name ? `.${name.slice(0, 60)}` : ''}`);
    at = at.parent?.type === ELEMENT ? at.parent : null;
  }
  return steps.join(' > ');
}

const firstWords = (text: string) =>
  text
    .slice(0, 4 * LONGEST_TEXT)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_TEXT);

/** Adds what a person cannot see. */
export function addHidden(removals: Removal[], node: Child, reason: string): void {
  if (removals.length >= MOST_REMOVALS) return;
  removals.push({ step: 'hidden', reason, selector: pathOf(node), text: firstWords(textOf(node)) });
}

/** Adds each block that was not kept, with how probable it was. */
export function addDropped(removals: Removal[], survey: Survey, { keep, probabilities }: Selection): void {
  for (let at = 0; at < keep.length && removals.length < MOST_REMOVALS; at++) {
    if (keep[at]) continue;
    const block = survey.blocks[at]!;
    removals.push({
      step: 'content',
      reason: `probability ${probabilities[at]!.toFixed(2)}`,
      selector: pathOf(survey.elements[block.owner]!),
      text: firstWords(block.text),
    });
  }
}
