/**
 * Collects the inline content of one block: text, code, images, and the marks around them. White space is collapsed and
 * moved out of marks. Marks without content are not written. A mark that crosses a block boundary is closed and opened
 * again.
 */
import { type DelimiterStyle, type Span, type SpanKind, writeDelimiters } from './delimiters.ts';
import { escapeBlockStart, escapePieces, IN_LINK, IN_UNDERSCORES, MAY_NEED_ESCAPE, type TextPiece } from './escape.ts';

export type MarkKind = SpanKind | 'link';

export interface Mark {
  readonly kind: MarkKind;
  /** Name of its element. */
  readonly name: string;
  /** Links only: the opening and closing text. */
  readonly open?: string | undefined;
  readonly close?: string | undefined;
  /**
   * Links only: called before the mark is written in a block. If it returns false, the mark is omitted in that block.
   */
  readonly shouldOpen?: (() => boolean) | undefined;
  /** Links only: called with the Markdown of the label once the block is complete. */
  readonly onWritten?: ((label: string) => void) | undefined;
}

/**
 * `at`: the piece that opens the mark; PENDING before there is content, LEFT_OUT if the mark is omitted in this block.
 */
interface OpenMark extends Mark {
  at: number;
  span: Span | null;
}

const PENDING = -1;
const LEFT_OUT = -2;

export interface InlineStyle extends DelimiterStyle {
  readonly strike: boolean;
  /** Whether bracketed text could be a reference to a link definition. */
  readonly references: boolean;
}

/** Emphasis is not recognized next to any kind of white space. */
const UNEVEN_SPACE = /[\t-\r\u00a0\u00ad\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]| {2}/;
const SPACES = /\s+/g;
const SOFT_HYPHENS = /\u00ad/g;

/** Whether a text is only collapsible white space. */
export const isBlank = (text: string): boolean => !/[^\s\u00ad]/.test(text);

export class InlineWriter {
  private readonly style: InlineStyle;
  private pieces: string[] = [];
  private risky: TextPiece[] = [];
  private readonly marks: OpenMark[] = [];
  private pending = 0;
  private links: { mark: Mark; from: number; to: number }[] = [];
  private space = false;
  private hardBreak = false;
  private spans: Span[] = [];
  private math: string | null = null;
  /** The span with the closing delimiter that is the last piece. */
  private closed: Span | null = null;
  /** The code span at the end, written when something else follows. */
  private code: string[] | null = null;
  /** Indexes of the pieces that are code spans. */
  private codes: number[] = [];

  constructor(style: InlineStyle) {
    this.style = style;
  }

  get empty(): boolean {
    return this.pieces.length === 0;
  }

  /** Number of pieces of the block so far. */
  get length(): number {
    return this.pieces.length;
  }

  /** The LaTeX of the block if its only content is a formula. */
  get soleMath(): string | null {
    return this.pieces.length === 1 ? this.math : null;
  }

  isOpen(kind: MarkKind): boolean {
    for (const mark of this.marks) if (mark.kind === kind && mark.at !== LEFT_OUT) return true;
    return false;
  }

  /** The elements of the open marks of a kind, outermost first. */
  openNames(kind: MarkKind): string[] {
    return this.marks.filter((mark) => mark.kind === kind).map(({ name }) => name);
  }

  /** Adds white space between pieces; ignored at the edges of a block. */
  gap(): void {
    this.space = true;
  }

  /** Adds a line break within the block; ignored at its edges. */
  lineBreak(): void {
    this.hardBreak = true;
  }

  /** Whether the block ends with a line break. */
  get endsLine(): boolean {
    return this.hardBreak;
  }

  /** Adds text from the page. */
  text(source: string): void {
    let value = source;
    if (UNEVEN_SPACE.test(value)) value = value.replace(SOFT_HYPHENS, '').replace(SPACES, ' ');
    const start = value.charCodeAt(0) === 0x20 ? 1 : 0;
    if (start === 1) this.space = true;
    if (start === value.length) return;
    const trailing = value.charCodeAt(value.length - 1) === 0x20;
    const piece = start === 0 && !trailing ? value : value.slice(start, trailing ? -1 : undefined);
    this.begin();
    if (MAY_NEED_ESCAPE.test(piece)) this.risky.push({ at: this.pieces.length, context: this.context() });
    this.pieces.push(piece);
    this.space = trailing;
  }

  /** Adds generated Markdown, such as an image or a footnote mark. */
  raw(markdown: string): void {
    if (markdown === '') return;
    this.begin();
    this.pieces.push(markdown);
  }

  /** Adds a picture: page text between generated Markdown. */
  image(open: string, alt: string, close: string): void {
    this.raw(open);
    if (MAY_NEED_ESCAPE.test(alt)) this.risky.push({ at: this.pieces.length, context: this.context() | IN_LINK });
    this.pieces.push(alt, close);
  }

  /** Adds a code span, which is joined with a code span directly before it. */
  codeSpan(source: string): void {
    const content = source.replace(SPACES, ' ');
    if (content === '') return;
    if (content === ' ') {
      this.raw('` `');
      return;
    }
    if (this.code && !this.space && !this.hardBreak && this.pending === 0) {
      this.code.push(content);
      return;
    }
    if (content.startsWith(' ')) this.space = true;
    this.begin();
    this.code = [content.trim()];
    this.pieces.push('`');
    if (content.endsWith(' ')) this.space = true;
  }

  private endCode(): void {
    if (!this.code) return;
    this.pieces[this.pieces.length - 1] = codeSpanOf(this.code.join('').trim());
    this.codes.push(this.pieces.length - 1);
    this.code = null;
  }

  /** Adds a formula in LaTeX. */
  formula(latex: string): void {
    this.begin();
    this.math = latex;
    this.pieces.push(`$${latex}$`);
  }

  open(mark: Mark): void {
    const { kind, name, open, close, shouldOpen, onWritten } = mark;
    this.marks.push({ kind, name, open, close, shouldOpen, onWritten, at: PENDING, span: null });
    this.pending += 1;
  }

  close(): void {
    const mark = this.marks.pop();
    if (!mark || mark.at === LEFT_OUT) return;
    if (mark.at === PENDING) this.pending -= 1;
    else this.end(mark);
  }

  /**
   * Returns the finished inline content; '' if there is none. Open marks continue in the next block. Pass `startsLine`
   * false for content after a marker, where no other block can start.
   */
  take(startsLine = true): string {
    if (this.pieces.length === 0 && this.marks.length === 0) {
      this.space = false;
      return '';
    }
    this.endCode();
    for (let index = this.marks.length - 1; index >= 0; index--) {
      const mark = this.marks[index]!;
      if (mark.at >= 0) this.end(mark);
      if (mark.at !== PENDING) this.pending += 1;
      mark.at = PENDING;
    }
    const content = this.pieces.length === 0 ? '' : this.finish();
    const text = startsLine ? escapeLines(content) : content;
    this.pieces = [];
    if (this.risky.length > 0) this.risky = [];
    if (this.links.length > 0) this.links = [];
    if (this.spans.length > 0) this.spans = [];
    if (this.codes.length > 0) this.codes = [];
    this.space = false;
    this.hardBreak = false;
    this.math = null;
    this.closed = null;
    return text;
  }

  private finish(): string {
    const { pieces, risky, links, spans } = this;
    const generatedMarks = spans.length > 0 ? writeDelimiters(pieces, spans, this.style) : '';
    if (this.codes.length > 1) this.partCodes();
    if (risky.length > 0) {
      const { strike, references } = this.style;
      escapePieces(pieces, risky, { generatedMarks, math: this.math !== null, strike, references });
    }
    for (const { mark, from, to } of links) mark.onWritten?.(pieces.slice(from, to).join(''));
    return pieces.length === 1 ? pieces[0]! : pieces.join('');
  }

  /**
   * Separates adjacent code spans, which parsers would read as one. There may be marks between them that could not be
   * distinguished otherwise.
   */
  private partCodes(): void {
    const { pieces, codes } = this;
    for (let at = 1; at < codes.length; at++) {
      const from = codes[at - 1]! + 1;
      let next = from;
      while (next < codes[at]! && pieces[next] === '') next += 1;
      if (next === codes[at]) pieces[from] = ' ';
    }
  }

  private context(): number {
    let context = 0;
    for (const mark of this.marks) {
      if (mark.kind === 'link' && mark.at !== LEFT_OUT) context |= IN_LINK;
      if (mark.kind === 'em' && this.style.em === '_') context |= IN_UNDERSCORES;
    }
    return context;
  }

  /** Writes pending white space and pending marks before content. */
  private begin(): void {
    this.endCode();
    if (this.hardBreak || this.space) {
      if (this.pieces.length > 0) this.pieces.push(this.hardBreak ? LINE_END : ' ');
      this.hardBreak = false;
      this.space = false;
    }
    if (this.pending > 0) this.openPending();
  }

  private openPending(): void {
    for (const mark of this.marks) {
      if (mark.at !== PENDING) continue;
      this.pending -= 1;
      if (mark.shouldOpen && !mark.shouldOpen()) {
        mark.at = LEFT_OUT;
        continue;
      }
      const { closed, pieces } = this;
      const isClosed = closed?.kind === mark.kind && closed.close === pieces.length - 1;
      // Parsers would read adjacent code spans as one.
      if (isClosed && !pieces.at(-2)!.endsWith('`')) {
        pieces.pop();
        closed.close = -1;
        mark.at = closed.open;
        mark.span = closed;
        this.closed = null;
        continue;
      }
      mark.at = pieces.length;
      pieces.push(mark.open ?? '');
      if (mark.kind === 'link') continue;
      mark.span = { kind: mark.kind, open: mark.at, close: -1 };
      this.spans.push(mark.span);
    }
  }

  private end(mark: OpenMark): void {
    this.endCode();
    const { pieces } = this;
    if (mark.span) {
      mark.span.close = pieces.length;
      this.closed = mark.span;
      mark.span = null;
    } else this.links.push({ mark, from: mark.at + 1, to: pieces.length });
    pieces.push(mark.close ?? '');
  }
}

/** Two spaces before a line end make it a hard line break (CommonMark 0.31, section 6.7). */
const LINE_END = '  \n';

/** A line that makes the line before it a table header. */
const TABLE_RULE = /^[-|:][-|: ]*$/;

/** Escapes lines that would start another kind of block. */
function escapeLines(text: string): string {
  if (!text.includes('\n')) return escapeBlockStart(text);
  return text
    .split('\n')
    .map((line, index) => (index > 0 && TABLE_RULE.test(line) ? `\\${line}` : escapeBlockStart(line)))
    .join('\n');
}

/** Encloses code in enough backticks. */
export function codeSpanOf(content: string): string {
  let longest = 0;
  for (const { 0: run } of content.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  if (longest === 0) return `\`${content}\``;
  const fence = '`'.repeat(longest + 1);
  const pad = content.startsWith('`') || content.endsWith('`') ? ' ' : '';
  return fence + pad + content + pad + fence;
}
