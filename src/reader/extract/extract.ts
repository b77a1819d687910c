/** A document to an Article: the main content of a page, or the whole of it, with what the page says about itself. */
import { attribute, type Document, ELEMENT, type Element, elements, find, textOf } from '#html/node.ts';
import type { Article } from '../article.ts';
import { removeHidden } from './hidden.ts';
import { extractMetadata } from './metadata.ts';

export interface ExtractOptions {
  /** The address of the page. */
  url: string;
  /** What relative addresses resolve against. */
  baseUrl: string;
  /** The whole page, without choosing its main content. */
  whole: boolean;
  /** Collect what was left out, and why. */
  explain?: boolean;
}

const mainOf = (document: Document): Element | null => {
  for (const element of elements(document)) {
    if (element.name === 'main' || attribute(element, 'role') === 'main') return element;
  }
  return find(document, 'article');
};

/** Extracts the content of a page. Pieces that a person cannot see are taken out of `document` itself. */
export function extractArticle(document: Document, options: ExtractOptions): Article {
  const { documentTitle, types, ...facts } = extractMetadata(document, options.baseUrl);
  const hiddenCount = removeHidden(document);
  const body = find(document, 'body') ?? document;
  const main = options.whole ? null : mainOf(document);
  const good = main !== null && main.type === ELEMENT && textOf(main).trim().length > 200;
  return {
    ...facts,
    title: options.whole ? documentTitle : facts.title,
    content: good ? main : body,
    source: good ? 'main' : 'page',
    confidence: good ? 0.5 : 0,
    removals: [],
    hiddenCount,
  };
}
