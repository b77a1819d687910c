/**
 * CSS declarations: `name: value !important`, restricted to the properties that the caller tracks (CSS Syntax,
 * section 5).
 */

export interface Declaration {
  readonly property: string;
  /** In lower case, without comments and `!important`. */
  readonly value: string;
  readonly important: boolean;
}

const MAX_STYLE_CHARACTERS = 4096;
const MAX_NAME_CHARACTERS = 200;
const MAX_VALUE_CHARACTERS = 1000;
/** Removes comments (CSS Syntax, section 4.3.2), but not inside strings. */
export function stripComments(css: string): string {
  if (!css.includes('/*')) return css;
  let out = '';
  let from = 0;
  const next = /["'\\]|\/\*/g;
  for (let found = next.exec(css); found; found = next.exec(css)) {
    let end: number;
    if (found[0] !== '/*') end = found[0] === '\\' ? found.index + 2 : endOfString(css, found.index) + 1;
    else {
      out += css.slice(from, found.index);
      const close = css.indexOf('*/', found.index + 2);
      end = close < 0 ? css.length : close + 2;
      from = end;
    }
    next.lastIndex = end;
  }
  return out + css.slice(from);
}

/** End of the string that starts at `at`: its quote or, if unfinished, the end of its line. */
export function endOfString(css: string, at: number): number {
  const quote = css[at];
  for (let next = at + 1; next < css.length; next++) {
    const sign = css[next];
    if (sign === '\\') next++;
    else if (sign === quote || sign === '\n') return next;
  }
  return css.length;
}

const letter = (point: number) => (point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd');

/** Replaces escapes with their characters (CSS Syntax, section 4.3.7). */
export const unescapeCss = (css: string): string =>
  css.includes('\\')
    ? css
        .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) => letter(Number.parseInt(hex, 16)))
        .replace(/\\(.)/g, '$1')
    : css;

const SPACE = /\s/;

/** Reads the declaration between two positions; null if there is none, or if `tracks` rejects the property. */
export function parseDeclaration(
  text: string,
  from: number,
  end: number,
  tracks: (property: string) => boolean,
): Declaration | null {
  const colon = text.indexOf(':', from);
  if (colon < 0 || colon >= end) return null;
  let start = from;
  while (start < colon && SPACE.test(text[start]!)) start++;
  const property = unescapeCss(text.slice(start, Math.min(colon, start + MAX_NAME_CHARACTERS)))
    .trimEnd()
    .toLowerCase();
  if (!tracks(property)) return null;
  const written = unescapeCss(text.slice(colon + 1, Math.min(end, colon + 1 + MAX_VALUE_CHARACTERS)))
    .trim()
    .toLowerCase();
  const bang = written.lastIndexOf('!');
  const important = bang >= 0 && written.slice(bang + 1).trim() === 'important';
  return { property, value: important ? written.slice(0, bang).trim() : written, important };
}

/** Reads the value of a style attribute, in source order. */
export function parseStyleAttribute(style: string, tracks: (property: string) => boolean): Declaration[] {
  const found: Declaration[] = [];
  for (const part of partsOf(stripComments(style.slice(0, MAX_STYLE_CHARACTERS)))) {
    const declaration = parseDeclaration(part, 0, part.length, tracks);
    if (declaration) found.push(declaration);
  }
  return found;
}

/** Splits a list at semicolons, except in strings and parentheses. */
function partsOf(text: string): string[] {
  if (!/["'(]/.test(text)) return text.split(';');
  const parts: string[] = [];
  let from = 0;
  for (const { 0: piece, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\([^()]*\)?|;/g)) {
    if (piece !== ';') continue;
    parts.push(text.slice(from, index));
    from = index + 1;
  }
  parts.push(text.slice(from));
  return parts;
}
