/** Notes what is left out of a page on its way to an answer, and why, for those who ask. */

import { withoutHiddenCharacters } from '#html/characters.ts';
import { attribute, type Child, type Document, ELEMENT, type Element, following, TEXT } from '#html/node.ts';
import { notePlaces, type Places } from '#html/places.ts';
import { BLOCK_NAMES } from '../../markdown/elements/names.ts';
import { countWords } from '../../words.ts';

/** The steps that leave something out, in the order in which they come. */
export const REMOVAL_STEPS = ['selector', 'hidden', 'frame', 'content', 'unit', 'markdown', 'cut'] as const;
export type RemovalStep = (typeof REMOVAL_STEPS)[number];

/** A piece that was left out. */
export interface Removal {
  step: RemovalStep;
  /** Why, in words. */
  rule: string;
  /** Finds the element in the document as it came, and nothing else. */
  selector: string;
  words: number;
  /** Its first words: at most 100 characters. */
  text: string;
  /** Set when nobody can see the text. */
  hidden?: true;
  /** How probable it is that this is content, and from where on it would have been kept; both 0 to 1. */
  probability?: number;
  threshold?: number;
  /** What spoke most against it. */
  signs?: string[];
}

/** A piece as the step that leaves it out knows it; text is read from the node when none is given. */
export interface RemovedPiece extends Pick<Removal, 'step' | 'rule' | 'hidden' | 'probability' | 'threshold'> {
  readonly node: Child;
  readonly text?: string;
  readonly words?: number;
  /** Asked only for pieces that are listed. */
  readonly signs?: () => string[];
}

const MOST_REMOVALS = 500;
const LONGEST_TEXT = 100;

/** What is noted of one page while it is worked on. */
export class Notes {
  readonly places: Places;
  /** For each element of a copy, the one of the page that it was copied from. */
  readonly sources = new Map<Element, Element>();
  private readonly steps = new Map<RemovalStep, { count: number; readonly list: Removal[] }>();

  /** To be made before anything of the document is changed. */
  constructor(document: Document) {
    this.places = notePlaces(document);
  }

  selectorOf(element: Element): string | null {
    return this.places.selectorOf(this.sources.get(element) ?? element);
  }

  /** Notes a piece that still stands where it was. */
  add({ node, step, rule, text, words, signs, ...more }: RemovedPiece): void {
    const noted = this.steps.get(step) ?? { count: 0, list: [] };
    this.steps.set(step, noted);
    noted.count += 1;
    const { list } = noted;
    if (list.length >= MOST_REMOVALS) return;
    const element = node.type === ELEMENT ? node : node.parent;
    const selector = element?.type === ELEMENT ? this.selectorOf(element) : null;
    if (selector === null) return;
    const all = text ?? textIn(node);
    list.push({
      step,
      rule,
      selector,
      words: words ?? countWords(all),
      text: firstWords(all),
      ...more,
      ...(signs && { signs: signs() }),
    });
  }

  /** Takes back what was said of these steps: it turned out otherwise. */
  forget(...steps: readonly RemovalStep[]): void {
    for (const step of steps) this.steps.delete(step);
  }

  /** How many pieces were left out. */
  get count(): number {
    let count = 0;
    for (const noted of this.steps.values()) count += noted.count;
    return count;
  }

  /** At most 500 pieces by step, each step in the order of the page; no step takes the place of another. */
  list(): Removal[] {
    const lists = REMOVAL_STEPS.map((step) => this.steps.get(step)?.list ?? []);
    let left = MOST_REMOVALS;
    const shares = new Map<Removal[], number>();
    for (const [at, list] of [...lists].sort((a, b) => a.length - b.length).entries()) {
      const share = Math.min(list.length, Math.floor(left / (lists.length - at)));
      shares.set(list, share);
      left -= share;
    }
    return lists.flatMap((list) => list.slice(0, shares.get(list)));
  }
}

/** The first words of a text on one line, without characters that nobody sees. */
export const firstWords = (text: string): string => {
  const line = withoutHiddenCharacters(text.slice(0, 8 * LONGEST_TEXT))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= LONGEST_TEXT
    ? line
    : line
        .slice(0, LONGEST_TEXT)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd();
};

/** Elements whose text is read by machines only. */
export const FOR_MACHINES = new Set(['script', 'style', 'template', 'head', 'title', 'map', 'datalist']);

/** The text in a node, or what stands for an image. */
export function textIn(node: Child): string {
  if (node.type === TEXT) return node.value;
  if (node.type !== ELEMENT) return '';
  if (node.name === 'img') return attribute(node, 'alt') ?? '';
  const texts: string[] = [];
  let next = following(node, node);
  while (next) {
    if (next.type === TEXT) texts.push(next.value);
    else if (next.type === ELEMENT && BLOCK_NAMES.has(next.name)) texts.push(' ');
    next = following(next, node, next.type === ELEMENT && FOR_MACHINES.has(next.name));
  }
  return texts.join('');
}
