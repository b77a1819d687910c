/**
 * Prepares images for recognition: upright, straight, gray, dark on light, with letters of the size that Tesseract
 * reads best. Runs in a child process (`ocr/worker.ts`), because images are untrusted.
 */

import type { OcrBox } from '../hocr.ts';
import { findPieces } from './components.ts';
import type { Preparation, Size } from './coordinates.ts';
import { type Gray, inkOf, lineHeight, removeDots, rotateQuarter, rowScore, skewDegrees } from './ink.ts';
import { type Rules, removeRules } from './ruling-lines.ts';

/** Clockwise, in degrees. */
export type Rotation = 0 | 90 | 180 | 270;

export interface Prepared {
  /** A gray PNG. */
  readonly picture: Uint8Array;
  /** Whether its lines seem to run vertically. */
  readonly sideways: boolean;
  /** Whether the image is empty. */
  readonly blank: boolean;
  /** Ruling lines, in pixels of `picture`, from which they have been removed. */
  readonly rules: Rules;
  /** Boxes of all pieces the size of letters or words, in pixels of `picture`. */
  readonly pieces: readonly OcrBox[];
  readonly preparation: Preparation;
  /** Height of a line of text, in pixels of `picture`; `undefined` if no line was found. */
  readonly lineHeight: number | undefined;
}

/** Larger images are refused before they are decoded. */
const MAX_PIXELS = 100_000_000;
/** Maximum size of the prepared image, in pixels; an A4 page at 400 dpi has 15 million pixels. */
const MAX_READ_PIXELS = 16_000_000;
/** Longest side of the small copy that is analyzed first, in pixels. */
const LOOK_SIDE = 1_600;
/** Line height that Tesseract reads best, in pixels. Smaller lines are enlarged to it. */
const GOOD_LINE_HEIGHT = 24;
const SMALL_LINE_HEIGHT = 20;
const MAX_ENLARGEMENT = 4;
/** Slopes up to this, in degrees, are harmless. */
const STRAIGHT_DEGREES = 0.2;
const TIMEOUT_S = 60;

/** Throws an Error if the image cannot be decoded or has too many pixels, or if it is incomplete and `whole` is set. */
export async function prepare(bytes: Uint8Array, turn: Rotation, whole = false): Promise<Prepared> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  const { page, source, upright } = await grayPage(sharp, bytes, { turn, whole });
  const small = { width: LOOK_SIDE, height: LOOK_SIDE, fit: 'inside', withoutEnlargement: true } as const;
  const look = await grayOf(raw(sharp, page).resize(small));
  const ink = inkOf(look);
  const turned = rotateQuarter(ink);
  const skew = skewDegrees(ink);
  const sideways = rowScore(turned, skewDegrees(turned)) > 2 * rowScore(ink, skew);
  const letters = (lineHeight(ink) * page.height) / look.height;
  const wanted = letters > 0 && letters < SMALL_LINE_HEIGHT ? Math.min(MAX_ENLARGEMENT, GOOD_LINE_HEIGHT / letters) : 1;
  const scale = Math.min(wanted, Math.sqrt(MAX_READ_PIXELS / page.pixels.length));

  removeDots(page, ink);
  let picture = raw(sharp, page);
  if (ink.onDark) picture = picture.negate();
  const isEnlarged = scale > 1.1;
  const isStraightened = Math.abs(skew) >= STRAIGHT_DEGREES;
  if (isEnlarged) picture = picture.resize({ width: Math.round(page.width * scale) });
  if (isStraightened) picture = picture.rotate(skew, { background: '#fff' });
  const made = await grayOf(picture);
  const lettersMade = letters * (isEnlarged ? scale : 1);
  const rules = removeRules(made, { lineHeight: lettersMade, ...ink });
  const pieces = findPieces(made, {
    lineHeight: lettersMade,
    level: ink.background - 2 * (ink.background - ink.faint),
  });
  const png = await raw(sharp, made)
    .toColorspace('b-w')
    .png({ compressionLevel: 1 })
    .timeout({ seconds: TIMEOUT_S })
    .toBuffer();
  const preparation = {
    source,
    upright,
    turn,
    scale: isEnlarged ? scale : 1,
    skew: isStraightened ? skew : 0,
    made: { width: made.width, height: made.height },
  };
  return {
    picture: png,
    rules,
    pieces,
    sideways,
    blank: ink.x.length === 0,
    preparation,
    lineHeight: lettersMade || undefined,
  };
}

type SharpModule = typeof import('sharp').default;
type Sharp = import('sharp').Sharp;

const raw = (sharp: SharpModule, { pixels, width, height }: Gray): Sharp =>
  sharp(pixels, { raw: { width, height, channels: 1 }, limitInputPixels: MAX_PIXELS });

async function grayOf(picture: Sharp): Promise<Gray> {
  const { data, info } = await picture
    .toColorspace('b-w')
    .raw()
    .timeout({ seconds: TIMEOUT_S })
    .toBuffer({ resolveWithObject: true });
  return { pixels: data, width: info.width, height: info.height };
}

/**
 * The first page of an image as gray, on an opaque background. Unless `whole` is set, an incomplete image gives its
 * available part.
 */
async function grayPage(
  sharp: SharpModule,
  bytes: Uint8Array,
  { turn, whole }: { turn: Rotation; whole: boolean },
): Promise<{ page: Gray; source: Size; upright: Size }> {
  const failOn = whole ? 'truncated' : 'none';
  const open = () => sharp(bytes, { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn });
  const { width, height, autoOrient: source, hasAlpha, format } = await open().metadata();
  if (format === 'svg') throw new Error('not a raster image');
  const background = hasAlpha && (await isLight(open())) ? '#000' : '#fff';
  let picture = open().autoOrient().flatten({ background }).greyscale();
  const shrink = Math.sqrt(MAX_READ_PIXELS / (width * height));
  if (shrink < 1) {
    const side = Math.max(1, Math.floor(Math.max(width, height) * shrink));
    picture = picture.resize({ width: side, height: side, fit: 'inside' });
  }
  const upright = await grayOf(picture);
  const page = turn === 0 ? upright : await grayOf(raw(sharp, upright).rotate(turn));
  return { page, source, upright: { width: upright.width, height: upright.height } };
}

/**
 * Whether the visible part of a transparent image is light, which means that the image is intended for a dark
 * background.
 */
async function isLight(picture: Sharp): Promise<boolean> {
  const small = picture.resize({ width: 256, height: 256, fit: 'inside', withoutEnlargement: true });
  const { data, info } = await small
    .ensureAlpha()
    .raw()
    .timeout({ seconds: TIMEOUT_S })
    .toBuffer({ resolveWithObject: true });
  let light = 0;
  let weight = 0;
  for (let at = 0; at + info.channels <= data.length; at += info.channels) {
    const alpha = data[at + info.channels - 1]!;
    light += data[at]! * alpha;
    weight += alpha;
  }
  return weight > 0 && light / weight > 160;
}
