/** Measures text lines on a small gray copy of an image, before recognition. */

/** One byte per pixel; 0 is black. */
export interface Gray {
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** The pixels that differ from the background of an image. */
export interface Ink {
  readonly x: Uint16Array;
  readonly y: Uint16Array;
  readonly width: number;
  readonly height: number;
  /** Whether the ink is light on a dark background. */
  readonly onDark: boolean;
  /**
   * Gray level of the background, and of the faintest lines, which is close to it. Both are inverted if the ink is
   * light.
   */
  readonly background: number;
  readonly faint: number;
}

/** Maximum number of ink pixels examined; if there are more, only a sample is used. */
const MAX_POINTS = 150_000;
/** Minimum difference in gray levels between ink and background; with less, the image is blank. */
const MIN_CONTRAST = 24;
/** Strokes longer than this share of the width or height are rules and frames, not letters. */
const RULE_PART = 1 / 12;
/** Distance of faint lines from the background, as a share of the distance to the threshold. */
const FAINT = 0.3;

export function inkOf({ pixels, width, height }: Gray): Ink {
  const { threshold, contrast, darkShare, dark, light } = divide(pixels);
  const onDark = darkShare > 0.5;
  const mask = new Uint8Array(pixels.length);
  if (contrast >= MIN_CONTRAST) {
    for (let i = 0; i < pixels.length; i++) mask[i] = pixels[i]! <= threshold !== onDark ? 1 : 0;
    dropStrokes(mask, { lines: height, length: width, lineStep: width, step: 1 });
    dropStrokes(mask, { lines: width, length: height, lineStep: 1, step: width });
  }
  let count = 0;
  for (const set of mask) count += set;
  const stride = Math.max(1, Math.ceil(count / MAX_POINTS));
  const x = new Uint16Array(Math.ceil(count / stride));
  const y = new Uint16Array(x.length);
  for (let i = 0, seen = 0, kept = 0; i < mask.length; i++) {
    if (mask[i] === 0 || seen++ % stride !== 0) continue;
    x[kept] = i % width;
    y[kept++] = Math.floor(i / width);
  }
  const background = onDark ? 255 - dark : light;
  const faint = background - FAINT * (background - (onDark ? 255 - threshold : threshold));
  return { x, y, width, height, onDark, background, faint };
}

interface Division {
  readonly threshold: number;
  readonly contrast: number;
  readonly darkShare: number;
  /** The mean levels on either side of the threshold. */
  readonly dark: number;
  readonly light: number;
}

/** Otsu's threshold (1979) between ink and background, and the distance between the two. */
function divide(pixels: Uint8Array): Division {
  const counts = new Float64Array(256);
  for (const level of pixels) counts[level]!++;
  let sum = 0;
  for (let level = 0; level < 256; level++) sum += level * counts[level]!;
  let best = { threshold: 127, contrast: 0, darkShare: 0, dark: 0, light: 255, spread: 0 };
  let dark = 0;
  let darkSum = 0;
  for (let level = 0; level < 255; level++) {
    dark += counts[level]!;
    darkSum += level * counts[level]!;
    const light = pixels.length - dark;
    if (dark === 0 || light === 0) continue;
    const means = { dark: darkSum / dark, light: (sum - darkSum) / light };
    const contrast = means.light - means.dark;
    const spread = dark * light * contrast * contrast;
    if (spread > best.spread) best = { threshold: level, contrast, darkShare: dark / pixels.length, ...means, spread };
  }
  return best;
}

interface Scan {
  lines: number;
  length: number;
  lineStep: number;
  step: number;
}

function dropStrokes(mask: Uint8Array, { lines, length, lineStep, step }: Scan): void {
  const longest = Math.max(40, length * RULE_PART);
  for (let line = 0; line < lines; line++) {
    let run = 0;
    for (let at = 0; at <= length; at++) {
      if (at < length && mask[line * lineStep + at * step] !== 0) run++;
      else {
        if (run > longest) for (let back = at - run; back < at; back++) mask[line * lineStep + back * step] = 0;
        run = 0;
      }
    }
  }
}

/** Rotates the ink by 90 degrees, so that columns become rows. */
export const rotateQuarter = ({ x, y, width, height, ...rest }: Ink): Ink => ({
  ...rest,
  x: y,
  y: x,
  width: height,
  height: width,
});

/**
 * Score for how strongly the ink forms rows at a slope of `degrees`: near 0 if the ink is spread evenly, and higher the
 * more clearly lines and spaces alternate.
 */
export function rowScore(ink: Ink, degrees: number): number {
  if (ink.y.length === 0) return 0;
  const rows = rowsAt(ink, degrees);
  let sum = 0;
  for (let row = 1; row < rows.length; row++) sum += (rows[row]! - rows[row - 1]!) ** 2;
  return (sum * ink.height) / ink.y.length ** 2;
}

/** Largest slope that is searched, in degrees. */
const MAX_SKEW = 6;

/** Slope of the lines in degrees, positive if they rise to the right: the shear that best gathers the ink in rows. */
export function skewDegrees(ink: Ink): number {
  if (ink.y.length === 0) return 0;
  const straight = gathered(ink, 0);
  let best = { degrees: 0, score: straight };
  const look = (degrees: number) => {
    const score = gathered(ink, degrees);
    if (score > best.score) best = { degrees, score };
  };
  for (let degrees = -MAX_SKEW; degrees <= MAX_SKEW; degrees += 0.5) look(degrees);
  const about = best.degrees;
  for (let tenth = -4; tenth <= 4; tenth++) look(about + tenth / 10);
  return best.score > 1.05 * straight ? best.degrees : 0;
}

function gathered(ink: Ink, degrees: number): number {
  let sum = 0;
  for (const count of rowsAt(ink, degrees)) sum += count * count;
  return sum;
}

/** Amount of ink in each row, for rows with a slope of `degrees`. */
function rowsAt({ x, y, width, height }: Ink, degrees: number): Float64Array {
  const slope = Math.tan((degrees * Math.PI) / 180);
  const margin = Math.ceil((Math.abs(slope) * width) / 2) + 1;
  const rows = new Float64Array(height + 2 * margin);
  for (let i = 0; i < x.length; i++) rows[Math.round(y[i]! + (x[i]! - width / 2) * slope) + margin]!++;
  return rows;
}

/** Number of vertical strips in which rows are measured. */
const STRIPS = 8;

/**
 * Height of a line of text, in pixels of this copy; 0 if there is none. It is the median run of inked rows, measured in
 * narrow strips because lines of neighboring columns may not be level.
 */
export function lineHeight({ x, y, width, height }: Ink): number {
  const strips = Array.from({ length: STRIPS }, () => new Uint32Array(height));
  for (let i = 0; i < x.length; i++) strips[Math.min(STRIPS - 1, Math.floor((x[i]! * STRIPS) / width))]![y[i]!]!++;
  const runs: number[] = [];
  for (const rows of strips) {
    let run = 0;
    for (let row = 0; row <= height; row++) {
      if (row < height && rows[row]! > 0) run++;
      else {
        if (run >= 4 && run < Math.max(12, height / 4)) runs.push(run);
        run = 0;
      }
    }
  }
  runs.sort((a, b) => a - b);
  return runs[Math.floor(runs.length / 2)] ?? 0;
}

/** Minimum difference in gray levels between a dot and everything around it. */
const DOT_CONTRAST = 30;
/**
 * Level difference of neighboring pixels that counts as grain, and the share of paper with grain from which an image
 * is a scan with dirt.
 */
const GRAIN = 3;
const GRAINY = 0.3;
const NEAR_PAPER = 32;

/**
 * Removes single dark pixels from light paper (or light pixels from dark paper), in place, because they would look like
 * characters after enlargement. Done only if the paper has grain, because the full stops in small print can be just as
 * small.
 */
export function removeDots(
  { pixels, width, height }: Gray,
  { onDark, background }: Pick<Ink, 'onDark' | 'background'>,
): void {
  const sign = onDark ? -1 : 1;
  const paper = onDark ? 255 - background : background;
  let [seen, grains] = [0, 0];
  for (let at = 1; at < pixels.length; at++) {
    if (Math.abs(pixels[at]! - paper) > NEAR_PAPER) continue;
    seen++;
    if (Math.abs(pixels[at]! - pixels[at - 1]!) >= GRAIN) grains++;
  }
  if (grains < GRAINY * seen) return;
  const around = [-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1];
  for (let y = 1; y < height - 1; y++) {
    for (let at = y * width + 1; at < (y + 1) * width - 1; at++) {
      const limit = sign * pixels[at]! + DOT_CONTRAST;
      if (around.every((step) => sign * pixels[at + step]! >= limit)) pixels[at] = pixels[at - width]!;
    }
  }
}
