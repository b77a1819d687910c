/**
 * Writes blocks one after another, each line behind the prefixes of the quotes and list items it stands in, so that
 * nothing is ever indented twice over.
 */

/** Beyond this many containers inside one another text is no longer indented: each costs every line its prefix. */
const MAX_NESTING = 24;

interface Container {
  readonly prefix: string;
  readonly next: string | null;
  readonly length: number;
  /** Blocks written straight into the container, not into containers inside it. */
  written: number;
}

export class Blocks {
  protected readonly out: string[] = [];
  private readonly containers: Container[] = [];
  private written = 0;
  /** What every line starts with. */
  private prefix = '';
  /** What the very next line starts with instead: it carries the marker of an item. */
  private next: string | null = null;
  private blankLine = false;
  /** The prefix of the blank line between the last block and the next. */
  private between = '';

  /** Blocks in the innermost container so far. */
  get count(): number {
    return this.written;
  }

  get depth(): number {
    return this.containers.length;
  }

  /** Opens a container: `first` stands before its first line, `rest` before the others; both of one width. */
  push(first: string, rest: string): void {
    this.containers.push({ prefix: this.prefix, next: this.next, length: this.out.length, written: this.written });
    this.written = 0;
    if (this.containers.length > MAX_NESTING) return;
    this.next = (this.next ?? this.prefix) + first;
    this.prefix += rest;
  }

  /** Ends the innermost container; gives the blocks written straight into it, or null when nothing was written. */
  pop(): number | null {
    const { prefix, next, length, written } = this.containers.pop()!;
    const own = this.written;
    const empty = this.out.length === length;
    this.prefix = prefix;
    this.written = written;
    if (empty) this.next = next;
    else if (this.between.length > prefix.length) this.between = prefix;
    return empty ? null : own;
  }

  /** Adds to the marker of an item that has no content yet; false when there is none. */
  extendMarker(text: string): boolean {
    if (this.next === null || this.written > 0) return false;
    this.next += text;
    return true;
  }

  /** Lets the next block follow on the next line, without a blank line. */
  tight(): void {
    this.blankLine = false;
  }

  loose(): void {
    this.blankLine = true;
  }

  /** One block; its lines get their prefixes here. */
  write(text: string): void {
    const { out, prefix } = this;
    if (out.length > 0) out.push(this.blankLine ? `\n${this.between.trimEnd()}\n` : '\n');
    out.push(this.next ?? prefix);
    this.next = null;
    if (prefix === '' || !text.includes('\n')) out.push(text);
    else {
      const blank = `\n${prefix.trimEnd()}`;
      const lines = text.split('\n');
      out.push(lines[0]!);
      for (let at = 1; at < lines.length; at++) out.push(lines[at] === '' ? blank : `\n${prefix}${lines[at]}`);
    }
    this.written += 1;
    this.blankLine = true;
    this.between = prefix;
  }

  /** Counts a container as one block of the one around it. */
  countContainer(): void {
    this.written += 1;
  }

  toString(): string {
    return this.out.join('');
  }
}
