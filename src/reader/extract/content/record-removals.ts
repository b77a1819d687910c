/** Records, for each part that extraction omits, which step removed it and why. */
import { type Child, type Document, ELEMENT, type Element, following } from '#html/node.ts';
import { countWords } from '../../words.ts';
import { NON_TEXT_ELEMENTS, type Survey } from '../blocks/survey.ts';
import { signsAgainst } from '../trees/signs.ts';
import { findBoilerplate } from './boilerplate.ts';
import type { Choice } from './choose-blocks.ts';
import { MACHINE_ONLY_ELEMENTS, type RemovalLog, type RemovalStep, readableText } from './removal-log.ts';
import type { Selection } from './select-content.ts';

/** Records a placeholder that a late part of the page replaced. */
export function recordReplaced(removals: RemovalLog, node: Child): void {
  if (hasText(node)) removals.add({ step: 'hidden', rule: 'placeholder of a part that loaded later', node });
}

/** Records an invisible part, or a text that only lost its invisible characters. */
export function recordHidden(removals: RemovalLog, node: Child, reason: string): void {
  if (reason === 'invisible characters') removals.add({ step: 'hidden', rule: reason, node });
  else if (hasText(node)) removals.add({ step: 'hidden', rule: reason, node, hidden: true });
}

const hasText = (node: Child): boolean => /\S/.test(readableText(node));

/**
 * Records every block of the survey that is not kept, except blocks in elements for which `isRecorded` returns true.
 */
export function recordDropped(
  removals: RemovalLog,
  survey: Survey,
  { keep: kept, source, choice, comments, repeats }: Selection,
  isRecorded: (element: Element) => boolean,
): void {
  const keep = kept.slice();
  for (const [at, { owner }] of survey.blocks.entries()) if (isWithin(survey, owner, isRecorded)) keep[at] = 1;
  const record = (at: number, step: RemovalStep, rule: string): void => {
    if (keep[at]) return;
    keep[at] = 1;
    const { owner, text, words } = survey.blocks[at]!;
    removals.add({ step, rule, node: survey.elements[owner]!, text, words });
  };
  for (let at = 0; at < keep.length; at++) {
    if (comments?.removed[at]) record(at, 'comments', comments.rule);
    if (repeats?.[at]) record(at, 'repeats', 'repeats a text that is kept');
    if (choice?.references.has(at)) record(at, 'content', 'refers to another article');
    else if (choice?.advertising.has(at)) record(at, 'content', 'says that it is advertising');
  }
  if (source === 'main' && choice) recordUnchosen(removals, survey, keep, choice);
  else recordBoilerplate(removals, survey, keep, choice);
}

function recordUnchosen(removals: RemovalLog, survey: Survey, keep: Uint8Array, choice: Choice): void {
  const threshold = rounded(choice.threshold);
  for (const [at, block] of survey.blocks.entries()) {
    if (keep[at]) continue;
    const inUnit = choice.keep[at] === 1;
    removals.add({
      step: inUnit ? 'unit' : 'content',
      rule: inUnit ? 'removed with the unit it belongs to' : 'probably not the content of the page',
      node: survey.elements[block.owner]!,
      text: block.text,
      words: block.words,
      probability: rounded(choice.probabilities[at]!),
      threshold,
      signs: () => signsAgainst(choice.featuresOf(at)),
    });
  }
}

function isWithin(survey: Survey, owner: number, isRecorded: (element: Element) => boolean): boolean {
  for (let at = owner; at >= 0; at = survey.parent[at]!) if (isRecorded(survey.elements[at]!)) return true;
  return false;
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

function recordBoilerplate(removals: RemovalLog, survey: Survey, keep: Uint8Array, choice: Choice | null): void {
  const byName = findBoilerplate(survey, true);
  const byLandmark = findBoilerplate(survey, false);
  for (const [at, block] of survey.blocks.entries()) {
    if (keep[at]) continue;
    // On a small page, the trees overrule the names of boxes.
    if (choice && !byName[block.owner]) {
      removals.add({
        step: 'content',
        rule: 'probably not the content of the page',
        node: survey.elements[block.owner]!,
        text: block.text,
        words: block.words,
        probability: rounded(choice.probabilities[at]!),
        signs: () => signsAgainst(choice.featuresOf(at)),
      });
      continue;
    }
    const holder = survey.elements[outermostBoilerplate(survey, block.owner, byName)]!;
    const evidence = byLandmark[block.owner] ? 'landmark' : 'name';
    removals.add({
      step: 'frame',
      rule: `boilerplate, recognized by its ${evidence}: <${holder.name}>`,
      node: survey.elements[block.owner]!,
      text: block.text,
      words: block.words,
    });
  }
}

/** The outermost boilerplate element that is `owner` or contains it. */
function outermostBoilerplate(survey: Survey, owner: number, boilerplate: Uint8Array): number {
  let at = owner;
  while (survey.parent[at]! >= 0 && boilerplate[survey.parent[at]!]) at = survey.parent[at]!;
  return at;
}

/** Records the text of elements that are never read: controls, drawings, fallbacks for frames and scripts. */
export function recordNonText(removals: RemovalLog, root: Document | Element): void {
  let node = following(root, root);
  while (node) {
    const nonText = isNonText(node) ? node.name : null;
    if (nonText !== null && !MACHINE_ONLY_ELEMENTS.has(nonText)) {
      const text = readableText(node);
      const words = countWords(text);
      const rule = `text in <${nonText}> is not extracted`;
      if (words > 0) removals.add({ step: 'markdown', rule, node, text, words });
    }
    node = following(node, root, nonText !== null);
  }
}

const isNonText = (node: Child): node is Element =>
  node.type === ELEMENT && (NON_TEXT_ELEMENTS.has(node.name) || node.namespace === 'svg');
