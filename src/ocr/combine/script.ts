/**
 * Finds the script of a page: PP-OCR is sure of Latin and Chinese. If it is not sure, a part of the page is read with
 * the Tesseract data of each other script, and the surest reading counts.
 */
import type { OcrLines } from '../engine.ts';

export interface Script {
  /** In English, for messages. */
  readonly name: string;
  /** Tesseract languages, the best first. Each is a combination that is used together. */
  readonly languages: readonly (readonly string[])[];
  /** Matches its letters. */
  readonly letters: RegExp;
}

/** Mean confidence of PP-OCR from which it knows the script of a page. */
export const KNOWN_SCRIPT = 0.93;
/** Share of Chinese among the letters of a page from which PP-OCR reads it. */
const CHINESE = 0.3;
/** Minimum plausibility of a script: mean confidence times the share of its letters. */
export const PLAUSIBLE = 0.55;

export const LATIN: Script = { name: 'Latin', languages: [['eng']], letters: /\p{Script=Latin}/u };

export const SCRIPTS: readonly Script[] = [
  {
    name: 'Japanese',
    languages: [['jpn']],
    letters: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  },
  { name: 'Korean', languages: [['kor']], letters: /\p{Script=Hangul}/u },
  // No npm package has Russian data. Ukrainian and Belarusian together have all its letters.
  { name: 'Cyrillic', languages: [['rus'], ['ukr', 'bel']], letters: /\p{Script=Cyrillic}/u },
  { name: 'Greek', languages: [['ell']], letters: /\p{Script=Greek}/u },
  { name: 'Arabic', languages: [['ara']], letters: /\p{Script=Arabic}/u },
];

/** Whether PP-OCR read mostly Chinese. */
export function isChinese(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  return letters.filter((letter) => /\p{Script=Han}/u.test(letter)).length > CHINESE * letters.length;
}

/** Mean confidence of a reading times the share of its letters that belong to the script. */
export function plausibilityOf({ lines }: OcrLines, { letters }: Script): number {
  const words = lines.flatMap((line) => line.words);
  let [all, own, sum] = [0, 0, 0];
  for (const { text, confidence } of words) {
    const found = text.match(/\p{L}/gu) ?? [];
    all += found.length;
    own += found.filter((letter) => letters.test(letter)).length;
    sum += found.length * confidence;
  }
  return all === 0 ? 0 : (sum / all) * (own / all);
}
