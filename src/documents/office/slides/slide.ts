/** One PowerPoint slide as HTML: its title, then its content in reading order, then its notes. */
import { attribute, child, childAt, children, find, type XmlElement } from '../../xml/xml.ts';
import { chartHead, chartTable, readChart } from '../chart.ts';
import { safeHref } from '../inline.ts';
import type { Package, Relationship } from '../package.ts';
import type { Draw } from '../pictures.ts';
import { TextBuilder } from '../text-builder.ts';
import { diagramHtml } from './diagram.ts';
import { type Box, isOutside, type PlacedObject, readingOrder, type SlideSize } from './order.ts';
import { type Piece, type Slide, slideHtml } from './pieces.ts';
import {
  ancestorsOf,
  boxOf,
  familyOf,
  nonVisualPropertiesOf,
  type Placeholder,
  placeholderOf,
  readBox,
  type SlideParents,
} from './placeholders.ts';
import { type TextContext, textHtml, writeText } from './text-body.ts';

export interface SlideContext {
  readonly source: Package;
  readonly draw: Draw;
  readonly ground: SlideParents;
  /** Name of the part. */
  readonly part: string;
  /** In EMU (1/914,400 inch), like all positions. */
  readonly size: SlideSize;
}

/** Placeholders that repeat on every slide. */
const FURNITURE: ReadonlySet<string> = new Set(['dt', 'ftr', 'hdr', 'sldNum', 'sldImg']);
const MAX_GROUP_DEPTH = 16;
const MAX_SHAPES = 5_000;

export function readSlide(root: XmlElement, context: SlideContext): Slide {
  const reader = new SlideReader(context);
  return reader.read(root);
}

class SlideReader {
  private readonly context: SlideContext;
  private readonly relationships: ReadonlyMap<string, Relationship>;
  private hiddenCount = 0;
  private shapes = 0;
  private title = '';

  constructor(context: SlideContext) {
    this.context = context;
    this.relationships = new Map(context.source.relationships(context.part).map((one) => [one.id, one]));
  }

  read(root: XmlElement): Slide {
    const tree = childAt(root, 'p:cSld', 'p:spTree');
    const pieces = this.group(tree, SAME_PLACE, 0);
    const html = slideHtml(pieces, this.notes());
    return { title: this.title, html, hiddenCount: this.hiddenCount };
  }

  private group(tree: XmlElement | undefined, place: Transform, depth: number): Piece[] {
    const placed: PlacedObject<Piece[]>[] = [];
    for (const shape of children(tree).map(chosen)) {
      if (!shape || ++this.shapes > MAX_SHAPES) continue;
      const facts = child(nonVisualPropertiesOf(shape), 'p:cNvPr');
      if (facts && /^(?:1|true)$/.test(attribute(facts, 'hidden') ?? '')) {
        this.hiddenCount++;
        continue;
      }
      const placeholder = placeholderOf(shape);
      if (placeholder && FURNITURE.has(placeholder.type)) continue;
      const ancestors = ancestorsOf(placeholder, this.context.ground);
      const own = boxOf(shape, ancestors);
      const box = own && place(own);
      const inner = shape.name === 'p:grpSp' && depth < MAX_GROUP_DEPTH;
      const pieces = inner
        ? this.group(shape, insideOf(shape, place), depth + 1)
        : this.piece(shape, placeholder, ancestors);
      const filled = pieces.filter(({ html }) => html !== '');
      if (filled.length === 0) continue;
      if (box && isOutside(box, this.context.size)) this.hiddenCount++;
      else placed.push({ item: filled, box });
    }
    return readingOrder(placed).flat();
  }

  private piece(shape: XmlElement, placeholder: Placeholder | undefined, ancestors: readonly XmlElement[]): Piece[] {
    switch (shape.name) {
      case 'p:sp':
        return [this.textShape(shape, placeholder, ancestors)];
      case 'p:pic':
        return [{ isTitle: false, html: this.picture(shape) }];
      case 'p:graphicFrame':
        return [{ isTitle: false, html: this.graphic(shape) }];
      default:
        return [];
    }
  }

  private textShape(shape: XmlElement, placeholder: Placeholder | undefined, ancestors: readonly XmlElement[]): Piece {
    const family = placeholder && familyOf(placeholder.type);
    const isTitle = family === 'title';
    const body = child(shape, 'p:txBody');
    const context = this.textContext(family, ancestors);
    if (!isTitle) return { isTitle, html: textHtml(body, 'text', context) };
    const isFirst = this.title === '';
    const html = textHtml(body, 'heading', context, isFirst ? 2 : 3);
    if (isFirst) this.title = html.replace(/^<h2>|<\/h2>$/g, '');
    return { isTitle: isFirst, html };
  }

  private textContext(family: string | undefined, ancestors: readonly XmlElement[]): TextContext {
    const { master, defaults } = this.context.ground;
    const style = family === 'title' ? 'p:titleStyle' : family === 'body' ? 'p:bodyStyle' : 'p:otherStyle';
    const levels = [
      ...ancestors.map((shape) => childAt(shape, 'p:txBody', 'a:lstStyle')),
      childAt(master, 'p:txStyles', style),
      defaults,
    ];
    return { href: (id) => this.href(id), levels: levels.filter((level) => level !== undefined) };
  }

  private href(id: string): string | undefined {
    const target = this.relationships.get(id);
    return target?.external ? safeHref(target.target) : undefined;
  }

  private target(id: string | undefined): string | undefined {
    const target = this.relationships.get(id ?? '');
    return target && !target.external ? target.target : undefined;
  }

  private picture(shape: XmlElement): string {
    const facts = child(nonVisualPropertiesOf(shape), 'p:cNvPr');
    const decorative = find(facts, 'adec:decorative');
    if (decorative && /^(?:1|true)$/.test(attribute(decorative, 'val') ?? '')) return '';
    const blip = childAt(shape, 'p:blipFill', 'a:blip');
    const target = this.target(blip && attribute(blip, 'r:embed'));
    const { draw } = this.context;
    const html = draw(target, (facts && attribute(facts, 'descr')) ?? '');
    return html === '' ? '' : `<p>${html}</p>`;
  }

  private graphic(frame: XmlElement): string {
    const data = childAt(frame, 'a:graphic', 'a:graphicData');
    const { source } = this.context;
    for (const element of children(data)) {
      if (element.name === 'a:tbl') return this.table(element);
      if (element.name === 'c:chart') {
        const chart = readChart(source.xml(this.target(attribute(element, 'r:id'))));
        return chartHead(chart) + chartTable(chart);
      }
      if (element.name === 'dgm:relIds') {
        return diagramHtml(source.xml(this.target(attribute(element, 'r:dm'))), this.textContext(undefined, []));
      }
    }
    const facts = child(nonVisualPropertiesOf(frame), 'p:cNvPr');
    const html = this.context.draw(undefined, (facts && attribute(facts, 'descr')) ?? '');
    return html === '' ? '' : `<p>${html}</p>`;
  }

  private table(table: XmlElement): string {
    const builder = new TextBuilder();
    const context = this.textContext(undefined, []);
    const properties = child(table, 'a:tblPr');
    const isOn = (element: XmlElement, name: string) => /^(?:1|true)$/.test(attribute(element, name) ?? '');
    const hasHeader = properties !== undefined && isOn(properties, 'firstRow');
    builder.startTable();
    for (const [at, row] of children(table, 'a:tr').entries()) {
      builder.startRow({ header: hasHeader && at === 0 });
      for (const cell of children(row, 'a:tc')) {
        if (isOn(cell, 'hMerge') || isOn(cell, 'vMerge')) continue;
        builder.startCell({ colspan: spanOf(cell, 'gridSpan'), rowspan: spanOf(cell, 'rowSpan') });
        writeText(child(cell, 'a:txBody'), 'text', context, builder);
        builder.endCell();
      }
    }
    builder.endTable(hasHeader ? true : undefined);
    return builder.finish()[0]!.html;
  }

  private notes(): string {
    const { source, ground } = this.context;
    const part = [...this.relationships.values()].find(
      ({ type, external }) => type === 'notesSlide' && !external,
    )?.target;
    const root = source.xml(part);
    if (!root || part === undefined) return '';
    const reader = new SlideReader({
      ...this.context,
      part,
      ground: { ...ground, layout: undefined, master: undefined },
    });
    return reader.noteText(childAt(root, 'p:cSld', 'p:spTree'));
  }

  noteText(tree: XmlElement | undefined): string {
    const bodies = children(tree, 'p:sp').filter((shape) => placeholderOf(shape)?.type === 'body');
    const context = this.textContext(undefined, []);
    return bodies.map((shape) => textHtml(child(shape, 'p:txBody'), 'quote', context)).join('');
  }
}

const MAX_SPAN = 1_000;

const spanOf = (cell: XmlElement, name: string): number =>
  Math.max(1, Math.min(MAX_SPAN, Math.floor(Number(attribute(cell, name) ?? 1)) || 1));

/**
 * Content for newer programs has an older fallback. The newest kinds of charts are readable only through the fallback.
 */
function chosen(shape: XmlElement): XmlElement | undefined {
  if (shape.name !== 'mc:AlternateContent') return shape;
  const choice = child(shape, 'mc:Choice');
  const isKnown = choice && !/^cx/.test(attribute(choice, 'Requires') ?? '');
  return children(isKnown ? choice : child(shape, 'mc:Fallback'))[0] ?? children(choice)[0];
}

type Transform = (box: Box) => Box;

const SAME_PLACE: Transform = (box) => box;

/** Maps positions inside a group to positions on the slide. */
function insideOf(group: XmlElement, place: Transform): Transform {
  const xfrm = childAt(group, 'p:grpSpPr', 'a:xfrm');
  const [outer, inner] = [readBox(xfrm), readBox(xfrm, 'a:chOff', 'a:chExt')];
  if (!outer || !inner) return place;
  const across = inner.width > 0 ? outer.width / inner.width : 1;
  const down = inner.height > 0 ? outer.height / inner.height : 1;
  return (box) =>
    place({
      left: outer.left + (box.left - inner.left) * across,
      top: outer.top + (box.top - inner.top) * down,
      width: box.width * across,
      height: box.height * down,
    });
}
