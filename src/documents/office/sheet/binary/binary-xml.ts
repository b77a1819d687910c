/**
 * Binary workbook parts (XLSB, MS-XLSB) as the XML events of the same parts in XLSX, so that both formats share one
 * reader. Only records that affect visible text are translated. Formatted runs inside a cell become plain text.
 */
import type { Attributes, XmlHandler } from '../../../xml/read.ts';
import type { XmlElement, XmlNode } from '../../../xml/xml.ts';
import { lettersOf } from '../reference.ts';
import { type Fields, readRecords } from './records.ts';

/** Records that begin an element, by type; the next type ends it (MS-XLSB 2.3.2). */
const ELEMENTS: Readonly<Record<number, string>> = {
  129: 'x:worksheet',
  131: 'x:workbook',
  143: 'x:sheets',
  145: 'x:sheetData',
  159: 'x:sst',
  278: 'x:styleSheet',
  603: 'x:fills',
  611: 'x:fonts',
  615: 'x:numFmts',
  617: 'x:cellXfs',
};
const ROW = 0;
const SHEET_DATA_END = 146;
/** Conditional formats and tables, which may color cells. */
const COLORING: ReadonlySet<number> = new Set([461, 661]);

type Write = (handler: XmlHandler, fields: Fields) => void;

/** Calls the handler as `readXml` does. Returns false if the part is damaged. */
export function readBinary(bytes: Uint8Array, handler: XmlHandler): boolean {
  let inRow = false;
  let sound = true;
  const endRow = () => {
    if (inRow) handler.close('x:row');
    inRow = false;
  };
  const complete = readRecords(bytes, (type, fields) => {
    if (type === ROW || type === SHEET_DATA_END) endRow();
    const begun = ELEMENTS[type];
    const ended = ELEMENTS[type - 1];
    if (begun !== undefined) handler.open(begun, []);
    else if (ended !== undefined) handler.close(ended);
    else if (type === ROW) inRow = attempt(() => handler.open('x:row', rowOf(fields)));
    else if (WRITERS[type] !== undefined) attempt(() => WRITERS[type]!(handler, fields));
  });
  endRow();
  return complete && sound;

  /** Skips a record that is shorter than its fields. */
  function attempt(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      sound = false;
      return false;
    }
  }
}

/** The root element of a part; `undefined` if it has none. */
export function binaryTree(bytes: Uint8Array): XmlElement | undefined {
  const top: { name: string; attributes: Attributes; children: XmlNode[] } = { name: '', attributes: [], children: [] };
  const open = [top];
  readBinary(bytes, {
    open(name, attributes) {
      const element = { name, attributes, children: [] };
      open.at(-1)!.children.push(element);
      open.push(element);
    },
    close() {
      if (open.length > 1) open.pop();
    },
    text: (text) => open.at(-1)!.children.push(text),
  });
  return top.children.find((node): node is XmlElement => typeof node !== 'string');
}

/** Whether the cells of a sheet may be colored by a table or a conditional format. */
export function colorsCells(bytes: Uint8Array): boolean {
  let found = false;
  readRecords(bytes, (type) => {
    found ||= COLORING.has(type);
  });
  return found;
}

/** MS-XLSB 2.4.740. The height and the flags follow the row number and the style. */
function rowOf(fields: Fields): Attributes {
  const row = fields.u32();
  const flags = fields.skip(7).u8();
  return ['r', String(row + 1), 'hidden', flags & 0x10 ? '1' : '0'];
}

/** A cell with a value of the given type. */
const cell =
  (type: string, value: (fields: Fields) => string): Write =>
  (handler, fields) => {
    const column = fields.u32();
    const style = fields.u32() & 0xff_ffff;
    const text = value(fields);
    handler.open('x:c', ['r', lettersOf(column), 's', String(style), 't', type]);
    element(handler, 'x:v', [], text);
    handler.close('x:c');
  };

const rk = (fields: Fields): string => String(fields.rk());
const double = (fields: Fields): string => String(fields.double());
const truth = (fields: Fields): string => String(fields.u8());
const fault = (fields: Fields): string => ERRORS[fields.u8()] ?? '#N/A';
const string = (fields: Fields): string => fields.string();
/** The flags of a rich string tell what follows its text. */
const richString = (fields: Fields): string => fields.skip(1).string();

/** MS-XLSB 2.5.97.2 */
const ERRORS: Readonly<Record<number, string>> = {
  0: '#NULL!',
  7: '#DIV/0!',
  15: '#VALUE!',
  23: '#REF!',
  29: '#NAME?',
  36: '#NUM!',
  42: '#N/A',
  43: '#GETTING_DATA',
};

const WRITERS: Readonly<Record<number, Write>> = {
  2: cell('n', rk),
  3: cell('e', fault),
  4: cell('b', truth),
  5: cell('n', double),
  6: cell('str', string),
  7: cell('s', (fields) => String(fields.u32())),
  8: cell('str', string),
  9: cell('n', double),
  10: cell('b', truth),
  11: cell('e', fault),
  62: cell('str', richString),
  19(handler, fields) {
    const text = richString(fields);
    handler.open('x:si', []);
    element(handler, 'x:t', [], text);
    handler.close('x:si');
  },
  43(handler, fields) {
    const isBold = fields.skip(4).u16() >= 600;
    const color = colorOf(fields.skip(6));
    handler.open('x:font', []);
    if (isBold) element(handler, 'x:b', []);
    element(handler, 'x:color', color);
    handler.close('x:font');
  },
  44(handler, fields) {
    element(handler, 'x:numFmt', ['numFmtId', String(fields.u16()), 'formatCode', fields.string()]);
  },
  45(handler, fields) {
    const pattern = fields.u32();
    const color = colorOf(fields);
    handler.open('x:fill', []);
    handler.open('x:patternFill', ['patternType', pattern === 0 ? 'none' : pattern === 1 ? 'solid' : 'other']);
    element(handler, 'x:fgColor', color);
    handler.close('x:patternFill');
    handler.close('x:fill');
  },
  47(handler, fields) {
    const [format, font, fill] = [fields.skip(2).u16(), fields.u16(), fields.u16()];
    element(handler, 'x:xf', ['numFmtId', String(format), 'fontId', String(font), 'fillId', String(fill)]);
  },
  60(handler, fields) {
    const [first, last] = [fields.u32(), fields.u32()];
    const isHidden = (fields.skip(8).u16() & 1) !== 0;
    element(handler, 'x:col', ['min', String(first + 1), 'max', String(last + 1), 'hidden', isHidden ? '1' : '0']);
  },
  153(handler, fields) {
    element(handler, 'x:workbookPr', ['date1904', fields.u32() & 1 ? '1' : '0']);
  },
  156(handler, fields) {
    const state = fields.u32();
    const id = fields.skip(4).string();
    element(handler, 'x:sheet', ['name', fields.string(), 'r:id', id, 'state', state === 0 ? 'visible' : 'hidden']);
  },
  176(handler, fields) {
    element(handler, 'x:mergeCell', ['ref', rangeOf(fields)]);
  },
  343(handler, fields) {
    const ref = rangeOf(fields);
    element(handler, 'x:table', ['ref', ref, 'headerRowCount', String(fields.skip(8).u32())]);
  },
  485(handler, fields) {
    element(handler, 'x:sheetFormatPr', ['zeroHeight', fields.skip(8).u16() & 2 ? '1' : '0']);
  },
  494(handler, fields) {
    const ref = rangeOf(fields);
    element(handler, 'x:hyperlink', ['ref', ref, 'r:id', fields.string()]);
  },
  550(handler, fields) {
    element(handler, 'x:drawing', ['r:id', fields.string()]);
  },
  661(handler, fields) {
    element(handler, 'x:tablePart', ['r:id', fields.string()]);
  },
};

function element(handler: XmlHandler, name: string, attributes: Attributes, text = ''): void {
  handler.open(name, attributes);
  if (text !== '') handler.text(text);
  handler.close(name);
}

/** MS-XLSB 2.5.18. The type is one of automatic, indexed, RGB and theme. */
function colorOf(fields: Fields): Attributes {
  const type = fields.u8() >> 1;
  const index = fields.u8();
  const tint = fields.i16();
  const rgb = [fields.u8(), fields.u8(), fields.u8()].map((part) => part.toString(16).padStart(2, '0'));
  if (type === 2) return ['rgb', `FF${rgb.join('').toUpperCase()}`];
  return type === 3 ? ['theme', String(index), ...(tint === 0 ? [] : ['tint', String(tint / 0x7fff)])] : [];
}

/** First and last row, first and last column. */
function rangeOf(fields: Fields): string {
  const [top, bottom, left, right] = [fields.u32(), fields.u32(), fields.u32(), fields.u32()];
  return `${lettersOf(left)}${top + 1}:${lettersOf(right)}${bottom + 1}`;
}
