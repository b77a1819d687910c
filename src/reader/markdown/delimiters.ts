/**
 * The delimiters of emphasis, chosen when a paragraph is complete: of the two that Markdown has for a kind the one
 * that is asked for, the other where only that would be read as emphasis, and spaces beside it where neither would.
 */
import { firstOf, flanks, isPunctuation, isSpace, lastOf } from './flanking.ts';

export type SpanKind = 'em' | 'strong' | 'strike';

/** The pieces of a paragraph that hold the delimiters of one span; `close` is -1 while it is open. */
export interface Span {
  readonly kind: SpanKind;
  readonly open: number;
  close: number;
}

export interface DelimiterStyle {
  readonly em: '_' | '*';
  readonly strong: '**' | '__';
}

type Mark = '_' | '*' | '~';

interface Delimiter {
  readonly span: Span;
  readonly opens: boolean;
  /** Null until it is chosen. */
  mark: Mark | null;
  /** Stands right beside a word, so that a delimiter between it and its text must be of the same character. */
  glued: boolean;
}

/** Fills in the delimiters of spans, given in the order they open; gives the characters that were used. */
export function delimit(pieces: string[], spans: readonly Span[], style: DelimiterStyle): string {
  const chooser = new Chooser(pieces, spans, style);
  for (const span of spans) chooser.choose(span);
  return chooser.used;
}

class Chooser {
  used = '';
  private readonly pieces: string[];
  private readonly style: DelimiterStyle;
  /** By the piece that holds it. */
  private readonly delimiters = new Map<number, Delimiter>();
  private readonly around: Span[] = [];

  constructor(pieces: string[], spans: readonly Span[], style: DelimiterStyle) {
    this.pieces = pieces;
    this.style = style;
    for (const span of spans) {
      this.delimiters.set(span.open, { span, opens: true, mark: null, glued: false });
      this.delimiters.set(span.close, { span, opens: false, mark: null, glued: false });
    }
  }

  /** Called for outer spans before those inside them. */
  choose(span: Span): void {
    const { around } = this;
    while (around.length > 0 && around.at(-1)!.close < span.open) around.pop();
    const marks = this.candidates(span);
    const mark =
      marks.find((each) => this.fits(span, each, false)) ??
      marks.find((each) => this.fits(span, each, true)) ??
      marks[0];
    if (mark) {
      around.push(span);
      this.write(span, mark);
    } else this.leaveOut(span);
  }

  /** Which characters a span may have, best first; none when it would make its like of the span around it. */
  private candidates(span: Span): Mark[] {
    if (span.kind === 'strike') return ['~'];
    const outside = this.around.findLast(({ kind }) => kind === span.kind);
    const forced = this.forcedMark(span);
    if (forced) {
      const doubles = span.kind === 'em' && outside && this.delimiters.get(outside.open)!.mark === forced;
      return doubles ? [] : [forced];
    }
    const wanted = this.style[span.kind][0] as Mark;
    const first = outside ? other(this.delimiters.get(outside.open)!.mark!) : wanted;
    return [first, other(first)];
  }

  private forcedMark({ open, close }: Span): Mark | null {
    const before = this.delimiters.get(open - 1);
    if (before?.opens && before.glued && before.mark !== '~') return before.mark;
    const after = this.delimiters.get(close + 1);
    return after && !after.opens && after.glued && after.mark !== '~' ? after.mark : null;
  }

  /** Whether a span would be read as such; `lenient` lets its delimiter run on from one that closes. */
  private fits(span: Span, mark: Mark, lenient: boolean): boolean {
    const before = this.delimiters.get(span.open - 1);
    const after = this.delimiters.get(span.close + 1);
    for (const beside of [before, after]) {
      if (beside?.mark !== mark) continue;
      const isAround = beside.opens === (beside === before);
      if (isAround ? beside.span.kind === 'em' && span.kind === 'em' : !lenient) return false;
    }
    return this.canOpen(span, mark) && this.canClose(span, mark);
  }

  private canOpen({ open }: Span, mark: Mark): boolean {
    return reads(mark, this.before(open, mark), this.inside(open, 1, mark)).opens;
  }

  private canClose({ close }: Span, mark: Mark): boolean {
    return reads(mark, this.inside(close, -1, mark), this.after(close, mark)).closes;
  }

  /** The character before a run of delimiters. */
  private before(at: number, mark: Mark): string {
    let index = at - 1;
    while (this.delimiters.get(index)?.mark === mark && !this.pieces[index]!.startsWith(' ')) index -= 1;
    return this.delimiters.get(index)?.mark === mark ? ' ' : lastOf(this.pieces[index] ?? '');
  }

  private after(at: number, mark: Mark): string {
    let index = at + 1;
    while (this.delimiters.get(index)?.mark === mark && !this.pieces[index]!.endsWith(' ')) index += 1;
    const beyond = this.delimiters.get(index);
    if (beyond?.mark === mark) return ' ';
    // A delimiter that is not chosen yet is punctuation whatever it becomes.
    return beyond && beyond.mark === null ? '*' : firstOf(this.pieces[index] ?? '');
  }

  /** The character on the inner side of a delimiter; those inside it that can be of its character run on. */
  private inside(at: number, step: 1 | -1, mark: Mark): string {
    let index = at + step;
    for (let beside = this.delimiters.get(index); beside; beside = this.delimiters.get(index)) {
      if (mark !== '*' || beside.span.kind === 'strike') return '~';
      index += step;
    }
    const piece = this.pieces[index] ?? '';
    return step === 1 ? firstOf(piece) : lastOf(piece);
  }

  private write(span: Span, mark: Mark): void {
    const text = span.kind === 'em' ? mark : mark + mark;
    const opening = this.delimiters.get(span.open)!;
    const closing = this.delimiters.get(span.close)!;
    const opens = this.canOpen(span, mark);
    const closes = this.canClose(span, mark);
    opening.glued = opens && isWordCharacter(this.before(span.open, mark));
    closing.glued = closes && isWordCharacter(this.after(span.close, mark));
    this.pieces[span.open] = opens ? text : ` ${text}`;
    this.pieces[span.close] = closes ? text : `${text} `;
    opening.mark = mark;
    closing.mark = mark;
    if (!this.used.includes(mark)) this.used += mark;
  }

  private leaveOut({ open, close }: Span): void {
    for (const at of [open, close]) {
      this.pieces[at] = '';
      this.delimiters.delete(at);
    }
  }
}

const other = (mark: Mark): Mark => (mark === '*' ? '_' : '*');

/** Neither white space nor punctuation nor the edge of the text. */
const isWordCharacter = (character: string): boolean => !isSpace(character) && !isPunctuation(character);

/**
 * What a run can do for every reader: some see the halves of a character beyond the basic plane, which are no
 * punctuation, others the sign that it is.
 */
function reads(mark: Mark, before: string, after: string): { opens: boolean; closes: boolean } {
  const whole = flanks(mark, before, after);
  if (before.length < 2 && after.length < 2) return whole;
  const halves = flanks(mark, before.length < 2 ? before : 'x', after.length < 2 ? after : 'x');
  return { opens: whole.opens && halves.opens, closes: whole.closes && halves.closes };
}
