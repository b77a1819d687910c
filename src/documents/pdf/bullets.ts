/** Detects bullets that are drawn as graphics: small shapes just before the first word of a line. */

import type { Piece } from './drawn-content.ts';
import { WEIGHTS } from './fonts.ts';
import { type Box, containsPoint } from './geometry.ts';

/** Largest distance between a bullet and its text, in multiples of the font size. */
const MAX_DISTANCE = 2.6;
const MAX_LOOKED_AT = 2_000;

export function withDrawnBullets(pieces: readonly Piece[], dots: readonly Box[]): readonly Piece[] {
  if (dots.length === 0) return pieces;
  const byLeft = pieces.toSorted((one, two) => one.x0 - two.x0);
  const added: Piece[] = [];
  for (const dot of dots) {
    const piece = nextTo(dot, byLeft);
    if (!piece || piece.rightToLeft) continue;
    const { y, size, mark, artifact } = piece;
    const bullet = { x0: dot.x0, x1: dot.x1, y, size, text: '•', style: PLAIN, spaced: false, mark, artifact };
    added.push({ ...bullet, rightToLeft: false });
  }
  return added.length === 0 ? pieces : [...pieces, ...added];
}

const PLAIN = { bold: false, italic: false, mono: false, weight: WEIGHTS.regular };

/** The piece that starts to the right of the dot at its height, if no other piece is as close on its left. */
function nextTo(dot: Box, byLeft: readonly Piece[]): Piece | null {
  const middle = (dot.y0 + dot.y1) / 2;
  let low = 0;
  let high = byLeft.length;
  while (low < high) {
    const at = (low + high) >> 1;
    if (byLeft[at]!.x0 < dot.x1 - 0.5) low = at + 1;
    else high = at;
  }
  for (let at = low; at < Math.min(byLeft.length, low + MAX_LOOKED_AT); at++) {
    const piece = byLeft[at]!;
    if (piece.x0 - dot.x1 > 40) return null;
    const beside = {
      x0: piece.x0 - MAX_DISTANCE * piece.size,
      y0: piece.y - 0.7 * piece.size,
      x1: piece.x0,
      y1: piece.y,
    };
    if (dot.x1 - dot.x0 < 0.7 * piece.size && containsPoint(beside, dot.x0, middle)) return piece;
  }
  return null;
}
