/**
 * What an inline style says about whether its element can be seen. Only declarations are read: style sheets are not
 * applied, the browser engine marks what they hide.
 */

export interface Visibility {
  /** The element and all under it cannot be seen. */
  gone: boolean;
  /** It is gone only because it is transparent. */
  faded?: boolean;
  /** Inherited, and taken back by a descendant: undefined when the style does not say. */
  invisible?: boolean;
  zeroFont?: boolean;
  color?: Rgb | 'transparent';
  /** `other` is a picture, gradient or a colour that is not understood. */
  background?: Rgb | 'other';
}

export type Rgb = readonly [number, number, number];

const PLAIN: Visibility = { gone: false };
const LONGEST_STYLE = 4096;

const NAMED: Record<string, Rgb> = {
  white: [255, 255, 255],
  black: [0, 0, 0],
  red: [255, 0, 0],
  green: [0, 128, 0],
  blue: [0, 0, 255],
  yellow: [255, 255, 0],
  gray: [128, 128, 128],
  grey: [128, 128, 128],
  silver: [192, 192, 192],
  whitesmoke: [245, 245, 245],
  snow: [255, 250, 250],
  ivory: [255, 255, 240],
  ghostwhite: [248, 248, 255],
  floralwhite: [255, 250, 240],
  mintcream: [245, 255, 250],
  azure: [240, 255, 255],
  aliceblue: [240, 248, 255],
  seashell: [255, 245, 238],
  gainsboro: [220, 220, 220],
  lightgray: [211, 211, 211],
  lightgrey: [211, 211, 211],
};

/** Less of it than a person can make out. */
const FAINT_ALPHA = 0.05;

function parseColor(value: string): Rgb | 'transparent' | null {
  if (value === 'transparent') return 'transparent';
  const named = NAMED[value];
  if (named) return named;
  const hex = /^#([0-9a-f]{3,8})$/.exec(value)?.[1];
  if (hex) {
    const wide = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join('') : hex;
    if (wide.length === 8 && wide.endsWith('00')) return 'transparent';
    return [0, 2, 4].map((at) => Number.parseInt(wide.slice(at, at + 2), 16)) as unknown as Rgb;
  }
  const written = /^(rgb|hsl)a?\(([^)]*)\)$/.exec(value);
  const parts = (written?.[2] ?? '').split(/[\s,/]+/).filter(Boolean);
  if (!written || parts.length < 3) return null;
  const alpha = parts[3] === undefined ? 1 : Number.parseFloat(parts[3]) / (parts[3].endsWith('%') ? 100 : 1);
  if (alpha < FAINT_ALPHA) return 'transparent';
  if (written[1] === 'hsl') return fromHsl(parts.slice(0, 3).map(Number.parseFloat));
  const rgb = parts.slice(0, 3).map((part) => Number.parseFloat(part) * (part.endsWith('%') ? 2.55 : 1));
  return rgb.some(Number.isNaN) ? null : (rgb as unknown as Rgb);
}

/** Hue in degrees, saturation and lightness in percent (CSS Color 4, section 7.1). */
function fromHsl([hue = Number.NaN, saturation = Number.NaN, lightness = Number.NaN]: number[]): Rgb | null {
  if (Number.isNaN(hue + saturation + lightness)) return null;
  const light = lightness / 100;
  const strength = (saturation / 100) * Math.min(light, 1 - light);
  const channel = (offset: number) => {
    const at = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (light - strength * Math.max(-1, Math.min(at - 3, 9 - at, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

/** Whether two colours are so near that text in one on the other cannot be read. */
export const looksTheSame = (a: Rgb, b: Rgb): boolean =>
  Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) < 24;

/** A length in px, roughly: 16 px an em; NaN for what is no length. */
function pixels(value: string): number {
  const number = Number.parseFloat(value);
  return /(?:em|rem|vw|vh)$/.test(value) ? number * 16 : number;
}

const isZero = (value: string | undefined): boolean =>
  value !== undefined && Number.parseFloat(value) === 0 && /^[+-]?[\d.]+(?:[a-z]+|%)?$/.test(value);

/** Whether a `clip` shows at most a pixel: all four sides are nothing or nearly so. */
function isClippedAway(clip: string): boolean {
  if (!clip.startsWith('rect(') || !clip.endsWith(')')) return false;
  const sides = clip
    .slice(5, -1)
    .split(/[\s,]+/)
    .filter(Boolean);
  return sides.every((side) => isZero(side) || side === '1px');
}

/** Without comments, and with escapes as the letters they stand for (CSS Syntax, sections 4.3.2 and 4.3.7). */
const plainCss = (style: string): string =>
  /[\\]|\/\*/.test(style)
    ? style
        .replace(/\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g, '')
        .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) => letter(Number.parseInt(hex, 16)))
        .replace(/\\(.)/g, '$1')
    : style;

const letter = (point: number) => (point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd');

/** Less of these than a person can make out. */
const FAINT_OPACITY = 0.05;
const SMALLEST_FONT_PX = 2;

const isFaint = (opacity: string | undefined): boolean =>
  opacity !== undefined &&
  /^[+-]?[\d.]+%?$/.test(opacity) &&
  Number.parseFloat(opacity) < (opacity.endsWith('%') ? FAINT_OPACITY * 100 : FAINT_OPACITY);

const isTiny = (size: string): boolean =>
  isZero(size) || (/px$/.test(size) && Number.parseFloat(size) < SMALLEST_FONT_PX);

const FILTER_OPACITY = /(?:^|\s)opacity\(\s*([\d.]+%?)\s*\)/;

function declarations(style: string): Map<string, string> {
  const map = new Map<string, string>();
  for (const part of plainCss(style.slice(0, LONGEST_STYLE)).toLowerCase().split(';')) {
    const colon = part.indexOf(':');
    if (colon < 0) continue;
    const value = part
      .slice(colon + 1)
      .replace('!important', '')
      .trim();
    map.set(part.slice(0, colon).trim(), value);
  }
  return map;
}

/** An element that a script fades in starts invisible; its text is meant to be seen. */
const isAnimated = (map: Map<string, string>): boolean =>
  map.has('transform') ||
  map.has('transition') ||
  map.has('will-change') ||
  map.has('animation-name') ||
  map.has('animation');

function isGone(map: Map<string, string>): boolean {
  if (map.get('display') === 'none') return true;
  if (map.get('content-visibility') === 'hidden') return true;
  const position = map.get('position');
  if (position === 'absolute' || position === 'fixed') {
    if (isClippedAway(map.get('clip') ?? '')) return true;
    for (const side of ['left', 'top', 'right', 'bottom']) if (pixels(map.get(side) ?? '') <= -900) return true;
  }
  if (
    /^(?:inset\(\s*(?:50|100)%|circle\(\s*0|polygon\((?:[\s,]|0(?:px|%)?(?=[\s,)]))*\))/.test(
      map.get('clip-path') ?? '',
    )
  )
    return true;
  if (pixels(map.get('text-indent') ?? '') <= -900 || pixels(map.get('margin-left') ?? '') <= -2000) return true;
  const transform = map.get('transform') ?? '';
  if (/rotate[xy]\(\s*-?(?:90|270)deg/.test(transform)) return true;
  if (/scale(?:3d|x|y)?\(\s*0\s*[,)]/.test(transform) || /translate[xy3d]*\(\s*-\d{4,}/.test(transform)) return true;
  if (/hidden|clip/.test(map.get('overflow') ?? '')) {
    const sizes = ['width', 'height', 'max-width', 'max-height'].map((name) => map.get(name));
    if (sizes.some((size) => isZero(size) || size === '1px')) return true;
  }
  return false;
}

/** Reads one style attribute's value. */
export function readInlineStyle(style: string): Visibility {
  const map = declarations(style);
  if (map.size === 0) return PLAIN;
  const visibility: Visibility = { gone: isGone(map) };
  const filtered = FILTER_OPACITY.exec(map.get('filter') ?? '')?.[1];
  if (!visibility.gone && (isFaint(map.get('opacity')) || isFaint(filtered)) && !isAnimated(map)) {
    visibility.gone = true;
    visibility.faded = true;
  }
  const visible = map.get('visibility');
  if (visible !== undefined) {
    visibility.invisible = (visible === 'hidden' || visible === 'collapse') && !isAnimated(map);
  }
  const size = map.get('font-size');
  if (size !== undefined) visibility.zeroFont = isTiny(size);
  const clipped = map.get('background-clip') ?? map.get('-webkit-background-clip');
  const color = clipped === 'text' ? null : parseColor(map.get('color') ?? '');
  if (color) visibility.color = color;
  const background = map.get('background-color') ?? map.get('background');
  if (map.has('background-image')) visibility.background = 'other';
  else if (background !== undefined) {
    const parsed = parseColor(background);
    if (parsed !== 'transparent') visibility.background = parsed ?? 'other';
  }
  return visibility;
}
