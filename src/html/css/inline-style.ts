/**
 * Whether a style attribute alone hides the text of its element. Used for HTML fragments embedded in someone else's
 * page.
 */
import { isTinyFont, isTrackedProperty, MIN_VISIBLE_OPACITY, readAppearance } from './appearance.ts';
import { areIndistinguishable, blendOver, WHITE } from './color.ts';
import { parseStyleAttribute } from './declarations.ts';

export function hidesText(style: string): boolean {
  const values = new Map(parseStyleAttribute(style, isTrackedProperty).map(({ property, value }) => [property, value]));
  if (values.size === 0) return false;
  const { hiddenBy, opacity, invisible, indented, font, color, background } = readAppearance(values, true);
  if (hiddenBy || opacity < MIN_VISIBLE_OPACITY || invisible || indented) return true;
  if (font && !font.relative && isTinyFont(font.size)) return true;
  if (font?.relative && font.size === 0) return true;
  if (!color || color === 'unknown') return false;
  if (color.alpha < MIN_VISIBLE_OPACITY) return true;
  return (
    !!background &&
    background !== 'unknown' &&
    areIndistinguishable(blendOver(color, background), blendOver(background, WHITE))
  );
}
