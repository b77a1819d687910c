/** Reads a page with both recognizers: Tesseract reads all of it, PP-OCR the parts that `stretches.ts` selects. */
import type { Corners } from '../engines/pp-ocr/picture.ts';
import type { OcrLine, OcrPage, OcrWord } from '../hocr.ts';
import { type Assigned, assignWords, type Stretch, stretchesOf } from './stretches.ts';
import { boxOfWords, type Doubt, lettersAgain, mergeWords } from './words.ts';

export interface Combined {
  readonly page: OcrPage;
  readonly doubts: readonly Doubt[];
}

interface CombineOptions {
  /** Whether PP-OCR knows the letters of the page, and not only its digits. */
  readonly lettersCount: boolean;
  read(boxes: readonly Corners[]): Promise<readonly (OcrLine | undefined)[]>;
}

/** A word of Tesseract outside all detected lines is kept from this confidence on. */
const SURE_OUTSIDE = 0.6;
/** Letter size as a share of the height of a detected box, until it is measured on the page. */
const USUAL_SIZE = 0.72;
/** Minimum vertical overlap of words in one line, as a share of the lower one. */
const LEVEL = 0.4;

export async function combine(
  page: OcrPage,
  boxes: readonly Corners[],
  { lettersCount, read }: CombineOptions,
): Promise<Combined> {
  const { lines, outside } = assignWords(boxes, page);
  const stretches = lines.flatMap((line) => stretchesOf(line).map((stretch) => ({ line, stretch })));
  const readings = await read(stretches.map(({ stretch }) => stretch.corners));
  const doubts: Doubt[] = [];
  /** What became of each word that was read twice: the first word of a stretch stands for all of it. */
  const replaced = new Map<OcrWord, readonly OcrWord[]>();
  const added: { line: Assigned; words: readonly OcrWord[] }[] = [];
  for (const [at, { line, stretch }] of stretches.entries()) {
    const merged = mergeWords(stretch.words, asciiSigns(readings[at]?.words ?? []), lettersCount);
    doubts.push(...merged.doubts);
    for (const word of stretch.words) replaced.set(word, []);
    const [first] = stretch.words;
    if (first) replaced.set(first, merged.words);
    else if (merged.words.length > 0) added.push({ line, words: merged.words });
  }
  const known = new Set(lines.flatMap(({ words }) => words));
  const kept = page.lines.flatMap((line) => {
    const words = line.words.flatMap((word) => {
      if (replaced.has(word)) return replaced.get(word)!;
      return known.has(word) || (outside.has(word) && (!lettersCount || word.confidence >= SURE_OUTSIDE)) ? [word] : [];
    });
    return levelParts(joinSyllables(words, line.size)).map((part) => ({ ...line, words: part, box: boxOfWords(part) }));
  });
  const size = sizeShare(page, lines);
  const fresh = added.map(({ line, words }) => ({
    box: boxOfWords(words),
    size: size * (line.box.bottom - line.box.top),
    words,
  }));
  return { page: { ...page, lines: [...kept, ...fresh] }, doubts };
}

/** The page as PP-OCR alone reads it. */
export async function readByNeural(
  page: Omit<OcrPage, 'lines'>,
  stretches: readonly Pick<Stretch, 'corners'>[],
  read: CombineOptions['read'],
): Promise<Combined> {
  const lines = (await read(stretches.map(({ corners }) => corners))).filter((line) => line !== undefined);
  const sorted = lines
    .map((line) => ({ ...line, words: isSpaceless(line) ? line.words : asciiSigns(line.words) }))
    .sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left);
  return { page: { ...page, lines: sorted }, doubts: [] };
}

const isSpaceless = ({ words }: OcrLine): boolean =>
  words.some(({ text }) => /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u.test(text));

/** The network often reads the wide signs of Chinese in Latin text. */
const asciiSigns = (words: readonly OcrWord[]): OcrWord[] =>
  words.map((word) => ({
    ...word,
    text: lettersAgain(word.text.normalize('NFKC').replaceAll('。', '.').replaceAll('、', ',')),
  }));

/** A gap between Hangul syllables below this multiple of the letter size is no space. */
const SYLLABLE_GAP = 0.2;

/** Tesseract often returns each syllable of Korean as a word of its own. */
function joinSyllables(words: readonly OcrWord[], size: number): OcrWord[] {
  const joined: OcrWord[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    const isKorean = before && /[\p{Script=Hangul}\d]$/u.test(before.text) && /^[\p{Script=Hangul}.,]/u.test(word.text);
    if (!isKorean || word.box.left - before.box.right > SYLLABLE_GAP * size) joined.push(word);
    else
      joined[joined.length - 1] = {
        ...before,
        text: before.text + word.text,
        box: boxOfWords([before, word]),
        confidence: Math.min(before.confidence, word.confidence),
      };
  }
  return joined;
}

/** Splits a line of Tesseract whose words are not level: it sometimes joins columns that are shifted. */
function levelParts(words: readonly OcrWord[]): OcrWord[][] {
  const parts: OcrWord[][] = [];
  for (const word of words) {
    const before = parts.at(-1)?.at(-1);
    if (before && isLevel(before, word)) parts.at(-1)!.push(word);
    else parts.push([word]);
  }
  return parts;
}

function isLevel({ box: a }: OcrWord, { box: b }: OcrWord): boolean {
  const overlap = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  // Full stops and dashes are lower than letters, so they are compared by their middle.
  const [low, high] = a.bottom - a.top < b.bottom - b.top ? [a, b] : [b, a];
  const middle = (low.top + low.bottom) / 2;
  return overlap > LEVEL * (low.bottom - low.top) || (middle > high.top && middle < high.bottom);
}

/** Tesseract's letter size as a share of the height of detected boxes, on this page. */
function sizeShare(page: OcrPage, lines: readonly Assigned[]): number {
  const sizes = new Map(page.lines.flatMap((line) => line.words.map((word) => [word, line.size] as const)));
  const shares = lines
    .flatMap(({ box, words }) => (words[0] ? [sizes.get(words[0])! / Math.max(1, box.bottom - box.top)] : []))
    .sort((a, b) => a - b);
  return shares[shares.length >> 1] ?? USUAL_SIZE;
}
