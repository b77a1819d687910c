/**
 * Reads Excel 2003 XML ("XML Spreadsheet Reference") from streamed XML. Its cells become the XML events of the same cells
 * in XLSX, so that both formats share one reader.
 */
import { ownValue } from '#own-value.ts';
import type { Attributes } from '../../xml/read.ts';
import type { XmlElement } from '../../xml/xml.ts';
import type { Comment } from '../annotations.ts';
import { safeHref } from '../inline.ts';
import { cellComment, MAX_COMMENTS } from './comments.ts';
import { ExcelXmlStyles, type Value, valueIn } from './excel-xml-styles.ts';
import { refOf } from './reference.ts';
import { MAX_COLUMNS } from './sheet.ts';
import { SheetLimitError, SheetReader, type Workbook } from './sheet-reader.ts';

export interface ExcelXmlSheet {
  readonly name: string;
  hidden: boolean;
  readonly reader: SheetReader;
  /** Safe URLs by the reference of their cell. */
  readonly links: Map<string, string>;
  /** By the reference of their cell. */
  readonly comments: Map<string, Comment>;
  /** Whether the sheet was cut off at a limit. */
  cut: boolean;
}

interface Cell {
  readonly ref: string;
  readonly style: number;
  readonly formula: string;
  type: string;
  /** The text in pieces of one format each. */
  readonly runs: { readonly marks: readonly string[]; text: string }[];
}

/** Formatting elements of HTML in the text of a cell, with their elements in XLSX. */
const MARKS: Readonly<Record<string, readonly [name: string, attributes: Attributes]>> = {
  'html4:B': ['x:b', []],
  'html4:I': ['x:i', []],
  'html4:S': ['x:strike', []],
  'html4:Sup': ['x:vertAlign', ['val', 'superscript']],
  'html4:Sub': ['x:vertAlign', ['val', 'subscript']],
};

/** Types of values in XLSX. All others are text. */
const TYPES: Readonly<Record<string, string>> = { Number: 'n', DateTime: 'd', Boolean: 'b', Error: 'e' };
const TEXT_TYPE = 'inlineStr';

/** Elements whose text is read as a whole. */
const FACTS: ReadonlySet<string> = new Set(['xl:Visible', 'xl:Date1904']);

const MAX_ROWS_OF_EXCEL = 1_048_576;

export class ExcelXmlReader {
  readonly #take: (sheet: ExcelXmlSheet) => void;
  readonly #book: Workbook;
  readonly #styles = new ExcelXmlStyles();
  readonly #hidesText: boolean;
  readonly #properties: XmlElement[] = [];
  #sheet: ExcelXmlSheet | undefined;
  #inProperties = false;
  /** The current row and column, and those that follow if the file does not name them. All are counted from 0. */
  #row = 0;
  #nextRow = 0;
  #column = 0;
  #nextColumn = 0;
  #rowStyle: string | undefined;
  #columnStyles = new Map<number, string>();
  #cell: Cell | undefined;
  #marks: string[] = [];
  #comment: { readonly author: string; text: string } | undefined;
  #inData = false;
  /** The text of a property or fact; `undefined` outside. */
  #text: string | undefined;

  /** `maxBytes` limits the HTML of all sheets. `hidesText`: whether white text counts as hidden. */
  constructor(take: (sheet: ExcelXmlSheet) => void, maxBytes: number, hidesText: boolean) {
    this.#take = take;
    this.#hidesText = hidesText;
    this.#book = { strings: [], styles: this.#styles.style, leftBytes: maxBytes };
  }

  /** `o:DocumentProperties`. */
  get properties(): XmlElement {
    return { name: 'o:DocumentProperties', attributes: [], children: this.#properties };
  }

  open(name: string, attributes: Attributes): void {
    const value = valueIn(attributes);
    if (this.#inData) this.#openMark(name);
    else if (this.#inProperties || FACTS.has(name)) this.#text = '';
    else if (name === 'o:DocumentProperties') this.#inProperties = true;
    else if (name === 'ss:Worksheet') this.#openSheet(value);
    else if (!this.#sheet) this.#styles.open(name, value);
    else if (name === 'ss:Row') this.#openRow(value);
    else if (name === 'ss:Cell') this.#openCell(value);
    else if (name === 'ss:Data') this.#openData(value);
    else if (name === 'ss:Comment' && this.#cell) this.#comment = { author: value('Author') ?? '', text: '' };
    else if (name === 'ss:Column') this.#addColumns(value);
  }

  text(text: string): void {
    if (this.#text !== undefined) this.#text += text;
    else if (!this.#inData) return;
    else if (this.#comment) this.#comment.text += text;
    else if (this.#cell) {
      const last = this.#cell.runs.at(-1);
      if (last && last.marks.join() === this.#marks.join()) last.text += text;
      else this.#cell.runs.push({ marks: [...this.#marks], text });
    }
  }

  close(name: string): void {
    if (this.#inData && name !== 'ss:Data') this.#closeMark(name);
    else if (name === 'ss:Data') this.#inData = false;
    else if (name === 'o:DocumentProperties') this.#inProperties = false;
    else if (this.#text !== undefined) this.#closeFact(name, this.#text);
    else if (name === 'ss:Comment') this.#closeComment();
    else if (name === 'ss:Cell') this.#closeCell();
    else if (name === 'ss:Row') this.#send((reader) => reader.close('x:row'));
    else if (name === 'ss:Worksheet') this.#closeSheet();
  }

  /** Closes everything that is still open if the file ends early. */
  finish(): void {
    if (!this.#sheet) return;
    this.#closeCell();
    this.#send((reader) => reader.close('x:row'));
    this.#sheet.cut = true;
    this.#closeSheet();
  }

  #closeFact(name: string, text: string): void {
    this.#text = undefined;
    if (this.#inProperties) this.#properties.push({ name, attributes: [], children: [text] });
    else if (name === 'xl:Date1904') this.#styles.date1904 = true;
    else if (name === 'xl:Visible' && this.#sheet) this.#sheet.hidden = /hidden/i.test(text);
  }

  /** Content beyond a limit is left out. */
  #send(work: (reader: SheetReader) => void): void {
    const sheet = this.#sheet;
    if (!sheet || sheet.cut) return;
    try {
      work(sheet.reader);
    } catch (error) {
      if (!(error instanceof SheetLimitError)) throw error;
      sheet.cut = true;
    }
  }

  #openSheet(value: Value): void {
    this.#sheet = {
      name: (value('Name') ?? '').trim(),
      hidden: false,
      reader: new SheetReader(this.#book, this.#hidesText),
      links: new Map(),
      comments: new Map(),
      cut: false,
    };
    this.#nextRow = 0;
    this.#nextColumn = 0;
    this.#columnStyles = new Map();
  }

  #closeSheet(): void {
    const sheet = this.#sheet;
    this.#sheet = undefined;
    if (sheet) this.#take(sheet);
  }

  #addColumns(value: Value): void {
    const from = indexOf(value('Index'), this.#nextColumn);
    const to = Math.min(from + countOf(value('Span')), MAX_COLUMNS - 1);
    this.#nextColumn = to + 1;
    const style = value('StyleID');
    for (let column = from; style !== undefined && column <= to; column++) this.#columnStyles.set(column, style);
    const facts = ['min', String(from + 1), 'max', String(to + 1), 'hidden', value('Hidden') ?? '0'];
    this.#send((reader) => reader.open('x:col', [...facts, 'width', value('Width') ?? '']));
  }

  #openRow(value: Value): void {
    this.#row = indexOf(value('Index'), this.#nextRow);
    this.#nextRow = Math.min(this.#row + countOf(value('Span')) + 1, MAX_ROWS_OF_EXCEL);
    this.#rowStyle = value('StyleID');
    this.#nextColumn = 0;
    const facts = ['r', String(this.#row + 1), 'hidden', value('Hidden') ?? '0', 'ht', value('Height') ?? ''];
    this.#send((reader) => reader.open('x:row', facts));
  }

  #openCell(value: Value): void {
    this.#column = indexOf(value('Index'), this.#nextColumn);
    const [across, down] = [countOf(value('MergeAcross')), countOf(value('MergeDown'))];
    this.#nextColumn = Math.min(this.#column + across + 1, MAX_COLUMNS);
    const ref = refOf(this.#row, this.#column);
    const style = value('StyleID') ?? this.#rowStyle ?? this.#columnStyles.get(this.#column);
    const formula = (value('Formula') ?? '').replace(/^=/, '');
    this.#cell = { ref, style: this.#styles.indexOf(style), formula, type: TEXT_TYPE, runs: [] };
    const href = safeHref(value('HRef') ?? '');
    if (href !== undefined) this.#sheet?.links.set(ref, href);
    const end = refOf(this.#row + down, this.#column + across);
    if (end !== ref) this.#send((reader) => reader.open('x:mergeCell', ['ref', `${ref}:${end}`]));
  }

  #openData(value: Value): void {
    this.#inData = true;
    this.#marks = [];
    if (this.#cell && !this.#comment) this.#cell.type = ownValue(TYPES, value('Type') ?? '') ?? TEXT_TYPE;
  }

  #openMark(name: string): void {
    if (ownValue(MARKS, name)) this.#marks.push(name);
  }

  #closeMark(name: string): void {
    if (this.#marks.at(-1) === name) this.#marks.pop();
  }

  #closeComment(): void {
    const [sheet, cell, comment] = [this.#sheet, this.#cell, this.#comment];
    this.#comment = undefined;
    if (sheet && cell && comment && sheet.comments.size < MAX_COMMENTS)
      sheet.comments.set(cell.ref, cellComment(comment.author, comment.text));
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell) this.#send((reader) => writeCell(cell, reader));
  }
}

function writeCell({ ref, style, type, formula, runs }: Cell, reader: SheetReader): void {
  const write = (name: string, attributes: Attributes, text?: string) => {
    reader.open(name, attributes);
    if (text === undefined) return;
    reader.text(text);
    reader.close(name);
  };
  write('x:c', ['r', ref, 's', String(style), 't', type]);
  if (formula !== '') write('x:f', [], formula);
  if (type !== TEXT_TYPE)
    write(
      'x:v',
      [],
      runs
        .map(({ text }) => text)
        .join('')
        .trim(),
    );
  else {
    write('x:is', []);
    for (const { marks, text } of runs) {
      write('x:r', []);
      for (const mark of marks) write(...MARKS[mark]!, '');
      write('x:t', [], text);
      reader.close('x:r');
    }
    reader.close('x:is');
  }
  reader.close('x:c');
}

/** A position that the file counts from 1, counted from 0. */
function indexOf(written: string | undefined, next: number): number {
  const index = Number(written ?? Number.NaN) - 1;
  return Number.isInteger(index) && index >= next && index < MAX_ROWS_OF_EXCEL ? index : next;
}

/** A number of further rows or columns. */
function countOf(written: string | undefined): number {
  const count = Math.floor(Number(written ?? 0));
  return count > 0 ? Math.min(count, MAX_ROWS_OF_EXCEL) : 0;
}
