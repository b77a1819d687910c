/** The best passages of several pages within a number of tokens: found by words and by meaning, without repeats. */
import { setImmediate as turn } from 'node:timers/promises';
import { countTokens, keepTokens } from '#reader/index.ts';
import type { IndexEmbedder, PassageReranker } from './index/local-index.ts';
import { cutPassages } from './index/passages/cut-passages.ts';
import { guessLanguage } from './index/text/language.ts';
import { querySlots, type Slot, termsOf } from './index/text/terms.ts';
import type { SearchQuery } from './query.ts';
import type { Entry } from './result.ts';

export interface PassageTools {
  /** Absent without an embedding model. */
  readonly embedder?: IndexEmbedder | undefined;
  readonly rerank?: PassageReranker | undefined;
}

interface PassagesRequest {
  readonly query: SearchQuery;
  readonly mostTokens: number;
  readonly signal: AbortSignal;
}

/** Passages of one page that are looked at, and of all that a model is shown. */
const MOST_OF_A_PAGE = 150;
const MOST_BY_MODEL = 96;
const MOST_CHOSEN_FROM = 500;
/** Nothing fits in less. */
const LEAST_TOKENS = 15;
/** The order of the results says which page is good, not which part of it. */
const PLACE_WEIGHT = 0.5;
const MOST_QUERY_SLOTS = 32;
const RANK_CONSTANT = 60;
/** BM25 as Robertson and Zaragoza 2009 set it. */
const K1 = 1.2;
const B = 0.75;
/** Passages with so large a share of words in common say the same. */
const SAME_SHARE = 0.8;

interface Candidate {
  readonly entry: number;
  readonly start: number;
  readonly text: string;
  readonly heading: string;
  readonly terms: ReadonlyMap<string, number>;
  /** Those of the text alone. */
  readonly own: ReadonlySet<string>;
  readonly length: number;
}

/** The entries that have passages among the best, each with its own in the order of the page. */
export async function selectPassages(
  entries: readonly Entry[],
  { query, mostTokens, signal }: PassagesRequest,
  { embedder, rerank }: PassageTools,
): Promise<readonly Entry[]> {
  const candidates: Candidate[] = [];
  for (const [index, entry] of entries.entries()) {
    candidates.push(...candidatesOf(entry, index));
    await turn();
    signal.throwIfAborted();
  }
  const words = query.words || query.text;
  const language = guessLanguage(words);
  const slots = querySlots(words, language ? [language] : LANGUAGES, MOST_QUERY_SLOTS);
  const rankings: Ranking[] = [
    { order: byWords(candidates, slots), weight: 1 },
    { order: byPlace(candidates), weight: PLACE_WEIGHT },
  ];
  // A model is shown what the words point at, and the beginnings of pages.
  const shortlist = fused(rankings).slice(0, MOST_BY_MODEL);
  const near = embedder && (await byMeaning(shortlist, words, embedder, signal));
  if (near) rankings.push({ order: near, weight: embedder.weight });
  let order: readonly Candidate[] = fused(rankings).slice(0, MOST_CHOSEN_FROM);
  if (rerank) order = await reranked(order, words, rerank, signal);
  const chosen = choose(order, mostTokens);
  const kept = entries.flatMap((entry, index) => {
    const passages = chosen
      .filter((one) => one.candidate.entry === index)
      .sort((a, b) => a.candidate.start - b.candidate.start);
    if (!passages.length) return [];
    return [
      { ...entry, passages: passages.map(({ candidate: { text, heading }, tokens }) => ({ text, heading, tokens })) },
    ];
  });
  return kept.length ? kept : entries.map((entry) => ({ ...entry, passages: [] }));
}

/** Languages whose stems are tried for queries that don't tell theirs. */
const LANGUAGES = ['en', 'de', 'fr', 'es'];

/** The passages of a page; of one that was not read those that the index has, or what the search said. */
function candidatesOf({ hit, rendition }: Entry, entry: number): Candidate[] {
  const markdown = rendition?.page.content || rendition?.page.text || '';
  const language = guessLanguage(markdown || hit.description);
  const pieces = markdown
    ? cutPassages(markdown, MOST_OF_A_PAGE).map(({ start, end, heading }) => ({
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
      const said = termsOf(text, language);
      // Titles and headings say what a passage is about.
      const above = termsOf(`${hit.title}\n${heading}`, language);
      const terms = new Map<string, number>();
      for (const term of [...said.main, ...said.variants, ...above.main]) terms.set(term, (terms.get(term) ?? 0) + 1);
      return {
        entry,
        start,
        heading,
        text,
        terms,
        own: new Set(said.main),
        length: said.main.length + above.main.length,
      };
    });
}

function byWords(candidates: readonly Candidate[], slots: readonly Slot[]): Candidate[] {
  const asked = slots.some(({ common }) => !common) ? slots.filter(({ common }) => !common) : slots;
  const mean = candidates.reduce((sum, { length }) => sum + length, 0) / (candidates.length || 1);
  const counts = asked.map(({ terms }) =>
    candidates.map((candidate) => terms.reduce((sum, term) => sum + (candidate.terms.get(term) ?? 0), 0)),
  );
  const weights = counts.map((list) => {
    const having = list.filter((count) => count > 0).length;
    return Math.log(1 + (candidates.length - having + 0.5) / (having + 0.5));
  });
  const scores = candidates.map(({ length }, index) =>
    counts.reduce((sum, list, slot) => {
      const count = list[index]!;
      return sum + (weights[slot]! * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / (mean || 1)));
    }, 0),
  );
  return ranked(candidates, scores)
    .filter(([, score]) => score > 0)
    .map(([candidate]) => candidate);
}

/** First the beginning of each page, in the order of the results, then what follows there. */
const byPlace = (candidates: readonly Candidate[]): Candidate[] => {
  const places = new Map<number, number>();
  const depth = candidates.map(({ entry }) => {
    const place = places.get(entry) ?? 0;
    places.set(entry, place + 1);
    return place;
  });
  return ranked(
    candidates,
    depth.map((place) => -place),
  ).map(([candidate]) => candidate);
};

async function byMeaning(
  candidates: readonly Candidate[],
  words: string,
  embedder: IndexEmbedder,
  signal: AbortSignal,
): Promise<Candidate[] | undefined> {
  try {
    const [[query], vectors] = await Promise.all([
      embedder.embed([words], 'query', signal),
      embedder.embed(
        candidates.map(({ heading, text }) => `${heading}\n${text}`),
        'passage',
        signal,
      ),
    ]);
    const scores = vectors.map((vector) => cosine(query!, vector));
    return ranked(candidates, scores)
      .filter(([, score]) => score > embedder.floor)
      .map(([candidate]) => candidate);
  } catch (error) {
    // Words alone will do.
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

async function reranked(
  order: readonly Candidate[],
  words: string,
  rerank: PassageReranker,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  const shown = order.slice(0, MOST_BY_MODEL);
  try {
    const scores = await rerank(
      words,
      shown.map(({ text }) => text),
      signal,
    );
    return [...ranked(shown, Array.from(scores)).map(([candidate]) => candidate), ...order.slice(MOST_BY_MODEL)];
  } catch (error) {
    if (signal.aborted) throw error;
    return order;
  }
}

/** Best first; equal ones as they were. */
const ranked = <T>(items: readonly T[], scores: readonly number[]): [T, number][] =>
  items.map((item, index): [T, number] => [item, scores[index]!]).sort(([, a], [, b]) => b - a);

interface Ranking {
  readonly order: readonly Candidate[];
  readonly weight: number;
}

function fused(rankings: readonly Ranking[]): Candidate[] {
  const scores = new Map<Candidate, number>();
  for (const { order, weight } of rankings) {
    for (const [rank, one] of order.entries()) {
      scores.set(one, (scores.get(one) ?? 0) + weight / (RANK_CONSTANT + rank + 1));
    }
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([candidate]) => candidate);
}

/** As many as there is room for, without those that say what a better one said. */
function choose(order: readonly Candidate[], mostTokens: number): { candidate: Candidate; tokens: number }[] {
  const chosen: { candidate: Candidate; tokens: number }[] = [];
  let left = mostTokens;
  for (const candidate of order) {
    if (left < LEAST_TOKENS) break;
    if (chosen.some((other) => isSame(candidate, other.candidate))) continue;
    const tokens = countTokens(candidate.text);
    if (tokens > left) continue;
    left -= tokens;
    chosen.push({ candidate, tokens });
  }
  const [best] = order;
  if (chosen.length || !best) return chosen;
  // Rather a part of the best one than nothing.
  const text = keepTokens(best.text, mostTokens);
  return [{ candidate: { ...best, text }, tokens: countTokens(text) }];
}

function isSame({ own: a }: Candidate, { own: b }: Candidate): boolean {
  let common = 0;
  for (const term of a) if (b.has(term)) common++;
  return common > SAME_SHARE * (a.size + b.size - common);
}
