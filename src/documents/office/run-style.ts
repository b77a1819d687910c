/** The meaningful part of a run's style. Styles inherit from each other. */
import type { Marks } from './inline.ts';

/** A property is `undefined` if the style does not set it. */
export interface RunStyle {
  bold?: boolean | undefined;
  italic?: boolean | undefined;
  strike?: boolean | undefined;
  hidden?: boolean | undefined;
  code?: boolean | undefined;
  raised?: 'sup' | 'sub' | 'none' | undefined;
  /** White text without its own background. */
  white?: boolean | undefined;
  /** Too small to read. */
  tiny?: boolean | undefined;
}

/** Merges two styles; the first takes precedence. */
export function mergeStyles(first: RunStyle, second: RunStyle): RunStyle {
  const merged: RunStyle = { ...second };
  for (const [name, value] of Object.entries(first)) if (value !== undefined) Object.assign(merged, { [name]: value });
  return merged;
}

/** `href` is a URL that `safeHref` accepted. */
export const marksOf = ({ bold, italic, strike, code, raised }: RunStyle, href: string | undefined): Marks => ({
  bold,
  italic,
  strike,
  code,
  raised: raised === 'none' ? undefined : raised,
  href,
});

/** Whether the text is invisible. White text is invisible only on a white background. */
export const isInvisible = ({ hidden, white, tiny }: RunStyle, isOnPaper: boolean): boolean =>
  hidden === true || tiny === true || (white === true && isOnPaper);
