/**
 * Synthetic pages and queries for the benchmarks of the local index, and the embedder that the server gives it. The
 * frequency of each word is inversely proportional to its rank (Zipf), so that posting lists have realistic lengths.
 */
import { BUILT_IN_SEARCH } from '#app/model-tools.ts';
import { createStaticBackends } from '#models/static/backends.ts';
import type { IndexablePage, IndexEmbedder } from '#search/index/local-index.ts';

const signal = new AbortController().signal;
const { embedder: model } = createStaticBackends();
await model.load();

export const embedder: IndexEmbedder = {
  id: 'lectern-static-v2',
  ...BUILT_IN_SEARCH,
  async embed(texts) {
    const { dimensions } = BUILT_IN_SEARCH;
    const prepared = await model.prepare(texts, { signal });
    const outputs = await model.embed(prepared, { output: 'pooled', dimensions, signal });
    return outputs.map(({ values }) => values);
  },
};

let seed = 20_264;
/** A reproducible random number in [0, 1). */
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}

const VOCABULARY = 60_000;
const SYLLABLES = 'ka lo mi ter sen va ru po dis gra ne tu bel fo ing ex pre con la so wi he quo yd'.split(' ');
const words = Array.from({ length: VOCABULARY }, (_, rank) => {
  let word = '';
  for (let rest = rank + 30; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    word += SYLLABLES[rest % SYLLABLES.length];
  return word;
});
/** A random word. The frequency of the word with rank r is about 1 / r. */
const zipfWord = (from = 0): string =>
  words[Math.min(VOCABULARY - 1, Math.floor(from + (VOCABULARY - from) ** random()))]!;

/** Number of sections per page, each about as long as one passage. */
const SECTIONS = 5;

/** Pages with this many passages in all, the first of which has the number `from`. */
export function pagesOf(passages: number, from = 0): IndexablePage[] {
  return Array.from({ length: passages / SECTIONS }, (_, at) => {
    const page = from + at;
    const sections = Array.from({ length: SECTIONS }, () => {
      const text = Array.from({ length: 130 }, (_, at) => (at % 13 === 12 ? `${zipfWord()}.` : zipfWord())).join(' ');
      return `## ${zipfWord(200)} ${zipfWord(200)}\n\n${text}`;
    });
    const title = `${zipfWord(200)} ${zipfWord(200)} ${zipfWord()}`;
    return { url: `https://site${page % 200}.test/page/${page}`, title, content: sections.join('\n\n') };
  });
}

/** Queries of rare words and a frequent one. */
export const queriesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => {
    const rare = Array.from({ length: 1 + (at % 3) }, () => zipfWord(50));
    return [...rare, zipfWord(5)].join(' ');
  });

/** Words whose ranks are between two numbers: the first words are the most frequent. */
const wordsOfRanks = (count: number, from: number, to: number): string[] =>
  Array.from({ length: count }, () => words[from + Math.floor(random() * (to - from))]!);

/** Queries by how common their words are, with the operators and combinations that cost most. */
export function kindsOfQueries(count: number): readonly (readonly [string, readonly string[]])[] {
  const rare = wordsOfRanks(count, 20_000, 60_000);
  const medium = wordsOfRanks(count, 500, 2_000);
  const common = wordsOfRanks(count, 0, 30);
  const mixed = (at: number) => `${rare[at]} ${medium[at]} ${common[at]}`;
  const each = (make: (at: number) => string) => Array.from({ length: count }, (_, at) => make(at));
  return [
    ['a rare word', rare],
    ['a medium word', medium],
    ['a common word', common],
    ['a rare, a medium and a common word', each(mixed)],
    ['four medium words', each((at) => [0, 1, 2, 3].map((step) => medium[(at + step) % count]).join(' '))],
    ['two common words', each((at) => `${common[at]} ${common[(at + 1) % count]}`)],
    ['a medium word on one site', each((at) => `${medium[at]} site:site${at % 200}.test`)],
    ['a common word on one site', each((at) => `${common[at]} site:site${at % 200}.test`)],
  ];
}
