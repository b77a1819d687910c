/**
 * Chooses the delimiters of emphasis when a paragraph is complete. Markdown has two delimiter characters for each kind
 * of emphasis. The preferred one is used if it would be recognized, otherwise the other one; if neither would, spaces
 * are added.
 */
import { characterAfter, characterBefore, flankingByParser, isPlainWord, isPunctuation, isSpace } from './flanking.ts';

export type SpanKind = 'em' | 'strong' | 'strike';

/** Indexes of the pieces that contain the delimiters of one span; `close` is -1 while the span is open. */
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
  /** Whether the span touches a word, so that any delimiter between it and its text must use the same character. */
  glued: boolean;
}

/** Fills in the delimiters of spans, which must be in opening order. Returns the characters that were used. */
export function writeDelimiters(pieces: string[], spans: readonly Span[], style: DelimiterStyle): string {
  const used = new Chooser(pieces, spans, style).choose(spans);
  if (used !== null) return used;
  const outer = withoutNested(pieces, spans);
  return new Chooser(pieces, outer, style).choose(outer) ?? '';
}

/** Removes the spans that are nested in a span of the same kind. */
function withoutNested(pieces: string[], spans: readonly Span[]): Span[] {
  const ends = new Map<SpanKind, number>();
  return spans.filter(({ kind, open, close }) => {
    const isNested = open < (ends.get(kind) ?? -1);
    if (isNested) pieces[open] = pieces[close] = '';
    else ends.set(kind, close);
    return !isNested;
  });
}

class Chooser {
  private readonly pieces: string[];
  private readonly style: DelimiterStyle;
  /** Delimiters by the piece that contains them. */
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

  /**
   * Whether a span is recognized with any delimiter character: no other span touches its delimiters, white space or
   * punctuation is outside, and inside is a word, or punctuation that could not end another span. Most spans are plain.
   */
  private isPlain({ open, close }: Span): boolean {
    const { delimiters, pieces } = this;
    if (close < open + 2 || delimiters.has(open - 1) || delimiters.has(open + 1)) return false;
    if (delimiters.has(close - 1) || delimiters.has(close + 1)) return false;
    const before = open === 0 ? 'space' : kindOfLast(pieces[open - 1]!);
    const first = kindOf(pieces[open + 1]!.charCodeAt(0));
    const last = kindOfLast(pieces[close - 1]!);
    const after = close === pieces.length - 1 ? 'space' : kindOf(pieces[close + 1]!.charCodeAt(0));
    if (first !== 'word' && !(first === 'punctuation' && before === 'space')) return false;
    return isOutside(before) && isOutside(after) && (last === 'word' || last === 'punctuation');
  }

  private writePlain({ kind, open, close }: Span, mark: Mark): void {
    this.pieces[open] = this.pieces[close] = kind === 'em' ? mark : mark + mark;
    this.delimiters.get(open)!.mark = mark;
    this.delimiters.get(close)!.mark = mark;
  }

  /** Chooses the characters of the delimiters; null if a span cannot be distinguished from one around it. */
  choose(spans: readonly Span[]): string | null {
    const { around } = this;
    let used = '';
    for (const span of spans) {
      while (around.length > 0 && around.at(-1)!.close < span.open) around.pop();
      const outside = around.length === 0 ? undefined : around.findLast(({ kind }) => kind === span.kind);
      const isPlain = !outside && this.isPlain(span);
      const mark = outside
        ? this.markInside(span, this.delimiters.get(outside.open)!.mark!)
        : isPlain
          ? this.wantedMark(span)
          : this.markOf(span);
      if (mark === null) return null;
      around.push(span);
      if (isPlain) this.writePlain(span, mark);
      else this.write(span, mark);
      if (!used.includes(mark)) used += mark;
    }
    return used;
  }

  private wantedMark({ kind }: Span): Mark {
    return kind === 'strike' ? '~' : (this.style[kind][0] as Mark);
  }

  private markOf(span: Span): Mark {
    const wanted = this.wantedMark(span);
    if (wanted === '~') return wanted;
    const forced = this.forcedMark(span);
    const marks = forced ? [forced] : [wanted, other(wanted)];
    return (
      marks.find((mark) => this.fits(span, mark, false)) ??
      marks.find((mark) => this.fits(span, mark, true)) ??
      marks[0]!
    );
  }

  /** The mark of a span inside a span of the same kind; null if Markdown cannot distinguish the two. */
  private markInside(span: Span, outside: Mark): Mark | null {
    if (span.kind === 'strike') return null;
    const forced = this.forcedMark(span);
    if (forced && (forced !== outside || (span.kind === 'strong' && this.coincides(span, outside)))) return forced;
    const mark = other(outside);
    return !forced && this.fits(span, mark, false) ? mark : null;
  }

  /** Whether a span starts and ends at the same positions as the span around it. */
  private coincides({ open, close }: Span, mark: Mark): boolean {
    const before = this.delimiters.get(open - 1);
    return before?.mark === mark && before.opens && before.span.close === close + 1;
  }

  /** The mark of a delimiter that must not be separated from its text by punctuation. */
  private forcedMark({ open, close }: Span): Mark | null {
    const before = this.delimiters.get(open - 1);
    if (before?.opens && before.glued && before.mark !== '~') return before.mark;
    const after = this.delimiters.get(close + 1);
    return after && !after.opens && after.glued && after.mark !== '~' ? after.mark : null;
  }

  /** Whether a span would be recognized. If `lenient`, its delimiter may directly follow a closing one. */
  private fits(span: Span, mark: Mark, lenient: boolean): boolean {
    const { delimiters } = this;
    const before = delimiters.get(span.open - 1);
    const after = delimiters.get(span.close + 1);
    if (before?.mark === mark) {
      if (before.opens ? areBothEmphasis(before.span, span) : !lenient || !this.canRunOn(span, mark)) return false;
    }
    if (after?.mark === mark && areBothEmphasis(after.span, span)) return false;
    return this.canOpen(span, mark) && this.canClose(span, mark) && !this.endsAnother(span, mark, lenient);
  }

  /** Whether a closing delimiter directly before a span still closes if the opening delimiter joins its run. */
  private canRunOn({ kind, open }: Span, mark: Mark): boolean {
    if (this.delimiters.get(open - 1)!.span.kind === kind) return false;
    return flankingByParser(mark, this.before(open, mark), this.inside(open, 1, mark)).every(({ closes }) => closes);
  }

  private canOpen({ open }: Span, mark: Mark): boolean {
    return flankingByParser(mark, this.before(open, mark), this.inside(open, 1, mark)).every(({ opens }) => opens);
  }

  private canClose({ close }: Span, mark: Mark): boolean {
    return flankingByParser(mark, this.inside(close, -1, mark), this.after(close, mark)).every(({ closes }) => closes);
  }

  /** Whether the opening delimiter of a span could close a span around it. */
  private endsAnother({ kind, open }: Span, mark: Mark, lenient: boolean): boolean {
    const { around, delimiters } = this;
    if (around.length === 0) return false;
    const isAmongThem = around.some(
      (outer) => delimiters.get(outer.open)!.mark === mark && (!lenient || outer.kind === kind),
    );
    if (!isAmongThem) return false;
    return flankingByParser(mark, this.before(open, mark), this.inside(open, 1, mark)).some(({ closes }) => closes);
  }

  /** The character before a run of delimiters. */
  private before(at: number, mark: Mark): string {
    let index = at;
    while (this.delimiters.get(index - 1)?.mark === mark) {
      index -= 1;
      if (this.pieces[index]!.startsWith(' ')) return ' ';
    }
    return characterBefore(this.pieces, index);
  }

  private after(at: number, mark: Mark): string {
    let index = at;
    while (this.delimiters.get(index + 1)?.mark === mark) {
      index += 1;
      if (this.pieces[index]!.endsWith(' ')) return ' ';
    }
    // A delimiter that is not yet chosen counts as punctuation in any case.
    return this.delimiters.get(index + 1)?.mark === null ? '*' : characterAfter(this.pieces, index);
  }

  /** The character on the inner side of a delimiter, past inner delimiters that may use the same character. */
  private inside(at: number, step: 1 | -1, mark: Mark): string {
    let index = at;
    for (let next = this.delimiters.get(at + step); next; next = this.delimiters.get(index + step)) {
      if (mark !== '*' || next.span.kind === 'strike') return '~';
      index += step;
    }
    return step === 1 ? characterAfter(this.pieces, index) : characterBefore(this.pieces, index);
  }

  private write(span: Span, mark: Mark): void {
    const text = span.kind === 'em' ? mark : mark + mark;
    const opening = this.delimiters.get(span.open)!;
    const closing = this.delimiters.get(span.close)!;
    const before = this.delimiters.get(span.open - 1);
    const touches = before?.mark === mark && !before.opens && !this.canRunOn(span, mark);
    const opens = !touches && this.canOpen(span, mark);
    const closes = this.canClose(span, mark);
    opening.glued = opens && isWordCharacter(this.before(span.open, mark));
    closing.glued = closes && isWordCharacter(this.after(span.close, mark));
    this.pieces[span.open] = opens ? text : ` ${text}`;
    this.pieces[span.close] = closes ? text : `${text} `;
    opening.mark = mark;
    closing.mark = mark;
  }
}

const areBothEmphasis = (one: Span, other: Span): boolean => one.kind === 'em' && other.kind === 'em';

type CharacterKind = 'space' | 'word' | 'punctuation' | 'unclear';

/**
 * The class of an ASCII character in the flanking rules; `unclear` if it could be part of another delimiter or
 * escape.
 */
function kindOf(code: number): CharacterKind {
  if (isPlainWord(code)) return 'word';
  if (code === 0x20 || code === 0x0a) return 'space';
  const isMarked = code === 0x2a || code === 0x5f || code === 0x7e || code === 0x5c;
  return code > 0x20 && code < 0x7f && !isMarked ? 'punctuation' : 'unclear';
}

const kindOfLast = (text: string): CharacterKind => kindOf(text.charCodeAt(text.length - 1));

const isOutside = (kind: CharacterKind): boolean => kind === 'space' || kind === 'punctuation';

const other = (mark: Mark): Mark => (mark === '*' ? '_' : '*');

/** Whether any Markdown parser treats a character as part of a word. */
const isWordCharacter = (character: string): boolean =>
  !isSpace(character) && (!isPunctuation(character) || character.length > 1);
