/** Reads the text of a Rich Text Format file into a TextBuilder, token by token. */
import { type Annotations, DocumentError } from '../../document.ts';
import { type Comment, comment, criticComment, noteOfComment } from '../annotations.ts';
import type { HiddenText } from '../hidden-text.ts';
import { Inline, type Marks } from '../inline.ts';
import type { ListPlace } from '../lists.ts';
import {
  contentsLevelOf,
  contentsLine,
  headingLevelOf,
  headingOf,
  htmlLevelOf,
  kindOf,
  TITLE,
} from '../style-names.ts';
import type { TextBuilder } from '../text-builder.ts';
import { hrefOfField } from '../word/fields.ts';
import type { Numbering } from '../word/numbering.ts';
import { type Charset, charsetOfPage } from './charsets.ts';
import type { CharacterFormat, ParagraphFormat, Sink } from './format.ts';
import { Header, type Style } from './header.ts';
import { type RowShape, RtfTable } from './tables.ts';
import { readTokens, type TokenHandler } from './tokens.ts';
import { CHARACTERS, PARAGRAPHS, SHOWN_STARRED, SKIPPED, SYMBOLS } from './words.ts';

interface Group {
  readonly character: CharacterFormat;
  readonly paragraph: ParagraphFormat;
  readonly skip: boolean;
  readonly sink: Sink | undefined;
  readonly href: string | undefined;
  readonly field: { instruction: string } | undefined;
  /** Number of fallback characters after `\u` for readers without Unicode. */
  readonly fallback: number;
  /** Whether the group has two versions of a text, the first of which is for readers without Unicode. */
  readonly versions: boolean;
  readonly inNestedRow: boolean;
  /** Called when the group ends. */
  readonly leave: ((outer: Group) => Group) | undefined;
}

const OUTSIDE: Group = {
  character: {},
  paragraph: {},
  skip: false,
  sink: undefined,
  href: undefined,
  field: undefined,
  fallback: 1,
  versions: false,
  inNestedRow: false,
  leave: undefined,
};

/** Maximum depth of nested groups and of nested tables. */
const MAX_GROUP_DEPTH = 100_000;
const MAX_TABLE_DEPTH = 16;
const MAX_CELLS = 1_000;

export class RtfReader implements TokenHandler {
  readonly #bytes: Uint8Array;
  readonly #builder: TextBuilder;
  readonly #hidden: HiddenText;
  readonly #annotations: Annotations;
  readonly #header = new Header();
  readonly #outer: Group[] = [];
  #group: Group = OUTSIDE;
  #numbering: Numbering | undefined;
  #inline = new Inline();
  #tables: RtfTable[] = [];
  #row: RowShape = { cells: [], header: false, left: 0 };
  #nestedRow: RowShape = { cells: [], header: false, left: 0 };
  #merge = { left: false, up: false };
  #page: Charset = charsetOfPage(1252);
  /** Bytes that are not decoded yet; the last character may be incomplete. */
  #pending: number[] = [];
  /** Number of fallback characters left to skip after `\u`. */
  #passOver = 0;
  #starred = false;
  #fresh = false;
  #started = false;
  #simpleCount = 0;
  #apartDepth = 0;
  /** The author of the next comment. */
  #author = '';
  title = '';

  constructor(bytes: Uint8Array, builder: TextBuilder, hidden: HiddenText, annotations: Annotations = 'none') {
    this.#annotations = annotations;
    this.#bytes = bytes;
    this.#builder = builder;
    this.#hidden = hidden;
  }

  get metadata(): Readonly<Record<string, string>> {
    return this.#header.metadata;
  }

  /** Returns false if the file is incomplete. */
  run(): boolean {
    readTokens(this.#bytes, this);
    this.#flushBytes();
    const whole = this.#outer.length === 0;
    while (this.#outer.length > 0) this.close();
    this.#finish();
    return whole;
  }

  // Groups

  open(): void {
    this.#flushBytes();
    this.#passOver = 0;
    if (this.#outer.length >= MAX_GROUP_DEPTH)
      throw new DocumentError('too large', 'The RTF file is nested too deeply');
    this.#outer.push(this.#group);
    const { versions } = this.#group;
    if (this.#group.leave || versions)
      this.#change({ leave: undefined, versions: false, ...(versions && { skip: true }) });
    this.#fresh = true;
  }

  close(): void {
    this.#flushBytes();
    this.#passOver = 0;
    this.#starred = false;
    const { leave } = this.#group;
    const outer = this.#outer.pop();
    if (!outer) return;
    this.#group = leave?.(outer) ?? outer;
  }

  #change(change: Partial<Group>): void {
    this.#group = { ...this.#group, ...change };
  }

  // Text

  byte(value: number): void {
    if (this.#group.skip) return;
    this.#fresh = false;
    if (this.#passOver > 0) this.#passOver -= 1;
    else if (this.#header.wantsCodes) this.#header.letter(value);
    else this.#pending.push(value);
  }

  text(start: number, end: number): void {
    if (this.#group.skip) return;
    this.#fresh = false;
    let from = start;
    const passed = Math.min(this.#passOver, end - from);
    this.#passOver -= passed;
    from += passed;
    if (from >= end) return;
    if (this.#header.wantsCodes) {
      for (let at = from; at < end && this.#bytes[at] !== 0x3b; at++) this.#header.letter(this.#bytes[at]!);
      return;
    }
    if (this.#pending.length > 0 && this.#charset.wide) {
      // The second byte of a character may look like an ASCII character.
      this.#pending.push(this.#bytes[from]!);
      from += 1;
    }
    this.#flushBytes();
    if (from < end) this.#write(this.#charset.decode(this.#bytes.subarray(from, end)));
  }

  get #charset(): Charset {
    return this.#header.charsetOf(this.#group.character.font) ?? this.#page;
  }

  #flushBytes(): void {
    if (this.#pending.length === 0) return;
    const bytes = Uint8Array.from(this.#pending);
    this.#pending = [];
    this.#write(this.#charset.decode(bytes));
  }

  #write(text: string): void {
    const { sink, skip } = this.#group;
    if (skip) return;
    if (sink) sink.text?.(text);
    else if (this.#group.character.deleted) return;
    else if (this.#hidden.leavesOut(text, this.#isHidden)) {
      if (text.trim() !== '') this.#hidden.startPiece();
    } else this.#inline.text(text, this.#marks);
  }

  get #isHidden(): boolean {
    const { hidden, color, grounded } = this.#group.character;
    if (hidden) return true;
    const { inTable, shaded } = this.#group.paragraph;
    return color !== undefined && !grounded && !inTable && !shaded && this.#header.isWhite(color);
  }

  get #marks(): Marks {
    const { character, href } = this.#group;
    const { bold, italic, strike, raised, font } = character;
    const style = this.#headingStyle;
    return {
      bold: bold && !style?.bold,
      italic: italic && !style?.italic,
      strike,
      raised,
      code: this.#header.isCode(font),
      href,
    };
  }

  /** The style of a heading. Its bold and italic are ignored, because they only mark the text as a heading. */
  get #headingStyle(): Style | undefined {
    const style = this.#header.styleOf(this.#group.paragraph.style);
    return style && headingLevelOf([style.name]) !== undefined ? style : undefined;
  }

  // Control words

  control(word: string, parameter: number | undefined): void {
    if (word === '*') {
      this.#starred = true;
      return;
    }
    const starred = this.#starred;
    const first = this.#fresh;
    this.#starred = false;
    this.#fresh = false;
    if (this.#passOver > 0 && SYMBOLS.has(word)) {
      this.#passOver -= 1;
      return;
    }
    this.#flushBytes();
    if (word === 'ud' && starred) {
      this.#change({ skip: this.#outer.at(-2)?.skip ?? false });
      return;
    }
    if (this.#group.skip) return;
    if (starred && !SHOWN_STARRED.has(word)) {
      this.#change({ skip: true });
      return;
    }
    if (first && this.#destination(word)) return;
    const { sink } = this.#group;
    if (word === 'u') this.#unicode(parameter ?? 0);
    else if (word === 'uc') this.#change({ fallback: Math.max(0, parameter ?? 1) });
    else if (sink) {
      if (SYMBOLS.has(word)) sink.text?.(SYMBOLS.get(word)!);
      else sink.control?.(word, parameter);
    } else if (SYMBOLS.has(word)) this.#write(SYMBOLS.get(word)!);
    else this.#act(word, parameter);
  }

  #unicode(parameter: number): void {
    const code = parameter < 0 ? parameter + 0x10000 : parameter;
    if (this.#header.wantsCodes) this.#header.letter(code);
    else this.#write(String.fromCharCode(code & 0xffff));
    this.#passOver = this.#group.fallback;
  }

  /** Handles control words that define the purpose of a group. Returns false for all others. */
  #destination(word: string): boolean {
    if (this.#annotations !== 'none' && word === 'atnauthor') this.#commentAuthor();
    else if (this.#annotations !== 'none' && word === 'annotation') this.#comment();
    else if (SKIPPED.has(word) || /^m[a-z]+Pr$/i.test(word)) this.#change({ skip: true });
    else if (word === 'footnote') this.#note();
    else if (word === 'shptxt') this.#beside();
    else if (word === 'field') this.#change({ field: { instruction: '' } });
    else if (word === 'fldinst') this.#instruction();
    else if (word === 'fldrslt')
      this.#change({ href: hrefOfField(this.#group.field?.instruction ?? '') ?? this.#group.href });
    else if (word === 'upr') this.#change({ versions: true });
    else if (word === 'nesttableprops') this.#change({ inNestedRow: true });
    else if (word === 'pn') this.#simpleNumbering();
    else {
      const sink = this.#header.sinkOf(word, this.#group.sink);
      if (!sink) return false;
      this.#change({
        sink,
        leave: (outer) => {
          this.#header.leave(word);
          return outer;
        },
      });
    }
    return true;
  }

  #instruction(): void {
    const { field } = this.#group;
    this.#change({
      sink: {
        text(text) {
          if (field && field.instruction.length < 10_000) field.instruction += text;
        },
      },
    });
  }

  #simpleNumbering(): void {
    let simple: ParagraphFormat['simple'] = 'number';
    this.#change({
      sink: {
        control(word) {
          if (word === 'pnlvlblt') simple = 'bullet';
        },
      },
      leave: (outer) => ({ ...outer, paragraph: { ...outer.paragraph, simple } }),
    });
  }

  #note(): void {
    const restore = this.#apart();
    this.#builder.startApart();
    this.#change({
      character: {},
      paragraph: {},
      href: undefined,
      leave: (outer) => {
        this.#finish();
        const blocks = this.#builder.endApart();
        restore();
        if (blocks.length > 0) this.#inline.atom(this.#builder.note(() => this.#builder.blocks(blocks)).html);
        return outer;
      },
    });
  }

  #commentAuthor(): void {
    this.#author = '';
    this.#change({
      sink: {
        text: (text) => {
          this.#author += text;
        },
      },
    });
  }

  /** A comment follows the text that it is about. */
  #comment(): void {
    let text = '';
    const sink: Sink = {
      text(part) {
        text += part;
      },
      control(word) {
        if (word === 'par' || word === 'line') text += ' ';
      },
    };
    const leave = (outer: Group): Group => {
      const about = comment(this.#author, text);
      if (about.text !== '' && !outer.skip) this.#annotate(about);
      return outer;
    };
    this.#change({ sink, leave });
  }

  #annotate(about: Comment): void {
    if (this.#annotations === 'inline' || this.#apartDepth > 0) {
      this.#inline.text(criticComment(about));
      return;
    }
    const { html } = this.#builder.note(() => {
      const inline = new Inline();
      inline.text(noteOfComment(about));
      this.#builder.paragraph({ kind: 'text', inline });
    });
    this.#inline.atom(html);
  }

  #beside(): void {
    const restore = this.#apart();
    this.#builder.startBeside();
    this.#change({
      paragraph: {},
      leave: (outer) => {
        this.#finish();
        this.#builder.endBeside();
        restore();
        return outer;
      },
    });
  }

  /** Text inside a paragraph that does not belong to it. */
  #apart(): () => void {
    const inline = this.#inline;
    const tables = this.#tables;
    this.#inline = new Inline();
    this.#tables = [];
    this.#apartDepth += 1;
    return () => {
      this.#inline = inline;
      this.#tables = tables;
      this.#apartDepth -= 1;
    };
  }

  #finish(): void {
    if (!this.#inline.empty) this.#endParagraph();
    this.#syncTables(0);
  }

  // The text

  #act(word: string, parameter: number | undefined): void {
    const character = CHARACTERS.get(word);
    const paragraph = PARAGRAPHS.get(word);
    if (character) this.#change({ character: { ...this.#group.character, ...character(parameter) } });
    else if (paragraph) this.#change({ paragraph: { ...this.#group.paragraph, ...paragraph(parameter) } });
    else ACTIONS.get(word)?.(this, parameter ?? 0);
  }

  paragraphEnd(): void {
    this.#endParagraph();
  }

  lineBreak(): void {
    if (this.#hidden.keeps || !this.#isHidden) this.#inline.break();
  }

  pageBreak(): void {
    const isTop = this.#tables.length === 0 && this.#apartDepth === 0;
    this.#builder.breakPage({ now: isTop && this.#inline.empty });
  }

  resetParagraph(): void {
    this.#change({ paragraph: {} });
  }

  resetCharacter(): void {
    this.#change({ character: {} });
  }

  codePage(page: number): void {
    this.#page = charsetOfPage(page);
  }

  defaultFont(font: number): void {
    this.#header.defaultFont = font;
  }

  get #shape(): RowShape {
    return this.#group.inNestedRow ? this.#nestedRow : this.#row;
  }

  rowDefaults(): void {
    const shape: RowShape = { cells: [], header: false, left: 0 };
    if (this.#group.inNestedRow) this.#nestedRow = shape;
    else this.#row = shape;
    this.#merge = { left: false, up: false };
  }

  rowHeader(): void {
    this.#shape.header = true;
  }

  rowLeft(left: number): void {
    this.#shape.left = left;
  }

  cellMerge(change: { readonly left?: boolean; readonly up?: boolean }): void {
    this.#merge = { ...this.#merge, ...change };
  }

  cellEdge(right: number): void {
    const { cells } = this.#shape;
    if (cells.length < MAX_CELLS) cells.push({ right, mergesLeft: this.#merge.left, mergesUp: this.#merge.up });
    this.#merge = { left: false, up: false };
  }

  cellEnd(nested: boolean): void {
    const depth = nested ? Math.max(2, this.#depth) : 1;
    this.#endParagraph(depth);
    const table = this.#tables[depth - 1]!;
    table.endCell(this.#builder.endApart());
  }

  rowEnd(nested: boolean): void {
    const depth = nested ? Math.max(2, this.#depth) : 1;
    while (this.#tables.length > depth) this.#closeTable();
    const table = this.#tables[depth - 1];
    if (!table) return;
    if (table.open) table.endCell(this.#builder.endApart());
    table.endRow(nested ? this.#nestedRow : this.#row);
  }

  get #depth(): number {
    const { inTable, depth } = this.#group.paragraph;
    return Math.min(depth ?? (inTable ? 1 : 0), MAX_TABLE_DEPTH);
  }

  /** Opens and closes tables until the nesting depth matches, each with an open cell. */
  #syncTables(depth: number): void {
    while (this.#tables.length > depth) this.#closeTable();
    for (let at = 0; at < depth; at++) {
      const table = this.#tables[at] ?? new RtfTable();
      this.#tables[at] = table;
      if (table.open) continue;
      this.#builder.startApart();
      table.open = true;
    }
  }

  #closeTable(): void {
    const table = this.#tables.pop()!;
    if (table.open) table.endCell(this.#builder.endApart());
    table.write(this.#builder);
  }

  #endParagraph(depth = this.#depth): void {
    const inline = this.#inline;
    const { paragraph } = this.#group;
    this.#inline = new Inline();
    this.#syncTables(depth);
    if (paragraph.breaksBefore && this.#started && depth === 0 && this.#apartDepth === 0) {
      this.#builder.breakPage({ now: true });
    }
    this.#started = true;
    const { name = '', outlineLevel } = this.#header.styleOf(paragraph.style) ?? {};
    const heading = headingOf([name], paragraph.outlineLevel ?? outlineLevel);
    const contents = contentsLevelOf([name]);
    if (inline.empty) {
      this.#builder.paragraph({ kind: kindOf([name], inline, depth > 0), inline });
    } else if (contents !== undefined) this.#builder.paragraph({ kind: 'text', ...contentsLine(inline, contents) });
    else if (heading !== undefined) {
      if (heading === TITLE) this.title ||= inline.plain().replace(/\s+/g, ' ').trim();
      const numbered = this.#numbered(paragraph);
      if (numbered?.label) inline.prepend(`${numbered.label} `);
      this.#builder.paragraph({ kind: 'heading', level: htmlLevelOf(heading), inline });
    } else {
      const list = this.#place(paragraph, inline);
      const kind = list ? 'text' : kindOf([name], inline, depth > 0);
      this.#builder.paragraph({ kind, inline, list, indent: paragraph.indent });
    }
  }

  #numbered({ list, level }: ParagraphFormat) {
    if (list === undefined || list === 0) return undefined;
    this.#numbering ??= this.#header.numbering();
    return this.#numbering.next(String(list), level ?? 0);
  }

  #place(paragraph: ParagraphFormat, inline: Inline): ListPlace | undefined {
    const numbered = this.#numbered(paragraph);
    if (numbered && (numbered.bullet || numbered.label !== '')) {
      const { level, bullet, plain, value, label, key } = numbered;
      if (!bullet && !plain) inline.prepend(`${label} `);
      return { level, ordered: !bullet && plain, value, key, indent: paragraph.indent ?? numbered.indent };
    }
    const { simple, indent } = paragraph;
    this.#simpleCount = simple === 'number' ? this.#simpleCount + 1 : 0;
    if (simple === undefined) return undefined;
    return { level: 0, ordered: simple === 'number', value: this.#simpleCount, key: 'simple', indent };
  }
}

type Action = (reader: RtfReader, parameter: number) => void;

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['par', (reader) => reader.paragraphEnd()],
  ['\n', (reader) => reader.paragraphEnd()],
  ['\r', (reader) => reader.paragraphEnd()],
  ['sect', (reader) => reader.paragraphEnd()],
  ['line', (reader) => reader.lineBreak()],
  ['page', (reader) => reader.pageBreak()],
  ['pard', (reader) => reader.resetParagraph()],
  ['plain', (reader) => reader.resetCharacter()],
  ['ansicpg', (reader, page) => reader.codePage(page)],
  ['mac', (reader) => reader.codePage(10000)],
  ['deff', (reader, font) => reader.defaultFont(font)],
  ['trowd', (reader) => reader.rowDefaults()],
  ['trhdr', (reader) => reader.rowHeader()],
  ['trleft', (reader, left) => reader.rowLeft(left)],
  ['clmrg', (reader) => reader.cellMerge({ left: true })],
  ['clvmrg', (reader) => reader.cellMerge({ up: true })],
  ['cellx', (reader, right) => reader.cellEdge(right)],
  ['cell', (reader) => reader.cellEnd(false)],
  ['nestcell', (reader) => reader.cellEnd(true)],
  ['row', (reader) => reader.rowEnd(false)],
  ['nestrow', (reader) => reader.rowEnd(true)],
]);
