/** Recognizes watermarks: large light text that is painted slanted across the page, such as "DRAFT". */
import type { RawPiece } from './drawn-content.ts';
import { bodySizeOf } from './typography.ts';

/** Smallest angle to the horizontal and to the vertical, in degrees. */
const SLANT = 15;
const QUARTER_TURN = 90;
/** Smallest size, as a multiple of the size of the other text. */
const LARGE = 2;
/** Highest opacity of transparent text, and lowest brightness of opaque text, from 0 to 1. */
const MAX_OPACITY = 0.6;
const MIN_BRIGHTNESS = 0.55;

/** The pieces of the watermarks. A page whose whole text is slanted has none. */
export function watermarksOf(pieces: readonly RawPiece[]): ReadonlySet<RawPiece> {
  const slanted = pieces.filter(isSlanted);
  if (slanted.length === 0 || slanted.length === pieces.length) return new Set();
  const bodySize = bodySizeOf(pieces.filter((piece) => !isSlanted(piece)));
  return new Set(slanted.filter((piece) => piece.size >= LARGE * bodySize && isLight(piece)));
}

function isSlanted({ angle }: RawPiece): boolean {
  const turned = ((angle % QUARTER_TURN) + QUARTER_TURN) % QUARTER_TURN;
  return turned > SLANT && turned < QUARTER_TURN - SLANT;
}

const isLight = ({ color, opacity }: RawPiece): boolean =>
  opacity <= MAX_OPACITY || (color !== null && brightnessOf(color) >= MIN_BRIGHTNESS);

/** The mean of the channels of `#rrggbb`. */
function brightnessOf(color: string): number {
  const value = Number.parseInt(color.slice(1, 7), 16);
  return [16, 8, 0].reduce((sum, shift) => sum + ((value >> shift) & 255), 0) / (3 * 255);
}
