/** One slide of an OpenDocument presentation as HTML (version 1.3, part 3, chapter 10). */
import { attribute, child, children, descendants, find, textOf, type XmlElement } from '../../xml/xml.ts';
import { cellHtml } from '../html-output.ts';
import type { OdfFile } from '../odf.ts';
import { OdfReader } from '../odf-body.ts';
import type { OdfStyles } from '../odf-styles.ts';
import type { Draw } from '../pictures.ts';
import { TextBuilder } from '../text-builder.ts';
import { type Box, isOutside, type PlacedObject, readingOrder, type SlideSize } from './order.ts';
import { type Piece, type Slide, slideHtml } from './pieces.ts';

export interface OdpContext {
  readonly file: OdfFile;
  readonly styles: OdfStyles;
  readonly draw: Draw;
  /** The page size of a master page, in mm. */
  readonly sizeOf: (masterPage: string) => SlideSize;
}

/** Classes of content that repeat on every slide. */
const FURNITURE: ReadonlySet<string> = new Set(['header', 'footer', 'date-time', 'page-number', 'page']);
const SHAPES: ReadonlySet<string> = new Set(
  'frame custom-shape rect ellipse circle line polyline polygon regular-polygon path connector caption measure a'
    .split(' ')
    .map((name) => `draw:${name}`),
);
const MAX_GROUP_DEPTH = 16;
const MAX_SHAPES = 5_000;

export function readOdpPage(page: XmlElement, context: OdpContext): Slide {
  return new PageReader(context, context.sizeOf(attribute(page, 'draw:master-page-name') ?? '')).read(page);
}

class PageReader {
  readonly #context: OdpContext;
  readonly #size: SlideSize;
  #hiddenCount = 0;
  #shapes = 0;
  #title = '';

  constructor(context: OdpContext, size: SlideSize) {
    this.#context = context;
    this.#size = size;
  }

  read(page: XmlElement): Slide {
    const pieces = this.#group(page, 0);
    const html = slideHtml(pieces, this.#notes(page));
    return { title: this.#title, html, hiddenCount: this.#hiddenCount };
  }

  #group(parent: XmlElement, depth: number): Piece[] {
    const placed: PlacedObject<Piece[]>[] = [];
    for (const shape of children(parent)) {
      const isGroup = shape.name === 'draw:g';
      if ((!isGroup && !SHAPES.has(shape.name)) || ++this.#shapes > MAX_SHAPES) continue;
      if (FURNITURE.has(attribute(shape, 'presentation:class') ?? '')) continue;
      if (attribute(shape, 'presentation:placeholder') === 'true') continue;
      if (attribute(shape, 'draw:display') === 'none') {
        this.#hiddenCount++;
        continue;
      }
      const pieces = isGroup ? this.#inner(shape, depth) : [this.#piece(shape)];
      const filled = pieces.filter(({ html }) => html !== '');
      const box = isGroup ? boundingBox(children(shape).map(boxOf)) : boxOf(shape);
      if (filled.length === 0) continue;
      if (box && isOutside(box, this.#size)) this.#hiddenCount++;
      else placed.push({ item: filled, box });
    }
    return readingOrder(placed).flat();
  }

  #inner(group: XmlElement, depth: number): Piece[] {
    return depth < MAX_GROUP_DEPTH ? this.#group(group, depth + 1) : [];
  }

  #piece(shape: XmlElement): Piece {
    const isTitle = attribute(shape, 'presentation:class') === 'title';
    const frame = shape.name === 'draw:a' ? (child(shape, 'draw:frame') ?? shape) : shape;
    const table = child(frame, 'table:table');
    const chart = table ? undefined : chartIn(frame, this.#context.file);
    const html = chart ? this.#chart(chart) : this.#content(table ?? shape);
    if (!isTitle || this.#title !== '') return { isTitle: false, html };
    this.#title = onOneLine(html);
    return { isTitle, html: this.#title === '' ? '' : `<h2>${this.#title}</h2>` };
  }

  /** The title of a chart, and its stored values as a table. */
  #chart(chart: XmlElement): string {
    const title = child(chart, 'chart:title');
    const name = title ? cellHtml([...descendants(title, 'text:p')].map(textOf).join(' ')) : '';
    const table = child(chart, 'table:table');
    return [name === '' ? '' : `<p><b>${name}</b></p>`, table ? this.#content(table) : ''].filter(Boolean).join('\n');
  }

  #notes(page: XmlElement): string {
    const frames = children(child(page, 'presentation:notes'), 'draw:frame');
    const html = frames
      .filter((frame) => attribute(frame, 'presentation:class') === 'notes')
      .filter((frame) => attribute(frame, 'presentation:placeholder') !== 'true')
      .map((frame) => this.#content(frame))
      .join('');
    return html === '' ? '' : `<blockquote>${html}</blockquote>`;
  }

  #content(element: XmlElement): string {
    const builder = new TextBuilder();
    const { file, styles, draw } = this.#context;
    const reader = new OdfReader({ styles, builder, draw, object: (name) => file.object(name) });
    reader.read(element);
    this.#hiddenCount += reader.hiddenCount;
    return builder
      .finish()
      .map(({ html }) => html)
      .join('\n');
  }
}

/** Joins blocks into one line. Text is escaped, so anything that looks like a tag is a tag. */
const onOneLine = (html: string): string =>
  html
    .replace(/<\/?(?:p|ul|ol|li|br|h\d)(?: [^<>]*)?>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

function chartIn(frame: XmlElement, file: OdfFile): XmlElement | undefined {
  const object = child(frame, 'draw:object');
  const href = object && attribute(object, 'xlink:href');
  const root = object && (find(object, 'chart:chart') ?? (href ? find(file.object(href), 'chart:chart') : undefined));
  return root;
}

const MM: Readonly<Record<string, number>> = { mm: 1, cm: 10, in: 25.4, pt: 25.4 / 72, pc: 25.4 / 6, px: 25.4 / 96 };

/** Converts a length to mm; NaN if it is invalid. */
export function mm(length: string | undefined): number {
  const found = /^(-?\d+(?:\.\d+)?)(mm|cm|in|pt|pc|px)$/.exec(length ?? '');
  return found ? Number(found[1]) * MM[found[2]!]! : Number.NaN;
}

function boxOf(shape: XmlElement): Box | undefined {
  const frame = shape.name === 'draw:a' ? (children(shape)[0] ?? shape) : shape;
  const value = (name: string) => mm(attribute(frame, name));
  const move = /translate\s*\(\s*(\S+?)[\s,]+(\S+?)\s*\)/.exec(
    (attribute(frame, 'draw:transform') ?? '').slice(0, 500),
  );
  const line = value('svg:x1');
  const box = Number.isNaN(line)
    ? {
        left: move ? mm(move[1]) : value('svg:x'),
        top: move ? mm(move[2]) : value('svg:y'),
        width: value('svg:width'),
        height: value('svg:height'),
      }
    : { left: line, top: value('svg:y1'), width: value('svg:x2') - line, height: value('svg:y2') - value('svg:y1') };
  return Object.values(box).every(Number.isFinite) ? box : undefined;
}

function boundingBox(boxes: readonly (Box | undefined)[]): Box | undefined {
  const known = boxes.filter((box) => box !== undefined);
  if (known.length === 0) return undefined;
  const left = known.reduce((least, box) => Math.min(least, box.left), Number.POSITIVE_INFINITY);
  const top = known.reduce((least, box) => Math.min(least, box.top), Number.POSITIVE_INFINITY);
  const right = known.reduce((most, box) => Math.max(most, box.left + box.width), Number.NEGATIVE_INFINITY);
  const bottom = known.reduce((most, box) => Math.max(most, box.top + box.height), Number.NEGATIVE_INFINITY);
  return { left, top, width: right - left, height: bottom - top };
}
