/** What a conversion in progress knows; handed to every element's handler, never global. */
import type { Element } from '#html/node.ts';
import { Blocks } from './blocks.ts';
import { hostOf, withoutCitationMarks } from './citations.ts';
import type { Footnotes } from './footnotes.ts';
import { Inline } from './inline.ts';
import type { MarkdownStyle } from './style.ts';
import type { TableGrid } from './tables.ts';
import { Trace, TracedBlocks } from './trace.ts';

export interface MarkdownOptions extends MarkdownStyle {
  /** The address of the page: links to other hosts show theirs in citations. */
  readonly pageUrl: string;
  /** What relative addresses resolve against. */
  readonly baseUrl: string;
  /** `table-html` leaves tables as HTML; `none` takes tables, strike, checkboxes, math and footnotes for plain text. */
  readonly gfm: 'all' | 'none' | 'table-html';
  readonly retainLinks: 'all' | 'none' | 'text' | 'gpt-oss';
  readonly retainImages: 'all' | 'all_p' | 'none' | 'alt' | 'alt_p';
  /** Default `none`. */
  readonly retainMedia?: 'none' | 'text' | 'link' | 'image' | 'html';
  /** What a model says of pictures, by the address of each as it is shown. */
  readonly captions?: Readonly<Record<string, string>> | undefined;
  readonly keepImgDataUrl: boolean;
  /** The document's own base, whose origin names data URLs; `http://localhost` without one. */
  readonly documentBase?: string | undefined;
  /** Whole-page conversion: written as the first line. */
  readonly title?: string | undefined;
  /** Note where each block comes from. */
  readonly trace?: boolean | undefined;
}

export interface ShownImage {
  readonly index: number;
  readonly url: string;
  readonly alt: string;
}

/** A picture that a model is to describe: the address it is shown under, and where its bytes are. */
export interface UncaptionedImage {
  readonly url: string;
  readonly source: string;
}

export interface ShownLink {
  readonly id?: number;
  readonly text: string;
  readonly url: string;
}

export interface List {
  readonly ordered: boolean;
  /** The bullet, or what stands behind the numbers; not that of a list right before this one. */
  readonly mark: string;
  number: number;
  readonly step: 1 | -1;
  /** Whether an item was written. */
  written: boolean;
  /** Whether blank lines stand between the blocks of its items, and so between the items. */
  loose: boolean;
  /** Markers of items without content, written when an item with content follows. */
  readonly empty: string[];
}

/** How the cells of a table that is being walked are written. */
export type TableMode =
  /** Collected in the grid, then written as a pipe table. */
  | 'pipes'
  /** A row is a line of running text. */
  | 'rows'
  /** A cell is a block like any other. */
  | 'layout';

/** Called when the children of an element are done. */
export type Leave = (state: State, element: Element) => void;

/** Handles an element's start: gives what to call at its end, null for nothing, SKIP to pass over its children. */
export type Enter = (state: State, element: Element) => Leave | null | typeof SKIP;

export const SKIP = 'skip';

export class State {
  readonly options: MarkdownOptions;
  readonly footnotes: Footnotes;
  readonly blocks: Blocks;
  readonly inline: Inline;
  readonly trace: Trace | null;
  readonly gfm: boolean;
  /** Where links are citations; '' elsewhere. */
  readonly pageHost: string;

  readonly images: ShownImage[] = [];
  /** Each once, by address. */
  readonly uncaptioned = new Map<string, UncaptionedImage>();
  readonly links: ShownLink[] = [];
  /** Videos and recordings so far. */
  videos = 0;
  audios = 0;
  /** Link definitions for the end of the document. */
  readonly definitions: string[] = [];
  /** Anchors with an address so far. */
  anchors = 0;
  /** The number of the last link that got one (linkStyle `referenced`). */
  nextReference = 0;
  /** Footnotes that are open: links back to the text are left out there. */
  openNotes = 0;

  readonly lists: List[] = [];
  readonly tables: TableMode[] = [];
  grid: TableGrid | null = null;
  /** Above 0 all content goes on one line: block boundaries are only white space there. */
  singleLine = 0;
  /** The level of the heading that is open, 0 outside of headings. */
  heading = 0;

  constructor(options: MarkdownOptions, footnotes: Footnotes) {
    this.options = options;
    this.footnotes = footnotes;
    this.gfm = options.gfm !== 'none';
    this.pageHost = options.retainLinks === 'gpt-oss' ? hostOf(options.pageUrl) : '';
    this.inline = new Inline({
      em: options.emDelimiter,
      strong: options.strongDelimiter,
      strike: this.gfm,
      references: options.linkStyle === 'referenced' && /^(?:collapsed|shortcut)$/.test(options.linkReferenceStyle),
    });
    this.trace = options.trace ? new Trace(this.inline) : null;
    this.blocks = this.trace ? new TracedBlocks(this.trace) : new Blocks();
  }

  /** Ends the paragraph that is open; in a single line only a space is left of the boundary. */
  flush(): void {
    if (this.singleLine > 0) {
      this.inline.gap();
      return;
    }
    const math = this.inline.soleMath;
    const text = this.inline.take();
    if (text === '') return;
    this.blocks.write(math === null || text[0] !== '$' ? text : `$$\n${math}\n$$`);
  }

  /** Page text outside of citations: what looks like a citation of ours is written with look-alikes. */
  clean(text: string): string {
    return this.options.retainLinks === 'gpt-oss' ? withoutCitationMarks(text) : text;
  }
}
