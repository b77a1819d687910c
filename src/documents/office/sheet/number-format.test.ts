import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { builtInFormat, compileFormat, general } from './number-format.ts';

const format = (code: string, value: number, date1904 = false) => compileFormat(code, date1904).number(value);

describe('format codes by the examples of their documentation', () => {
  it.each([
    ['####.#', 1234.59, '1234.6'],
    ['#.000', 8.9, '8.900'],
    ['0.#', 0.631, '0.6'],
    ['#.0#', 12, '12.0'],
    ['#.0#', 1234.568, '1234.57'],
    ['0.00', 1.005, '1.01'],
    ['0', 0.5, '1'],
    ['#,###', 12000, '12,000'],
    ['#,', 12000, '12'],
    ['0.0,,', 12200000, '12.2'],
    ['#,##0.00', -1234567.891, '-1,234,567.89'],
    ['#,##0', 0, '0'],
    ['#', 0, ''],
    ['0000', 7, '0007'],
    ['000-00-0000', 123456789, '123-45-6789'],
    ['(000) 000-0000', 5551234567, '(555) 123-4567'],
    ['0%', 0.5, '50%'],
    ['0.0%', 0.1234, '12.3%'],
    ['0.00E+00', 12200000, '1.22E+07'],
    ['##0.0E+0', 12345678, '12.3E+6'],
    ['0.00E-00', 0.00012, '1.20E-04'],
    ['# ?/?', 5.25, '5 1/4'],
    ['# ??/??', 5.3, '5 3/10'],
    ['# ?/8', 5.3, '5 2/8'],
    ['?/?', 1.5, '3/2'],
    ['# ?/?', 0.99999, '1'],
    ['$#,##0.00_);[Red]($#,##0.00)', 1234.5, '$1,234.50'],
    ['$#,##0.00_);[Red]($#,##0.00)', -1234.5, '($1,234.50)'],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', 9.5, '$9.50'],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', 0, '$-'],
    ['#,##0.00 [$€-407]', 1234.5, '1,234.50 €'],
    ['[$¥-411]#,##0', 1234, '¥1,234'],
    ['[Red][<=100]0;[Blue][>100]0.0', 99, '99'],
    ['[Red][<=100]0;[Blue][>100]0.0', 101, '101.0'],
    ['[<1]0.00"m";[<1000]0"m";0,"km"', 2500, '3km'],
    ['0" pcs"', 3, '3 pcs'],
    ['"over";"under";"even"', -2, 'under'],
    ['"over";"under";"even"', 0, 'even'],
    [';;;', 5, ''],
    ['0.00;-0.00', -3, '-3.00'],
    ['0.0', -0.01, '0.0'],
    ['\\#0', 4, '#4'],
    ['General" km"', 2.5, '2.5 km'],
  ])('%s of %d is %s', (code, value, shown) => expect(format(code, value)).toBe(shown));
});

describe('dates and times', () => {
  it.each([
    ['yyyy-mm-dd', 45292, '2024-01-01'],
    ['yyyy-mm-dd', 61, '1900-03-01'],
    ['yyyy-mm-dd', 59, '1900-02-28'],
    ['yyyy-mm-dd', 1, '1900-01-01'],
    ['m/d/yy', 45292, '1/1/24'],
    ['d mmm yyyy', 45444, '1 Jun 2024'],
    ['dddd, mmmm d, yyyy', 45444, 'Saturday, June 1, 2024'],
    ['[$-407]d. mmmm yyyy', 45352, '1. März 2024'],
    ['mmmmm', 45444, 'J'],
    ['h:mm', 0.5, '12:00'],
    ['hh:mm:ss', 0.999988426, '23:59:59'],
    ['h:mm AM/PM', 0.75, '6:00 PM'],
    ['h AM/PM', 0, '12 AM'],
    ['mm:ss.0', 0.000014, '00:01.2'],
    ['[h]:mm:ss', 1.5, '36:00:00'],
    ['[mm]:ss', 0.0625, '90:00'],
    ['yyyy-mm-dd hh:mm', 45292.9999999, '2024-01-02 00:00'],
    ['m/d/yyyy h:mm', 45292.25, '1/1/2024 6:00'],
    ['yyyy"年"m"月"d"日"', 45292, '2024年1月1日'],
  ])('%s of %d is %s', (code, value, shown) => expect(format(code, value)).toBe(shown));

  it('writes formats of the reader’s locale as in US English', () => {
    const shown = (id: number) => compileFormat(builtInFormat(id), false).number(45360.6041667);
    expect([14, 22, 27, 32, 57].map(shown)).toEqual(['3/9/2024', '3/9/2024 14:30', '3/9/2024', '14:30:00', '3/9/2024']);
  });

  it.each([
    ['2024-03-09', false, '2024-03-09 00:00:00'],
    ['2024-03-09T14:30:05Z', true, '2024-03-09 14:30:05'],
    ['1900-02-28T06:00', false, '1900-02-28 06:00:00'],
    ['1900-03-01', false, '1900-03-01 00:00:00'],
  ])('formats the ISO date %s', (iso, date1904, shown) =>
    expect(compileFormat('yyyy-mm-dd hh:mm:ss', date1904).date(iso)).toBe(shown),
  );

  it('formats as ISO dates only dates, with formats for dates', () => {
    expect(compileFormat('0.00', false).date('2024-03-09')).toBeUndefined();
    expect(compileFormat('yyyy', false).date('9 March 2024')).toBeUndefined();
  });

  it('counts from 1904 when the workbook does', () => {
    expect(format('yyyy-mm-dd', 43830, true)).toBe('2024-01-01');
  });

  it('shows numbers that are no date as they are', () => {
    expect(format('yyyy-mm-dd', -5)).toBe('-5');
    expect(format('yyyy-mm-dd', 1e9)).toBe('1000000000');
  });

  it('knows which formats are dates', () => {
    expect(compileFormat('[Red]0.00', false).isDate).toBe(false);
    expect(compileFormat('[h]:mm', false).isDate).toBe(true);
    expect(compileFormat(builtInFormat(14), false).isDate).toBe(true);
    expect(compileFormat('"day" 0', false).isDate).toBe(false);
  });
});

describe('without a format', () => {
  it.each([
    [0, '0'],
    [0.1 + 0.2, '0.3'],
    [1 / 3, '0.333333333'],
    [-2.5, '-2.5'],
    [1234567.891, '1234567.891'],
    [123456789012, '123456789012'],
    [1e20, '1E+20'],
    [1.5e-12, '1.5E-12'],
    [0.0001234, '0.0001234'],
  ])('%d is %s', (value, shown) => expect(general(value)).toBe(shown));
});

describe('text', () => {
  it('is put where the format says', () => {
    expect(compileFormat('0;-0;0;"<"@">"', false).text('a')).toBe('<a>');
    expect(compileFormat('0.00', false).text('a')).toBe('a');
    expect(compileFormat('@', false).number(12)).toBe('12');
  });
});

describe('any number', () => {
  it('rounds half up on the digits that are kept', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 4 }), (whole, places) => {
        const code = places ? `0.${'0'.repeat(places)}` : '0';
        const digits = String(Math.abs(whole)).padStart(places + 1, '0');
        const cut = digits.length - places;
        const shown = places ? `${digits.slice(0, cut)}.${digits.slice(cut)}` : digits;
        expect(format(code, whole / 10 ** places)).toBe((whole < 0 ? '-' : '') + shown);
      }),
      { seed: 3, numRuns: 1000 },
    );
  });

  it('reads back what the plain formats show', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e12, max: 1e12, noNaN: true }), (value) => {
        expect(Math.abs(Number(format('#,##0.00', value).replaceAll(',', '')) - value)).toBeLessThan(0.006);
        expect(Math.abs(Number(format('0.0000E+00', value)) - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-4);
      }),
      { seed: 4, numRuns: 1000 },
    );
  });

  it('never fails, whatever the code', () => {
    const unit = fc.constantFrom(...'0#?.,%eE+-/@;[]"\\_*$yMdhsmAP<>=1 GnrlaR');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), fc.double(), (code, value) => {
        const compiled = compileFormat(code, false);
        expect(typeof compiled.number(value)).toBe('string');
        expect(typeof compiled.text('x')).toBe('string');
      }),
      { seed: 5, numRuns: 5000 },
    );
  });
});
