/** Detects the language of a text from its script, its function words, and letters that only one language uses. */
import { FUNCTION_WORDS } from './function-words.ts';

/** Maximum size of the sample that is examined, in words. */
const SAMPLE_WORDS = 1_500;
const SAMPLE_UNITS = 20_000;
/** Minimum share of function words, and minimum lead over the second language. */
const MIN_SHARE = 0.08;
const MIN_LEAD = 1.15;

/**
 * The first script that accounts for at least a third of the letters decides. For Latin, Cyrillic and Arabic letters,
 * the function words decide.
 */
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
/** Whether a text has a letter of one of these scripts. Most texts have none, and their letters need not be counted. */
const ANY_SCRIPT = new RegExp(SCRIPTS.map(([, letters]) => letters.source).join('|'));
/** Letters that are frequent in one language and rare in others, for texts with too few function words. */
const OWN_LETTERS: readonly (readonly [language: string, letters: RegExp])[] = [
  ['vi', /[ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]/gi],
  ['tr', /[ğışİ]/g],
  ['ru', /[ыэё]/gi],
  ['uk', /[іїєґ]/gi],
  ['pl', /[ąęłśżź]/gi],
  ['cs', /[ěřů]/gi],
  ['hu', /[őű]/gi],
  ['ro', /[șțăţ]/gi],
];
/** A text of ASCII characters only. */
export const PLAIN = /^[\x00-\x7f]*$/;
/** Minimum share of such letters. */
const MIN_OWN_LETTERS = 0.01;
const LETTERS = /\p{L}/gu;
const WORDS = /\p{L}+/gu;
/** Minimum share of kana in Japanese, which mixes kana and kanji. The share is often below a third. */
const KANA_SHARE = 0.08;

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

let tables: Map<string, string[]> | undefined;
/** Maps each function word to its languages. */
function languagesByWord(): Map<string, string[]> {
  if (tables) return tables;
  tables = new Map();
  for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
    for (const word of new Set(words.split(' '))) tables.set(word, [...(tables.get(word) ?? []), language]);
  }
  return tables;
}

/** Returns an ISO 639-1 code; `undefined` if the language is unclear. */
export function guessLanguage(text: string): string | undefined {
  const sample = text.slice(0, SAMPLE_UNITS);
  return byScript(sample) ?? byWords(sample) ?? byOwnLetters(sample);
}

/** Returns the language of a tag: `zh` for `zh-CN`. Returns `undefined` for an invalid tag. */
export function languageFromTag(tag: string | undefined): string | undefined {
  const first = tag?.trim().toLowerCase().split(/[-_]/)[0];
  if (first === undefined || !/^[a-z]{2}$/.test(first)) return undefined;
  return { iw: 'he', nb: 'no', nn: 'no', in: 'id' }[first] ?? first;
}

function byScript(sample: string): string | undefined {
  if (!ANY_SCRIPT.test(sample)) return undefined;
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
  for (const word of sample.match(WORDS) ?? []) {
    words += 1;
    if (words > SAMPLE_WORDS) break;
    const languages = byWord.get(word.toLowerCase());
    // A word that many languages share counts for less.
    for (const language of languages ?? [])
      scores.set(language, (scores.get(language) ?? 0) + 1 / Math.sqrt(languages!.length));
  }
  const [best, next] = [...scores].sort((a, b) => b[1] - a[1]);
  if (!best || best[1] < MIN_SHARE * Math.min(words, SAMPLE_WORDS)) return undefined;
  return next && best[1] < MIN_LEAD * next[1] ? undefined : best[0];
}

function byOwnLetters(sample: string): string | undefined {
  if (PLAIN.test(sample)) return undefined;
  const least = Math.max(1, MIN_OWN_LETTERS * countOf(sample, LETTERS));
  const counts = OWN_LETTERS.map(([language, pattern]) => ({ language, count: countOf(sample, pattern) }));
  const [best, next] = counts.sort((a, b) => b.count - a.count);
  return best!.count >= least && best!.count > MIN_LEAD * next!.count ? best!.language : undefined;
}
