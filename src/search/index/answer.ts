/** Passages that were found, as the pages of the answer. */
import type { Hit, Passage } from '../hit.ts';
import type { SearchQuery } from '../query.ts';
import type { Found } from './engine.ts';
import type { PassageReranker } from './local-index.ts';
import { snippetOf } from './snippet.ts';

/** Passages shown of one page. */
const MAX_PASSAGES = 3;
/** What is given to a reranker: more takes long, and what stands lower seldom belongs higher. */
const RERANKED = 50;
/** What a page's further passages add to its best one, each less than the one before. */
const FURTHER_SHARE = 0.25;
/** Of a query without a number of results. */
const ALL_COUNT = 20;

export interface AnswerOptions {
  readonly signal?: AbortSignal | undefined;
  readonly rerank?: PassageReranker | undefined;
}

/** The page of results that the query asks for, best first. */
export async function answer(query: SearchQuery, found: Found, { signal, rerank }: AnswerOptions): Promise<Hit[]> {
  const passages = rerank ? await reranked(query.words, found.passages, rerank, signal) : found.passages;
  signal?.throwIfAborted();
  const pages = new Map<number, { score: number; share: number; passages: Scored[] }>();
  for (const passage of passages) {
    const page = pages.get(passage.page) ?? { score: 0, share: 1, passages: [] };
    page.score += passage.score * page.share;
    page.share *= FURTHER_SHARE;
    page.passages.push(passage);
    pages.set(passage.page, page);
  }
  const count = query.count || ALL_COUNT;
  const from = (query.page - 1) * count;
  return [...pages.values()]
    .sort((a, b) => b.score - a.score)
    .slice(from, from + count)
    .map(({ score, passages: own }) => hitOf(own, score, found));
}

type Scored = Found['passages'][number];

async function reranked(
  words: string,
  passages: readonly Scored[],
  rerank: PassageReranker,
  signal: AbortSignal | undefined,
): Promise<readonly Scored[]> {
  const head = passages.slice(0, RERANKED);
  if (head.length < 2) return passages;
  try {
    const scores = await rerank(
      words,
      head.map(({ title, heading, text }) => [title, heading, text].filter(Boolean).join('\n')),
      signal,
    );
    // Fused scores lie below 1: whatever was reranked stays in front of what was not.
    const order = head.map((_, at) => at).sort((a, b) => scores[b]! - scores[a]!);
    const first = order.map((at, place) => ({ ...head[at]!, score: 1 + 1 / (1 + place) }));
    return [...first, ...passages.slice(RERANKED)];
  } catch (error) {
    if (signal?.aborted) throw error;
    return passages;
  }
}

function hitOf(passages: readonly Scored[], score: number, { terms }: Found): Hit {
  const [best] = passages as [Scored, ...Scored[]];
  const { title, url, siteName, publishedAt, language } = best;
  return {
    title: title || url,
    url,
    description: snippetOf(best.text, new Set(terms), language || undefined) || best.description,
    ...(siteName && { source: siteName }),
    ...(publishedAt !== null && { date: new Date(publishedAt).toISOString() }),
    score,
    passages: passages
      .slice(0, MAX_PASSAGES)
      .map(({ text, heading, start, end, score: own }): Passage => ({ text, heading, start, end, score: own })),
  };
}
