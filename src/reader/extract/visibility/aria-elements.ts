/**
 * Gives elements the names that their ARIA roles stand for: headings, and the parts of tables. Browsers announce both in
 * the same way, and the later steps know only the names.
 */
import { attribute, type Document, ELEMENT, type Element, following } from '#html/node.ts';

/** Elements that have no meaning of their own. */
const NEUTRAL = new Set(['div', 'span', 'p', 'section', 'header']);
const TABLES = new Set(['table', 'grid', 'treegrid']);
const TABLE_PARTS = new Map([
  ['rowgroup', 'tbody'],
  ['row', 'tr'],
  ['cell', 'td'],
  ['gridcell', 'td'],
  ['columnheader', 'th'],
  ['rowheader', 'th'],
]);
/** The level of a heading that does not say one (WAI-ARIA 1.2, heading). */
const DEFAULT_LEVEL = 2;
const HEADING = /^h[1-6]$/;

/** Renames elements in place. */
export function applyRoles(document: Document): void {
  for (let node = following(document, document); node; node = following(node, document)) {
    if (node.type !== ELEMENT || node.attributes.length === 0 || !NEUTRAL.has(node.name)) continue;
    const role = roleOf(node);
    if (role === 'heading') becomeHeading(node);
    else if (TABLES.has(role)) becomeTable(node);
  }
}

/** The first role of the attribute. The others are alternatives for older browsers. */
function roleOf(element: Element): string {
  const roles = attribute(element, 'role');
  return roles === null ? '' : (/\S+/.exec(roles)?.[0].toLowerCase() ?? '');
}

function becomeHeading(element: Element): void {
  for (let node = following(element, element); node; node = following(node, element)) {
    if (node.type === ELEMENT && (HEADING.test(node.name) || roleOf(node) === 'heading')) return;
  }
  const level = Number(attribute(element, 'aria-level') ?? DEFAULT_LEVEL);
  element.name = `h${Number.isInteger(level) && level >= 1 ? Math.min(level, 6) : DEFAULT_LEVEL}`;
}

/** A table needs rows with cells, and no table inside, because its parts would be taken for those of the outer one. */
function becomeTable(table: Element): void {
  const parts: [Element, string][] = [];
  let cells = 0;
  for (let node = following(table, table); node; node = following(node, table)) {
    if (node.type !== ELEMENT) continue;
    const role = roleOf(node);
    if (node.name === 'table' || TABLES.has(role)) return;
    const name = NEUTRAL.has(node.name) ? TABLE_PARTS.get(role) : undefined;
    if (!name) continue;
    parts.push([node, name]);
    if (name === 'td' || name === 'th') cells += 1;
  }
  if (cells === 0 || !parts.some(([, name]) => name === 'tr')) return;
  table.name = 'table';
  for (const [element, name] of parts) element.name = name;
}
