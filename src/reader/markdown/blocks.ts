/**
 * Writes blocks one after another, each line behind the prefixes of the quotes and list items it stands in, so that
 * nothing is ever indented twice over.
 */

/** Beyond this many containers inside one another text is no longer indented: each costs every line its prefix. */
const MAX_NESTING = 24;

/** What a block is, as far as it matters for the block after it; a list with its marker is a kind of its own. */
export type BlockKind =
  | 'text'
  | 'heading'
  | 'underlined'
  | 'code'
  | 'rule'
  | 'table'
  | 'quote'
  | 'note'
  | `list${string}`;

/** Parts of the document that are held before they are joined. */
const MOST_PARTS = 2000;

interface Container {
  readonly prefix: string;
  readonly next: string | null;
  readonly count: number;
  readonly kind: BlockKind;
  /** Of the container around it. */
  readonly last: BlockKind | null;
  readonly tight: boolean;
  readonly parted: boolean;
}

/**
 * Whether a block needs no blank line before it to stay what it is: text would go on in the paragraph, table, quote
 * or list before it, and only some blocks interrupt a paragraph (CommonMark 0.31, sections 4 and 5).
 */
function needsNoBlankLine(last: BlockKind, kind: BlockKind): boolean {
  if (last === 'heading' || last === 'underlined' || last === 'code' || last === 'rule') return true;
  if (kind === 'text' || kind === 'underlined' || kind === 'table' || kind === 'note' || kind === last) return false;
  if (last === 'table' || last === 'note') return false;
  return last !== 'text' || kind !== 'rule';
}

export class Blocks {
  /** The start of the document, in pieces of many blocks each: one list of all parts of a long one costs far more. */
  private readonly done: string[] = [];
  private parts: string[] = [];
  /** Blocks so far. */
  private count = 0;
  /** What was written between the last two blocks. */
  protected separator = '';
  private readonly containers: Container[] = [];
  /** The last block that was written straight into the innermost container. */
  private last: BlockKind | null = null;
  /** What the next block is, when that was said. */
  private coming: BlockKind | null = null;
  private joined = false;
  private tight = false;
  private parted = false;
  /** What every line starts with. */
  private prefix = '';
  /** What the very next line starts with instead: it carries the marker of an item. */
  private next: string | null = null;
  private blankLine = false;
  /** The prefix of the blank line between the last block and the next. */
  private between = '';

  /** The last block of the innermost container. */
  get previous(): BlockKind | null {
    return this.last;
  }

  /** Whether a blank line stands between blocks of the innermost container. */
  get isParted(): boolean {
    return this.parted;
  }

  /**
   * Says what the next block or container is; without a word it is text. `blankLine` overrules what is usual: a blank
   * line before every block, but in items of tight lists only where it is needed.
   */
  follow(kind: BlockKind, blankLine?: boolean): void {
    const { last, joined } = this;
    this.coming = kind;
    this.joined = false;
    if (last !== null) this.blankLine = blankLine ?? !(joined || (this.tight && needsNoBlankLine(last, kind)));
  }

  /** Lets the next block follow on the next line, without a blank line. */
  join(): void {
    this.joined = true;
  }

  /** Takes back that the next block is to follow on the next line. */
  part(): void {
    this.joined = false;
  }

  /** Opens a container: `first` stands before its first line, `rest` before the others; both of one width. */
  push(first: string, rest: string): void {
    const kind = this.begin();
    const { prefix, next, last, tight } = this;
    const parted = this.parted || this.isPartedFrom(kind);
    this.containers.push({ prefix, next, count: this.count, kind, last, tight, parted });
    this.last = null;
    this.tight = false;
    this.parted = false;
    if (this.containers.length > MAX_NESTING) return;
    this.next = (this.next ?? this.prefix) + first;
    this.prefix += rest;
  }

  /** In the container that was just opened blocks stand without blank lines between them, where that can be. */
  tighten(): void {
    this.tight = true;
  }

  /** Ends the innermost container; false when nothing was written into it. */
  pop(): boolean {
    const { prefix, next, count, kind, last, tight, parted } = this.containers.pop()!;
    const isEmpty = this.count === count;
    this.prefix = prefix;
    this.last = isEmpty ? last : kind;
    this.tight = tight;
    this.parted = parted;
    this.coming = null;
    this.joined = false;
    if (isEmpty) this.next = next;
    else if (this.between.length > prefix.length) this.between = prefix;
    return !isEmpty;
  }

  /** Adds to the marker of an item that has no content yet. */
  extendMarker(text: string): void {
    if (this.next !== null && this.last === null) this.next += text;
  }

  /** Whether the next line starts with the marker of an item that ends with `mark`. */
  isBehindMarker(mark: string): boolean {
    return this.next?.trimEnd().endsWith(mark) ?? false;
  }

  /** One block; its lines get their prefixes here. */
  write(text: string): void {
    const kind = this.begin();
    const { prefix, between } = this;
    this.parted ||= this.isPartedFrom(kind);
    if (this.parts.length > MOST_PARTS) this.joinParts();
    const { parts } = this;
    if (this.count > 0) {
      this.separator = !this.blankLine ? '\n' : between === '' ? '\n\n' : `\n${between.trimEnd()}\n`;
      parts.push(this.separator);
    }
    const start = this.next ?? prefix;
    this.next = null;
    if (start !== '') parts.push(start);
    if (prefix === '' || !text.includes('\n')) parts.push(text);
    else {
      const blank = `\n${prefix.trimEnd()}`;
      const lines = text.split('\n');
      parts.push(lines[0]!);
      for (let at = 1; at < lines.length; at++) parts.push(lines[at] === '' ? blank : `\n${prefix}${lines[at]}`);
    }
    this.count += 1;
    this.last = kind;
    this.blankLine = true;
    this.between = prefix;
  }

  private joinParts(): void {
    this.done.push(this.parts.join(''));
    this.parts = [];
  }

  private begin(): BlockKind {
    if (this.coming === null) this.follow('text');
    const kind = this.coming!;
    this.coming = null;
    return kind;
  }

  /** Items of one list that stand apart say nothing about what the list stands in. */
  private isPartedFrom(kind: BlockKind): boolean {
    return this.blankLine && this.last !== null && this.last !== kind;
  }

  toString(): string {
    this.joinParts();
    return this.done.join('');
  }
}
