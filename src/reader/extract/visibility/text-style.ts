/** Inherited style properties that decide whether text is readable. */

import {
  type Appearance,
  isTinyFont,
  isTrackedProperty,
  MIN_VISIBLE_OPACITY,
  readAppearance,
} from '#html/css/appearance.ts';
import type { MatchedDeclarations } from '#html/css/cascade.ts';
import { areIndistinguishable, BLACK, blendOver, type Color, WHITE } from '#html/css/color.ts';
import { type Declaration, parseStyleAttribute } from '#html/css/declarations.ts';
import { attribute, type Element } from '#html/node.ts';
import { ownValue } from '#own-value.ts';
import type { PageStyles } from './page-styles.ts';

export interface TextStyle {
  readonly invisible: boolean;
  readonly indented: boolean;
  readonly fontPx: number;
  readonly opacity: number;
  /** Null if unknown. */
  readonly color: Color | null;
  readonly background: Color | null;
  /** The elements that set color and background; null for the browser's default. */
  readonly colorSource: Element | null;
  readonly backgroundSource: Element | null;
  readonly custom: Custom | null;
}

/** Custom properties of an element, followed by those of its ancestors. */
interface Custom {
  readonly own: ReadonlyMap<string, string>;
  readonly around: Custom | null;
}

/** The style of text on an empty page. Its colors are unknown if there are external style sheets. */
export const initialTextStyle = ({ hasExternalSheets }: PageStyles): TextStyle => ({
  invisible: false,
  indented: false,
  fontPx: 16,
  opacity: 1,
  color: hasExternalSheets ? null : BLACK,
  background: hasExternalSheets ? null : WHITE,
  colorSource: null,
  backgroundSource: null,
  custom: null,
});

export type UnreadableReason = 'visibility' | 'place' | 'size' | 'color';

/** The reason why text in this style is unreadable, or null. */
export function unreadableReason(textStyle: TextStyle): UnreadableReason | null {
  if (textStyle.invisible) return 'visibility';
  if (textStyle.indented) return 'place';
  if (isTinyFont(textStyle.fontPx)) return 'size';
  const { color, background } = textStyle;
  if (!color) return null;
  if (color.alpha < MIN_VISIBLE_OPACITY) return 'color';
  return background && areIndistinguishable(blendOver(color, background), background) ? 'color' : null;
}

/** The appearance of an element: from its own attributes only, and with style sheets applied. */
export interface ElementAppearance {
  /** Null if its attributes set nothing. */
  readonly inline: Appearance | null;
  readonly all: Appearance;
  /** Custom properties that the element itself sets; null for none. */
  readonly own: ReadonlyMap<string, string> | null;
}

/** Elements that browsers color by default, regardless of their ancestors' colors. Their color is therefore unknown. */
const OWN_COLOR = new Set(['mark', 'button', 'input', 'select', 'textarea', 'option']);

/** Creates a function that computes the appearance of one page's elements. Each style is parsed once. */
export function createAppearanceReader(
  styles: PageStyles,
): (element: Element, around: Custom | null) => ElementAppearance | null {
  const attributes = new Map<string, readonly Declaration[]>();
  const known = new AppearanceCache();
  /** Appearances of styles with `var()`, by inherited custom properties. */
  const variable = new Map<Custom | null, AppearanceCache>();
  const written = (style: string): readonly Declaration[] => {
    let found = attributes.get(style);
    if (!found) {
      found = parseStyleAttribute(style, isTrackedProperty);
      attributes.set(style, found);
    }
    return found;
  };
  return (element, around) => {
    const declared = styles.of(element) ?? null;
    const style = element.attributes.length > 0 ? (attribute(element, 'style') ?? '') : '';
    const hints = hintsOf(element);
    if (!declared && style === '' && hints.length === 0) return null;
    const key =
      hints.length === 0 ? style : `${hints.map(({ property, value }) => `${property}:${value}`).join(';')}|${style}`;
    const found = known.get(declared, key) ?? variable.get(around)?.get(declared, key);
    if (found) return found;
    const inline = [...hints, ...written(style)];
    const all = merged(hints, declared, written(style));
    const own = new Map([...all].filter(([name]) => name.startsWith('--')));
    const custom = own.size > 0 ? { own, around } : around;
    const appearance = {
      inline: inline.length > 0 ? readAppearance(resolved(merged(inline, null, []), custom), styles.hasScripts) : null,
      all: readAppearance(resolved(all, custom), styles.hasScripts),
      own: own.size > 0 ? own : null,
    };
    let cache: AppearanceCache | undefined = known;
    if ([...all.values()].some((value) => value.includes('var('))) {
      cache = variable.get(around);
      if (!cache) {
        cache = new AppearanceCache();
        variable.set(around, cache);
      }
    }
    cache.set(declared, key, appearance);
    return appearance;
  };
}

/** Appearances by declarations of style sheets, then by attributes. */
class AppearanceCache {
  private readonly known = new Map<MatchedDeclarations | null, Map<string, ElementAppearance>>();

  get(declared: MatchedDeclarations | null, key: string): ElementAppearance | undefined {
    return this.known.get(declared)?.get(key);
  }

  set(declared: MatchedDeclarations | null, key: string, appearance: ElementAppearance): void {
    const inner = this.known.get(declared);
    if (inner) inner.set(key, appearance);
    else this.known.set(declared, new Map([[key, appearance]]));
  }
}

/** Merges in cascade order: attribute hints, sheets, the style attribute, `!important`. */
function merged(hints: readonly Declaration[], declared: MatchedDeclarations | null, style: readonly Declaration[]) {
  const values = new Map<string, string>();
  const put = (property: string, value: string) => {
    values.delete(property);
    values.set(property, value);
  };
  for (const { property, value } of hints) put(property, value);
  if (declared) for (const [property, value] of declared.normal) put(property, value);
  for (const { property, value, important } of style) if (!important) put(property, value);
  if (declared) for (const [property, value] of declared.important) put(property, value);
  for (const { property, value, important } of style) if (important) put(property, value);
  return values;
}

const HINTS: Readonly<Record<string, string>> = { bgcolor: 'background-color', background: 'background-image' };
const NO_HINTS: readonly Declaration[] = [];
const SVG_HINTS = new Set(['fill', 'fill-opacity', 'opacity', 'display', 'visibility', 'font-size']);

/** Presentational attributes of old HTML and of SVG, as declarations. */
function hintsOf(element: Element): readonly Declaration[] {
  let hints: Declaration[] | undefined;
  for (const { name, value } of element.attributes) {
    let property: string | undefined;
    if (element.namespace === 'svg') property = SVG_HINTS.has(name) ? name : undefined;
    else if (element.name === 'font') property = name === 'color' ? 'color' : undefined;
    else if (name === 'bgcolor' || name === 'background') property = ownValue(HINTS, name);
    else if (name === 'text' && element.name === 'body') property = 'color';
    if (!property) continue;
    const text = value.trim().toLowerCase();
    const given = property === 'background-image' ? `url(${text})` : /^[\da-f]{6}$/.test(text) ? `#${text}` : text;
    hints ??= [];
    hints.push({ property, value: given, important: false });
  }
  return hints ?? NO_HINTS;
}

const MAX_VALUE_CHARACTERS = 2000;
const MAX_STEPS = 20;
const MAX_LEVELS = 600;

/** Substitutes `var()` in values. A value that cannot be resolved counts as not declared. */
function resolved(values: ReadonlyMap<string, string>, custom: Custom | null): ReadonlyMap<string, string> {
  const plain = new Map<string, string>();
  for (const [name, value] of values) {
    if (name.startsWith('--')) continue;
    const text = value.includes('var(') ? substituted(value, custom) : value;
    if (text !== null) plain.set(name, text.replace(/^calc\(([^()*/+]*)\)$/, '$1').trim());
  }
  return plain;
}

/** Substitutes the innermost `var()` first, because fallbacks may contain others. */
function substituted(value: string, custom: Custom | null): string | null {
  let text = value;
  for (let step = 0; step < MAX_STEPS; step++) {
    const found = /var\(\s*(--[\w-]+)\s*(?:,([^()]*(?:\([^()]*\)[^()]*)*))?\)/.exec(text);
    if (!found) return text.includes('var(') ? null : text;
    const [all, name, fallback] = found;
    const known = lookUp(name!, custom) ?? fallback?.trim();
    if (known === undefined) return null;
    text = text.replace(all, () => known);
    if (text.length > MAX_VALUE_CHARACTERS) return null;
  }
  return null;
}

function lookUp(name: string, custom: Custom | null): string | undefined {
  for (let at = custom, level = 0; at && level < MAX_LEVELS; at = at.around, level++) {
    const value = at.own.get(name);
    if (value !== undefined) return value === 'initial' ? undefined : value;
  }
  return undefined;
}

/** The style of text inside an element; `textStyle` is the style around it. */
export function textStyleInside(
  element: Element,
  appearance: ElementAppearance | null,
  textStyle: TextStyle,
  { hasExternalSheets }: PageStyles,
): TextStyle {
  const isSvg = element.namespace === 'svg' && element.name === 'svg';
  const isLink = element.name === 'a' && attribute(element, 'href') !== null;
  const ownColor = isLink || OWN_COLOR.has(element.name);
  if (!appearance && !ownColor && !isSvg) return textStyle;
  const combined = appearance?.all;
  // External style sheets may give the whole page a different background.
  const isRoot = element.name === 'body' || element.name === 'html';
  const background = isRoot && hasExternalSheets ? appearance?.inline?.background : combined?.background;
  const color = element.namespace === 'svg' ? combined?.fill : combined?.color;
  const ownBackground = backgroundIn(background, textStyle);
  const fontPx = combined?.font
    ? combined.font.size * (combined.font.relative ? textStyle.fontPx : 1)
    : textStyle.fontPx;
  const dark = isRoot && combined?.dark;
  const ownOrInheritedColor =
    color === undefined ? (isSvg && textStyle.color ? BLACK : ownColor ? null : textStyle.color) : color;
  return {
    invisible: combined?.invisible ?? textStyle.invisible,
    indented: combined?.indented ?? textStyle.indented,
    fontPx,
    opacity: textStyle.opacity * (combined?.opacity ?? 1),
    color: ownOrInheritedColor === 'unknown' || (dark && color === undefined) ? null : ownOrInheritedColor,
    background: dark ? null : ownBackground,
    colorSource: color === undefined ? textStyle.colorSource : element,
    backgroundSource: background === undefined ? textStyle.backgroundSource : element,
    custom: appearance?.own ? { own: appearance.own, around: textStyle.custom } : textStyle.custom,
  };
}

function backgroundIn(own: Color | 'unknown' | undefined, { background }: TextStyle): Color | null {
  if (own === undefined) return background;
  if (own === 'unknown') return null;
  if (own.alpha >= 1) return own;
  return own.alpha === 0 ? background : background && blendOver(own, background);
}
