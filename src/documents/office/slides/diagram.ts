/** SmartArt: the texts of its points, as the list that PowerPoint shows (ECMA-376 part 1, 21.4.2). */
import { attribute, child, children, type XmlElement } from '../../xml/xml.ts';
import { type TextContext, textHtml } from './text-body.ts';

const MAX_POINTS = 5_000;
const MAX_LEVEL = 8;

export function diagramHtml(root: XmlElement | undefined, context: TextContext): string {
  const points = children(child(root, 'dgm:ptLst'), 'dgm:pt').slice(0, MAX_POINTS);
  const byId = new Map(points.map((point) => [attribute(point, 'modelId') ?? '', point]));
  const below = childrenOf(root);
  const top = points.find((point) => attribute(point, 'type') === 'doc');
  const seen = new Set<XmlElement>();
  const stack = (below.get((top && attribute(top, 'modelId')) ?? '') ?? []).map((id) => ({ id, level: 0 })).reverse();
  const items: { readonly html: string; readonly level: number }[] = [];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const point = byId.get(next.id);
    if (!point || seen.has(point)) continue;
    seen.add(point);
    const html = lineOf(point, context);
    if (html !== '') items.push({ html, level: next.level });
    const level = Math.min(MAX_LEVEL, next.level + (html === '' ? 0 : 1));
    for (const id of [...(below.get(next.id) ?? [])].reverse()) stack.push({ id, level });
  }
  return listHtml(items);
}

const lineOf = (point: XmlElement, context: TextContext): string =>
  /^(?:parTrans|sibTrans|pres)$/.test(attribute(point, 'type') ?? 'node')
    ? ''
    : textHtml(child(point, 'dgm:t'), 'heading', context).replace(/^<h2>|<\/h2>$/g, '');

/** The child points of each point, in order. */
function childrenOf(root: XmlElement | undefined): Map<string, string[]> {
  const found = new Map<string, { readonly id: string; readonly order: number }[]>();
  for (const link of children(child(root, 'dgm:cxnLst'), 'dgm:cxn')) {
    if ((attribute(link, 'type') ?? 'parOf') !== 'parOf') continue;
    const from = attribute(link, 'srcId') ?? '';
    const list = found.get(from) ?? [];
    list.push({ id: attribute(link, 'destId') ?? '', order: Number(attribute(link, 'srcOrd') ?? 0) });
    found.set(from, list);
  }
  return new Map(
    [...found].map(([from, list]) => [from, list.sort((one, other) => one.order - other.order).map(({ id }) => id)]),
  );
}

function listHtml(items: readonly { readonly html: string; readonly level: number }[]): string {
  let html = '';
  let depth = 0;
  for (const item of items) {
    const level = Math.min(item.level + 1, depth + 1);
    if (level > depth) html += '<ul>'.repeat(level - depth);
    else html += `${'</li></ul>'.repeat(depth - level)}</li>`;
    html += `<li>${item.html}`;
    depth = level;
  }
  return `${html}${'</li></ul>'.repeat(depth)}`;
}
