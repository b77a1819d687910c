/** A document to an Article: the main content of a page, or the whole of it, with what the page says about itself. */
import { type Document, find } from '#html/node.ts';
import type { Article, Removal } from '../article.ts';
import { createClassReader } from './class-words.ts';
import { pageFacts } from './facts.ts';
import { removeHidden } from './hidden.ts';
import { copyKept } from './keep.ts';
import { kindOf } from './kind.ts';
import { extractMetadata } from './metadata.ts';
import { addDropped, addHidden } from './removals.ts';
import { selectContent } from './select-content.ts';
import { settle } from './settle.ts';
import { survey } from './survey.ts';

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

const readClass = createClassReader();

/**
 * Extracts the content of a page. `document` itself is changed: pieces that a person cannot see are taken out, and
 * streamed parts stand where they belong. Never empty when the page has text that can be seen.
 */
export function extractArticle(document: Document, options: ExtractOptions): Article {
  const removals: Removal[] = [];
  settle(document);
  const { documentTitle, types, ...facts } = extractMetadata(document, options.baseUrl);
  const hiddenCount = removeHidden(
    document,
    options.explain ? (node, reason) => addHidden(removals, node, reason) : undefined,
  );
  const body = find(document, 'body') ?? document;
  const article = { ...facts, removals, hiddenCount };
  if (options.whole) return { ...article, title: documentTitle, content: body, source: 'page', confidence: 1 };
  const surveyed = survey(body, readClass);
  if (surveyed.blocks.length === 0) return { ...article, content: body, source: 'page', confidence: 0 };
  const page = pageFacts({ ...facts, documentTitle, types }, options.url, readClass);
  const selection = selectContent(surveyed, page);
  if (options.explain) addDropped(removals, surveyed, selection);
  const kind = kindOf(surveyed, selection.keep, page);
  return {
    ...article,
    content: copyKept(body, surveyed, selection.keep),
    source: selection.source,
    ...(kind && { kind }),
    confidence: selection.confidence,
  };
}
