/** Lines in a monospaced font, with spaces restored from their positions. */
import type { Line } from './lines.ts';
import type { Typography } from './typography.ts';

export const isMono = (line: Line): boolean =>
  line.runs.length > 0 && line.runs.every(({ mono, text }) => mono || text.trim() === '');

/** Maximum amount of restored white space. */
const MAX_SPACES = 120;
const MAX_EMPTY_LINES = 3;

export function codeText(lines: readonly Line[], typography: Typography): string {
  const left = Math.min(...lines.map(({ x0 }) => x0));
  const width = letterWidth(lines);
  let before: Line | null = null;
  let text = '';
  for (const line of lines) {
    if (before) {
      const skipped = Math.round((line.baseline - before.baseline) / (typography.pitch * line.size)) - 1;
      text += '\n'.repeat(1 + Math.min(Math.max(skipped, 0), MAX_EMPTY_LINES));
    }
    text += spaces((line.x0 - left) / width);
    let end = line.x0;
    for (const piece of line.pieces) {
      text += spaces((piece.x0 - end) / width) + piece.text;
      end = piece.x1;
    }
    before = line;
  }
  return text;
}

const spaces = (count: number): string => ' '.repeat(Math.min(Math.max(Math.round(count), 0), MAX_SPACES));

function letterWidth(lines: readonly Line[]): number {
  let letters = 0;
  let width = 0;
  for (const { pieces } of lines) {
    for (const { text, x0, x1 } of pieces) {
      letters += text.length;
      width += x1 - x0;
    }
  }
  return width / Math.max(1, letters) || 1;
}
