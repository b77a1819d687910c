/** Reads the sheets of an OpenDocument spreadsheet (version 1.3, part 3, chapter 9) from streamed XML. */
import { escapeAttribute } from '#html/serialize.ts';
import { type Attributes, attributeIn } from '../../xml/read.ts';
import { inlineHtml, trimHtml } from '../html-output.ts';
import { safeHref } from '../inline.ts';
import { AnnotationReader } from '../odf-annotation.ts';
import { type CellKind, NUMBER, newRow, OTHER, type Row, STRONG, TEXT, WHITE } from './cell.ts';
import { type CellComment, MAX_COMMENTS } from './comments.ts';
import { refOf } from './reference.ts';
import { MAX_COLUMNS, MAX_ROWS, outputBytesOf, type Region } from './sheet.ts';
import { removeWhiteText } from './white-text.ts';

/** An object over the cells. */
export interface Shape {
  /** An image or object of the package. */
  href: string | undefined;
  /** For flat files: the bytes of a picture, in Base64. */
  data: string;
  alternative: string;
  /** Inline HTML of a text box. */
  text: string;
}

export interface OdsSheet {
  readonly name: string;
  readonly hidden: boolean;
  rows: Row[];
  readonly merges: Region[];
  readonly shapes: Shape[];
  readonly comments: CellComment[];
  /** Number of hidden rows and columns with content. */
  hiddenCount: number;
  /** Whether the sheet was cut off at a limit. */
  cut: boolean;
}

interface OdsStyle {
  readonly parent: string | undefined;
  hidden?: boolean;
  bold?: boolean;
  white?: boolean;
  ground?: boolean;
}

const HIDDEN = -1;
const MAX_MERGES = 200_000;
const MAX_SHAPES = 5_000;
const MAX_SPACES = 1_000;

/** Elements whose content is not part of the cell or of this document. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'office:annotation',
  'office:forms',
  'office:event-listeners',
  'office:scripts',
  'table:tracked-changes',
  'table:scenario',
  'text:ruby-text',
]);

export class OdsReader {
  private readonly take: (sheet: OdsSheet) => void;
  private readonly readsComments: boolean;
  private readonly styles = new Map<string, OdsStyle>();
  private style: OdsStyle | undefined;
  private passed = 0;
  private sheet: OdsSheet | undefined;
  private leftBytes: number;
  /** For each column, its index among the visible ones; HIDDEN if hidden. */
  private readonly seen = new Int32Array(MAX_COLUMNS);
  private readonly columnStyles: (string | undefined)[] = [];
  private columnCount = 0;
  private hiddenColumns = 0;
  private hiddenWithContent = new Set<number>();
  private hiddenRows = 0;
  private rowNumber = 0;
  private row: Row | undefined;
  private rowComments: CellComment[] = [];
  private annotation: AnnotationReader | undefined;
  private rowRepeat = 1;
  private rowHidden = false;
  private column = 0;
  private cell: Cell | undefined;
  private shape: Shape | undefined;
  private into: 'title' | 'desc' | 'data' | undefined;
  private paragraphs = 0;

  /** `maxBytes` limits the HTML of all sheets. */
  constructor(take: (sheet: OdsSheet) => void, maxBytes: number, readsComments: boolean) {
    this.leftBytes = maxBytes;
    this.readsComments = readsComments;
    this.take = take;
  }

  open(name: string, attributes: Attributes): void {
    if (this.annotation) {
      this.annotation.open(name);
      return;
    }
    if (name === 'office:annotation' && this.readsComments && this.passed === 0 && this.cell && !this.shape) {
      this.annotation = new AnnotationReader();
      return;
    }
    if (this.passed > 0 || PASSED_OVER.has(name) || (name === 'table:table' && this.sheet)) {
      this.passed++;
      return;
    }
    const value = (key: string) => attributeIn(attributes, key);
    switch (name) {
      case 'table:table-cell':
      case 'table:covered-table-cell':
        this.openCell(name === 'table:covered-table-cell', value);
        break;
      case 'text:p':
      case 'text:h':
        this.openParagraph();
        break;
      case 'table:table-row':
        this.openRow(value);
        break;
      case 'table:table-column':
        this.addColumns(value);
        break;
      case 'table:table':
        this.openSheet(value);
        break;
      case 'style:style':
        this.style = { parent: value('style:parent-style-name') };
        this.styles.set(value('style:name') ?? '', this.style);
        break;
      case 'style:table-properties':
        if (this.style && value('table:display') === 'false') this.style.hidden = true;
        break;
      case 'style:text-properties':
        if (this.style) this.readTextProperties(this.style, value);
        break;
      case 'style:table-cell-properties':
        if (this.style) this.style.ground = !/^(?:transparent|#ffffff)?$/i.test(value('fo:background-color') ?? '');
        break;
      default:
        this.openInline(name, value);
    }
  }

  private readTextProperties(style: OdsStyle, value: Value): void {
    const weight = value('fo:font-weight');
    if (weight !== undefined) style.bold = weight === 'bold' || Number(weight) >= 600;
    const color = value('fo:color');
    if (color !== undefined)
      style.white = color.toLowerCase() === '#ffffff' && value('style:use-window-font-color') !== 'true';
  }

  private openInline(name: string, value: Value): void {
    switch (name) {
      case 'text:s':
        this.append(' '.repeat(Math.min(Number(value('text:c') ?? 1) || 1, MAX_SPACES)));
        break;
      case 'text:tab':
        this.append(' ');
        break;
      case 'text:line-break':
        this.appendHtml('<br>');
        break;
      case 'text:a': {
        const href = safeHref(value('xlink:href') ?? '');
        if (this.cell && !this.shape) this.cell.links.push(href !== undefined);
        if (href !== undefined) this.appendHtml(`<a href="${escapeAttribute(href)}">`);
        break;
      }
      case 'draw:frame':
      case 'draw:custom-shape':
        if (this.sheet && !this.shape && this.sheet.shapes.length < MAX_SHAPES) {
          this.shape = { href: undefined, data: '', alternative: '', text: '' };
          this.paragraphs = 0;
        }
        break;
      case 'draw:image':
      case 'draw:object':
        if (this.shape) this.shape.href ??= value('xlink:href');
        break;
      case 'svg:title':
        this.into = 'title';
        break;
      case 'svg:desc':
        this.into = 'desc';
        break;
      case 'office:binary-data':
        this.into = 'data';
        break;
    }
  }

  text(text: string): void {
    if (this.annotation) this.annotation.text(text);
    if (this.annotation || this.passed > 0) return;
    if (this.into === undefined) {
      if (this.paragraphs > 0) this.append(text.replace(/[\t\n\r ]+/g, ' '));
    } else if (this.shape) {
      if (this.into === 'data') this.shape.data += text;
      else if (this.into === 'desc' || this.shape.alternative === '') this.shape.alternative = text;
    }
  }

  close(name: string): void {
    if (this.annotation) {
      if (name === 'office:annotation') this.closeAnnotation(this.annotation);
      else this.annotation.close(name);
      return;
    }
    if (this.passed > 0) {
      this.passed--;
      return;
    }
    switch (name) {
      case 'table:table-cell':
      case 'table:covered-table-cell':
        this.closeCell();
        break;
      case 'table:table-row':
        this.closeRow();
        break;
      case 'table:table':
        this.closeSheet();
        break;
      case 'style:style':
        this.style = undefined;
        break;
      case 'text:a':
        if (this.cell && !this.shape && this.cell.links.pop()) this.appendHtml('</a>');
        break;
      case 'draw:frame':
      case 'draw:custom-shape':
        this.closeShape();
        break;
      case 'svg:title':
      case 'svg:desc':
      case 'office:binary-data':
        this.into = undefined;
        break;
    }
  }

  private closeAnnotation(annotation: AnnotationReader): void {
    this.annotation = undefined;
    const { row, column } = this;
    const seen = this.visibleColumn(column);
    if (!row || seen === HIDDEN || this.rowComments.length >= MAX_COMMENTS) return;
    const ref = refOf(this.rowNumber, column);
    this.rowComments.push({ ref, row: row.index, column: seen, about: annotation.comment });
  }

  /** Closes everything that is still open if the file ends early. */
  finish(): void {
    this.annotation = undefined;
    this.passed = 0;
    if (this.row) this.closeRow();
    if (this.sheet) {
      this.sheet.cut = true;
      this.closeSheet();
    }
  }

  private openSheet(value: Value): void {
    const hidden = this.isOn(value('table:style-name'), 'hidden');
    this.sheet = {
      name: (value('table:name') ?? '').trim(),
      hidden,
      rows: [],
      merges: [],
      shapes: [],
      comments: [],
      hiddenCount: 0,
      cut: false,
    };
    this.columnStyles.length = 0;
    this.columnCount = 0;
    this.hiddenColumns = 0;
    this.hiddenWithContent = new Set();
    this.hiddenRows = 0;
    this.rowNumber = 0;
  }

  private closeSheet(): void {
    const { sheet } = this;
    this.sheet = undefined;
    if (!sheet) return;
    const { rows, removed } = removeWhiteText(sheet.rows);
    sheet.rows = rows;
    sheet.hiddenCount += this.hiddenWithContent.size + removed;
    this.take(sheet);
  }

  private addColumns(value: Value): void {
    const count = repeatOf(value('table:number-columns-repeated'), MAX_COLUMNS - this.columnCount);
    const unseen = isUnseen(value('table:visibility'));
    for (let left = count; left > 0; left--) {
      this.seen[this.columnCount] = unseen ? HIDDEN : this.columnCount - this.hiddenColumns;
      this.columnStyles[this.columnCount] = value('table:default-cell-style-name');
      this.columnCount++;
      if (unseen) this.hiddenColumns++;
    }
  }

  private openRow(value: Value): void {
    if (!this.sheet) return;
    this.rowRepeat = repeatOf(value('table:number-rows-repeated'), 1_048_576 * 16);
    this.rowHidden = isUnseen(value('table:visibility'));
    this.row = newRow(this.rowNumber - this.hiddenRows);
    this.column = 0;
  }

  private closeRow(): void {
    const { row, sheet, rowRepeat, rowComments } = this;
    this.row = undefined;
    this.rowComments = [];
    if (!row || !sheet) return;
    this.rowNumber += rowRepeat;
    if (this.rowHidden) {
      this.hiddenRows += rowRepeat;
      if (row.columns.length > 0) sheet.hiddenCount++;
      return;
    }
    sheet.comments.push(...rowComments);
    if (row.columns.length === 0) return;
    const cost = row.html.reduce((sum, html) => sum + outputBytesOf(html), 0);
    for (let at = 0; at < rowRepeat; at++) {
      this.leftBytes -= cost;
      if (sheet.rows.length >= MAX_ROWS || this.leftBytes < 0) {
        sheet.cut = true;
        return;
      }
      // Comments are added to the cells of the first row only.
      const html = rowComments.length > 0 ? [...row.html] : row.html;
      sheet.rows.push(at === 0 ? row : { ...row, html, index: row.index + at });
    }
  }

  private openCell(covered: boolean, value: Value): void {
    if (!this.row) return;
    const style = value('table:style-name') ?? this.columnStyles[this.column];
    this.cell = {
      repeat: repeatOf(value('table:number-columns-repeated'), MAX_COLUMNS - this.column),
      covered,
      columns: Number(value('table:number-columns-spanned') ?? 1),
      rows: Number(value('table:number-rows-spanned') ?? 1),
      kind: kindOf(value('office:value-type') ?? value('calcext:value-type')) | (this.isOn(style, 'bold') ? STRONG : 0),
      white: this.isOn(style, 'white') && !this.isOn(style, 'ground'),
      parts: [],
      links: [],
    };
    this.paragraphs = 0;
  }

  /** A style property, inherited from parent styles. */
  private isOn(name: string | undefined, key: 'hidden' | 'bold' | 'white' | 'ground'): boolean {
    let style = name === undefined ? undefined : this.styles.get(name);
    for (let depth = 0; style && depth < 32; depth++) {
      const value = style[key];
      if (value !== undefined) return value;
      style = style.parent === undefined ? undefined : this.styles.get(style.parent);
    }
    return false;
  }

  private closeCell(): void {
    const { cell, row, sheet } = this;
    this.cell = undefined;
    this.paragraphs = 0;
    if (!cell || !row || !sheet) return;
    const from = this.column;
    this.column = from + cell.repeat;
    const html = trimHtml(cell.parts.join(''));
    if (html === '' || cell.covered) return;
    for (let column = from; column < from + cell.repeat; column++) {
      const seen = this.visibleColumn(column);
      if (seen === HIDDEN) {
        this.hiddenWithContent.add(column);
        continue;
      }
      row.columns.push(seen);
      row.html.push(html);
      row.kinds.push(cell.white ? cell.kind | WHITE : cell.kind);
      this.merge(sheet, row.index, column, cell);
    }
  }

  private merge(sheet: OdsSheet, top: number, column: number, { columns, rows }: Cell): void {
    if (!(columns > 1 || rows > 1) || sheet.merges.length >= MAX_MERGES) return;
    let right = Math.min(column + Math.max(1, columns), MAX_COLUMNS) - 1;
    while (right > column && this.visibleColumn(right) === HIDDEN) right--;
    const [left, end] = [this.visibleColumn(column), this.visibleColumn(right)];
    sheet.merges.push({ top, left, bottom: top + Math.min(Math.max(1, rows), 1_048_576) - 1, right: end });
  }

  /** The index of a column among the visible ones; HIDDEN if it is hidden. */
  private visibleColumn(column: number): number {
    return column < this.columnCount ? this.seen[column]! : column - this.hiddenColumns;
  }

  private openParagraph(): void {
    if (!this.cell && !this.shape) return;
    if (this.paragraphs > 0) this.appendHtml('<br>');
    this.paragraphs++;
  }

  private append(text: string): void {
    if (this.paragraphs > 0) this.appendHtml(inlineHtml(text));
  }

  private appendHtml(html: string): void {
    if (this.shape) this.shape.text += html;
    else this.cell?.parts.push(html);
  }

  private closeShape(): void {
    if (this.shape) this.sheet?.shapes.push(this.shape);
    this.shape = undefined;
    this.paragraphs = this.cell?.parts.length ? 1 : 0;
  }
}

type Value = (key: string) => string | undefined;

interface Cell {
  readonly repeat: number;
  readonly covered: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly kind: CellKind;
  readonly white: boolean;
  /** Inline HTML. */
  readonly parts: string[];
  /** For each open link, whether it is shown. */
  readonly links: boolean[];
}

const isUnseen = (visibility: string | undefined): boolean => visibility === 'collapse' || visibility === 'filter';

const repeatOf = (value: string | undefined, most: number): number => {
  const count = Math.floor(Number(value ?? 1));
  return Math.max(0, Math.min(count >= 1 ? count : 1, most));
};

function kindOf(type: string | undefined): CellKind {
  if (type === 'float' || type === 'percentage' || type === 'currency') return NUMBER;
  return type === 'date' || type === 'time' || type === 'boolean' ? OTHER : TEXT;
}
