/** Colors in style sheets (CSS Color 4), and how well two of them can be distinguished. */

export type Rgb = readonly [red: number, green: number, blue: number];

export interface Color {
  /** 0 to 255 each. */
  readonly rgb: Rgb;
  /** 0 to 1. */
  readonly alpha: number;
}

const opaque = (rgb: Rgb): Color => ({ rgb, alpha: 1 });
export const BLACK = opaque([0, 0, 0]);
export const WHITE = opaque([255, 255, 255]);
const TRANSPARENT: Color = { rgb: [0, 0, 0], alpha: 0 };

const NAMED = new Map<string, Color>([
  ['transparent', TRANSPARENT],
  ['canvas', WHITE],
  ['canvastext', BLACK],
]);
for (const entry of (
  'aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4 black 000000 ' +
  'blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00 ' +
  'chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff darkblue 00008b ' +
  'darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9 darkkhaki bdb76b ' +
  'darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc darkred 8b0000 darksalmon e9967a ' +
  'darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f darkturquoise 00ced1 ' +
  'darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969 dodgerblue 1e90ff ' +
  'firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 ' +
  'goldenrod daa520 gray 808080 green 008000 greenyellow adff2f grey 808080 honeydew f0fff0 hotpink ff69b4 ' +
  'indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa lavenderblush fff0f5 lawngreen 7cfc00 ' +
  'lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff lightgoldenrodyellow fafad2 ' +
  'lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1 lightsalmon ffa07a lightseagreen 20b2aa ' +
  'lightskyblue 87cefa lightslategray 778899 lightslategrey 778899 lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 ' +
  'limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000 mediumaquamarine 66cdaa mediumblue 0000cd ' +
  'mediumorchid ba55d3 mediumpurple 9370db mediumseagreen 3cb371 mediumslateblue 7b68ee mediumspringgreen 00fa9a ' +
  'mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970 mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5 ' +
  'navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000 olivedrab 6b8e23 orange ffa500 orangered ff4500 ' +
  'orchid da70d6 palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee palevioletred db7093 papayawhip ffefd5 ' +
  'peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6 purple 800080 rebeccapurple 663399 red ff0000 ' +
  'rosybrown bc8f8f royalblue 4169e1 saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 ' +
  'seashell fff5ee sienna a0522d silver c0c0c0 skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 ' +
  'snow fffafa springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise 40e0d0 ' +
  'violet ee82ee wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32'
).matchAll(/(\w+) (\w{6})/g)) {
  NAMED.set(entry[1]!, opaque(channels(entry[2]!)));
}

function channels(hex: string): Rgb {
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;
}

/** Parses a color in lower case. Returns null if the text is not a color, or depends on something unknown here. */
export function parseColor(value: string): Color | null {
  const named = NAMED.get(value);
  if (named) return named;
  const hex = /^#([0-9a-f]{3,8})$/.exec(value)?.[1];
  if (hex) {
    const wide = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join('') : hex;
    if (wide.length !== 6 && wide.length !== 8) return null;
    return { rgb: channels(wide), alpha: wide.length === 8 ? Number.parseInt(wide.slice(6), 16) / 255 : 1 };
  }
  const written = /^([a-z]+)\(([^()]*)\)$/.exec(value);
  const parts = (written?.[2] ?? '').split(/[\s,/]+/).filter(Boolean);
  const space = written?.[1] === 'color' ? parts.shift() : '';
  if (!written || parts.length < 3 || parts.length > 4) return null;
  const alpha = parts[3] === undefined || parts[3] === 'none' ? 1 : share(parts[3], 1);
  const rgb = toRgb(written[1]!, space ?? '', parts);
  if (!rgb || Number.isNaN(rgb[0] + rgb[1] + rgb[2] + alpha)) return null;
  return {
    rgb: rgb.map((channel) => Math.min(Math.max(channel, 0), 255)) as unknown as Rgb,
    alpha: Math.min(alpha, 1),
  };
}

/** A number, or a percentage of `whole`; `none` is zero. */
const share = (part: string, whole: number): number => {
  if (part === 'none') return 0;
  const number = Number.parseFloat(part);
  return part.endsWith('%') ? (number / 100) * whole : number;
};

function toRgb(name: string, space: string, [a = '', b = '', c = '']: readonly string[]): Rgb | null {
  switch (name) {
    case 'rgb':
    case 'rgba':
      return [share(a, 255), share(b, 255), share(c, 255)];
    case 'hsl':
    case 'hsla':
      return fromHsl(degrees(a), share(b, 100), share(c, 100));
    case 'hwb':
      return fromHwb(degrees(a), share(b, 100), share(c, 100));
    case 'oklab':
      return fromOklab(share(a, 1), share(b, 0.4), share(c, 0.4));
    case 'oklch': {
      const hue = (degrees(c) * Math.PI) / 180;
      return fromOklab(share(a, 1), share(b, 0.4) * Math.cos(hue), share(b, 0.4) * Math.sin(hue));
    }
    case 'lab':
    case 'lch':
      return fromLightness(share(a, 100), name === 'lab' ? Math.hypot(share(b, 125), share(c, 125)) : share(b, 150));
    case 'color':
      return /^(?:srgb|display-p3)$/.test(space) ? [share(a, 1) * 255, share(b, 1) * 255, share(c, 1) * 255] : null;
    default:
      return null;
  }
}

function degrees(hue: string): number {
  const number = hue === 'none' ? 0 : Number.parseFloat(hue);
  if (hue.endsWith('turn')) return number * 360;
  return hue.endsWith('grad') ? number * 0.9 : hue.endsWith('rad') ? (number * 180) / Math.PI : number;
}

/** Converts hue in degrees, saturation and lightness in percent (CSS Color 4, section 7.1). */
function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  const light = lightness / 100;
  const strength = (saturation / 100) * Math.min(light, 1 - light);
  const channel = (offset: number) => {
    const at = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (light - strength * Math.max(-1, Math.min(at - 3, 9 - at, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

function fromHwb(hue: number, white: number, black: number): Rgb {
  const sum = white + black;
  if (sum >= 100) return new Array(3).fill((255 * white) / sum) as unknown as Rgb;
  return fromHsl(hue, 100, 50).map((channel) => channel * (1 - sum / 100) + 2.55 * white) as unknown as Rgb;
}

/** See CSS Color 4, section 9.2, and its sample code. */
function fromOklab(lightness: number, a: number, b: number): Rgb {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
  return linear.map(companded) as unknown as Rgb;
}

const companded = (light: number) => 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);

/** Returns a gray of CIE Lab; null for other colors, because it is enough to know that they are not gray. */
function fromLightness(lightness: number, chroma: number): Rgb | null {
  if (chroma > 3) return null;
  const y = lightness > 8 ? ((lightness + 16) / 116) ** 3 : lightness / 903.3;
  return new Array(3).fill(companded(y)) as unknown as Rgb;
}

/** Blends a color over an opaque one. */
export const blendOver = ({ rgb, alpha }: Color, below: Color): Color =>
  alpha >= 1
    ? { rgb, alpha: 1 }
    : opaque(rgb.map((part, at) => part * alpha + below.rgb[at]! * (1 - alpha)) as unknown as Rgb);

/** Relative luminance, 0 to 1 (WCAG 2). */
function luminance([red, green, blue]: Rgb): number {
  const linear = (channel: number) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Text with less contrast than this is unreadable; WCAG requires 4.5. */
const LEAST_CONTRAST = 1.15;
const MAX_CHANNEL_DIFFERENCE = 60;

/**
 * Whether text of one opaque color is unreadable on the other: the contrast is very low, and the hues are nearly the
 * same.
 */
export function areIndistinguishable({ rgb: a }: Color, { rgb: b }: Color): boolean {
  if (Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) > MAX_CHANNEL_DIFFERENCE) return false;
  const [one, other] = [luminance(a), luminance(b)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < LEAST_CONTRAST;
}
