/** Records which parts of a page were omitted from a result, and why, for callers that request it. */

import { withoutHiddenCharacters } from '#html/characters.ts';
import { attribute, type Child, type Document, ELEMENT, type Element, following, TEXT } from '#html/node.ts';
import { recordUniqueSelectors, type UniqueSelectors } from '#html/unique-selectors.ts';
import { BLOCK_ELEMENTS } from '../../markdown/elements/block-elements.ts';
import { countWords } from '../../words.ts';

/** The steps that omit parts, in the order in which they run. */
export const REMOVAL_STEPS = [
  'selector',
  'hidden',
  'frame',
  'content',
  'unit',
  'comments',
  'repeats',
  'markdown',
  'cut',
] as const;
export type RemovalStep = (typeof REMOVAL_STEPS)[number];

/** A part that was omitted. */
export interface Removal {
  step: RemovalStep;
  /** The reason, in words. */
  rule: string;
  /** Selector that matches only this element in the original document. */
  selector: string;
  words: number;
  /** First words of the part, at most 100 characters. */
  text: string;
  /** Set if the text is invisible. */
  hidden?: true;
  /** Probability that this is content, and the threshold for keeping it; both 0 to 1. */
  probability?: number;
  threshold?: number;
  /** The features that count most against the part, strongest first. */
  signs?: string[];
}

/** A part, as described by the step that removes it. If there is no text, it is read from the node. */
export interface RemovedPart extends Pick<Removal, 'step' | 'rule' | 'hidden' | 'probability' | 'threshold'> {
  readonly node: Child;
  readonly text?: string;
  readonly words?: number;
  /** Called only for parts that are listed. */
  readonly signs?: () => string[];
}

const MAX_REMOVALS = 500;
const MAX_TEXT_CHARACTERS = 100;

/** Records the removals from one page while it is processed. */
export class RemovalLog {
  readonly places: UniqueSelectors;
  /** For each copied element, its original in the page. */
  readonly sources = new Map<Element, Element>();
  private readonly steps = new Map<RemovalStep, { count: number; readonly list: Removal[] }>();

  /** Must be created before the document is changed. */
  constructor(document: Document) {
    this.places = recordUniqueSelectors(document);
  }

  selectorOf(element: Element): string | null {
    return this.places.selectorOf(this.sources.get(element) ?? element);
  }

  /** Adds a part that is still at its original position in the tree. */
  add({ node, step, rule, text, words, signs, ...more }: RemovedPart): void {
    const entries = this.steps.get(step) ?? { count: 0, list: [] };
    this.steps.set(step, entries);
    entries.count += 1;
    const { list } = entries;
    if (list.length >= MAX_REMOVALS) return;
    const element = node.type === ELEMENT ? node : node.parent;
    const selector = element?.type === ELEMENT ? this.selectorOf(element) : null;
    if (selector === null) return;
    const wholeText = text ?? readableText(node);
    list.push({
      step,
      rule,
      selector,
      words: words ?? countWords(wholeText),
      text: firstWords(wholeText),
      ...more,
      ...(signs && { signs: signs() }),
    });
  }

  /** Drops the entries of these steps, because their result was discarded. */
  forget(...steps: readonly RemovalStep[]): void {
    for (const step of steps) this.steps.delete(step);
  }

  /** Number of parts that were omitted. */
  get count(): number {
    let count = 0;
    for (const entries of this.steps.values()) count += entries.count;
    return count;
  }

  /** At most 500 parts, ordered by step and then by position in the page. Each step has its own share of the 500. */
  list(): Removal[] {
    const lists = REMOVAL_STEPS.map((step) => this.steps.get(step)?.list ?? []);
    let left = MAX_REMOVALS;
    const shares = new Map<Removal[], number>();
    for (const [at, list] of [...lists].sort((a, b) => a.length - b.length).entries()) {
      const share = Math.min(list.length, Math.floor(left / (lists.length - at)));
      shares.set(list, share);
      left -= share;
    }
    return lists.flatMap((list) => list.slice(0, shares.get(list)));
  }
}

/** The first words of a text on one line, without invisible characters. */
export const firstWords = (text: string): string => {
  const line = withoutHiddenCharacters(text.slice(0, 8 * MAX_TEXT_CHARACTERS))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= MAX_TEXT_CHARACTERS
    ? line
    : line
        .slice(0, MAX_TEXT_CHARACTERS)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd();
};

/** Elements with text that only machines read. */
export const MACHINE_ONLY_ELEMENTS = new Set(['script', 'style', 'template', 'head', 'title', 'map', 'datalist']);

/** The text in a node, or the placeholder for an image. */
export function readableText(node: Child): string {
  if (node.type === TEXT) return node.value;
  if (node.type !== ELEMENT) return '';
  if (node.name === 'img') return attribute(node, 'alt') ?? '';
  const texts: string[] = [];
  let next = following(node, node);
  while (next) {
    if (next.type === TEXT) texts.push(next.value);
    else if (next.type === ELEMENT && BLOCK_ELEMENTS.has(next.name)) texts.push(' ');
    next = following(next, node, next.type === ELEMENT && MACHINE_ONLY_ELEMENTS.has(next.name));
  }
  return texts.join('');
}
