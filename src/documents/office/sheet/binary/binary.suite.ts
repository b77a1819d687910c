/** Test helpers: binary workbooks built record by record. */
import { strToU8, zipSync } from 'fflate';
import { relationships } from '../workbook.suite.ts';

export const u8 = (...values: readonly number[]): Buffer => Buffer.from(values);
export const u16 = (...values: readonly number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);
export const u32 = (...values: readonly number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);
export const double = (value: number): Buffer => Buffer.from(Float64Array.of(value).buffer);
export const string = (text: string): Buffer => Buffer.concat([u32(text.length), Buffer.from(text, 'utf16le')]);

const sevenBits = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...sevenBits(value >> 7)];

export function record(type: number, ...fields: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(fields);
  return Buffer.concat([u8(...sevenBits(type), ...sevenBits(body.length)), body]);
}

export const row = (index: number, hidden = false): Buffer =>
  record(0, u32(index, 0), u16(300), u8(0, hidden ? 0x10 : 0, 0), u32(0));

export const cell = (type: number, column: number, value: Uint8Array, style = 0): Buffer =>
  record(type, u32(column, style), value);

export interface BinarySheet {
  readonly name: string;
  readonly hidden?: boolean;
  /** Rows and cells. */
  readonly data: readonly Uint8Array[];
  /** Records before and after the rows. */
  readonly before?: readonly Uint8Array[];
  readonly after?: readonly Uint8Array[];
  readonly relationships?: Parameters<typeof relationships>[0];
}

const CONTENT_TYPES = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>`;

const NO_COLOR = u8(0, 0, 0, 0, 0, 0, 0, 0);
const white = u8(5, 0, 0, 0, 255, 255, 255, 255);
const font = (weight: number, color: Uint8Array) =>
  record(43, u16(220, 0, weight, 0), u8(0, 2, 0, 0), color, u8(0), string('Arial'));
const xf = (format: number, fontId: number) => record(47, u16(0, format, fontId, 0, 0), u8(0, 0), u16(0), u8(0, 0));

/** Styles: 0 plain, 1 a date, 2 bold, 3 a custom format, 4 white. */
const STYLES = Buffer.concat([
  record(278),
  record(615, u32(1)),
  record(44, u16(164), string('0.0" kg"')),
  record(616),
  record(611, u32(3)),
  font(400, NO_COLOR),
  font(700, NO_COLOR),
  font(400, white),
  record(612),
  record(603, u32(1)),
  record(45, u32(0), NO_COLOR, NO_COLOR, Buffer.alloc(48)),
  record(604),
  record(626, u32(1)),
  xf(0, 0),
  record(627),
  record(617, u32(5)),
  xf(0, 0),
  xf(14, 0),
  xf(0, 1),
  xf(164, 0),
  xf(0, 2),
  record(618),
  record(279),
]);

export function binaryWorkbook(
  sheets: readonly BinarySheet[],
  strings: readonly string[] = [],
  parts: Readonly<Record<string, Uint8Array>> = {},
): Uint8Array {
  const bundles = sheets.map(({ name, hidden }, at) =>
    record(156, u32(hidden ? 1 : 0, at + 1), string(`s${at}`), string(name)),
  );
  const items = strings.map((text) => record(19, u8(0), string(text)));
  const files: Record<string, Uint8Array> = {
    '[Content_Types].xml': strToU8(CONTENT_TYPES),
    '_rels/.rels': strToU8(relationships([['officeDocument', 'r1', 'xl/workbook.bin']])),
    'xl/_rels/workbook.bin.rels': strToU8(
      relationships([
        ...sheets.map((_, at) => ['worksheet', `s${at}`, `worksheets/sheet${at}.bin`] as const),
        ['sharedStrings', 'strings', 'sharedStrings.bin'],
        ['styles', 'styles', 'styles.bin'],
      ]),
    ),
    'xl/workbook.bin': Buffer.concat([
      record(131),
      record(153, u32(0, 0), string('')),
      record(143),
      ...bundles,
      record(144),
      record(132),
    ]),
    'xl/sharedStrings.bin': Buffer.concat([record(159, u32(items.length, items.length)), ...items, record(160)]),
    'xl/styles.bin': STYLES,
    ...parts,
  };
  for (const [at, sheet] of sheets.entries()) {
    files[`xl/worksheets/sheet${at}.bin`] = Buffer.concat([
      record(129),
      ...(sheet.before ?? []),
      record(145),
      ...sheet.data,
      record(146),
      ...(sheet.after ?? []),
      record(130),
    ]);
    if (sheet.relationships) {
      files[`xl/worksheets/_rels/sheet${at}.bin.rels`] = strToU8(relationships(sheet.relationships));
    }
  }
  return zipSync(files, { level: 6 });
}
