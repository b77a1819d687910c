/** Which language a text is in, by its script and by its function words. */
import { FUNCTION_WORDS } from './function-words.ts';

/** Words looked at: enough to tell, however long the text. */
const SAMPLE_WORDS = 1_500;
const SAMPLE_UNITS = 20_000;
/** At least so many words of a hundred must be function words, and so many times as many as of the next language. */
const MIN_SHARE = 0.08;
const MIN_LEAD = 1.15;

/** The first that holds for at least a third of the letters; letters of Latin, Cyrillic and Arabic are told by words. */
const SCRIPTS: readonly (readonly [language: string, letters: RegExp])[] = [
  ['ja', /[\u3040-\u30ff]/g],
  ['ko', /[\uac00-\ud7af\u1100-\u11ff]/g],
  ['zh', /[\u4e00-\u9fff\u3400-\u4dbf]/g],
  ['th', /[\u0e00-\u0e7f]/g],
  ['lo', /[\u0e80-\u0eff]/g],
  ['km', /[\u1780-\u17ff]/g],
  ['my', /[\u1000-\u109f]/g],
  ['he', /[\u0590-\u05ff]/g],
  ['hy', /[\u0530-\u058f]/g],
  ['ka', /[\u10a0-\u10ff]/g],
  ['ta', /[\u0b80-\u0bff]/g],
  ['hi', /[\u0900-\u097f]/g],
];
const LETTERS = /\p{L}/gu;
const WORDS = /\p{L}+/gu;
/** Japanese is written with both, and its share of kana is often below a third. */
const KANA_SHARE = 0.08;

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

let tables: Map<string, string[]> | undefined;
/** Each function word with the languages that have it. */
function languagesByWord(): Map<string, string[]> {
  if (tables) return tables;
  tables = new Map();
  for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
    for (const word of new Set(words.split(' '))) tables.set(word, [...(tables.get(word) ?? []), language]);
  }
  return tables;
}

/** An ISO 639-1 code; undefined when the text does not tell. */
export function guessLanguage(text: string): string | undefined {
  const sample = text.slice(0, SAMPLE_UNITS);
  return byScript(sample) ?? byWords(sample);
}

/** The language that a tag names (`zh-CN` is `zh`); undefined when it is none. */
export function languageOfTag(tag: string | undefined): string | undefined {
  const first = tag?.trim().toLowerCase().split(/[-_]/)[0];
  if (first === undefined || !/^[a-z]{2}$/.test(first)) return undefined;
  return { iw: 'he', nb: 'no', nn: 'no', in: 'id' }[first] ?? first;
}

function byScript(sample: string): string | undefined {
  const letters = countOf(sample, LETTERS);
  if (letters === 0) return undefined;
  for (const [language, pattern] of SCRIPTS) {
    const share = countOf(sample, pattern) / letters;
    if (share >= 1 / 3 || (language === 'ja' && share >= KANA_SHARE)) return language;
  }
  return undefined;
}

function byWords(sample: string): string | undefined {
  const scores = new Map<string, number>();
  const byWord = languagesByWord();
  let words = 0;
  for (const [word] of sample.matchAll(WORDS)) {
    words += 1;
    if (words > SAMPLE_WORDS) break;
    const languages = byWord.get(word.toLowerCase());
    // A word of many languages tells less.
    for (const language of languages ?? [])
      scores.set(language, (scores.get(language) ?? 0) + 1 / Math.sqrt(languages!.length));
  }
  const [best, next] = [...scores].sort((a, b) => b[1] - a[1]);
  if (!best || best[1] < MIN_SHARE * Math.min(words, SAMPLE_WORDS)) return undefined;
  return next && best[1] < MIN_LEAD * next[1] ? undefined : best[0];
}
