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
  following,
  insertBefore,
  removeAttribute,
  TEXT,
  textOf,
  unwrap,
} from '#html/node.ts';

/** What a page has to settle, found in one walk. */
interface Findings {
  /** Late parts of the page by number, and the templates that stand where they belong. */
  segments: Map<string, Element>;
  places: Map<string, Element>;
  noscripts: Element[];
  /** Lengths of the text in `noscript` and of the page's other text. */
  insideLength: number;
  outsideLength: number;
}

export interface SettleOptions {
  /** Hears of each piece that gives way while it still stands in the tree. */
  readonly onRemove?: ((node: Child) => void) | undefined;
  /** Hears of each late part that was put into its place. */
  readonly onPlace?: ((element: Element) => void) | undefined;
}

/** Settles the page in place. */
export function settle(document: Document, { onRemove, onPlace }: SettleOptions = {}): void {
  const findings = search(document);
  for (const segment of placeSegments(findings, onRemove)) onPlace?.(segment);
  openNoscript(findings);
}

/** Elements whose text is no text of the page as it stands. */
const SEPARATE = new Set(['noscript', 'script', 'style', 'head', 'template']);

function search(document: Document): Findings {
  const found: Findings = {
    segments: new Map(),
    places: new Map(),
    noscripts: [],
    insideLength: 0,
    outsideLength: 0,
  };
  let node = following(document, document);
  while (node) {
    let skip = false;
    if (node.type === TEXT) found.outsideLength += node.value.length;
    else if (node.type === ELEMENT) {
      if (node.name === 'div' || node.name === 'template') noteSegment(node, found);
      else if (node.name === 'noscript') {
        found.noscripts.push(node);
        found.insideLength += textOf(node).trim().length;
      }
      skip = SEPARATE.has(node.name);
    }
    node = following(node, document, skip);
  }
  return found;
}

/** React streams late parts of a page as hidden `S:n` divisions, to be put where the template `B:n` stands. */
function noteSegment(element: Element, { segments, places }: Findings): void {
  const id = attribute(element, 'id');
  if (id === null) return;
  if (element.name === 'template' && id.startsWith('B:')) places.set(id.slice(2), element);
  else if (id.startsWith('S:') && attribute(element, 'hidden') !== null) segments.set(id.slice(2), element);
}

function placeSegments({ segments, places }: Findings, onRemove?: (node: Child) => void): Element[] {
  const placed: Element[] = [];
  for (const [number, segment] of segments) {
    const place = places.get(number);
    if (!place?.parent || isInside(place, segment)) continue;
    clearFallback(place, segment, onRemove);
    removeAttribute(segment, 'hidden');
    insertBefore(segment, place);
    placed.push(segment);
  }
  return placed;
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
function openNoscript({ noscripts, insideLength, outsideLength }: Findings): void {
  if (insideLength < 200 || insideLength < 2 * outsideLength) return;
  for (const element of noscripts) unwrap(element);
}
