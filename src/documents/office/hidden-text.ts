/**
 * Counts the text of a document that a person cannot see. Hidden text is left out, with a note if it is most of the
 * document. A document that is hidden almost completely was most likely formatted by a faulty program, so its text is
 * kept.
 */

/** Characters without white space up to which hidden text is always left out. */
const ALWAYS_LEFT_OUT = 500;
/** The text is kept if there is this many times as much hidden text as visible text. */
const KEPT_FROM = 19;

export const HIDDEN_KEPT = 'Nearly all of the text is formatted as hidden, so it was kept';
export const MOSTLY_HIDDEN = 'More than half of the text is formatted as hidden and was left out';

export class HiddenText {
  /** Whether hidden text is kept. */
  readonly keeps: boolean;
  /** Number of pieces that were left out. */
  pieces = 0;
  #hidden = 0;
  #shown = 0;

  constructor(keeps = false) {
    this.keeps = keeps;
  }

  /** Counts text and returns whether to leave it out. */
  leavesOut(text: string, isHidden: boolean): boolean {
    if (!isHidden) this.#shown += lengthOf(text);
    else if (!this.keeps) this.#hidden += lengthOf(text);
    return isHidden && !this.keeps;
  }

  /** Counts a piece that is left out as a whole, and returns whether to leave it out. */
  leavesOutPiece(text: () => string): boolean {
    if (this.keeps) return false;
    this.pieces += 1;
    this.#hidden += lengthOf(text());
    return true;
  }

  /** Counts the start of a hidden piece, whose text is counted by `leavesOut`. */
  startPiece(): void {
    if (!this.keeps) this.pieces += 1;
  }

  get isNearlyAll(): boolean {
    return this.#hidden > ALWAYS_LEFT_OUT && this.#hidden > this.#shown * KEPT_FROM;
  }

  /** Notes for the reader of the document. */
  get notes(): readonly string[] {
    if (this.keeps) return [HIDDEN_KEPT];
    return this.#hidden > ALWAYS_LEFT_OUT && this.#hidden > this.#shown ? [MOSTLY_HIDDEN] : [];
  }
}

const lengthOf = (text: string): number => text.length - (text.match(/\s/g)?.length ?? 0);

/** Reads a document; if nearly all of its text is hidden, reads it again and keeps the hidden text. */
export function readWithHiddenText<T>(read: (hidden: HiddenText) => T): T {
  const hidden = new HiddenText();
  const result = read(hidden);
  return hidden.isNearlyAll ? read(new HiddenText(true)) : result;
}
