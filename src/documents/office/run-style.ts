/** How a run of text looks, as far as it says something; styles inherit from each other. */
import type { Marks } from './inline.ts';

/** Undefined where nothing is said. */
export interface RunStyle {
  bold?: boolean | undefined;
  italic?: boolean | undefined;
  strike?: boolean | undefined;
  hidden?: boolean | undefined;
  code?: boolean | undefined;
  raised?: 'sup' | 'sub' | 'none' | undefined;
  /** White letters without a ground of their own. */
  white?: boolean | undefined;
  /** A size that nobody can read. */
  tiny?: boolean | undefined;
}

/** The first style over the second. */
export function over(first: RunStyle, second: RunStyle): RunStyle {
  const merged: RunStyle = { ...second };
  for (const [name, value] of Object.entries(first)) if (value !== undefined) Object.assign(merged, { [name]: value });
  return merged;
}

/** `href` is an address that `safeHref` let pass. */
export const marksOf = ({ bold, italic, strike, code, raised }: RunStyle, href: string | undefined): Marks => ({
  bold,
  italic,
  strike,
  code,
  raised: raised === 'none' ? undefined : raised,
  href,
});

/** Whether nobody can see the text; white letters are lost only on white paper. */
export const isUnseen = ({ hidden, white, tiny }: RunStyle, isOnPaper: boolean): boolean =>
  hidden === true || tiny === true || (white === true && isOnPaper);
