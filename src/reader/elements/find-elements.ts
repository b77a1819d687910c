/** Splits the content of a page or document into its elements: headings, paragraphs, tables, pictures. */
import {
  attribute,
  type Child,
  DOCUMENT,
  type Document,
  ELEMENT,
  type Element,
  type Node,
  TEXT,
  textOf,
} from '#html/node.ts';
import { isUrl } from '#is-url.ts';
import { imageUrl } from '../extract/content/images.ts';
import { BLOCK_ELEMENTS } from '../markdown/elements/block-elements.ts';
import { mathmlToLatex } from '../markdown/mathml.ts';
import { isSafePicture } from '../markdown/url.ts';
import { type Places, placeOf } from '../places/take-places.ts';
import type { ContentElement, ElementKind, ElementLink } from './content-element.ts';
import { tableRows } from './table-rows.ts';

export interface ElementOptions {
  readonly baseUrl: string;
  readonly places: Places | undefined;
  readonly keepImgDataUrl: boolean;
  readonly pictureUrl: ((dataUrl: string) => string | undefined) | undefined;
  readonly retainImages: string;
}

const SKIPPED: ReadonlySet<string> = new Set(
  'script style head template noscript iframe object embed svg canvas audio video input select textarea button'.split(
    ' ',
  ),
);

export function findElements(root: Element | Document, options: ElementOptions): ContentElement[] {
  const writer = new ElementWriter(options);
  let node: Node = root;
  for (;;) {
    const isOpen: boolean = node.type === ELEMENT ? writer.enter(node) : node.type === DOCUMENT;
    const child: Child | null = isOpen ? (node as Element).first : null;
    if (node.type === TEXT) writer.text(node.value, node.parent);
    if (child) {
      node = child;
      continue;
    }
    if (node.type === ELEMENT) writer.leave(node);
    while (node !== root && !(node as Child).next) {
      node = (node as Child).parent!;
      if (node.type === ELEMENT) writer.leave(node);
    }
    if (node === root) break;
    node = (node as Child).next!;
  }
  writer.flush();
  return writer.elements;
}

/** The kind of a text, and the element that decides it. */
interface Role {
  readonly kind: ElementKind;
  readonly source: Element | null;
  readonly level?: number;
  readonly isNumbered?: boolean;
}

class ElementWriter {
  readonly elements: ContentElement[] = [];
  private readonly options: ElementOptions;
  private role: Role | undefined;
  private written = '';
  private links: ElementLink[] = [];
  private emphasis: { text: string; tag: 'b' | 'i' }[] = [];
  private openLink: { readonly element: Element; readonly start: number } | undefined;
  private openEmphasis: { readonly element: Element; readonly start: number } | undefined;
  /** Pictures inside the open text, which follow it. */
  private pictures: ContentElement[] = [];

  constructor(options: ElementOptions) {
    this.options = options;
  }

  /** Returns whether the children of the element are visited. */
  enter(element: Element): boolean {
    const { name } = element;
    if (SKIPPED.has(name)) return false;
    if (name === 'table') {
      this.flush();
      this.table(element);
      return false;
    }
    if (name === 'img') {
      this.picture(element);
      return false;
    }
    if (name === 'math') {
      this.formula(element);
      return false;
    }
    if (name === 'br') this.breakLine();
    else if (BLOCK_ELEMENTS.has(name)) this.flush();
    else if (name === 'a' && !this.openLink) this.openLink = { element, start: this.written.length };
    else if (EMPHASIS.has(name) && !this.openEmphasis) this.openEmphasis = { element, start: this.written.length };
    return true;
  }

  leave(element: Element): void {
    if (element === this.openLink?.element) this.closeLink();
    else if (element === this.openEmphasis?.element) this.closeEmphasis();
    else if (BLOCK_ELEMENTS.has(element.name)) this.flush();
  }

  text(value: string, parent: Node | null): void {
    this.append(value, parent);
  }

  flush(): void {
    this.closeLink();
    this.closeEmphasis();
    const { role, links, emphasis, pictures } = this;
    const text = role?.kind === 'code' ? this.written.replace(/^\n+|\s+$/g, '') : this.written.trim();
    if (role && text) {
      const { source, ...facts } = role;
      this.elements.push({
        ...facts,
        text,
        ...(links.length > 0 && { links }),
        ...(emphasis.length > 0 && { emphasis }),
        ...this.placeOf(source),
      });
    }
    this.elements.push(...pictures);
    this.role = undefined;
    this.written = '';
    this.links = [];
    this.emphasis = [];
    this.pictures = [];
  }

  private append(value: string, parent: Node | null): void {
    const isBlank = value.trim() === '';
    if (!this.role && isBlank) return;
    this.role ??= roleOf(parent);
    if (this.role.kind === 'code') {
      this.written += value;
      return;
    }
    const flat = value.replace(/\s+/g, ' ');
    this.written += /(?:^|[ \n])$/.test(this.written) ? flat.trimStart() : flat;
  }

  private breakLine(): void {
    if (this.role) this.written = `${this.written.trimEnd()}\n`;
  }

  private closeLink(): void {
    if (!this.openLink) return;
    const { element, start } = this.openLink;
    this.openLink = undefined;
    const text = this.written.slice(start).trim();
    const href = attribute(element, 'href');
    if (!text || href === null || !isUrl(href, this.options.baseUrl)) return;
    const { href: url, protocol } = new URL(href, this.options.baseUrl);
    if (!LINK_SCHEMES.has(protocol)) return;
    this.links.push({ text, url, start });
  }

  private closeEmphasis(): void {
    if (!this.openEmphasis) return;
    const { element, start } = this.openEmphasis;
    this.openEmphasis = undefined;
    const text = this.written.slice(start).trim();
    if (text) this.emphasis.push({ text, tag: element.name === 'b' || element.name === 'strong' ? 'b' : 'i' });
  }

  private table(table: Element): void {
    for (let child = table.first; child; child = child.next) {
      if (child.type !== ELEMENT || child.name !== 'caption') continue;
      const text = flatText(child);
      if (text) this.elements.push({ kind: 'caption', text, ...this.placeOf(table) });
    }
    const rows = tableRows(table);
    const text = rows
      .flat()
      .map((cell) => cell.text)
      .filter(Boolean)
      .join(' ');
    if (text) this.elements.push({ kind: 'table', text, rows, ...this.placeOf(table) });
  }

  private picture(image: Element): void {
    const { baseUrl, keepImgDataUrl, pictureUrl, retainImages } = this.options;
    if (retainImages === 'none') return;
    const url = imageUrl(image, baseUrl, { keepDataUrl: keepImgDataUrl, pictureUrl });
    if (url === null || !isSafePicture(url)) return;
    const text = (attribute(image, 'alt') ?? '').replace(/\s+/g, ' ').trim();
    this.pictures.push({ kind: 'picture', text, url, ...this.placeOf(image) });
  }

  private formula(math: Element): void {
    const latex = mathmlToLatex(math);
    if (!latex) return;
    if (attribute(math, 'display') === 'block') {
      this.flush();
      this.elements.push({ kind: 'formula', text: latex, ...this.placeOf(math) });
    } else this.append(latex, math.parent);
  }

  private placeOf(element: Element | null): Pick<ContentElement, 'page' | 'box'> {
    const { places } = this.options;
    return places && element ? placeOf(element, places) : {};
  }
}

const EMPHASIS: ReadonlySet<string> = new Set(['b', 'strong', 'i', 'em']);
const LINK_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);

const flatText = (element: Element): string => textOf(element).replace(/\s+/g, ' ').trim();

/** The role of text in an element: that of the closest element around it that has one. */
function roleOf(parent: Node | null): Role {
  let block: Element | null = null;
  let isQuote = false;
  for (let node = parent; node?.type === ELEMENT; node = node.parent) {
    const { name } = node;
    if (!block && BLOCK_ELEMENTS.has(name)) block = node;
    if (/^h[1-6]$/.test(name)) return { kind: 'heading', level: Number(name[1]), source: node };
    if (name === 'pre') return { kind: 'code', source: node };
    if (name === 'figcaption') return { kind: 'caption', source: node };
    if (name === 'li') return { kind: 'list item', ...listPlace(node), source: node };
    if (name === 'blockquote') isQuote = true;
  }
  return { kind: isQuote ? 'quote' : 'paragraph', source: block };
}

function listPlace(item: Element): { level: number; isNumbered: boolean } {
  let level = 0;
  let isNumbered: boolean | undefined;
  for (let node: Node | null = item.parent; node?.type === ELEMENT; node = node.parent) {
    if (node.name !== 'ol' && node.name !== 'ul') continue;
    isNumbered ??= node.name === 'ol';
    level += 1;
  }
  return { level: Math.max(1, level), isNumbered: isNumbered ?? false };
}

/** The paragraphs of plain text, which empty lines separate. */
export const textElements = (text: string): ContentElement[] =>
  text
    .split(/\n[^\S\n]*\n/)
    .map((paragraph) => paragraph.trim())
    .filter(Boolean)
    .map((paragraph) => ({ kind: 'paragraph', text: paragraph }));
