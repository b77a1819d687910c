/** The parts of a slide, and its HTML. */

export interface Piece {
  readonly isTitle: boolean;
  readonly html: string;
}

export interface Slide {
  /** The heading as HTML; '' if it has none. */
  readonly title: string;
  readonly html: string;
  readonly hiddenCount: number;
}

/** Puts the title first, regardless of its position, and notes last. */
export function slideHtml(pieces: readonly Piece[], notes: string): string {
  const titles = pieces.filter(({ isTitle }) => isTitle);
  const others = pieces.filter(({ isTitle }) => !isTitle);
  return [...titles.map(({ html }) => html), ...others.map(({ html }) => html), notes].filter(Boolean).join('\n');
}
