/** A document to an Article: the main content of a page, or the whole of it, with what the page says about itself. */
import { type Document, find } from '#html/node.ts';
import type { Article } from '../article.ts';
import { createClassReader } from './class-words.ts';
import { noteDropped, noteHidden, noteReplaced, noteSilent } from './dropped.ts';
import { pageFacts } from './facts.ts';
import { hasMedia, headContent } from './head-content.ts';
import { removeHidden } from './hidden.ts';
import { copyKept } from './keep.ts';
import { kindOf } from './kind.ts';
import { extractMetadata } from './metadata.ts';
import type { Notes } from './removals.ts';
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
  /** Gets what is left out, and why. */
  notes?: Notes | undefined;
}

const readClass = createClassReader();

/**
 * Extracts the content of a page. `document` itself is changed: pieces that a person cannot see are taken out, and
 * streamed parts stand where they belong. Never empty when the page has text that can be seen; a page
 * without any gives what its head says of it.
 */
export function extractArticle(document: Document, options: ExtractOptions): Article {
  const { notes } = options;
  settle(document, notes && ((node) => noteReplaced(notes, node)));
  const hiddenCount = removeHidden(document, notes && ((node, reason) => noteHidden(notes, node, reason)));
  // After what is hidden has gone: what nobody sees names no title and no author.
  const { documentTitle, types, ...facts } = extractMetadata(document, options.baseUrl, options.url);
  const body = find(document, 'body') ?? document;
  const article = { ...facts, hiddenCount };
  if (options.whole) return { ...article, title: documentTitle, content: body, source: 'page', confidence: 1 };
  const surveyed = survey(body, readClass);
  if (!surveyed.complete) return { ...article, content: body, source: 'page', confidence: 0 };
  if (surveyed.blocks.length === 0) {
    const told = hasMedia(body) ? null : headContent(facts);
    return { ...article, content: told ?? body, source: told ? 'head' : 'page', confidence: 0 };
  }
  const page = pageFacts({ ...facts, documentTitle, types }, options.url, readClass);
  const selection = selectContent(surveyed, page);
  if (notes) {
    noteDropped(notes, surveyed, selection);
    noteSilent(notes, body);
  }
  const found = kindOf(surveyed, selection, page);
  return {
    ...article,
    content: copyKept(body, surveyed, selection.keep, notes?.sources),
    source: selection.source,
    ...(found && { kind: found.kind, kindConfidence: found.confidence }),
    confidence: selection.confidence,
  };
}
