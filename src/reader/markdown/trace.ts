/** Records, during conversion, the source element of each Markdown block and the elements that produced nothing. */
import { type Child, ELEMENT, type Element } from '#html/node.ts';
import { BlockWriter } from './blocks.ts';
import { BLOCK_ELEMENTS } from './elements/block-elements.ts';
import type { InlineWriter } from './inline.ts';

/** A block that is not contained in another block; a list counts as its separate items. */
export interface TracedBlock {
  /** First line of the block, counted from 0. */
  line: number;
  lines: number;
  /** The block-level element of the block's first text; null for text outside of any. */
  readonly source: Element | null;
}

export class MarkdownTrace {
  readonly blocks: TracedBlock[] = [];
  /** Elements that the converter skipped with all their content. */
  readonly leftOut: Element[] = [];
  private readonly inline: InlineWriter;
  /** Number of pieces of inline content before the current node, and of blocks written since then. */
  private pieces = 0;
  private written = 0;
  private node: Child | null = null;
  private leaving = false;
  /** Start of the inline content that has not been written yet. */
  private began: Child | null = null;
  private line = 0;
  private open: TracedBlock | null = null;
  private depth = 0;

  constructor(inline: InlineWriter) {
    this.inline = inline;
  }

  /** Call before a node is handled, after an element's children, and at the end. */
  at(node: Child | null, leaving: boolean): void {
    this.began = this.inline.empty ? null : (this.began ?? this.node);
    this.node = node;
    this.leaving = leaving;
    this.pieces = this.inline.length;
    this.written = 0;
  }

  /**
   * Reports an element that was skipped with its children. It counts as omitted if nothing was written for it either.
   */
  elementSkipped(element: Element): void {
    const { pieces, written, inline } = this;
    if (written === 0 && inline.length === pieces && !CODE.has(element.name)) this.leftOut.push(element);
  }

  containerOpened(): void {
    this.depth += 1;
    if (this.depth === 1) this.open = { line: -1, lines: 0, source: blockAround(this.node) };
  }

  containerClosed(): void {
    this.depth -= 1;
    if (this.depth === 0) this.open = null;
  }

  /** Reports a block of `lines` lines that starts `feeds` line feeds after the end of the previous block. */
  blockWritten(feeds: number, lines: number): void {
    this.written += 1;
    this.line += feeds;
    // The end of an element writes the element's own content; the start of an element writes pending content from
    // before it.
    const source = this.leaving ? this.node : (this.began ?? this.node);
    this.began = null;
    const block = this.open ?? { line: -1, lines: 0, source: blockAround(source) };
    if (block.line < 0) {
      block.line = this.line;
      this.blocks.push(block);
    }
    this.line += lines - 1;
    block.lines = this.line - block.line + 1;
  }

  /** Reports lines that belong to no block. */
  markerWritten(feeds: number, lines: number): void {
    this.line += feeds + lines - 1;
  }

  /** Moves all blocks down by `lines` lines. */
  shift(lines: number): void {
    for (const block of this.blocks) block.line += lines;
  }
}

/**
 * Elements that are written only when other content follows, so that it is not immediately known whether they produce
 * output.
 */
const CODE = new Set(['code', 'kbd', 'samp', 'tt']);

function blockAround(node: Child | null): Element | null {
  let at: Child | null = node;
  while (at && !(at.type === ELEMENT && BLOCK_ELEMENTS.has(at.name))) {
    const above: Child['parent'] = at.parent;
    at = above?.type === ELEMENT ? above : null;
  }
  return at;
}

export class TracedBlockWriter extends BlockWriter {
  private readonly trace: MarkdownTrace;

  constructor(trace: MarkdownTrace) {
    super();
    this.trace = trace;
  }

  override push(first: string, rest: string): void {
    this.trace.containerOpened();
    super.push(first, rest);
  }

  override pop(): ReturnType<BlockWriter['pop']> {
    this.trace.containerClosed();
    return super.pop();
  }

  override write(text: string): void {
    super.write(text);
    this.trace.blockWritten(feedsIn(this.separator), feedsIn(text) + 1);
  }

  override writeMarker(text: string): void {
    super.write(text);
    this.trace.markerWritten(feedsIn(this.separator), feedsIn(text) + 1);
  }
}

function feedsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
