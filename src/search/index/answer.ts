/** Passages that were found, as the pages of the answer. */
import type { Hit, Passage } from '../hit.ts';
import type { SearchQuery } from '../query.ts';
import type { Found, FoundPage } from './engine.ts';
import type { PassageReranker } from './local-index.ts';
import { snippetOf } from './snippet.ts';

/** What is given to a reranker: more takes long, and what stands lower seldom belongs higher. */
const RERANKED = 50;
/** Of one page. */
const RERANKED_A_PAGE = 2;
/** Of a query without a number of results. */
const ALL_COUNT = 20;

export interface AnswerOptions {
  readonly signal?: AbortSignal | undefined;
  readonly rerank?: PassageReranker | undefined;
}

/** The page of results that the query asks for, best first. */
export async function answer(query: SearchQuery, found: Found, { signal, rerank }: AnswerOptions): Promise<Hit[]> {
  const pages = rerank ? await reranked(query.words, found.pages, rerank, signal) : found.pages;
  signal?.throwIfAborted();
  const count = query.count || ALL_COUNT;
  const from = (query.page - 1) * count;
  const terms = new Set(found.terms);
  return pages.slice(from, from + count).map((page) => hitOf(page, terms));
}

async function reranked(
  words: string,
  pages: readonly FoundPage[],
  rerank: PassageReranker,
  signal: AbortSignal | undefined,
): Promise<readonly FoundPage[]> {
  const head = pages
    .flatMap((page) => page.passages.slice(0, RERANKED_A_PAGE).map((passage) => ({ page, passage })))
    .slice(0, RERANKED);
  if (head.length < 2 || words === '') return pages;
  try {
    const scores = await rerank(
      words,
      head.map(({ passage: { title, heading, text } }) => [title, heading, text].filter(Boolean).join('\n')),
      signal,
    );
    const order = head.map((_, at) => at).sort((a, b) => scores[b]! - scores[a]!);
    // Each page by its best passage; fused scores lie below 1, so what was not reranked stays behind.
    const again = new Map<FoundPage, FoundPage['passages']>();
    for (const [place, at] of order.entries()) {
      const { page, passage } = head[at]!;
      again.set(page, [...(again.get(page) ?? []), { ...passage, score: 1 + 1 / (1 + place) }]);
    }
    const first = [...again].map(([page, passages]) => ({
      score: passages[0]!.score,
      passages: [...passages, ...page.passages.slice(RERANKED_A_PAGE)],
    }));
    return [...first, ...pages.filter((page) => !again.has(page))];
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
    description: snippetOf(best.text, terms, language || undefined) || best.description,
    ...(siteName && { source: siteName }),
    ...(publishedAt !== null && { date: new Date(publishedAt).toISOString() }),
    score,
    passages: passages.map(
      ({ text, heading, start, end, score: own }): Passage => ({ text, heading, start, end, score: own }),
    ),
  };
}
