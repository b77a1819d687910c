/**
 * Formats numbers as a spreadsheet shows them, by format codes (ECMA-376 part 1, 18.8.31, and "Review guidelines for
 * customizing a number format" of Excel's help). Built-in formats that depend on the locale of the reader's computer are
 * written as in US English, which is also the locale of the format codes in a file.
 */
import { serialOf, writeDate } from './date-format.ts';
import { round, scientific } from './decimal.ts';
import { type Section, sectionsOf } from './format-code.ts';
import { asFraction } from './fraction.ts';

export type Format = (value: number) => string;

export interface NumberFormat {
  /** A number as trimmed text; '' if the format hides it. */
  readonly number: Format;
  /** Text as the format shows it. */
  readonly text: (value: string) => string;
  /** An ISO 8601 date as the format shows it; `undefined` if the format is not for dates, or for other text. */
  readonly date: (iso: string) => string | undefined;
  /** Whether it formats dates or times. */
  readonly isDate: boolean;
}

/** https://learn.microsoft.com/dotnet/api/documentformat.openxml.spreadsheet.numberingformat */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);("$"#,##0)',
  6: '"$"#,##0_);[Red]("$"#,##0)',
  7: '"$"#,##0.00_);("$"#,##0.00)',
  8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'm/d/yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yyyy h:mm',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);[Red](#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);[Red](#,##0.00)',
  41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
};

/** The code of a built-in format; `General` for unknown ids. Ids of East Asian versions are dates and times. */
export function builtInFormat(id: number): string {
  if ((id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return BUILT_IN[14]!;
  if (id >= 32 && id <= 35) return BUILT_IN[21]!;
  return BUILT_IN[id] ?? 'General';
}

/** A format that cannot be parsed shows numbers unformatted. `date1904`: days are counted from 1904-01-01. */
export function compileFormat(code: string, date1904: boolean): NumberFormat {
  const sections = sectionsOf(code);
  const numbers = sections.filter((section, at) => section.kind !== 'text' || at === 0).slice(0, 3);
  const texts = sections[3] ?? sections.find((section) => section.kind === 'text');
  const hasConditions = numbers.some((section) => section.condition);
  const isDate = numbers.some(({ kind }) => kind === 'date');
  const number = (value: number): string => {
    const section = hasConditions ? byCondition(numbers, value) : bySign(numbers, value);
    if (!section) return general(value);
    const showsSign = value < 0 && !(hasConditions ? section.condition?.excludesPositive : section !== numbers[0]);
    return write(section, value, showsSign, date1904);
  };
  return {
    isDate,
    number,
    text: (value) => (texts ? tidy(writeText(texts, value)) : value),
    date(iso) {
      const serial = isDate ? serialOf(iso, date1904) : undefined;
      return serial === undefined ? undefined : number(serial);
    },
  };
}

function bySign([first, negative, zero]: readonly Section[], value: number): Section | undefined {
  if (value < 0) return negative ?? first;
  return value === 0 ? (zero ?? first) : first;
}

function byCondition(sections: readonly Section[], value: number): Section | undefined {
  const [first, second, third] = sections;
  if (first?.condition ? first.condition.holds(value) : first && value > 0) return first;
  if (second && (second.condition ? second.condition.holds(value) : !third || value < 0)) return second;
  return third;
}

function write(section: Section, value: number, showsSign: boolean, date1904: boolean): string {
  if (section.kind === 'date') return writeDate(section, value, date1904) ?? general(value);
  const sign = showsSign ? '-' : '';
  const size = Math.abs(value);
  switch (section.kind) {
    case 'general':
      return tidy(
        sign + section.tokens.map((token) => (token.kind === 'general' ? general(size) : token.text)).join(''),
      );
    case 'text':
      return tidy(writeText(section, general(value)));
    case 'fraction':
      return tidy(sign + asFraction(section, size));
    case 'scientific':
      return tidy(sign + writeScientific(section, size));
    default: {
      const text = writeDecimal(section, size * 100 ** section.percents * 1000 ** -section.thousands);
      // A number that rounds to zero has no sign.
      return tidy(/[1-9]/.test(text) || section.digits === 0 ? sign + text : text);
    }
  }
}

const writeText = (section: Section, value: string): string =>
  section.tokens.map((token) => (token.kind === 'text' ? value : token.kind === 'literal' ? token.text : '')).join('');

/** Removes spaces that only align columns. */
const tidy = (text: string): string => text.replace(/ {2,}/g, ' ').trim();

/**
 * A number without a format: integers in full, others with about ten digits, as in a wide cell. Unlike a spreadsheet,
 * integers of more than eleven digits are written in full, because most are identifiers.
 */
export function general(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-9)
    return value === 0
      ? '0'
      : value
          .toExponential(5)
          .replace(/\.?0+e/, 'E')
          .replace(/E([+-])(\d)$/, 'E$10$2');
  const digits = Math.max(1, Math.min(15, size < 1 ? 9 + Math.ceil(Math.log10(size)) : 10));
  const text = Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size)) + 1)));
  return Math.abs(text) < 1e-6 ? text.toFixed(12).replace(/0+$/, '') : String(text);
}

/** Fills digits into their placeholders. The first placeholder before the point receives all excess digits. */
function writeDecimal(section: Section, size: number): string {
  const [whole, decimals] = round(size, section.decimals);
  const significant = decimals.replace(/0+$/, '').length;
  let left = whole === '0' ? '' : whole;
  let shown = 0;
  let afterPoint = section.decimals;
  let leading = section.digits - section.decimals;
  const out: string[] = [];
  for (let at = section.tokens.length - 1; at >= 0; at--) {
    const token = section.tokens[at]!;
    if (token.kind === 'point') {
      if (significant > 0 || section.tokens.slice(at).some(isZero)) out.push('.');
    } else if (token.kind !== 'digit') {
      if (token.kind !== 'comma') out.push(token.text);
    } else if (afterPoint > 0) {
      afterPoint--;
      const digit = decimals[afterPoint]!;
      out.push(afterPoint < significant || token.text === '0' ? digit : token.text === '?' ? ' ' : '');
    } else {
      leading--;
      const group = leading === 0 ? left : left.slice(-1);
      left = leading === 0 ? '' : left.slice(0, -1);
      const digits = group || (token.text === '0' ? '0' : '');
      if (digits === '') out.push(token.text === '?' ? ' ' : '');
      for (let i = digits.length - 1; i >= 0; i--) {
        if (section.grouped && shown > 0 && shown % 3 === 0) out.push(',');
        out.push(digits[i]!);
        shown++;
      }
    }
  }
  // A format that begins with its point has no placeholder for the integer part.
  if (left !== '' && section.digits > 0) out.push(...[...left].reverse());
  return out.reverse().join('');
}

const isZero = (token: { readonly kind: string; readonly text: string }): boolean =>
  token.kind === 'digit' && token.text === '0';

/** `##0.0E+0` makes the exponent a multiple of the number of integer placeholders. */
function writeScientific(section: Section, size: number): string {
  const places = Math.max(1, section.digits - section.decimals);
  const { mantissa, exponent } = scientific(size, places, section.decimals);
  const at = section.tokens.findIndex((token) => token.kind === 'exponent');
  const head = writeDecimal({ ...section, tokens: section.tokens.slice(0, at) }, mantissa);
  const rest = section.tokens.slice(at + 1);
  const width = rest.filter((token) => token.kind === 'digit').length;
  const tail = rest.filter((token) => token.kind === 'literal').map(({ text }) => text);
  const sign = exponent < 0 ? '-' : section.tokens[at]!.text.endsWith('+') ? '+' : '';
  return `${head}E${sign}${String(Math.abs(exponent)).padStart(width, '0')}${tail.join('')}`;
}
