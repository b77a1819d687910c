/** Converts the pages found in the index into hits, and reranks them if there is a reranker. */
import type { Hit, Passage } from '../../hit.ts';
import type { SearchQuery } from '../../query.ts';
import type { PassageReranker } from '../local-index.ts';
import { makeSnippet } from '../passages/snippet.ts';
import type { FoundPage, FoundPages } from './find-pages.ts';

/** Total number of passages passed to a reranker. More passages take longer and rarely change the top results. */
const MAX_RERANKED = 50;
/** Number of passages of one page that are passed to a reranker. */
const RERANKED_PER_PAGE = 2;
/** Number of pages from which a reranker chooses. */
export const RERANKED_PAGES = 50;
/** Number of results for a query with `count` 0. */
const DEFAULT_COUNT = 20;

export interface HitOptions {
  readonly signal?: AbortSignal | undefined;
  readonly rerank?: PassageReranker | undefined;
}

/** Returns the requested page of results, best first. Without a working reranker, the order is unchanged. */
export async function toHits(query: SearchQuery, found: FoundPages, { signal, rerank }: HitOptions): Promise<Hit[]> {
  const pages = rerank ? await rerankPages(query.words, found.pages, rerank, signal) : found.pages;
  signal?.throwIfAborted();
  const count = query.count || DEFAULT_COUNT;
  const from = (query.page - 1) * count;
  const terms = new Set(found.terms);
  return pages
    .slice(from, from + count)
    .map((page) => ({ ...hitOf(page, terms), ...(found.byMeaningOnly && { byMeaningOnly: true as const }) }));
}

async function rerankPages(
  words: string,
  pages: readonly FoundPage[],
  rerank: PassageReranker,
  signal: AbortSignal | undefined,
): Promise<readonly FoundPage[]> {
  const head = pages
    .flatMap((page) => page.passages.slice(0, RERANKED_PER_PAGE).map((passage) => ({ page, passage })))
    .slice(0, MAX_RERANKED);
  if (head.length < 2 || words === '') return pages;
  try {
    const scores = await rerank(
      words,
      head.map(({ passage: { title, heading, text } }) => [title, heading, text].filter(Boolean).join('\n')),
      signal,
    );
    const order = head.map((_, at) => at).sort((a, b) => scores[b]! - scores[a]!);
    // A page is ranked by its best passage. Fused scores are at most 1, so pages that were not reranked come last.
    const reranked = new Map<FoundPage, FoundPage['passages']>();
    for (const [rank, at] of order.entries()) {
      const { page, passage } = head[at]!;
      reranked.set(page, [...(reranked.get(page) ?? []), { ...passage, score: 1 + 1 / (1 + rank) }]);
    }
    const first = [...reranked].map(([page, passages]) => ({
      score: passages[0]!.score,
      passages: [...passages, ...page.passages.slice(RERANKED_PER_PAGE)],
    }));
    return [...first, ...pages.filter((page) => !reranked.has(page))];
  } catch (error) {
    if (signal?.aborted) throw error;
    return pages;
  }
}

function hitOf({ passages, score }: FoundPage, terms: ReadonlySet<string>): Hit {
  const [best] = passages as readonly [FoundPage['passages'][number], ...FoundPage['passages']];
  const { title, url, siteName, publishedAt, language } = best;
  return {
    title: title || url,
    url,
    description: makeSnippet(best.text, terms, language || undefined) || best.description,
    ...(siteName && { source: siteName }),
    ...(publishedAt !== null && { date: new Date(publishedAt).toISOString() }),
    score,
    passages: passages.map(
      ({ text, heading, start, end, score: own }): Passage => ({ text, heading, start, end, score: own }),
    ),
  };
}
