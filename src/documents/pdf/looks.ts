/** What sizes and weights mean in a document: running text, headings of each level. */

import type { Looks } from './blocks.ts';
import type { Piece } from './ink.ts';
import type { Line } from './lines.ts';

/** The size that most letters have. */
export function bodySizeOf(pieces: Iterable<Piece>): number {
  const letters = new Map<number, number>();
  for (const { size, text } of pieces) {
    const step = Math.round(size * 4) / 4;
    letters.set(step, (letters.get(step) ?? 0) + text.length);
  }
  let body = 10;
  let most = 0;
  for (const [size, count] of letters) {
    if (count > most || (count === most && size < body)) {
      most = count;
      body = size;
    }
  }
  return body;
}

export function looksOf(bodySize: number): Looks {
  return {
    bodySize,
    levelOf(lines: readonly Line[]) {
      const size = lines[0]!.size;
      if (lines.length > 3 || size < 1.15 * bodySize) return 0;
      return size > 1.6 * bodySize ? 1 : 2;
    },
  };
}
