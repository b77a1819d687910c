/** Recognizes the bold of documents that are set in a light font: there, a medium weight stands out. */
import type { Piece, Style } from './drawn-content.ts';
import { WEIGHTS } from './fonts.ts';
import type { PageText } from './page.ts';

/** Share of the letters that must be light. */
const MOSTLY = 0.5;

/** The pages with medium weights marked as bold if most text is light, otherwise the same pages. */
export function withRelativeBold(pages: readonly PageText[]): readonly PageText[] {
  let letters = 0;
  let light = 0;
  let medium = 0;
  for (const { pieces } of pages) {
    for (const { text, style } of pieces) {
      letters += text.length;
      if (style.weight <= WEIGHTS.light) light += text.length;
      else if (style.weight === WEIGHTS.medium) medium += text.length;
    }
  }
  if (medium === 0 || light <= MOSTLY * letters) return pages;
  const bold = new Map<Style, Style>();
  return pages.map((page) => ({ ...page, pieces: page.pieces.map((piece) => emboldened(piece, bold)) }));
}

function emboldened(piece: Piece, known: Map<Style, Style>): Piece {
  if (piece.style.weight !== WEIGHTS.medium) return piece;
  const style = known.get(piece.style) ?? { ...piece.style, bold: true };
  known.set(piece.style, style);
  return { ...piece, style };
}
