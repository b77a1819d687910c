/** Reads one sheet of a workbook from streamed XML, so that it never builds the tree of a large sheet. */

import { escapeAttribute, escapeText } from '#html/serialize.ts';
import { type Attributes, attributeIn } from '../../xml/read.ts';
import { cellHtml } from '../html-output.ts';
import { safeHref } from '../inline.ts';
import { type CellKind, NUMBER, newRow, OTHER, type Row, STRONG, TEXT, WHITE } from './cell.ts';
import { HiddenRows } from './hidden-rows.ts';
import { general } from './number-format.ts';
import { columnOf, regionOf } from './reference.ts';
import { lowerBound, MAX_COLUMNS, MAX_ROWS, outputBytesOf, type Region } from './sheet.ts';
import { RichText, unescaped } from './strings.ts';
import type { Styles } from './styles.ts';
import { removeWhiteText } from './white-text.ts';

/** Thrown to stop reading a sheet that exceeds a limit. Content that was read before is kept. */
export class SheetLimitError extends Error {}

export interface Workbook {
  readonly strings: readonly string[];
  readonly styles: Styles;
  /** Remaining HTML bytes for all sheets. */
  leftBytes: number;
}

export interface Link {
  readonly ref: string;
  readonly id: string | undefined;
}

const MAX_URL_LENGTH = 2_000;
const MAX_LINKS = 100_000;
const MAX_MERGES = 200_000;

export class SheetReader {
  rows: Row[] = [];
  readonly links: Link[] = [];
  /** Positions as in the file, counting hidden rows and columns. */
  readonly merges: Region[] = [];
  readonly tableIds: string[] = [];
  drawingId: string | undefined;
  hiddenCount = 0;
  private readonly book: Workbook;
  private readonly hidesText: boolean;
  private readonly rich = new RichText();
  private readonly hiddenRows = new HiddenRows();
  private readonly hiddenColumns = new Set<number>();
  private readonly hiddenWithContent = new Set<number>();
  /** Whether rows that are not listed are hidden (ECMA-376 part 1, 18.3.1.81). */
  private zeroHeight = false;
  private rowNumber = -1;
  private row: Row | undefined;
  private isHiddenRow = false;
  private column = -1;
  private type = '';
  private style = 0;
  private value = '';
  private formula = '';
  private into: 'value' | 'formula' | 'inline' | undefined;

  /** `hidesText`: whether white text counts as hidden. False if cell backgrounds may be colored by other means. */
  constructor(book: Workbook, hidesText: boolean) {
    this.book = book;
    this.hidesText = hidesText;
  }

  open(name: string, attributes: Attributes): void {
    if (this.into === 'inline') this.rich.open(name, attributes);
    else if (name === 'x:c') this.openCell(attributes);
    else if (name === 'x:v') this.into = 'value';
    else if (name === 'x:f') this.into = 'formula';
    else if (name === 'x:is') this.into = 'inline';
    else if (name === 'x:row') this.openRow(attributes);
    else this.openOther(name, attributes);
  }

  private openOther(name: string, attributes: Attributes): void {
    const value = (key: string) => attributeIn(attributes, key);
    switch (name) {
      case 'x:sheetFormatPr':
        this.zeroHeight = isTrue(value('zeroHeight'));
        break;
      case 'x:col':
        if (isTrue(value('hidden')) || value('width') === '0')
          this.hideColumns(Number(value('min')), Number(value('max')));
        break;
      case 'x:mergeCell': {
        const region = regionOf(value('ref'));
        if (region && this.merges.length < MAX_MERGES) this.merges.push(region);
        break;
      }
      case 'x:hyperlink':
        if (this.links.length < MAX_LINKS) this.links.push({ ref: value('ref') ?? '', id: value('r:id') });
        break;
      case 'x:tablePart':
        this.tableIds.push(value('r:id') ?? '');
        break;
      case 'x:drawing':
        this.drawingId = value('r:id');
        break;
    }
  }

  text(text: string): void {
    if (this.into === 'value') this.value += text;
    else if (this.into === 'inline') this.rich.text(text);
    else if (this.into === 'formula' && this.formula.length < MAX_URL_LENGTH) this.formula += text;
  }

  close(name: string): void {
    if (name === 'x:c') this.closeCell();
    else if (name === 'x:is' || name === 'x:v' || name === 'x:f') {
      if (this.into === 'inline' && name !== 'x:is') this.rich.close(name);
      else this.into = undefined;
    } else if (this.into === 'inline') this.rich.close(name);
    else if (name === 'x:row') this.closeRow();
  }

  private hideColumns(min: number, max: number): void {
    for (let column = Math.max(1, min); column <= Math.min(max, MAX_COLUMNS); column++)
      this.hiddenColumns.add(column - 1);
  }

  private openRow(attributes: Attributes): void {
    const number = Number(attributeIn(attributes, 'r'));
    // Row numbers are optional and must increase.
    const next = this.rowNumber + 1;
    this.rowNumber = number > next && number <= 1_048_576 ? number - 1 : next;
    if (this.zeroHeight) this.hiddenRows.add(next, this.rowNumber);
    this.isHiddenRow = isTrue(attributeIn(attributes, 'hidden')) || attributeIn(attributes, 'ht') === '0';
    if (this.isHiddenRow) this.hiddenRows.add(this.rowNumber, this.rowNumber + 1);
    this.row = newRow(this.rowNumber - this.hiddenRows.count);
    this.column = -1;
  }

  private closeRow(): void {
    const { row } = this;
    this.row = undefined;
    if (!row || row.columns.length === 0) return;
    if (this.isHiddenRow) this.hiddenCount++;
    else {
      if (this.rows.length >= MAX_ROWS) throw new SheetLimitError();
      this.rows.push(row);
    }
  }

  private openCell(attributes: Attributes): void {
    const ref = attributeIn(attributes, 'r');
    const column = ref === undefined ? this.column + 1 : columnOf(ref);
    this.column = column > this.column && column < MAX_COLUMNS ? column : this.column + 1;
    this.type = attributeIn(attributes, 't') ?? 'n';
    this.style = Number(attributeIn(attributes, 's') ?? 0);
    this.value = '';
    this.formula = '';
    this.rich.take();
  }

  private closeCell(): void {
    const { row } = this;
    if (!row || this.column >= MAX_COLUMNS) return;
    const style = this.book.styles(this.style);
    const { html, kind } = this.content();
    if (html === '') return;
    if (this.hiddenColumns.has(this.column)) {
      this.hiddenWithContent.add(this.column);
      return;
    }
    this.book.leftBytes -= outputBytesOf(html);
    if (this.book.leftBytes < 0) throw new SheetLimitError();
    row.columns.push(this.column);
    row.html.push(this.linked(html));
    const isWhite = style.white && this.hidesText;
    row.kinds.push(kind | (style.bold ? STRONG : 0) | (isWhite ? WHITE : 0));
  }

  private content(): { html: string; kind: CellKind } {
    const { format } = this.book.styles(this.style);
    const { value } = this;
    switch (this.type) {
      case 's':
        return this.styledText(this.book.strings[Number(value)] ?? '');
      case 'inlineStr':
        // Some programs write the text of an inline string like that of a formula.
        return this.styledText(this.rich.take() || cellHtml(unescaped(value)));
      case 'str':
        return this.styledText(cellHtml(unescaped(value)));
      case 'b':
        return { html: value === '' ? '' : isTrue(value) ? 'TRUE' : 'FALSE', kind: OTHER };
      case 'e':
        return { html: cellHtml(value), kind: OTHER };
      case 'd':
        return { html: cellHtml(format?.date(value) ?? value.replace(/T00:00:00(?:\.0+)?$/, '')), kind: OTHER };
      default: {
        const number = Number(value);
        if (value === '' || Number.isNaN(number)) return { html: cellHtml(value), kind: TEXT };
        return format
          ? { html: cellHtml(format.number(number)), kind: format.isDate ? OTHER : NUMBER }
          : { html: general(number), kind: NUMBER };
      }
    }
  }

  private styledText(html: string): { html: string; kind: CellKind } {
    const { format } = this.book.styles(this.style);
    return {
      html: html !== '' && format ? escapeText(format.text(HERE)).replaceAll(HERE, () => html) : html,
      kind: TEXT,
    };
  }

  /** The HYPERLINK formula contains its own URL. */
  private linked(html: string): string {
    const found = /^\s*HYPERLINK\(\s*"([^"]{1,2000})"\s*[,)]/i.exec(this.formula);
    const href = found && safeHref(found[1]!);
    return href ? `<a href="${escapeAttribute(href)}">${html}</a>` : html;
  }

  /** Called at the end: counts hidden content and converts positions to visible ones. */
  finish() {
    this.hiddenCount += this.hiddenWithContent.size;
    const { rows, removed } = removeWhiteText(this.rows);
    this.rows = rows;
    this.hiddenCount += removed;
    const hiddenColumns = [...this.hiddenColumns].sort((one, other) => one - other);
    if (hiddenColumns.length > 0) for (const row of this.rows) shift(row, hiddenColumns);
    return {
      /** `undefined` if the region is completely hidden. */
      region: (region: Region): Region | undefined => visibleRegion(region, this.hiddenRows, hiddenColumns),
    };
  }
}

/** Placeholder for the cell's text in a formatted result, since the text is already HTML. */
const HERE = '\0';

const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true';

/** Renumbers the columns of a row from 0 without the hidden ones. */
function shift(row: Row, hidden: readonly number[]): void {
  for (const [at, column] of row.columns.entries()) row.columns[at] = column - lowerBound(hidden, column);
}

function visibleRegion(region: Region, hiddenRows: HiddenRows, hiddenColumns: readonly number[]): Region | undefined {
  const top = region.top - hiddenRows.above(region.top);
  const bottom = region.bottom - hiddenRows.above(region.bottom + 1);
  const left = region.left - lowerBound(hiddenColumns, region.left);
  const right = region.right - lowerBound(hiddenColumns, region.right + 1);
  return bottom >= top && right >= left ? { top, left, bottom, right } : undefined;
}
