/** State of a conversion in progress; passed to every element's handler, never global. */
import type { Element, Node } from '#html/node.ts';
import { BlockWriter } from './blocks.ts';
import { hostOf, withoutCitationMarks } from './citations.ts';
import type { Footnotes } from './footnotes.ts';
import { InlineWriter } from './inline.ts';
import { pageMarker } from './page-marker.ts';
import type { PageTools } from './page-tools.ts';
import type { MarkdownStyle } from './style.ts';
import type { TableGrid } from './tables.ts';
import { MarkdownTrace, TracedBlockWriter } from './trace.ts';

export interface MarkdownOptions extends MarkdownStyle {
  /** URL of the page. Citations show the host of links to other hosts. */
  readonly pageUrl: string;
  /** Base for relative URLs. */
  readonly baseUrl: string;
  /**
   * `table-html` writes tables as HTML; `none` writes tables, strikethrough, checkboxes, math and footnotes as plain
   * text.
   */
  readonly gfm: 'all' | 'none' | 'table-html';
  readonly retainLinks: 'all' | 'none' | 'text' | 'gpt-oss';
  readonly retainImages: 'all' | 'all_p' | 'none' | 'alt' | 'alt_p';
  /** Default `none`. */
  readonly retainMedia?: 'none' | 'text' | 'link' | 'image' | 'html';
  /** Captions of pictures from a model, by output URL. */
  readonly captions?: Readonly<Record<string, string>> | undefined;
  readonly keepImgDataUrl: boolean;
  /** Whether the tables are those of a file, none of which is a layout table. */
  readonly tablesOfFile?: boolean | undefined;
  /**
   * The document's own base URL, or `http://localhost` if the document has none. Its origin is used in the names of
   * data URLs.
   */
  readonly documentBase?: string | undefined;
  /** See `ImageUrlOptions`. */
  readonly pictureUrl?: ((dataUrl: string) => string | undefined) | undefined;
  /** For whole-page conversions: written as the first line. */
  readonly title?: string | undefined;
  /** Whether to record the source element of each block. */
  readonly trace?: boolean | undefined;
  /** The pages of a document. */
  readonly pages?: MarkdownPages | undefined;
}

export interface MarkdownPages {
  /** The number of each page, in order. */
  readonly numbers: readonly number[];
  /** The page of each top-level node. */
  readonly of: ReadonlyMap<Node, number>;
  /** Whether to write a marker before the content of each page. */
  readonly markers: boolean;
}

export interface WrittenImage {
  readonly index: number;
  readonly url: string;
  readonly alt: string;
}

/** A picture that needs a description from a model: its output URL, and the URL of its bytes. */
export interface UncaptionedImage {
  readonly url: string;
  readonly source: string;
}

export interface WrittenLink {
  readonly id?: number;
  readonly text: string;
  readonly url: string;
}

export interface OpenList {
  readonly ordered: boolean;
  /** The bullet, or the character after the numbers; it differs from that of a list directly before this one. */
  readonly mark: string;
  number: number;
  readonly step: 1 | -1;
  /** Whether an item was written. */
  written: boolean;
  /** Whether there are blank lines between the blocks of the list's items, and therefore between the items. */
  loose: boolean;
  /** Markers of empty items, written when an item with content follows. */
  readonly empty: string[];
  /** The indentation of the last item's content, in characters. */
  width: number;
}

/** The way in which the cells of the current table are written. */
export type TableMode =
  /** The cells are collected in a grid, then written as a pipe table. */
  | 'pipes'
  /** Each row is written as a line of running text. */
  | 'rows'
  /** Each cell is written as an ordinary block. */
  | 'layout';

/** Called after the children of an element. */
export type LeaveHandler = (state: ConversionState, element: Element) => void;

/**
 * Handles the start of an element. Returns a function to call at its end, null for none, or SKIP to skip its
 * children.
 */
export type EnterHandler = (state: ConversionState, element: Element) => LeaveHandler | null | typeof SKIP;

export const SKIP = 'skip';

export class ConversionState {
  readonly options: MarkdownOptions;
  readonly footnotes: Footnotes;
  readonly pageTools: PageTools;
  readonly blocks: BlockWriter;
  readonly inline: InlineWriter;
  readonly trace: MarkdownTrace | null;
  readonly gfm: boolean;
  /** Host of the page if links are written as citations; otherwise ''. */
  readonly pageHost: string;

  readonly images: WrittenImage[] = [];
  /** One entry per URL. */
  readonly uncaptioned = new Map<string, UncaptionedImage>();
  readonly links: WrittenLink[] = [];
  /** Number of videos and recordings so far. */
  videos = 0;
  audios = 0;
  /** Link definitions for the end of the document. */
  readonly definitions: string[] = [];
  /** Number of anchors with a URL so far. */
  anchors = 0;
  /** The last number assigned to a link (linkStyle `referenced`). */
  nextReference = 0;
  /** Number of open footnotes; backlinks are omitted inside footnotes. */
  openFootnotes = 0;

  /** Number of pages of the document that have started. */
  startedPages = 0;

  readonly lists: OpenList[] = [];
  readonly tables: TableMode[] = [];
  grid: TableGrid | null = null;
  /** If above 0, all content is written on one line: block boundaries become white space. */
  singleLine = 0;
  /** Level of the open heading; 0 outside of headings. */
  heading = 0;

  constructor(options: MarkdownOptions, footnotes: Footnotes, pageTools: PageTools) {
    this.options = options;
    this.footnotes = footnotes;
    this.pageTools = pageTools;
    this.gfm = options.gfm !== 'none';
    this.pageHost = options.retainLinks === 'gpt-oss' ? hostOf(options.pageUrl) : '';
    this.inline = new InlineWriter({
      em: options.emDelimiter,
      strong: options.strongDelimiter,
      strike: this.gfm,
      references: options.linkStyle === 'referenced' && /^(?:collapsed|shortcut)$/.test(options.linkReferenceStyle),
    });
    this.trace = options.trace ? new MarkdownTrace(this.inline) : null;
    this.blocks = this.trace ? new TracedBlockWriter(this.trace) : new BlockWriter();
  }

  /** Starts the pages up to this one. Without a number, starts all that are left. */
  startPages(upTo?: number): void {
    const { numbers, markers } = this.options.pages!;
    // With targetSelector, the elements may be in another order than the pages.
    if (upTo !== undefined && this.startedPages > 0 && upTo <= numbers[this.startedPages - 1]!) return;
    this.flush();
    while (this.startedPages < numbers.length) {
      const page = numbers[this.startedPages]!;
      this.startedPages += 1;
      this.blocks.startPage(page);
      if (markers) {
        this.blocks.announce('text');
        this.blocks.writeMarker(pageMarker(page));
      }
      if (page === upTo) break;
    }
  }

  /** Ends the open paragraph. In single-line mode, only adds a space. */
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

  /** Cleans page text outside of citations: characters that imitate a citation are replaced with look-alikes. */
  clean(text: string): string {
    return this.options.retainLinks === 'gpt-oss' ? withoutCitationMarks(text) : text;
  }
}
