/** Records, for each part that extraction leaves out, which step removed it and why. */
import { type Child, type Document, ELEMENT, type Element, following } from '#html/node.ts';
import { countWords } from '../../words.ts';
import { NON_TEXT_ELEMENTS, type Survey } from '../blocks/survey.ts';
import { signsAgainst } from '../trees/signs.ts';
import { findBoilerplate } from './boilerplate.ts';
import type { Choice } from './choose-blocks.ts';
import { MACHINE_ONLY_ELEMENTS, type RemovalLog, readableText } from './removal-log.ts';
import type { Selection } from './select-content.ts';

/** Notes a placeholder that a late part of the page replaced. */
export function recordReplaced(notes: RemovalLog, node: Child): void {
  if (hasText(node)) notes.add({ step: 'hidden', rule: 'shown only until a later part was there', node });
}

/** Notes a part that is invisible. If a text only lost characters, notes the text. */
export function recordHidden(notes: RemovalLog, node: Child, reason: string): void {
  if (reason === 'invisible characters') notes.add({ step: 'hidden', rule: reason, node });
  else if (hasText(node)) notes.add({ step: 'hidden', rule: reason, node, hidden: true });
}

const hasText = (node: Child): boolean => /\S/.test(readableText(node));

/** Notes every block of the survey that is not kept, except those in elements for which `isNoted` holds. */
export function recordDropped(
  notes: RemovalLog,
  survey: Survey,
  { keep: kept, source, choice }: Selection,
  isNoted: (element: Element) => boolean,
): void {
  const keep = kept.slice();
  for (const [at, { owner }] of survey.blocks.entries()) if (isWithin(survey, owner, isNoted)) keep[at] = 1;
  if (source === 'main' && choice) noteWeighed(notes, survey, keep, choice);
  else noteFramed(notes, survey, keep);
}

function noteWeighed(notes: RemovalLog, survey: Survey, keep: Uint8Array, choice: Choice): void {
  const threshold = rounded(choice.threshold);
  for (const [at, block] of survey.blocks.entries()) {
    if (keep[at]) continue;
    const inUnit = choice.keep[at] === 1;
    notes.add({
      step: inUnit ? 'unit' : 'content',
      rule: inUnit ? 'left out with what it belongs to' : 'probably not the content of the page',
      node: survey.elements[block.owner]!,
      text: block.text,
      words: block.words,
      probability: rounded(choice.probabilities[at]!),
      threshold,
      signs: () => signsAgainst(choice.featuresOf(at)),
    });
  }
}

function isWithin(survey: Survey, owner: number, isNoted: (element: Element) => boolean): boolean {
  for (let at = owner; at >= 0; at = survey.parent[at]!) if (isNoted(survey.elements[at]!)) return true;
  return false;
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

function noteFramed(notes: RemovalLog, survey: Survey, keep: Uint8Array): void {
  const byName = findBoilerplate(survey, true);
  const byLandmark = findBoilerplate(survey, false);
  for (const [at, block] of survey.blocks.entries()) {
    if (keep[at]) continue;
    const holder = survey.elements[topOf(survey, block.owner, byName)]!;
    const trust = byLandmark[block.owner] ? 'landmark' : 'name';
    notes.add({
      step: 'frame',
      rule: `in the frame of the page by its ${trust}: <${holder.name}>`,
      node: survey.elements[block.owner]!,
      text: block.text,
      words: block.words,
    });
  }
}

/** The outermost framed element that contains `owner` or is it. */
function topOf(survey: Survey, owner: number, framed: Uint8Array): number {
  let at = owner;
  while (survey.parent[at]! >= 0 && framed[survey.parent[at]!]) at = survey.parent[at]!;
  return at;
}

/** Notes the text of elements that are never read: controls, drawings, fallbacks for frames and scripts. */
export function recordNonText(notes: RemovalLog, root: Document | Element): void {
  let node = following(root, root);
  while (node) {
    const silent = isSilent(node) ? node.name : null;
    if (silent !== null && !MACHINE_ONLY_ELEMENTS.has(silent)) {
      const text = readableText(node);
      const words = countWords(text);
      const rule = `text in <${silent}> is not read`;
      if (words > 0) notes.add({ step: 'markdown', rule, node, text, words });
    }
    node = following(node, root, silent !== null);
  }
}

const isSilent = (node: Child): node is Element =>
  node.type === ELEMENT && (NON_TEXT_ELEMENTS.has(node.name) || node.namespace === 'svg');
