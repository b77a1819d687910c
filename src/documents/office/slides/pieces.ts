/** What a slide is made of. */

export interface Piece {
  readonly isTitle: boolean;
  readonly html: string;
}

export interface Slide {
  /** The heading's text as HTML, '' when it has none. */
  readonly title: string;
  readonly html: string;
  readonly hiddenCount: number;
}

/** Titles come first whatever their place, notes last. */
export function slideHtml(pieces: readonly Piece[], notes: string): string {
  const titles = pieces.filter(({ isTitle }) => isTitle);
  const others = pieces.filter(({ isTitle }) => !isTitle);
  return [...titles.map(({ html }) => html), ...others.map(({ html }) => html), notes].filter(Boolean).join('\n');
}
