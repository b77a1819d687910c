/**
 * Declarations of the page's own style sheets for its elements. External sheets are not fetched; `external` says
 * whether there are any, since they may override these.
 */
import { applySheets, type Declared } from '#html/css/cascade.ts';
import { mediaMatches } from '#html/css/conditions.ts';
import { tracksProperty } from '#html/css/visual-style.ts';
import { attribute, type Document, type Element, elements, textOf } from '#html/node.ts';
import { relsOf } from '../metadata/head-links.ts';

export interface PageStyles {
  /** Undefined if no rule matches the element. */
  of(element: Element): Declared | undefined;
  /** Stops applying rules to an element that was moved. */
  forget(element: Element): void;
  /** Whether the page has external style sheets. */
  readonly external: boolean;
  /** Whether scripts could later show what is hidden now. */
  readonly scripts: boolean;
  /** False if there are more rules than can be read or applied. */
  readonly complete: boolean;
}

/** The default window of the browser engine. */
const VIEWPORT = { width: 1280, height: 1280 };

/** For pages from a browser, whose marks say what is hidden. */
export const NO_STYLES: PageStyles = {
  of: () => undefined,
  forget: () => {},
  external: true,
  scripts: true,
  complete: true,
};

/** Reads and applies the style sheets of a document. Call before any element is moved. */
export function pageStyles(document: Document): PageStyles {
  const { sources, external, scripts } = findSheets(document);
  const cascade =
    sources.length > 0 ? applySheets(document, sources, { viewport: VIEWPORT, tracks: tracksProperty }) : undefined;
  const forgotten = new Set<Element>();
  return {
    of: (element) => (forgotten.has(element) ? undefined : cascade?.of(element)),
    forget: (element) => forgotten.add(element),
    external: external || (cascade?.imports ?? false),
    scripts,
    complete: cascade?.complete ?? true,
  };
}

function findSheets(document: Document): { sources: string[]; external: boolean; scripts: boolean } {
  const sources: string[] = [];
  let external = false;
  let scripts = false;
  for (const element of elements(document)) {
    if (element.name === 'script') scripts ||= !/json|template|html/i.test(attribute(element, 'type') ?? '');
    else if (element.name === 'style') {
      if (isCss(element) && !isInside(element, 'noscript')) sources.push(textOf(element));
    } else if (element.name === 'link' && isSheet(element)) {
      const own = sheetInAddress(attribute(element, 'href') ?? '');
      if (own === undefined) external = true;
      else sources.push(own);
    }
  }
  return { sources, external, scripts };
}

const isCss = (element: Element): boolean =>
  /^(?:|text\/css)$/i.test(attribute(element, 'type')?.trim() ?? '') &&
  mediaMatches(attribute(element, 'media') ?? '', VIEWPORT);

function isSheet(element: Element): boolean {
  const rels = relsOf(attribute(element, 'rel') ?? '');
  return rels.some((rel) => rel === 'stylesheet') && !rels.some((rel) => rel === 'alternate') && isCss(element);
}

/** The style sheet inside a `data:` URL; undefined for any other URL. */
function sheetInAddress(href: string): string | undefined {
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
