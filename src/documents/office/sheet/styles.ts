/** The parts of workbook styles that affect text: number formats, bold, and invisible text. */
import { attribute, child, children, type XmlElement } from '../../xml/xml.ts';
import { builtInFormat, compileFormat, type NumberFormat } from './number-format.ts';

export interface CellStyle {
  /** `undefined` for plain numbers. */
  readonly format: NumberFormat | undefined;
  readonly bold: boolean;
  /** White text without its own background. */
  readonly white: boolean;
}

export const PLAIN: CellStyle = { format: undefined, bold: false, white: false };

/** Looks up a style by the index in a cell. */
export type Styles = (index: number) => CellStyle;

export function readStyles(root: XmlElement | undefined, date1904: boolean): Styles {
  const codes = new Map(
    children(child(root, 'x:numFmts'), 'x:numFmt').map((format) => [
      Number(attribute(format, 'numFmtId')),
      attribute(format, 'formatCode') ?? 'General',
    ]),
  );
  const fonts = children(child(root, 'x:fonts'), 'x:font').map(fontOf);
  const grounds = children(child(root, 'x:fills'), 'x:fill').map(hasGround);
  const formats = new Map<string, NumberFormat | undefined>();
  const formatOf = (id: number): NumberFormat | undefined => {
    const code = codes.get(id) ?? builtInFormat(id);
    if (!formats.has(code)) formats.set(code, isPlainFormat(code) ? undefined : compileFormat(code, date1904));
    return formats.get(code);
  };
  const styles = children(child(root, 'x:cellXfs'), 'x:xf').map((xf): CellStyle => {
    const font = fonts[Number(attribute(xf, 'fontId') ?? 0)];
    const ground = grounds[Number(attribute(xf, 'fillId') ?? 0)] ?? false;
    return {
      format: formatOf(Number(attribute(xf, 'numFmtId') ?? 0)),
      bold: font?.bold ?? false,
      white: (font?.white ?? false) && !ground,
    };
  });
  return (index) => styles[index] ?? PLAIN;
}

export const isPlainFormat = (code: string): boolean => /^(?:general|@)$/i.test(code.trim());

function fontOf(font: XmlElement) {
  const bold = child(font, 'x:b');
  const value = bold && attribute(bold, 'val');
  const color = child(font, 'x:color');
  const rgb = color && attribute(color, 'rgb');
  // The first color of a theme is the background.
  const isPaper = color !== undefined && attribute(color, 'theme') === '0' && !attribute(color, 'tint');
  return {
    bold: bold !== undefined && value !== '0' && value !== 'false',
    white: isPaper || /^(?:FF)?FFFFFF$/i.test(rgb ?? ''),
  };
}

function hasGround(fill: XmlElement): boolean {
  const pattern = child(fill, 'x:patternFill');
  if (!pattern) return child(fill, 'x:gradientFill') !== undefined;
  const type = attribute(pattern, 'patternType') ?? 'none';
  const front = child(pattern, 'x:fgColor');
  return type !== 'none' && !(type === 'solid' && /^(?:FF)?FFFFFF$/i.test((front && attribute(front, 'rgb')) ?? ''));
}
