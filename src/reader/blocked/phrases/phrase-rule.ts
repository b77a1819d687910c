/** The form of the rules that recognize blocked pages by what they say. */
import type { BlockedKind } from '../blocked.ts';

export interface PhraseRule {
  readonly kind: BlockedKind;
  /** Where the meaning is defined, or where pages with these words come from. */
  readonly source: string;
  /** Sentences of such pages, by language. They count in a title, a heading or a short text. */
  readonly says: RegExp;
  /** Words that say it only as a complete title or heading: elsewhere they are ordinary words. */
  readonly names?: RegExp | undefined;
  /** Complete titles that say that something is wrong, but not what. They count only if nothing else does. */
  readonly vague?: RegExp | undefined;
  /** Maximum letters of a page's own text if only its title or a heading says it. Default: 400. */
  readonly titleLetters?: number | undefined;
  /** Maximum letters if only its text says it. Default: 220. */
  readonly textLetters?: number | undefined;
  /** Whether its words in the text say more than a title that only says that access was denied. */
  readonly isReason?: boolean | undefined;
}

/** One pattern from the patterns of each language. The texts are normalized, so lower case is enough. */
export const anyOf = (byLanguage: Readonly<Record<string, readonly string[]>>): RegExp =>
  new RegExp(Object.values(byLanguage).flat().map(acrossNames).join('|'), 'u');

/** Gaps inside a sentence may contain the dots of a host name or a number; `\w` is a letter of any alphabet. */
const acrossNames = (pattern: string): string =>
  pattern
    .replaceAll('\\w', '\\p{L}')
    .replace(/\[\^\.(!\?。?)?\]/g, (_, more: string = '') => `(?:[^.${more}]|\\.(?=\\S))`);

/** A pattern that matches a complete title or heading. */
export const whole = (byLanguage: Readonly<Record<string, readonly string[]>>): RegExp =>
  new RegExp(`^(?:${Object.values(byLanguage).flat().join('|')})[.!?…。！？¡¿]*$`, 'u');
