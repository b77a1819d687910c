/**
 * Whether a style attribute alone hides the text of its element. For HTML fragments embedded in someone else's page.
 */
import { isIndistinguishable, over, WHITE } from './color.ts';
import { readStyleAttribute } from './declarations.ts';
import { FAINT, isTinyFont, readVisualStyle, tracksProperty } from './visual-style.ts';

export function hidesText(style: string): boolean {
  const values = new Map(readStyleAttribute(style, tracksProperty).map(({ property, value }) => [property, value]));
  if (values.size === 0) return false;
  const { gone, opacity, invisible, indented, font, color, background } = readVisualStyle(values, true);
  if (gone || opacity < FAINT || invisible || indented) return true;
  if (font && !font.relative && isTinyFont(font.size)) return true;
  if (font?.relative && font.size === 0) return true;
  if (!color || color === 'unknown') return false;
  if (color.alpha < FAINT) return true;
  return (
    !!background && background !== 'unknown' && isIndistinguishable(over(color, background), over(background, WHITE))
  );
}
