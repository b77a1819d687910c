/**
 * Builds the HTML of running text from a sequence of events: paragraphs, tables, pages and notes. Readers of each
 * format report the content in order; this module combines it into lists, quotes, code and tables.
 */
import { escapeText } from '#html/serialize.ts';
import type { DocumentPage } from '../document.ts';
import type { Inline } from './inline.ts';
import { type ListPlace, ListWriter } from './lists.ts';
import { type Cell, type Row, tableBlocks } from './tables.ts';

/** Maximum size of a document's HTML, in bytes. */
const MAX_HTML_BYTES = 32 * 1024 * 1024;

export type ParagraphKind = 'text' | 'heading' | 'quote' | 'code' | 'rule';

export interface Paragraph {
  readonly kind: ParagraphKind;
  /** 1 to 6, for headings. */
  readonly level?: number;
  readonly inline: Inline;
  /** Set for list items. */
  readonly list?: ListPlace | undefined;
  /**
   * Indent, in a unit that the whole document uses. A paragraph with the indent of the preceding list item belongs to
   * that item.
   */
  readonly indent?: number | undefined;
}

/** A part of a cell or page. `inline` is its content without the tag, for cells of one line. */
export interface Block {
  /** `nested` is a table that was moved out of a cell of the table before it. */
  readonly kind: 'text' | 'heading' | 'table' | 'nested' | 'other';
  readonly html: string;
  readonly inline: string;
  /** A small table as lines of a cell. */
  readonly lines?: string | undefined;
}

class Frame {
  readonly blocks: Block[] = [];
  readonly list = new ListWriter();
  /** Paragraphs of a quote or lines of code that may continue. */
  readonly run: string[] = [];
  runKind: 'quote' | 'code' | undefined;
  /** Text that is anchored in the current paragraph and written after it. */
  readonly beside: Block[] = [];
}

interface OpenTable {
  readonly rows: Row[];
  /** For each column, the cell that a merged cell below would continue. */
  readonly above: (Cell | undefined)[];
  column: number;
}

export interface CellShape {
  readonly colspan?: number;
  readonly rowspan?: number;
  /** Whether this cell is the lower part of a merged cell. */
  readonly continues?: boolean;
}

export class TextBuilder {
  readonly #pages: string[] = [];
  readonly #frames: Frame[] = [new Frame()];
  readonly #tables: OpenTable[] = [];
  readonly #notes: { readonly number: number; readonly write: () => void }[] = [];
  #noteCount = 0;
  #nestedCount = 0;
  #breaks = 0;
  #leftBytes = MAX_HTML_BYTES;

  /** Whether the maximum size is reached; further content is dropped. */
  get full(): boolean {
    return this.#leftBytes < 0;
  }

  /** Nesting depth of tables at the current position. */
  get tableDepth(): number {
    return this.#tables.length;
  }

  paragraph(paragraph: Paragraph): void {
    const frame = this.#frame;
    this.#write(frame, paragraph);
    for (const block of frame.beside.splice(0)) {
      this.#settle(frame);
      this.#push(frame, block);
    }
    this.#turnPages();
  }

  get #frame(): Frame {
    return this.#frames.at(-1)!;
  }

  #write(frame: Frame, { kind, level = 1, inline, list, indent }: Paragraph): void {
    if (kind === 'rule') {
      this.#settle(frame);
      this.#push(frame, { kind: 'other', html: '<hr>', inline: '' });
      return;
    }
    if (this.full) return;
    if (inline.empty) {
      if (kind === 'code' && frame.runKind === 'code' && this.#spend('')) frame.run.push('');
      return;
    }
    if (kind === 'quote' || kind === 'code') {
      const html = kind === 'quote' ? `<p>${inline.html()}</p>` : escapeText(inline.plain());
      if (!this.#spend(html)) return;
      if (frame.runKind !== kind) this.#settle(frame);
      frame.runKind = kind;
      frame.run.push(html);
      return;
    }
    const html = inline.html({ breaks: kind !== 'heading' });
    if (!this.#spend(html)) return;
    this.#endRun(frame);
    if (kind === 'heading') {
      this.#settle(frame);
      frame.blocks.push({ kind, html: `<h${level}>${html}</h${level}>`, inline: html });
    } else if (list) frame.list.item(list, html, (ended) => frame.blocks.push(listBlock(ended)));
    else if (!frame.list.continueItem(html, indent)) {
      this.#settle(frame);
      frame.blocks.push({ kind: 'text', html: `<p>${html}</p>`, inline: html });
    }
  }

  #spend(html: string): boolean {
    this.#leftBytes -= Buffer.byteLength(html) + 16;
    return this.#leftBytes >= 0;
  }

  #push(frame: Frame, block: Block): void {
    if (this.#spend('')) frame.blocks.push(block);
  }

  #endRun(frame: Frame): void {
    if (frame.runKind === undefined) return;
    const { run, runKind } = frame;
    frame.runKind = undefined;
    const lines = run.splice(0);
    while (lines.at(-1) === '') lines.pop();
    const html = runKind === 'quote' ? `<blockquote>${lines.join('')}</blockquote>` : `<pre>${lines.join('\n')}</pre>`;
    const inline =
      runKind === 'quote' ? lines.map((line) => line.slice(3, -4)) : lines.map((line) => `<code>${line}</code>`);
    frame.list.end((ended) => frame.blocks.push(listBlock(ended)));
    frame.blocks.push({ kind: 'other', html, inline: inline.join('<br>') });
  }

  /** Ends the quote, code or list that paragraphs might have continued. */
  #settle(frame: Frame): void {
    this.#endRun(frame);
    frame.list.end((ended) => frame.blocks.push(listBlock(ended)));
  }

  #take(frame: Frame): Block[] {
    this.#settle(frame);
    return [...frame.blocks.splice(0), ...frame.beside.splice(0)];
  }

  /** Adds blocks that were collected separately. */
  blocks(blocks: readonly Block[]): void {
    const frame = this.#frame;
    this.#settle(frame);
    for (const block of blocks) frame.blocks.push(block);
  }

  /** Adds a block that is HTML already. */
  written(kind: 'text' | 'table' | 'other', html: string): void {
    if (html === '' || !this.#spend(html)) return;
    this.#settle(this.#frame);
    this.#frame.blocks.push({ kind, html, inline: '' });
  }

  /**
   * Collects the following content separately and returns it at the end. Used for notes, and for cells whose shape is
   * not known yet.
   */
  startApart(): void {
    this.#frames.push(new Frame());
  }

  endApart(): readonly Block[] {
    return this.#take(this.#frames.pop()!);
  }

  startTable(): void {
    this.#endRun(this.#frame);
    this.#tables.push({ rows: [], above: [], column: 0 });
  }

  /** `skipped` is the number of empty columns before the first cell. */
  startRow({ header = false, skipped = 0 } = {}): void {
    const table = this.#tables.at(-1)!;
    this.#spend('');
    table.rows.push({ header, cells: [] });
    table.column = 0;
    if (skipped > 0) {
      this.startCell({ colspan: skipped });
      this.endCell();
    }
  }

  startCell({ colspan = 1, rowspan = 1, continues = false }: CellShape = {}): void {
    const table = this.#tables.at(-1)!;
    this.#spend('');
    const above = continues ? table.above[table.column] : undefined;
    const cell: Cell = above ?? { blocks: [], colspan, rowspan };
    if (above) above.rowspan += 1;
    else {
      table.rows.at(-1)?.cells.push(cell);
      for (let n = 0; n < Math.min(colspan, MAX_COLUMNS); n++) table.above[table.column + n] = cell;
    }
    table.column = Math.min(table.column + colspan, MAX_COLUMNS);
    this.#frames.push(new Frame());
    this.#openCells.push(cell);
  }

  readonly #openCells: Cell[] = [];

  endCell(): void {
    const blocks = this.#take(this.#frames.pop()!);
    const cell = this.#openCells.pop()!;
    for (const block of blocks) cell.blocks.push(block);
  }

  /** `header`: whether the first row is a header; `undefined` if the file does not specify it. */
  endTable(header?: boolean): void {
    const { rows } = this.#tables.pop()!;
    const frame = this.#frame;
    this.#settle(frame);
    for (const block of tableBlocks(rows, header, () => ++this.#nestedCount)) frame.blocks.push(block);
    this.#turnPages();
  }

  /** Starts text that is outside the paragraph in which it is anchored. */
  startBeside(): void {
    this.#frames.push(new Frame());
  }

  endBeside(): void {
    const blocks = this.#take(this.#frames.pop()!);
    for (const block of blocks) this.#frame.beside.push(block);
  }

  /**
   * Returns the HTML of a reference to a note, and of further references to it. `write` is called at the end of the
   * page and reports the note's paragraphs.
   */
  note(write: () => void): { readonly html: string; readonly again: string } {
    const number = ++this.#noteCount;
    this.#notes.push({ number, write });
    return {
      html: `<sup><a href="#fn-${number}" id="fnref-${number}">${number}</a></sup>`,
      again: `<sup><a href="#fn-${number}">${number}</a></sup>`,
    };
  }

  /** Ends the page at the current position or, inside a paragraph or table, after the end of the paragraph or table. */
  breakPage({ now = false } = {}): void {
    this.#breaks += 1;
    if (now) this.#turnPages();
  }

  #turnPages(): void {
    if (this.#frames.length > 1 || this.#tables.length > 0) return;
    for (; this.#breaks > 0 && this.#pages.length < MAX_PAGES; this.#breaks--) this.#endPage();
  }

  #endPage(): void {
    const blocks = this.#take(this.#frame);
    const notes = this.#writeNotes();
    this.#pages.push(blocks.map(({ html }) => html).join('\n') + notes);
  }

  #writeNotes(): string {
    if (this.#notes.length === 0) return '';
    const items: string[] = [];
    // A note may refer to another note, which is then written after it.
    for (const note of this.#notes) {
      this.#frames.push(new Frame());
      note.write();
      const blocks = this.#take(this.#frames.pop()!);
      const content =
        blocks.length === 1 ? blocks[0]!.inline || blocks[0]!.html : blocks.map(({ html }) => html).join('');
      items.push(`<li id="fn-${note.number}">${content}</li>`);
    }
    this.#notes.length = 0;
    return `\n<ol>${items.join('\n')}</ol>`;
  }

  /** Returns all pages, numbered; one page if there was no break. */
  finish(): DocumentPage[] {
    this.#endPage();
    while (this.#pages.length > 1 && this.#pages.at(-1) === '') this.#pages.pop();
    return this.#pages.map((html, at) => ({ number: at + 1, html }));
  }
}

const MAX_PAGES = 50_000;
const MAX_COLUMNS = 1_000;

const listBlock = (html: string): Block => ({ kind: 'other', html, inline: '' });
