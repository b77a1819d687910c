/**
 * Does to a page as it was sent what its scripts would have done at once, where the HTML itself says what that is.
 * A page that a browser has already run comes out unchanged.
 */
import {
  attribute,
  type Child,
  COMMENT,
  type Document,
  detach,
  ELEMENT,
  type Element,
  elements,
  following,
  insertBefore,
  removeAttribute,
  TEXT,
  textOf,
  unwrap,
} from '#html/node.ts';

/** Settles the page in place. `onRemove` hears of each piece that gives way while it still stands in the tree. */
export function settle(document: Document, onRemove?: (node: Child) => void): void {
  placeSegments(document, onRemove);
  openNoscript(document);
}

/** React streams late parts of a page as hidden `S:n` divisions, to be put where the template `B:n` stands. */
function placeSegments(document: Document, onRemove?: (node: Child) => void): void {
  const segments = new Map<string, Element>();
  const places = new Map<string, Element>();
  for (const element of elements(document)) {
    if (element.name !== 'template' && element.name !== 'div') continue;
    const id = attribute(element, 'id');
    if (id === null) continue;
    if (element.name === 'template' && id.startsWith('B:')) places.set(id.slice(2), element);
    else if (id.startsWith('S:') && attribute(element, 'hidden') !== null) segments.set(id.slice(2), element);
  }
  for (const [number, segment] of segments) {
    const place = places.get(number);
    if (!place?.parent || isInside(place, segment)) continue;
    clearFallback(place, segment, onRemove);
    removeAttribute(segment, 'hidden');
    insertBefore(segment, place);
  }
}

function isInside(node: Child, holder: Element): boolean {
  for (let at: Child['parent'] = node.parent; at; at = at.parent) if (at === holder) return true;
  return false;
}

/** How many siblings a fallback may have. */
const LONGEST_FALLBACK = 200;

/** What stands between a place's template and the comment that ends it is what was shown while waiting. */
function clearFallback(place: Element, segment: Element, onRemove?: (node: Child) => void): void {
  let end = place.next;
  let steps = 0;
  while (end && !(end.type === COMMENT && end.value === '/$')) {
    // Thousands of places without an end among thousands of siblings would each look at all of them.
    end = steps++ < LONGEST_FALLBACK ? end.next : null;
  }
  if (!end || segment.parent === place.parent) return;
  for (let node = place.next; node && node !== end; ) {
    const next: Child | null = node.next;
    onRemove?.(node);
    detach(node);
    node = next;
  }
}

/** When nearly all the text of a page stands in `noscript`, that is the page for those who run no scripts: open it. */
function openNoscript(document: Document): void {
  const closed: Element[] = [];
  let inside = 0;
  let outside = 0;
  let node = following(document, document);
  while (node) {
    let skip = false;
    if (node.type === TEXT) outside += node.value.length;
    else if (node.type === ELEMENT) {
      if (node.name === 'noscript') {
        closed.push(node);
        inside += textOf(node).trim().length;
        skip = true;
      } else skip = node.name === 'script' || node.name === 'style' || node.name === 'head' || node.name === 'template';
    }
    node = following(node, document, skip);
  }
  if (inside < 200 || inside < 2 * outside) return;
  for (const element of closed) unwrap(element);
}
