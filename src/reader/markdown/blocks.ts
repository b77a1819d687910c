/**
 * Writes blocks one after another. Each line starts with the prefixes of the surrounding quotes and list items, so that
 * nothing is indented twice.
 */

/** Text nested deeper than this is not indented further, because each container adds its prefix to every line. */
const MAX_NESTING = 24;

/** The kind of a block, as far as it affects the next block. Lists with different markers are different kinds. */
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

/** Maximum number of parts of the document that are collected before they are joined. */
const MAX_PARTS = 2000;

interface Container {
  readonly prefix: string;
  readonly next: string | null;
  readonly count: number;
  readonly kind: BlockKind;
  /** Last block kind of the surrounding container. */
  readonly last: BlockKind | null;
  readonly tight: boolean;
  readonly parted: boolean;
}

/**
 * Whether a block needs no blank line before it. Without a blank line, text would continue the preceding paragraph,
 * table, quote or list, and only some blocks interrupt a paragraph (CommonMark 0.31, sections 4 and 5).
 */
function needsNoBlankLine(last: BlockKind, kind: BlockKind): boolean {
  if (last === 'heading' || last === 'underlined' || last === 'code' || last === 'rule') return true;
  if (kind === 'text' || kind === 'underlined' || kind === 'table' || kind === 'note' || kind === last) return false;
  if (last === 'table' || last === 'note') return false;
  return last !== 'text' || kind !== 'rule';
}

/** A page of a document, and the offset at which its content starts. */
export interface PageStart {
  readonly page: number;
  readonly start: number;
}

export class BlockWriter {
  /**
   * The start of the document, in chunks of many blocks. A single list of all parts of a long document would be far
   * slower.
   */
  private readonly done: string[] = [];
  private parts: string[] = [];
  /** Number of blocks so far. */
  private count = 0;
  /** The text between the last two blocks. */
  protected separator = '';
  private readonly containers: Container[] = [];
  /** The last block written directly into the innermost container. */
  private last: BlockKind | null = null;
  /** The kind of the next block, if it was announced. */
  private coming: BlockKind | null = null;
  private joined = false;
  private tight = false;
  private parted = false;
  /** Prefix of every line. */
  private prefix = '';
  /** Prefix of the next line only: it contains the marker of an item. */
  private next: string | null = null;
  private blankLine = false;
  /** Prefix of the blank line between the last block and the next one. */
  private between = '';
  private size = 0;
  /** Pages that start at the next block. */
  private starting: number[] = [];
  /** Where each page of a document starts, as an offset. */
  readonly pageStarts: PageStart[] = [];

  /** Number of characters so far. */
  get length(): number {
    return this.size;
  }

  /** Makes a page of a document start at the next block, or at the end if no block follows. */
  startPage(page: number): void {
    this.starting.push(page);
  }

  /** Sets the start of the pages that wait for a block. */
  finishPages(): void {
    for (const page of this.starting) this.pageStarts.push({ page, start: this.size });
    this.starting = [];
  }

  /** Writes a line that is not content. */
  writeMarker(text: string): void {
    this.write(text);
  }

  /** The last block of the innermost container. */
  get previous(): BlockKind | null {
    return this.last;
  }

  /** Whether the innermost container has blank lines between its blocks. */
  get isLoose(): boolean {
    return this.parted;
  }

  /**
   * Announces the kind of the next block or container; without a call, it is text. `blankLine` overrides the default: a
   * blank line before every block, except in tight lists, where only the necessary blank lines are written.
   */
  announce(kind: BlockKind, blankLine?: boolean): void {
    const { last, joined } = this;
    this.coming = kind;
    this.joined = false;
    if (last !== null) this.blankLine = blankLine ?? !(joined || (this.tight && needsNoBlankLine(last, kind)));
  }

  /** Makes the next block start on the next line, without a blank line. */
  join(): void {
    this.joined = true;
  }

  /** Cancels join(). */
  cancelJoin(): void {
    this.joined = false;
  }

  /**
   * Opens a container: `first` is the prefix of its first line, `rest` that of the others; both have the same width.
   */
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

  /** Omits blank lines between the blocks of the container that was just opened, where possible. */
  tighten(): void {
    this.tight = true;
  }

  /** Closes the innermost container; returns false if nothing was written into it. */
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

  /** Extends the marker of an item that has no content yet. */
  extendMarker(text: string): void {
    if (this.next !== null && this.last === null) this.next += text;
  }

  /** Whether the next line starts with the marker of an item that ends with `mark`. */
  isBehindMarker(mark: string): boolean {
    return this.next?.trimEnd().endsWith(mark) ?? false;
  }

  /** Writes one block, with prefixes added to its lines. */
  write(text: string): void {
    const kind = this.begin();
    const { prefix, between } = this;
    this.parted ||= this.isPartedFrom(kind);
    if (this.parts.length > MAX_PARTS) this.joinParts();
    if (this.count > 0) {
      this.separator = !this.blankLine ? '\n' : between === '' ? '\n\n' : `\n${between.trimEnd()}\n`;
      this.add(this.separator);
    }
    if (this.starting.length > 0) this.finishPages();
    const start = this.next ?? prefix;
    this.next = null;
    if (start !== '') this.add(start);
    if (prefix === '' || !text.includes('\n')) this.add(text);
    else {
      const blank = `\n${prefix.trimEnd()}`;
      const lines = text.split('\n');
      this.add(lines[0]!);
      for (let at = 1; at < lines.length; at++) this.add(lines[at] === '' ? blank : `\n${prefix}${lines[at]}`);
    }
    this.count += 1;
    this.last = kind;
    this.blankLine = true;
    this.between = prefix;
  }

  private add(part: string): void {
    this.parts.push(part);
    this.size += part.length;
  }

  private joinParts(): void {
    this.done.push(this.parts.join(''));
    this.parts = [];
  }

  private begin(): BlockKind {
    if (this.coming === null) this.announce('text');
    const kind = this.coming!;
    this.coming = null;
    return kind;
  }

  /** Blank lines between the items of a list do not affect the container of the list. */
  private isPartedFrom(kind: BlockKind): boolean {
    return this.blankLine && this.last !== null && this.last !== kind;
  }

  toString(): string {
    this.joinParts();
    return this.done.join('');
  }
}
