/** Properties that a shape inherits from layout and master: its position and the format of its paragraphs. */
import { attribute, child, childAt, children, descendants, type XmlElement } from '../../xml/xml.ts';
import type { Package } from '../package.ts';
import type { Box } from './order.ts';

export interface Placeholder {
  /** `title`, `body`, `ftr`...; `obj` if the file does not specify one. */
  readonly type: string;
  readonly index: string;
}

/** The layout and the master of a slide. */
export interface SlideParents {
  readonly layout: XmlElement | undefined;
  readonly master: XmlElement | undefined;
  /** Text defaults of the whole presentation. */
  readonly defaults: XmlElement | undefined;
}

export function createParentsReader(source: Package, defaults: XmlElement | undefined) {
  const known = new Map<string, SlideParents>();
  return (slidePart: string): SlideParents => {
    const layoutPart = targetOf(source, slidePart, 'slideLayout');
    const key = layoutPart ?? '';
    let ground = known.get(key);
    if (!ground) {
      const masterPart = layoutPart === undefined ? undefined : targetOf(source, layoutPart, 'slideMaster');
      ground = { layout: source.xml(layoutPart), master: source.xml(masterPart), defaults };
      known.set(key, ground);
    }
    return ground;
  };
}

export const targetOf = (source: Package, part: string, type: string): string | undefined =>
  source.relationships(part).find((one) => one.type === type && !one.external)?.target;

/** The non-visual properties, the first child of every kind of shape: `p:nvSpPr`, `p:nvPicPr`, `p:nvGraphicFramePr`. */
export const nonVisualPropertiesOf = (shape: XmlElement): XmlElement | undefined =>
  children(shape).find(({ name }) => /^p:nv\w+Pr$/.test(name));

export function placeholderOf(shape: XmlElement): Placeholder | undefined {
  const found = childAt(nonVisualPropertiesOf(shape), 'p:nvPr', 'p:ph');
  return found && { type: attribute(found, 'type') ?? 'obj', index: attribute(found, 'idx') ?? '0' };
}

/** The layout and master shapes that a placeholder inherits from, nearest first. */
export function ancestorsOf(placeholder: Placeholder | undefined, { layout, master }: SlideParents): XmlElement[] {
  if (!placeholder) return [];
  const inLayout = shapesOf(layout).find((shape) => {
    const other = placeholderOf(shape);
    return (
      other?.index === placeholder.index && (other.index !== '0' || familyOf(other.type) === familyOf(placeholder.type))
    );
  });
  const type = (inLayout && placeholderOf(inLayout)?.type) || placeholder.type;
  const family = familyOf(type === 'obj' ? placeholder.type : type);
  const inMaster = shapesOf(master).find((shape) => familyOf(placeholderOf(shape)?.type ?? '') === family);
  return [inLayout, inMaster].filter((shape) => shape !== undefined);
}

const shapes = new WeakMap<XmlElement, readonly XmlElement[]>();

function shapesOf(root: XmlElement | undefined): readonly XmlElement[] {
  if (!root) return [];
  let found = shapes.get(root);
  if (!found) {
    found = [...descendants(root)].filter(
      (element) => /^p:(?:sp|pic|graphicFrame)$/.test(element.name) && placeholderOf(element),
    );
    shapes.set(root, found);
  }
  return found;
}

/** One placeholder of a master corresponds to several placeholder types in layouts. */
export function familyOf(type: string): 'title' | 'body' | string {
  if (type === 'ctrTitle') return 'title';
  return /^(?:obj|body|subTitle|tbl|chart|dgm|media|clipArt|pic)$/.test(type) ? 'body' : type;
}

/** The position of a shape in EMU: its own, or inherited from its placeholder. */
export function boxOf(shape: XmlElement, ancestors: readonly XmlElement[]): Box | undefined {
  for (const one of [shape, ...ancestors]) {
    const box = readBox(
      child(one, 'p:xfrm') ?? childAt(one, 'p:spPr', 'a:xfrm') ?? childAt(one, 'p:grpSpPr', 'a:xfrm'),
    );
    if (box) return box;
  }
  return undefined;
}

export function readBox(xfrm: XmlElement | undefined, off = 'a:off', ext = 'a:ext'): Box | undefined {
  const [offset, extent] = [child(xfrm, off), child(xfrm, ext)];
  if (!offset || !extent) return undefined;
  const box = {
    left: Number(attribute(offset, 'x')),
    top: Number(attribute(offset, 'y')),
    width: Number(attribute(extent, 'cx')),
    height: Number(attribute(extent, 'cy')),
  };
  return Object.values(box).every(Number.isFinite) ? box : undefined;
}
