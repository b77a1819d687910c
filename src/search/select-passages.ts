/**
 * Selects the best passages of several pages within a token limit, by words and by meaning, and skips near-duplicates.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { countTokens, keepTokens, placeOfRange } from '#reader/index.ts';
import { saturation } from './bm25.ts';
import type { IndexEmbedder, PassageReranker } from './index/local-index.ts';
import { cutPassages } from './index/passages/cut-passages.ts';
import { guessLanguage } from './index/text/guess-language.ts';
import { querySlots, type Slot, termsOf } from './index/text/terms.ts';
import type { SearchQuery } from './query.ts';
import { fuseRanks } from './rank-fusion.ts';
import { meaningWeight, type PassageSignals, relevanceOf, spreadOf, standardSimilarity } from './relevance.ts';
import type { Entry } from './result.ts';

export interface PassageTools {
  /** Absent if there is no embedding model. */
  readonly embedder?: IndexEmbedder | undefined;
  readonly rerank?: PassageReranker | undefined;
}

interface PassagesRequest {
  readonly query: SearchQuery;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
}

/** Maximum number of passages considered: per page, by the embedding model, and in the final selection. */
const MAX_PER_PAGE = 150;
const MAX_BY_MODEL = 96;
const MAX_RANKED = 500;
/** The selection ends when fewer tokens than this are left. */
const MIN_TOKENS = 15;
/** Low in the choice for the model, because the order of the results ranks pages, not passages. */
const POSITION_WEIGHT = 0.5;
const MAX_QUERY_SLOTS = 32;
/** Passages that share more than this fraction of their words are near-duplicates. */
const DUPLICATE_SHARE = 0.8;

interface Candidate {
  readonly entry: number;
  readonly start: number;
  readonly text: string;
  readonly heading: string;
  readonly terms: ReadonlyMap<string, number>;
  /** Terms of the text, excluding the title and headings. */
  readonly textTerms: ReadonlySet<string>;
  readonly length: number;
}

/** Returns the entries that have selected passages. Each entry's passages are in the order of the page. */
export async function selectPassages(
  entries: readonly Entry[],
  { query, maxTokens, signal }: PassagesRequest,
  { embedder, rerank }: PassageTools,
): Promise<readonly Entry[]> {
  const candidates: Candidate[] = [];
  for (const [index, entry] of entries.entries()) {
    candidates.push(...candidatesOf(entry, index));
    await yieldToEventLoop();
    signal.throwIfAborted();
  }
  const words = query.words || query.text;
  const language = guessLanguage(words);
  const slots = querySlots(words, language ? [language] : LANGUAGES, MAX_QUERY_SLOTS);
  const matched = matchWords(candidates, slots);
  const byPlace = byPosition(candidates);
  const byWords = sortByScore(
    candidates,
    matched.map(({ words: score }) => score),
  ).flatMap(([candidate, score]) => (score > 0 ? [candidate] : []));
  // The model is given the passages that match the words, and the beginnings of pages.
  const shortlist = fuse([
    { order: byWords, weight: 1 },
    { order: byPlace, weight: POSITION_WEIGHT },
  ]).slice(0, MAX_BY_MODEL);
  const similarities = embedder && (await compareMeaning(shortlist, words, embedder, signal));
  const weight = embedder ? meaningWeight(slots.length, embedder.weight) : 0;
  const relevances = new Map(
    candidates.map((candidate, at) => [
      candidate,
      relevanceOf({ ...matched[at]!, similarity: similarities?.get(candidate) }, weight),
    ]),
  );
  // Passages of equal relevance stay in the order of their places.
  let order: readonly Candidate[] = sortByScore(
    byPlace,
    byPlace.map((candidate) => Math.max(relevances.get(candidate)!, 0)),
  )
    .map(([candidate]) => candidate)
    .slice(0, MAX_RANKED);
  if (rerank) order = await rerankFirst(order, words, rerank, signal);
  const chosen = fitInto(order, maxTokens);
  const withPassages = entries.flatMap((entry, index) => {
    const passages = chosen
      .filter((one) => one.candidate.entry === index)
      .sort((a, b) => a.candidate.start - b.candidate.start);
    if (!passages.length) return [];
    return [
      {
        ...entry,
        passages: passages.map(({ candidate: { start, text, heading }, tokens }) => ({
          text,
          heading,
          tokens,
          ...placeOfRange(entry.rendition?.placedBlocks ?? [], { start, end: start + text.length }),
        })),
      },
    ];
  });
  return withPassages.length ? withPassages : entries.map((entry) => ({ ...entry, passages: [] }));
}

/** Languages used for stemming if the language of the query is unclear. */
const LANGUAGES = ['en', 'de', 'fr', 'es'];

/**
 * Returns the passages of a page. If the page was not read, they come from the local index or the provider's snippet.
 */
function candidatesOf({ hit, rendition }: Entry, entry: number): Candidate[] {
  const page = rendition?.page.blocked ? undefined : rendition?.page;
  const markdown = page?.content || page?.text || '';
  const language = guessLanguage(markdown || hit.description);
  const pieces = markdown
    ? cutPassages(markdown, MAX_PER_PAGE).map(({ start, end, heading }) => ({
        start,
        heading,
        text: markdown.slice(start, end).trim(),
      }))
    : hit.passages?.length
      ? hit.passages
      : [{ start: 0, heading: '', text: hit.description }];
  return pieces
    .filter(({ text }) => text !== '')
    .map(({ start, heading, text }) => {
      const body = termsOf(text, language);
      // Titles and headings describe a passage, so their terms count, too.
      const above = termsOf(`${hit.title}\n${heading}`, language);
      const terms = new Map<string, number>();
      for (const term of [...body.main, ...body.variants, ...above.main]) terms.set(term, (terms.get(term) ?? 0) + 1);
      return {
        entry,
        start,
        heading,
        text,
        terms,
        textTerms: new Set(body.main),
        length: body.main.length + above.main.length,
      };
    });
}

/** Returns how well the words of each candidate match. */
function matchWords(
  candidates: readonly Candidate[],
  slots: readonly Slot[],
): Pick<PassageSignals, 'words' | 'coverage'>[] {
  const specific = slots.filter(({ common }) => !common);
  const searched = specific.length ? specific : slots;
  const mean = candidates.reduce((sum, { length }) => sum + length, 0) / (candidates.length || 1);
  const counts = searched.map(({ terms }) =>
    candidates.map((candidate) => terms.reduce((sum, term) => sum + (candidate.terms.get(term) ?? 0), 0)),
  );
  const weights = counts.map((list) => {
    const having = list.filter((count) => count > 0).length;
    return Math.log(1 + (candidates.length - having + 0.5) / (having + 0.5));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  return candidates.map(({ length }, index) => {
    let words = 0;
    let coverage = 0;
    for (const [slot, list] of counts.entries()) {
      const count = list[index]!;
      const weight = weights[slot]! / total;
      words += weight * saturation(count, length / (mean || 1));
      if (count > 0) coverage += weight;
    }
    return { words, coverage };
  });
}

/**
 * Orders passages by position: the first passage of each page in the order of the results, then the second of each, and
 * so on.
 */
const byPosition = (candidates: readonly Candidate[]): Candidate[] => {
  const counts = new Map<number, number>();
  const depth = candidates.map(({ entry }) => {
    const position = counts.get(entry) ?? 0;
    counts.set(entry, position + 1);
    return position;
  });
  return sortByScore(
    candidates,
    depth.map((position) => -position),
  ).map(([candidate]) => candidate);
};

/** Returns the standard similarities of the candidates to the query; `undefined` if the model is unavailable. */
async function compareMeaning(
  candidates: readonly Candidate[],
  words: string,
  embedder: IndexEmbedder,
  signal: AbortSignal,
): Promise<Map<Candidate, number> | undefined> {
  try {
    const [[query], vectors] = await Promise.all([
      embedder.embed([words], 'query', signal),
      embedder.embed(
        candidates.map(({ heading, text }) => `${heading}\n${text}`),
        'passage',
        signal,
      ),
    ]);
    const cosines = vectors.map((vector) => cosine(query!, vector));
    const spread = embedder.spread ?? spreadOf(cosines);
    return new Map(candidates.map((candidate, at) => [candidate, standardSimilarity(cosines[at]!, spread)]));
  } catch (error) {
    // Without the model, only the ranking by words is used.
    if (signal.aborted) throw error;
    return undefined;
  }
}

function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let left = 0;
  let right = 0;
  for (let at = 0; at < a.length; at++) {
    dot += a[at]! * b[at]!;
    left += a[at]! ** 2;
    right += b[at]! ** 2;
  }
  return dot / (Math.sqrt(left * right) || 1);
}

async function rerankFirst(
  order: readonly Candidate[],
  words: string,
  rerank: PassageReranker,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  const shown = order.slice(0, MAX_BY_MODEL);
  try {
    const scores = await rerank(
      words,
      shown.map(({ text }) => text),
      signal,
    );
    return [...sortByScore(shown, Array.from(scores)).map(([candidate]) => candidate), ...order.slice(MAX_BY_MODEL)];
  } catch (error) {
    if (signal.aborted) throw error;
    return order;
  }
}

/** Sorts by score, best first. Items with equal scores stay in their order. */
const sortByScore = <T>(items: readonly T[], scores: readonly number[]): [T, number][] =>
  items.map((item, index): [T, number] => [item, scores[index]!]).sort(([, a], [, b]) => b - a);

interface Ranking {
  readonly order: readonly Candidate[];
  readonly weight: number;
}

const fuse = (rankings: readonly Ranking[]): Candidate[] =>
  fuseRanks(
    rankings.map(({ order, weight }) => ({ items: order, weight })),
    (candidate) => candidate,
  ).map(({ key }) => key);

/** Selects passages in order until the limit is reached, skipping near-duplicates of better passages. */
function fitInto(order: readonly Candidate[], maxTokens: number): { candidate: Candidate; tokens: number }[] {
  const chosen: { candidate: Candidate; tokens: number }[] = [];
  let left = maxTokens;
  for (const candidate of order) {
    if (left < MIN_TOKENS) break;
    if (chosen.some((other) => isNearDuplicate(candidate, other.candidate))) continue;
    const tokens = countTokens(candidate.text);
    if (tokens > left) continue;
    left -= tokens;
    chosen.push({ candidate, tokens });
  }
  const [best] = order;
  if (chosen.length || !best) return chosen;
  // If no passage fits, a part of the best one is better than nothing.
  const text = keepTokens(best.text, maxTokens);
  return [{ candidate: { ...best, text }, tokens: countTokens(text) }];
}

function isNearDuplicate({ textTerms: a }: Candidate, { textTerms: b }: Candidate): boolean {
  let common = 0;
  for (const term of a) if (b.has(term)) common++;
  return common > DUPLICATE_SHARE * (a.size + b.size - common);
}
