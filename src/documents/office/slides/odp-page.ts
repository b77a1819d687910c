/** One slide of an OpenDocument presentation as HTML (version 1.3, part 3, chapter 10). */
import { attribute, child, children, descendants, find, textOf, type XmlElement } from '../../xml/xml.ts';
import { Flow } from '../flow.ts';
import { cellHtml } from '../html-output.ts';
import type { OdfFile } from '../odf.ts';
import { OdfReader } from '../odf-body.ts';
import type { OdfStyles } from '../odf-styles.ts';
import type { Draw } from '../pictures.ts';
import { type Box, type Placed, readingOrder } from './order.ts';

export interface OdpContext {
  readonly file: OdfFile;
  readonly styles: OdfStyles;
  readonly draw: Draw;
  /** The paper of a master page, in mm. */
  readonly sizeOf: (masterPage: string) => { readonly width: number; readonly height: number } | undefined;
}

export interface OdpPage {
  /** The heading's text as HTML, '' when it has none. */
  readonly title: string;
  readonly html: string;
  readonly hiddenCount: number;
}

/** What every slide repeats. */
const FURNITURE: ReadonlySet<string> = new Set(['header', 'footer', 'date-time', 'page-number', 'page']);
const SHAPES: ReadonlySet<string> = new Set(
  'frame custom-shape rect ellipse circle line polyline polygon regular-polygon path connector caption measure a'
    .split(' ')
    .map((name) => `draw:${name}`),
);
const MAX_GROUP_DEPTH = 16;
const MAX_SHAPES = 5_000;

interface Piece {
  readonly isTitle: boolean;
  readonly html: string;
}

export function readOdpPage(page: XmlElement, context: OdpContext): OdpPage {
  const size = context.sizeOf(attribute(page, 'draw:master-page-name') ?? '');
  let hiddenCount = 0;
  let shapes = 0;
  let title = '';

  const isOutside = ({ left, top, width, height }: Box): boolean =>
    size !== undefined && (left >= size.width || top >= size.height || left + width <= 0 || top + height <= 0);

  const read = (element: XmlElement): string => {
    const flow = new Flow();
    const { file, styles, draw } = context;
    const reader = new OdfReader({ styles, flow, draw, object: file.object });
    reader.read(element);
    hiddenCount += reader.hiddenCount;
    return flow
      .finish()
      .map(({ html }) => html)
      .join('\n');
  };

  const pieceOf = (shape: XmlElement): Piece => {
    const isTitle = attribute(shape, 'presentation:class') === 'title';
    const frame = shape.name === 'draw:a' ? (child(shape, 'draw:frame') ?? shape) : shape;
    const table = child(frame, 'table:table');
    const chart = table ? undefined : chartIn(frame, context.file);
    const html = table ? read(table) : chart ? chartHtml(chart, read) : read(shape);
    if (!isTitle || title !== '') return { isTitle: false, html };
    title = onOneLine(html);
    return { isTitle, html: title === '' ? '' : `<h2>${title}</h2>` };
  };

  const group = (parent: XmlElement, depth: number): Piece[] => {
    const placed: Placed<Piece[]>[] = [];
    for (const shape of children(parent)) {
      const isGroup = shape.name === 'draw:g';
      if ((!isGroup && !SHAPES.has(shape.name)) || ++shapes > MAX_SHAPES) continue;
      if (FURNITURE.has(attribute(shape, 'presentation:class') ?? '')) continue;
      if (attribute(shape, 'presentation:placeholder') === 'true') continue;
      if (attribute(shape, 'draw:display') === 'none') {
        hiddenCount++;
        continue;
      }
      const pieces = isGroup ? (depth < MAX_GROUP_DEPTH ? group(shape, depth + 1) : []) : [pieceOf(shape)];
      const filled = pieces.filter(({ html }) => html !== '');
      const box = isGroup ? around(children(shape).map(boxOf)) : boxOf(shape);
      if (filled.length === 0) continue;
      if (box && isOutside(box)) hiddenCount++;
      else placed.push({ item: filled, box });
    }
    return readingOrder(placed).flat();
  };

  const pieces = group(page, 0);
  const titles = pieces.filter(({ isTitle }) => isTitle);
  const others = pieces.filter(({ isTitle }) => !isTitle);
  const html = [...titles, ...others].map((piece) => piece.html);
  const notes = notesOf(page, read);
  return { title, html: [...html, notes].filter(Boolean).join('\n'), hiddenCount };
}

function notesOf(page: XmlElement, read: (element: XmlElement) => string): string {
  const frames = children(child(page, 'presentation:notes'), 'draw:frame');
  const texts = frames
    .filter((frame) => attribute(frame, 'presentation:class') === 'notes')
    .filter((frame) => attribute(frame, 'presentation:placeholder') !== 'true')
    .map(read);
  const html = texts.join('');
  return html === '' ? '' : `<blockquote>${html}</blockquote>`;
}

/** Blocks as one line; text is escaped, so that what looks like a tag is one. */
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

/** Its title, and the table of values that it keeps. */
function chartHtml(chart: XmlElement, read: (element: XmlElement) => string): string {
  const title = child(chart, 'chart:title');
  const name = title ? cellHtml([...descendants(title, 'text:p')].map(textOf).join(' ')) : '';
  const table = child(chart, 'table:table');
  return [name === '' ? '' : `<p><b>${name}</b></p>`, table ? read(table) : ''].filter(Boolean).join('\n');
}

const MM: Readonly<Record<string, number>> = { mm: 1, cm: 10, in: 25.4, pt: 25.4 / 72, pc: 25.4 / 6, px: 25.4 / 96 };

/** A length in mm; NaN when it is none. */
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

function around(boxes: readonly (Box | undefined)[]): Box | undefined {
  const known = boxes.filter((box) => box !== undefined);
  if (known.length === 0) return undefined;
  const left = known.reduce((least, box) => Math.min(least, box.left), Number.POSITIVE_INFINITY);
  const top = known.reduce((least, box) => Math.min(least, box.top), Number.POSITIVE_INFINITY);
  const right = known.reduce((most, box) => Math.max(most, box.left + box.width), Number.NEGATIVE_INFINITY);
  const bottom = known.reduce((most, box) => Math.max(most, box.top + box.height), Number.NEGATIVE_INFINITY);
  return { left, top, width: right - left, height: bottom - top };
}
