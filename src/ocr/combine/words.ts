/** Chooses between two readings of the same words: Tesseract's, which is better with letters, and PP-OCR's. */
import type { OcrWord } from '../hocr.ts';
import { boundsOf } from '../layout/segments.ts';

export type Choice = 'tesseract' | 'neural';

/** A number that the two recognizers read differently. */
export interface Doubt {
  readonly chosen: string;
  readonly other: string;
}

/** Tesseract's letters are kept from this confidence on; below it, the other reading is used if it is this sure. */
const SURE_LETTERS = 0.9;
const SURE_NEURAL = 0.95;
/** PP-OCR's digits are used from this confidence on, or if they are surer than Tesseract's. */
const SURE_DIGITS = 0.8;
/** Both readings of a number must be at least this sure for the difference to be reported. */
const MEANT = 0.5;
/**
 * A neural reading without a counterpart is kept from this confidence on; a single letter and a single digit from the
 * others. The network is less sure of a lone digit, because some letters look like it.
 */
const SURE_ALONE = 0.6;
const SURE_SINGLE = 0.85;
const SURE_DIGIT = 0.55;
/** A word of Tesseract where PP-OCR read nothing is kept from this confidence on. */
const SURE_UNSEEN = 0.5;

export const meanOf = (words: readonly OcrWord[]): number =>
  words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length);

const compact = (words: readonly OcrWord[]): string => words.map(({ text }) => text).join('');

const digitsIn = (text: string): string => text.replace(/[^\p{Nd}]/gu, '');

/** Whether at least half of the letters and digits are digits. */
export function isNumber(text: string): boolean {
  const digits = digitsIn(text).length;
  return digits > 0 && digits >= (text.match(/[\p{L}\p{Nd}]/gu)?.length ?? 0) / 2;
}

/** A number without the punctuation around it. */
const bare = (text: string): string => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}%]+$/gu, '');

/** The result of merging, and the numbers that were read differently. */
export interface Merged {
  readonly words: readonly OcrWord[];
  readonly doubts: readonly Doubt[];
}

/**
 * Merges two readings of one stretch of a line. Words that overlap are readings of the same ink. `lettersCount` tells
 * whether PP-OCR knows the letters of the page, and not only its digits.
 */
export function mergeWords(tesseract: readonly OcrWord[], neural: readonly OcrWord[], lettersCount: boolean): Merged {
  const words: OcrWord[] = [];
  const doubts: Doubt[] = [];
  const found = clusters(tesseract, neural);
  if (tesseract.some(({ text }) => RIGHT_TO_LEFT.test(text))) found.reverse();
  for (const { theirs, ours } of found) {
    if (ours.length === 0) words.push(...(!lettersCount || meanOf(theirs) >= SURE_UNSEEN ? theirs : []));
    else if (theirs.length === 0) words.push(...ours.filter((word) => isCredible(word, lettersCount)));
    else {
      const { choice, isDoubt } = choose(theirs, ours, lettersCount);
      const [taken, other] = choice === 'tesseract' ? [theirs, ours] : [ours, theirs];
      if (!isDoubt) words.push(...taken);
      else {
        const [chosen, second] = [taken, other].map((each) => each.map(({ text }) => text).join(' ')) as [
          string,
          string,
        ];
        doubts.push({ chosen, other: second });
        words.push(...marked(taken, second));
      }
    }
  }
  return { words, doubts };
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** A doubted number is at most as sure as its weaker reading, and carries the other one. */
const marked = (words: readonly OcrWord[], other: string): OcrWord[] =>
  words.map((word) => (isNumber(word.text) ? { ...word, other, confidence: Math.min(word.confidence, 0.5) } : word));

function isCredible({ text, confidence }: OcrWord, lettersCount: boolean): boolean {
  if (!lettersCount && !isNumber(text)) return false;
  const least = [...text].length > 1 ? SURE_ALONE : isNumber(text) ? SURE_DIGIT : SURE_SINGLE;
  return confidence >= least && /[\p{L}\p{N}]/u.test(text);
}

interface Cluster {
  readonly theirs: OcrWord[];
  readonly ours: OcrWord[];
}

/** Minimum overlap of two words, as a share of the narrower one. */
const OVERLAP = 0.3;

function clusters(tesseract: readonly OcrWord[], neural: readonly OcrWord[]): Cluster[] {
  const all = [
    ...tesseract.map((word) => ({ word, isOurs: false })),
    ...neural.map((word) => ({ word, isOurs: true })),
  ].sort((a, b) => a.word.box.left - b.word.box.left);
  const found: (Cluster & { right: number })[] = [];
  for (const { word, isOurs } of all) {
    const { left, right } = word.box;
    const last = found.at(-1);
    const narrower = last ? Math.min(right - left, last.right - Math.min(last.right, left)) : 0;
    const isSame = last && last.right - left > OVERLAP * Math.max(1, Math.min(right - left, narrower || right - left));
    const cluster = isSame ? last : { theirs: [], ours: [], right };
    if (!isSame) found.push(cluster);
    (isOurs ? cluster.ours : cluster.theirs).push(word);
    cluster.right = Math.max(cluster.right, right);
  }
  // The words of one cluster keep the order in which they were read.
  return found.map(({ theirs, ours }) => ({ theirs: tesseract.filter((word) => theirs.includes(word)), ours }));
}

function choose(
  theirs: readonly OcrWord[],
  ours: readonly OcrWord[],
  lettersCount: boolean,
): { choice: Choice; isDoubt: boolean } {
  const [t, n] = [compact(theirs), compact(ours)];
  const [sureT, sureN] = [meanOf(theirs), meanOf(ours)];
  const plain = (choice: Choice) => ({ choice, isDoubt: false });
  if (t === n) return plain(isTornNumber(theirs, ours) ? 'neural' : 'tesseract');
  if (isNumber(t) || isNumber(n)) {
    const [bareT, bareN] = [bare(t), bare(n)];
    // Only the punctuation around the number differs, or a unit beside it.
    if (bareT === bareN) return plain(isTornNumber(theirs, ours) ? 'neural' : 'tesseract');
    if (digitsIn(t) === digitsIn(n) && separatorsIn(t) === separatorsIn(n)) return plain(lettersOf(sureT, sureN));
    const isDoubt = sureT >= MEANT && sureN >= MEANT && isNumber(t) && isNumber(n);
    return { choice: betterNumber({ t: bareT, n: bareN, sureT, sureN }), isDoubt };
  }
  return plain(lettersCount ? lettersOf(sureT, sureN) : 'tesseract');
}

/** The signs between digits. */
const separatorsIn = (text: string): string => [...text.matchAll(/(?<=\d)[^\p{L}\p{N}]+(?=\d)/gu)].join();

interface Readings {
  readonly t: string;
  readonly n: string;
  readonly sureT: number;
  readonly sureN: number;
}

function betterNumber({ t, n, sureT, sureN }: Readings): Choice {
  if (!isNumber(n)) return sureT >= sureN - 0.1 ? 'tesseract' : 'neural';
  if (isNumber(t) && t.length > n.length && t.includes(n) && sureT > sureN) return 'tesseract';
  return sureN >= SURE_DIGITS || sureN >= sureT ? 'neural' : 'tesseract';
}

/** Whether Tesseract put a space into a number: `26. 24`. */
const isTornNumber = (theirs: readonly OcrWord[], ours: readonly OcrWord[]): boolean =>
  theirs.length > ours.length && theirs.every(({ text }) => !/\p{L}/u.test(text)) && isNumber(compact(theirs));

const lettersOf = (sureT: number, sureN: number): Choice =>
  sureT < SURE_LETTERS && sureN >= Math.max(SURE_NEURAL, sureT) ? 'neural' : 'tesseract';

/** Letters that PP-OCR often takes for digits are letters again inside a word of small letters: `tota1`. */
export const lettersAgain = (text: string): string =>
  text
    .replace(/(?<=\p{Ll})[10]+(?![\d.,])/gu, (digits) => digits.replaceAll('1', 'l').replaceAll('0', 'o'))
    .replace(/^1(?=(?!st\b)\p{Ll}{2})/u, 'l')
    .replace(/^0(?=\p{Ll}{2})/u, 'o');

/** The bounds of words. */
export const boxOfWords = (words: readonly OcrWord[]) => boundsOf(words.map(({ box }) => box));
