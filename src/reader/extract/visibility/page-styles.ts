/**
 * Declarations of the page's own style sheets for its elements. External sheets are not fetched; since they may
 * override these declarations, `hasExternalSheets` indicates whether the page has any.
 */
import { isTrackedProperty } from '#html/css/appearance.ts';
import { applyStyleSheets, type MatchedDeclarations } from '#html/css/cascade.ts';
import { matchesMedia } from '#html/css/conditions.ts';
import { attribute, type Document, type Element, elements, textOf } from '#html/node.ts';
import { relTokens } from '../metadata/head-links.ts';

export interface PageStyles {
  /** Undefined if no rule matches the element. */
  of(element: Element): MatchedDeclarations | undefined;
  /** Stops applying rules to an element that was moved. */
  forget(element: Element): void;
  /** Whether the page has external style sheets. */
  readonly hasExternalSheets: boolean;
  /** Whether scripts could later show elements that are hidden now. */
  readonly hasScripts: boolean;
  /** False if there are more rules than can be read or applied. */
  readonly complete: boolean;
}

/** The default window of the browser engine. */
const VIEWPORT = { width: 1280, height: 1280 };

/** Used for pages from a browser, which has already marked the hidden elements. */
export const NO_STYLES: PageStyles = {
  of: () => undefined,
  forget: () => {},
  hasExternalSheets: true,
  hasScripts: true,
  complete: true,
};

/** Reads and applies the style sheets of a document. Call before any element is moved. */
export function readPageStyles(document: Document): PageStyles {
  const { sources, hasExternalSheets, hasScripts } = findSheets(document);
  const cascade =
    sources.length > 0
      ? applyStyleSheets(document, sources, { viewport: VIEWPORT, isTracked: isTrackedProperty })
      : undefined;
  const forgotten = new Set<Element>();
  return {
    of: (element) => (forgotten.has(element) ? undefined : cascade?.of(element)),
    forget: (element) => forgotten.add(element),
    hasExternalSheets: hasExternalSheets || (cascade?.imports ?? false),
    hasScripts,
    complete: cascade?.complete ?? true,
  };
}

function findSheets(document: Document): { sources: string[]; hasExternalSheets: boolean; hasScripts: boolean } {
  const sources: string[] = [];
  let hasExternalSheets = false;
  let hasScripts = false;
  for (const element of elements(document)) {
    if (element.name === 'script') hasScripts ||= !/json|template|html/i.test(attribute(element, 'type') ?? '');
    else if (element.name === 'style') {
      if (isCss(element) && !isInside(element, 'noscript')) sources.push(textOf(element));
    } else if (element.name === 'link' && isSheet(element)) {
      const own = sheetInDataUrl(attribute(element, 'href') ?? '');
      if (own === undefined) hasExternalSheets = true;
      else sources.push(own);
    }
  }
  return { sources, hasExternalSheets, hasScripts };
}

const isCss = (element: Element): boolean =>
  /^(?:|text\/css)$/i.test(attribute(element, 'type')?.trim() ?? '') &&
  matchesMedia(attribute(element, 'media') ?? '', VIEWPORT);

function isSheet(element: Element): boolean {
  const rels = relTokens(attribute(element, 'rel') ?? '');
  return rels.some((rel) => rel === 'stylesheet') && !rels.some((rel) => rel === 'alternate') && isCss(element);
}

/** The style sheet inside a `data:` URL; undefined for any other URL. */
function sheetInDataUrl(href: string): string | undefined {
  const found = /^\s*data:([^,]{0,200}),(.*)$/is.exec(href);
  if (!found) return undefined;
  const [, type = '', data = ''] = found;
  if (/;\s*base64\s*$/i.test(type)) return Buffer.from(data, 'base64').toString('utf8');
  try {
    return decodeURIComponent(data);
  } catch {
    return data;
  }
}

function isInside(element: Element, name: string): boolean {
  for (let at = element.parent; at?.type === 1; at = at.parent) if (at.name === name) return true;
  return false;
}
