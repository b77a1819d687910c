/**
 * Makes the changes to an unrendered page that its scripts would make immediately, if they can be determined from the
 * HTML itself. A page that a browser has already rendered is not changed.
 */
import {
  attribute,
  type Child,
  COMMENT,
  type Document,
  detach,
  ELEMENT,
  type Element,
  find,
  following,
  insertBefore,
  removeAttribute,
  TEXT,
  textOf,
  unwrap,
} from '#html/node.ts';

/** The parts of a page to complete, found in one pass. */
interface Findings {
  /** Parts of the page that were streamed late, by id, and the templates that are their placeholders. */
  segments: Map<string, Element>;
  placeholders: Map<string, Element>;
  scripts: Element[];
  noscripts: Element[];
  /** Length of the text in `noscript`, and of the page's other text. */
  insideLength: number;
  outsideLength: number;
  /** Whether there is a level-1 heading outside `noscript`. */
  hasTitle: boolean;
}

export interface RawPageOptions {
  /** Called with each replaced node while it is still in the tree. */
  readonly onRemove?: ((node: Child) => void) | undefined;
  /** Called with each late part that was moved to its position. */
  readonly onPlace?: ((element: Element) => void) | undefined;
}

/**
 * Changes the tree in place: moves late parts to their placeholders, and unwraps `noscript` if it contains the page.
 */
export function completeRawPage(document: Document, { onRemove, onPlace }: RawPageOptions = {}): void {
  const findings = search(document);
  for (const segment of placeSegments(findings, onRemove)) onPlace?.(segment);
  openNoscript(findings);
}

/** Elements with text that is not part of the page's text. */
const SEPARATE = new Set(['noscript', 'script', 'style', 'head', 'template']);

function search(document: Document): Findings {
  const found: Findings = {
    segments: new Map(),
    placeholders: new Map(),
    scripts: [],
    noscripts: [],
    insideLength: 0,
    outsideLength: 0,
    hasTitle: false,
  };
  let node = following(document, document);
  while (node) {
    let skip = false;
    if (node.type === TEXT) found.outsideLength += node.value.length;
    else if (node.type === ELEMENT) {
      if (node.name === 'div' || node.name === 'template') noteSegment(node, found);
      else if (node.name === 'script') found.scripts.push(node);
      else if (node.name === 'h1') found.hasTitle = true;
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

/**
 * React streams late parts of a page as hidden `S:n` divs. Each replaces a placeholder template: `B:n` on a page that
 * shows something else until then, `P:n` inside another late part. Each number is used for one part.
 */
function noteSegment(element: Element, { segments, placeholders }: Findings): void {
  const id = attribute(element, 'id');
  if (id === null) return;
  if (element.name === 'template' && (id.startsWith('B:') || id.startsWith('P:'))) placeholders.set(id, element);
  else if (id.startsWith('S:') && attribute(element, 'hidden') !== null) segments.set(id, element);
}

function placeSegments(findings: Findings, onRemove?: (node: Child) => void): Element[] {
  const { segments, placeholders } = findings;
  if (segments.size === 0 || placeholders.size === 0) return [];
  const ordered = orderedPlaces(findings);
  const placed: Element[] = [];
  for (const [id, segment] of segments) {
    const number = id.slice(2);
    const place = ordered.get(id) ?? [`B:${number}`, `P:${number}`].find((known) => placeholders.has(known));
    const placeholder = place === undefined ? undefined : placeholders.get(place);
    if (!placeholder?.parent || isInside(placeholder, segment)) continue;
    if (place!.startsWith('B:')) clearFallback(placeholder, segment, onRemove);
    removeAttribute(segment, 'hidden');
    insertBefore(segment, placeholder);
    placed.push(segment);
  }
  return placed;
}

/** React's instructions: `$RC(placeholder, part)`, `$RR(placeholder, part, styles)` and `$RS(part, placeholder)`. */
const PLACE_ORDER = /\$R[CRS]\("([BS]:[\w-]{1,40})","([SP]:[\w-]{1,40})"/g;

/** The placeholder of each part that the scripts of the page name; others have the number of their part. */
function orderedPlaces({ scripts }: Findings): Map<string, string> {
  const places = new Map<string, string>();
  for (const script of scripts) {
    const text = textOf(script);
    if (!text.includes('$R')) continue;
    for (const [, first, second] of text.matchAll(PLACE_ORDER)) {
      if (first!.startsWith('S:')) places.set(first!, second!);
      else places.set(second!, first!);
    }
  }
  return places;
}

function isInside(node: Child, holder: Element): boolean {
  for (let at: Child['parent'] = node.parent; at; at = at.parent) if (at === holder) return true;
  return false;
}

/** Maximum number of siblings in a fallback. */
const LONGEST_FALLBACK = 200;

/** The fallback is everything between the placeholder and the comment that closes it. */
function clearFallback(placeholder: Element, segment: Element, onRemove?: (node: Child) => void): void {
  let end = placeholder.next;
  let steps = 0;
  while (end && !(end.type === COMMENT && end.value === '/$')) {
    if (end === segment) return;
    // The search is bounded: with thousands of placeholders that have no end marker, scanning their siblings would take
    // quadratic time.
    end = steps++ < LONGEST_FALLBACK ? end.next : null;
  }
  if (!end) return;
  for (let node = placeholder.next; node && node !== end; ) {
    const next: Child | null = node.next;
    onRemove?.(node);
    detach(node);
    node = next;
  }
}

/** Shorter texts in `noscript` are notices. Number of characters. */
const MIN_NOSCRIPT_LENGTH = 200;
const MIN_TITLED_LENGTH = 100;

/** Unwraps the `noscript` elements that contain nearly all text of the page, and the one with its title. */
function openNoscript({ noscripts, insideLength, outsideLength, hasTitle }: Findings): void {
  const isPage = insideLength >= MIN_NOSCRIPT_LENGTH && insideLength >= 2 * outsideLength;
  for (const element of noscripts) if (isPage || (!hasTitle && isTitled(element))) unwrap(element);
}

function isTitled(noscript: Element): boolean {
  const title = find(noscript, 'h1');
  return title !== null && textOf(noscript).trim().length - textOf(title).length >= MIN_TITLED_LENGTH;
}
