/**
 * Reads one image. With PP-OCR, `read-both.ts` does it; without, Tesseract reads it in the orientation that gives the
 * most plausible text.
 */

import { problem } from '#errors.ts';
import type { Doubt } from './combine/words.ts';
import type { OcrEngine } from './engine.ts';
import { NeuralFailure, type PpOcr } from './engines/pp-ocr/pp-ocr.ts';
import type { OcrBox, OcrPage, OcrWord } from './hocr.ts';
import type { Sheet } from './image/components.ts';
import type { Preparation } from './image/coordinates.ts';
import { findOverlooked, mergeReadings } from './image/overlooked.ts';
import type { Prepared, Rotation } from './image/prepare.ts';
import { NO_RULES } from './image/ruling-lines.ts';
import { readWithBoth } from './read-both.ts';

export interface OcrTools {
  readonly engine: OcrEngine;
  /** Reads along with the engine; absent if it is not installed, or if it is the engine itself. */
  readonly neural?: PpOcr | undefined;
  /** An engine with the data of these languages; `undefined` if they are not installed. */
  engineFor(languages: readonly string[]): Promise<OcrEngine | undefined>;
  prepare(picture: Uint8Array, rotation: Rotation): Promise<Prepared>;
  /** Cuts pieces out of a prepared image and places them side by side. */
  gather(picture: Uint8Array, boxes: readonly OcrBox[]): Promise<Sheet>;
  /** Cuts a part out of a prepared image. */
  crop(picture: Uint8Array, box: OcrBox): Promise<Uint8Array>;
  readonly languages: readonly string[];
  /** Whether nobody chose the languages, so that they follow from the script of the page. */
  readonly isAutomatic: boolean;
  /** Whether there is time to read the image again. */
  hasTimeLeft(): boolean;
  readonly signal: AbortSignal;
}

export const BLANK: OcrPage = { width: 0, height: 0, lines: [], rules: NO_RULES };

/** At this confidence or above, no other orientation is tried. */
const SURE = 0.7;
/** Minimum confidence of legible text. */
const READABLE = 0.6;
/** With fewer words, the result may be noise, and `sparse` segmentation is tried. */
const FEW_WORDS = 3;

/** On a legible page, lines below this confidence are noise. */
const MIN_CONFIDENCE = 0.3;
/** The same threshold for lines without letters and digits, because strokes and dirt look like such lines. */
const MIN_SIGN_CONFIDENCE = 0.7;
/** Minimum confidence of words that count as plausible text. */
const MIN_LETTER_CONFIDENCE = 0.4;
/** Divisor of the plausibility of readings with sideways boxes. */
const SIDEWAYS_PENALTY = 10;

export interface OcrReading {
  readonly page: OcrPage;
  readonly preparation: Preparation;
  /** Numbers that the two recognizers read differently. */
  readonly doubts: readonly Doubt[];
  /** What the reader of the answer should know, as sentences. */
  readonly notes: readonly string[];
}

/** Reads the lines of an image. Pages that are sideways or upside down are rotated. */
export async function readImage(picture: Uint8Array, tools: OcrTools): Promise<OcrReading> {
  if (!tools.neural) return readByEngine(picture, tools);
  try {
    return await readWithBoth(picture, tools, tools.neural);
  } catch (error) {
    if (!(error instanceof NeuralFailure)) throw error;
    const reading = await readByEngine(picture, tools);
    return { ...reading, notes: [...reading.notes, NEURAL_FAILED] };
  }
}

const NEURAL_FAILED = 'The second recognizer failed, so numbers were read by one recognizer only';

async function readByEngine(picture: Uint8Array, tools: OcrTools): Promise<OcrReading> {
  const upright = await tools.prepare(picture, 0);
  let best: { page: OcrPage; preparation: Preparation; plausibility: number; prepared: Prepared } | undefined;
  if (upright.blank) return { page: BLANK, preparation: upright.preparation, doubts: [], notes: [] };
  const rotations: readonly Rotation[] = upright.sideways ? [90, 270, 0, 180] : [0, 180, 90, 270];
  for (const rotation of rotations) {
    const prepared = rotation === 0 ? upright : await tools.prepare(picture, rotation);
    const page = await readUpright(prepared, tools);
    const plausibility = plausibilityOf(page);
    if (best === undefined || plausibility > best.plausibility)
      best = { page, plausibility, prepared, preparation: prepared.preparation };
    if (confidenceOf(page) >= SURE && plausibility > 0 && !isOnItsSide(page)) break;
    // If nothing in an image looks like writing, other orientations are not tried.
    if (rotation === rotations[1] && best.plausibility === 0) break;
    if (rotation !== rotations[3] && !tools.hasTimeLeft()) {
      if (confidenceOf(best.page) >= READABLE) break;
      // What was read so far may be the page upside down.
      throw problem('DownstreamServiceFailureError', { message: 'Text recognition had no time to turn this page' });
    }
  }
  const { page, prepared, preparation } = best!;
  return { page: await readAgain(withoutNoise(page), prepared, tools), preparation, doubts: [], notes: [] };
}

async function readAgain(page: OcrPage, { picture, pieces }: Prepared, tools: OcrTools): Promise<OcrPage> {
  if (!tools.engine.supportsSparse || confidenceOf(page) < READABLE || !tools.hasTimeLeft()) return page;
  const again = findOverlooked(page, pieces);
  if (again.length === 0) return page;
  const { languages, signal } = tools;
  const sheet = await tools.gather(
    picture,
    again.map(({ box }) => box),
  );
  const read = await tools.engine.recognize(sheet.picture, { languages, segmentation: 'block', signal });
  return mergeReadings(page, again, sheet, read);
}

export async function readUpright({ picture, rules }: Prepared, tools: OcrTools): Promise<OcrPage> {
  const { engine, languages, signal } = tools;
  const page = { ...(await engine.recognize(picture, { languages, segmentation: 'page', signal })), rules };
  if (wordsOf(page).length >= FEW_WORDS || !engine.supportsSparse || !tools.hasTimeLeft()) return page;
  const again = { ...(await engine.recognize(picture, { languages, segmentation: 'sparse', signal })), rules };
  return plausibilityOf(again) > plausibilityOf(page) ? again : page;
}

const wordsOf = ({ lines }: Pick<OcrPage, 'lines'>) => lines.flatMap(({ words }) => words);

/**
 * Removes text read from pictures, strokes and dirt. If most of a page is noise, a line is kept only if its confidence
 * is high.
 */
export function withoutNoise(page: OcrPage): OcrPage {
  const isClean = confidenceOf(page) >= READABLE;
  const lines = page.lines.filter(({ words }) => {
    const confidence = meanConfidence(words);
    if (!isClean) return confidence >= READABLE && words.some(({ text }) => /[\p{L}\p{N}]{3}|\p{scx=Han}/u.test(text));
    return confidence >= (words.some(({ text }) => /[\p{L}\p{N}]/u.test(text)) ? MIN_CONFIDENCE : MIN_SIGN_CONFIDENCE);
  });
  return { ...page, lines };
}

/** Mean over words, 0 to 1; 0 if there are none. */
export const confidenceOf = (page: OcrPage): number => meanConfidence(wordsOf(page));

const meanConfidence = (words: readonly OcrWord[]): number =>
  words.length === 0 ? 0 : words.reduce((sum, { confidence }) => sum + confidence, 0) / words.length;

/** Amount of plausible text: letters and digits, weighted by confidence. */
function plausibilityOf(page: OcrPage): number {
  const plausibility = wordsOf(page).reduce((sum, { text, confidence }) => {
    const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    return confidence < MIN_LETTER_CONFIDENCE || letters === 0 ? sum : sum + letters * confidence ** 2;
  }, 0);
  return isOnItsSide(page) ? plausibility / SIDEWAYS_PENALTY : plausibility;
}

/** Tesseract sometimes reads a page sideways, and then returns sideways boxes. */
export function isOnItsSide({ lines }: Pick<OcrPage, 'lines'>): boolean {
  const long = wordsOf({ lines }).filter(({ text }) =>
    /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{4,}$/u.test(text),
  );
  const tall = long.filter(({ box }) => box.bottom - box.top > box.right - box.left);
  return tall.length > long.length / 2;
}
