/** Interprets declarations: whether an element, and the text in it, is visible. */
import { ownValue } from '#own-value.ts';
import { type Color, parseColor } from './color.ts';

/** The way in which an element and all its descendants are made invisible. */
export type HidingMethod = 'display' | 'place' | 'size';

export interface Appearance {
  readonly hiddenBy: HidingMethod | null;
  /** Opacity of the element with all its descendants, 0 to 1. An element that a script fades in counts as opaque. */
  readonly opacity: number;
  /** Inherited; a descendant may override it. `undefined` if not set. */
  readonly invisible?: boolean;
  readonly indented?: boolean;
  readonly font?: FontSize;
  /** `unknown` if the color cannot be interpreted, or if the text is not painted in it. */
  readonly color?: Color | 'unknown';
  readonly fill?: Color | 'unknown';
  /** `unknown` for a picture, a gradient or a color that cannot be interpreted. */
  readonly background?: Color | 'unknown';
  /** Whether the element may overlap elements other than its ancestors. */
  readonly positioned: boolean;
  /** Whether the element is a surface that other elements may overlap. */
  readonly overlappable: boolean;
  /** Whether the window background may be dark. */
  readonly dark: boolean;
}

export interface FontSize {
  readonly size: number;
  /** Whether `size` is a multiple of the parent's size rather than a number of pixels. */
  readonly relative: boolean;
}

const TRACKED = new Set(
  (
    'display visibility opacity content-visibility position left top right bottom inset clip clip-path text-indent margin ' +
    'margin-left margin-top transform translate scale overflow overflow-x overflow-y width height max-width max-height ' +
    'line-height padding padding-top padding-bottom font font-size color -webkit-text-fill-color fill fill-opacity ' +
    'background background-color background-image background-clip -webkit-background-clip text-shadow filter transition ' +
    'transition-property animation animation-name will-change zoom color-scheme'
  ).split(' '),
);

/** Whether a property is tracked: the listed properties and all custom properties are. */
export const isTrackedProperty = (property: string): boolean => TRACKED.has(property) || property.startsWith('--');

type Values = ReadonlyMap<string, string>;

/** Minimum opacity at which a person can see anything. */
export const MIN_VISIBLE_OPACITY = 0.05;
const SMALLEST_FONT_PX = 2;
const OFFSCREEN_PX = -900;
const OFFSCREEN_MARGIN_PX = -2000;
const OFFSCREEN_RIGHT_PX = 9000;

const UNITS_PX: Readonly<Record<string, number>> = {
  px: 1,
  em: 16,
  rem: 16,
  ch: 8,
  ex: 8,
  vw: 12.8,
  vh: 12.8,
  vmin: 12.8,
  vmax: 12.8,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
};

/** An approximate length in px, assuming 16 px per em; NaN if it is not a length. */
function pixels(value: string | undefined): number {
  const found = /^(?:calc\(\s*)?([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*|%)/.exec(value ?? '');
  return found ? Number(found[1]) * (ownValue(UNITS_PX, found[2]!) ?? 1) : Number.NaN;
}

const isZero = (value: string | undefined): boolean =>
  value !== undefined && Number.parseFloat(value) === 0 && /^[+-]?[\d.]+(?:[a-z]+|%)?$/.test(value);

const words = (value: string | undefined): string[] => (value ?? '').split(/[\s,]+/).filter(Boolean);

/** The four sides of a CSS shorthand: top, right, bottom, left. */
function sides(value: string | undefined): readonly (string | undefined)[] {
  const [top, right = top, bottom = top, left = right] = words(value);
  return [top, right, bottom, left];
}

/** Whether a `clip` shows at most one pixel, because its sides meet. */
function isClippedAway(clip: string | undefined): boolean {
  const inside = /^rect\(([^()]*)\)$/.exec(clip ?? '')?.[1];
  if (inside === undefined) return false;
  const [top, right, bottom, left] = words(inside).map(pixels);
  return bottom! - top! <= 1 || right! - left! <= 1;
}

/**
 * Whether a `clip-path` leaves nothing visible: an inset with sides that meet, a circle without size, or a polygon with
 * a single point.
 */
function isCutAway(path: string | undefined): boolean {
  const found = /^(inset|circle|ellipse|polygon|rect|xywh)\(\s*([^()]*)\)/.exec(path ?? '');
  if (!found) return false;
  const inside = found[2]!;
  switch (found[1]) {
    case 'inset': {
      const [top, right, bottom, left] = sides(inside.replace(/\bround\b.*/s, ''));
      const meet = (one = '', other = '') =>
        (one.endsWith('%') && other.endsWith('%')
          ? Number.parseFloat(one) + Number.parseFloat(other) >= 100
          : Number.parseFloat(one.endsWith('%') ? one : '0') >= 100 ||
            Number.parseFloat(other.endsWith('%') ? other : '0') >= 100) ||
        pixels(one) + pixels(other) >= -OFFSCREEN_PX;
      return meet(top, bottom) || meet(left, right);
    }
    case 'circle':
    case 'ellipse':
      return isZero(words(inside)[0]);
    case 'xywh':
      return words(inside).slice(2, 4).some(isZero);
    case 'rect':
      return isClippedAway(`rect(${inside})`);
    default:
      return /^(?:[\s,]|0(?:px|%)?(?=[\s,]|$))*$/.test(inside);
  }
}

function isTransformedAway(values: Values): boolean {
  const transform = values.get('transform') ?? '';
  if (/rotate[xy]\(\s*-?(?:90|270)deg/.test(transform)) return true;
  if (
    /scale(?:3d|x|y)?\(\s*0(?:\.0+)?\s*[,)]|scale\([^,()]*,\s*0(?:\.0+)?\s*\)|matrix\(\s*0\s*,\s*0\s*,/.test(transform)
  )
    return true;
  if (/translate[xy3d]*\(\s*(?:[^,()]*,\s*)?-\d{4,}/.test(transform)) return true;
  if (words(values.get('scale')).some(isZero) || isZero(values.get('zoom'))) return true;
  return words(values.get('translate')).some((length) => pixels(length) <= OFFSCREEN_PX);
}

const isAbsolute = (values: Values): boolean => /^(?:absolute|fixed)$/.test(values.get('position') ?? '');

function isOffscreen(values: Values): boolean {
  if (isAbsolute(values)) {
    const inset = sides(values.get('inset'));
    const at = ['top', 'right', 'bottom', 'left'].map((side, index) => pixels(values.get(side) ?? inset[index]));
    if (at.some((length) => length <= OFFSCREEN_PX) || at[3]! >= OFFSCREEN_RIGHT_PX) return true;
  }
  const margin = sides(values.get('margin'));
  const margins = [values.get('margin-left') ?? margin[3], values.get('margin-top') ?? margin[0]];
  return margins.some((length) => pixels(length) <= OFFSCREEN_MARGIN_PX) || isTransformedAway(values);
}

const CLIPS = /hidden|clip/;

/** Whether the box hides its overflow and has no height or no width. */
function isCollapsed(values: Values, mayExpand: boolean): boolean {
  const clips = ['overflow', 'overflow-x', 'overflow-y'].some((name) => CLIPS.test(values.get(name) ?? ''));
  if (!clips) return false;
  const isAlmostZero = (name: string) => pixels(values.get(name)) <= 1 && !/^0*\.?0*[1-9].*%$/.test(values.get(name)!);
  if (isAlmostZero('width') || isAlmostZero('max-width')) return true;
  const isFlat =
    isAlmostZero('height') ||
    isAlmostZero('max-height') ||
    (isZero(values.get('line-height')) && !values.has('height'));
  // Padding reserves space for pictures with a fixed aspect ratio. A box with a transition is usually opened by
  // scripts.
  const padding = sides(values.get('padding'));
  const padded = [values.get('padding-top') ?? padding[0], values.get('padding-bottom') ?? padding[2]];
  if (!isFlat || padded.some((length) => pixels(length) >= 10)) return false;
  return !(mayExpand && isInMotion(values, /transition/));
}

const MOTION_PROPERTIES = [
  'transform',
  'transition',
  'transition-property',
  'will-change',
  'animation',
  'animation-name',
];

/** Whether the element has a transition or animation. */
const isInMotion = (values: Values, only = /./): boolean =>
  MOTION_PROPERTIES.some((name) => only.test(name) && !/^(?:none|auto|initial|unset|)$/.test(values.get(name) ?? ''));

function hidingMethodOf(values: Values, mayChange: boolean): HidingMethod | null {
  if (values.get('display') === 'none' || values.get('content-visibility') === 'hidden') return 'display';
  if (isAbsolute(values) && isClippedAway(values.get('clip'))) return 'size';
  if (isCutAway(values.get('clip-path'))) return 'size';
  if (isOffscreen(values)) return 'place';
  return isCollapsed(values, mayChange) ? 'size' : null;
}

/** An opacity from 0 to 1; 1 (opaque) if the value is not a valid opacity. */
function opacityOf(value: string | undefined): number {
  if (value === undefined || !/^[+-]?[\d.]+(?:e[+-]?\d+)?%?$/.test(value)) return 1;
  const number = Number.parseFloat(value) / (value.endsWith('%') ? 100 : 1);
  return Math.min(Math.max(number, 0), 1);
}

const MEASURE = /(?:^|\s)([+-]?(?:\d+\.?\d*|\.\d+))(px|r?em|%|pt|pc|in|cm|mm|v[wh]|ch|ex)?(?=$|[\s/])/g;
const DEFAULT_FONT: FontSize = { size: 16, relative: false };

/**
 * Reads the size from `font-size` or `font`, where a weight may precede it. Sizes that cannot be measured count as
 * normal.
 */
function fontOf(value: string | undefined): FontSize | undefined {
  if (value === undefined || value === 'inherit') return undefined;
  for (const [, number, unit = ''] of value.matchAll(MEASURE)) {
    const relative = unit === 'em' || unit === '%';
    if (unit === '' && Number(number) !== 0) continue;
    return { size: Number(number) * (unit === '%' ? 0.01 : relative ? 1 : (ownValue(UNITS_PX, unit) ?? 1)), relative };
  }
  return DEFAULT_FONT;
}

export const isTinyFont = (px: number): boolean => px < SMALLEST_FONT_PX;

function colorOf(value: string | undefined): Color | 'unknown' | undefined {
  if (value === undefined || /^(?:inherit|currentcolor|unset)$/.test(value)) return undefined;
  return parseColor(value) ?? 'unknown';
}

const PICTURE = /url\(|gradient\(|image\(|element\(|paint\(|cross-fade\(/;

/** The color of a background; `unknown` if it has a picture, undefined if no background is set. */
function backgroundOf(values: Values): Color | 'unknown' | undefined {
  let color: Color | 'unknown' | undefined;
  let picture = false;
  for (const [name, value] of values) {
    if (name === 'background') {
      picture = PICTURE.test(value);
      color = undefined;
      if (!picture) color = parseColor(value) ?? colorAmong(value);
    } else if (name === 'background-color') color = value === 'inherit' ? undefined : (parseColor(value) ?? 'unknown');
    else if (name === 'background-image') picture = value !== 'none' && value !== '';
  }
  return picture ? 'unknown' : color;
}

/** The color among the words of a shorthand. */
function colorAmong(value: string): Color | 'unknown' | undefined {
  if (/^(?:none|0|0 0|inherit|initial|unset|transparent none.*)$/.test(value)) return undefined;
  for (const word of value.match(/[a-z-]+\([^()]*\)|[^\s,]+/g) ?? []) {
    const color = parseColor(word);
    if (color) return color;
  }
  return /var\(|color/.test(value) ? 'unknown' : undefined;
}

/** Computes the appearance of an element. `mayChange`: scripts could later show elements that are hidden now. */
export function readAppearance(values: Values, mayChange: boolean): Appearance {
  const hiddenBy = hidingMethodOf(values, mayChange);
  const isAnimated = (mayChange && isInMotion(values)) || isInMotion(values, /^animation/);
  const filtered = /(?:^|\s)opacity\(\s*([\d.]+%?)\s*\)/.exec(values.get('filter') ?? '')?.[1];
  const opacity = isAnimated ? 1 : opacityOf(values.get('opacity')) * opacityOf(filtered);
  const visibility = values.get('visibility');
  const isHidden = visibility === 'hidden' || visibility === 'collapse';
  const indent = values.get('text-indent');
  const unpainted =
    (values.get('background-clip') ?? values.get('-webkit-background-clip')) === 'text' ||
    !/^(?:none|)$/.test(values.get('text-shadow') ?? '');
  const color = unpainted ? 'unknown' : colorOf(values.get('-webkit-text-fill-color') ?? values.get('color'));
  const fillOpacity = opacityOf(values.get('fill-opacity'));
  const fill =
    fillOpacity < MIN_VISIBLE_OPACITY
      ? parseColor('transparent')!
      : values.get('fill') === 'none'
        ? parseColor('transparent')!
        : colorOf(values.get('fill'));
  const font = fontOf(values.get('font-size') ?? values.get('font'));
  const background = backgroundOf(values);
  return {
    hiddenBy,
    opacity,
    positioned:
      /^(?:absolute|fixed|relative|sticky)$/.test(values.get('position') ?? '') ||
      /grid/.test(values.get('display') ?? ''),
    overlappable: isAbsolute(values) && background !== undefined && background !== parseColor('transparent'),
    dark: /\bdark\b/.test(values.get('color-scheme') ?? ''),
    ...(visibility !== undefined && visibility !== 'inherit' && { invisible: isHidden && !isAnimated }),
    ...(indent !== undefined && { indented: isIndentedAway(indent, values) }),
    ...(font && { font }),
    ...(color && { color }),
    ...(fill && { fill }),
    ...(background && { background }),
  };
}

const isIndentedAway = (indent: string, values: Values): boolean =>
  pixels(indent) <= OFFSCREEN_PX || (/^\d{3,}%/.test(indent) && CLIPS.test(values.get('overflow') ?? ''));
