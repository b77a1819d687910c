/** Turns a document into an Article: the main content of a page, or all of it, with the page's metadata. */
import { type Document, detach, type Element, find, textOf } from '#html/node.ts';
import type { Article } from '../article.ts';
import { createClassReader } from './blocks/class-words.ts';
import { survey } from './blocks/survey.ts';
import type { CommentChoice } from './content/apply-comments.ts';
import { copyKeptBlocks } from './content/copy-blocks.ts';
import { hasMedia, headContent } from './content/head-content.ts';
import { countLeftOut } from './content/left-out.ts';
import { recordDropped, recordNonText } from './content/record-removals.ts';
import type { RemovalLog } from './content/removal-log.ts';
import { selectContent } from './content/select-content.ts';
import { extractMetadata } from './metadata/metadata.ts';
import type { PageFacts } from './trees/features.ts';
import { pageFacts } from './trees/page-facts.ts';
import { estimatePageKind } from './trees/page-kind.ts';
import type { DetachedElements } from './visibility/detached-elements.ts';
import { type InvisibleParts, removeInvisibleParts } from './visibility/invisible-parts.ts';

export interface ExtractOptions {
  /** URL of the page. */
  url: string;
  /** Base URL for relative URLs. */
  baseUrl: string;
  /** Keeps the whole page instead of choosing its main content. */
  whole: boolean;
  /** Whether to keep comments. By default, they are removed from articles and videos. */
  comments?: CommentChoice | undefined;
  /** Records the omitted parts and the reasons. */
  removals?: RemovalLog | undefined;
  /** Result of an earlier removal of hidden parts, if there was one. */
  invisibleParts?: InvisibleParts | undefined;
}

const readClass = createClassReader();

/**
 * Extracts the content of a page. Changes `document`: removes invisible parts and moves streamed parts to their final
 * positions. The result is never empty if the page has visible text. For a page without any text, the result is the
 * title and description from its head.
 */
export function extractArticle(document: Document, options: ExtractOptions): Article {
  const { removals, comments } = options;
  const parts = options.invisibleParts ?? removeInvisibleParts(document, { removals });
  const { hiddenCount, detached, embedded } = parts;
  // Runs after hidden parts are removed, because invisible text must not supply a title or an author.
  const { documentTitle, types, ...facts } = extractMetadata(document, options.baseUrl, options.url);
  const body = find(document, 'body') ?? document;
  const article = { ...facts, hiddenCount };
  if (options.whole) return { ...article, title: documentTitle, content: body, source: 'page', confidence: 1 };
  const page = pageFacts({ ...facts, documentTitle, types }, options.url, readClass);
  const choose = () => chooseContent(body, page, { detached, embedded, removals, comments });
  const chosen = (detached.size > 0 && detached.withAllReattached(choose)) || choose()!;
  if (removals) recordNonText(removals, body);
  if (chosen === 'too large') return { ...article, content: body, source: 'page', confidence: 0 };
  if (chosen === 'no text') {
    const fallback = hasMedia(body) ? null : headContent(facts);
    return { ...article, content: fallback ?? body, source: fallback ? 'head' : 'page', confidence: 0 };
  }
  const { kindEstimate, ...content } = chosen;
  return {
    ...article,
    ...content,
    ...(kindEstimate && { kind: kindEstimate.kind, kindConfidence: kindEstimate.confidence }),
  };
}

interface ChoiceOptions extends Pick<ExtractOptions, 'removals' | 'comments'> {
  readonly detached: DetachedElements;
  /** Kept whole. */
  readonly embedded: Element | undefined;
}

type Chosen = Pick<Article, 'content' | 'source' | 'confidence' | 'leftOut'> & {
  readonly kindEstimate: ReturnType<typeof estimatePageKind>;
};

/**
 * Chooses content under `body`. If hidden parts were reinserted for the choice, they are removed from the result again.
 * Returns null if they make up most of the choice, which then says nothing about the rest.
 */
function chooseContent(
  body: Element | Document,
  page: PageFacts,
  { detached, embedded, removals, comments }: ChoiceOptions,
): Chosen | 'too large' | 'no text' | null {
  const surveyed = survey(body, readClass);
  if (!surveyed.complete) return 'too large';
  if (surveyed.blocks.length === 0) return 'no text';
  const selection = selectContent(surveyed, page, undefined, { comments });
  const whole = embedded ? surveyed.elements.indexOf(embedded) : -1;
  if (whole >= 0) selection.keep.fill(1, surveyed.firstBlock[whole], surveyed.endBlock[whole]);
  const sources = new Map<Element, Element>();
  const content = copyKeptBlocks(body, surveyed, selection.keep, sources);
  const all = textOf(content).length;
  for (const [copy, source] of sources) if (detached.has(source)) detach(copy);
  if (textOf(content).length < all / 2) return null;
  if (removals) {
    for (const [copy, source] of sources) removals.sources.set(copy, source);
    recordDropped(removals, surveyed, selection, (element) => detached.has(element));
  }
  const { source, confidence } = selection;
  const leftOut = countLeftOut(surveyed, selection);
  return {
    content,
    source,
    confidence,
    ...(leftOut && { leftOut }),
    kindEstimate: estimatePageKind(surveyed, selection, page),
  };
}
