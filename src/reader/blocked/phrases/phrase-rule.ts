/** The form of the rules that recognize blocked pages by what they say. */
import type { BlockedKind } from '../blocked.ts';

export interface PhraseRule {
  readonly kind: BlockedKind;
  /** Where the meaning is defined, or where pages with these words come from. */
  readonly source: string;
  /** Sentences of such pages, by language. They count in a title, a heading or a short text. */
  readonly says: Phrases;
  /** Words that say it only as a complete title or heading: elsewhere they are ordinary words. */
  readonly names?: RegExp | undefined;
  /** Texts that have these are about something else, such as a future event. */
  readonly unless?: Pick<RegExp, 'test'> | undefined;
  /** Complete titles that say that something is wrong, but not what. They count only if nothing else does. */
  readonly vague?: RegExp | undefined;
  /** Maximum letters of a page's own text if only its title or a heading says it. Default: 400. */
  readonly titleLetters?: number | undefined;
  /** Maximum letters if only its text says it. Default: 220. */
  readonly textLetters?: number | undefined;
  /** Whether its words in the text say more than a title that only says that access was denied. */
  readonly isReason?: boolean | undefined;
  /** Whether such pages speak to nobody, as official notices do. */
  readonly isImpersonal?: boolean | undefined;
}

/** The sentences of one rule, as a pattern. */
export interface Phrases {
  test(text: string): boolean;
  exec(text: string): RegExpExecArray | null;
}

/** Letters of alphabets other than the Latin one. */
const NOT_LATIN = /[\u0370-\u1dff\u1f00-\u1fff\u2e80-\u3001\u3003-\ud7ff]/;

/**
 * One test from the patterns of each language. The texts are normalized, so lower case is enough. A text without
 * letters of other alphabets is tested only for phrases with Latin ones.
 */
export function anyOf(byLanguage: Readonly<Record<string, readonly string[]>>): Phrases {
  const patterns = Object.values(byLanguage).flat();
  const latin = compiled(patterns.filter((pattern) => !NOT_LATIN.test(pattern)));
  const others = compiled(patterns.filter((pattern) => NOT_LATIN.test(pattern)));
  const test = (expressions: readonly RegExp[], text: string) => expressions.some((each) => each.test(text));
  const exec = (expressions: readonly RegExp[], text: string) =>
    expressions
      .map((each) => each.exec(text))
      .reduce((first, match) => (match && (!first || match.index < first.index) ? match : first), null);
  return {
    test: (text) => test(latin, text) || (NOT_LATIN.test(text) && test(others, text)),
    exec: (text) => (NOT_LATIN.test(text) ? exec(others, text) : null) ?? exec(latin, text),
  };
}

/** V8 does not optimize expressions of more than 20,480 characters: they take fifty times as long. */
const MAX_EXPRESSION_CHARACTERS = 15_000;

/** Without the flag for code points, which makes gaps and classes of letters costly; all letters here are one unit. */
function compiled(patterns: readonly string[]): readonly RegExp[] {
  const sources: string[] = [];
  for (const pattern of patterns.map(acrossNames)) {
    const last = sources.at(-1);
    if (last !== undefined && last.length + pattern.length < MAX_EXPRESSION_CHARACTERS)
      sources[sources.length - 1] = `${last}|${pattern}`;
    else sources.push(pattern);
  }
  return sources.map((source) => new RegExp(source));
}

const LETTER = '[a-z\\u00df-\\u1fff\\u2e80-\\ud7ff]';

/**
 * `\\w` and `\\p{L}` are a letter of any alphabet. Gaps inside a sentence may contain the dots of a host name or a
 * number: texts are split into sentences before.
 */
const acrossNames = (pattern: string): string =>
  pattern
    .replaceAll(/\\(?:w|p\{L\})/g, LETTER)
    .replaceAll('[^.!?]', '[^!?]')
    .replaceAll('[^.!?。]', '[^!?。]')
    .replaceAll('[^.]', '[^!?]');

/** A pattern that matches a complete title or heading. */
export const whole = (byLanguage: Readonly<Record<string, readonly string[]>>): RegExp =>
  new RegExp(`^(?:${Object.values(byLanguage).flat().join('|')})[.!?…。！？¡¿]*$`, 'u');
