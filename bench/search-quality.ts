/**
 * Search quality by language: nDCG@10 of the local index on retrieval sets, by words, by meaning, and as shipped, next
 * to BM25 as in the textbook.
 *
 *     npm run bench:search -- <folder of sets> [--sets xquad-en,xquad-de] [--queries 1000] [--database postgres://…] \
 *         [--rerank]
 *
 * A set is a folder with corpus, queries (JSON lines with `_id`, `text` and `title`) and qrels (query, document and
 * degree, separated by tabs), plain or gzipped, in the form of BEIR or with `qrels.tsv`.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { BUILT_IN_SEARCH } from '#app/model-tools.ts';
import { createStaticBackends } from '#models/static/backends.ts';
import type { IndexEmbedder, LocalIndex, PassageReranker, Retriever } from '#search/index/local-index.ts';
import { openLocalIndex } from '#search/index/open.ts';
import { parseQuery } from '#search/query.ts';
import { ownBaseline, report } from './report.ts';
import { machine } from './support.ts';

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sets: { type: 'string' },
    queries: { type: 'string', default: '1000' },
    database: { type: 'string' },
    rerank: { type: 'boolean', default: false },
  },
});

interface Row {
  readonly _id: string;
  readonly title?: string;
  readonly text: string;
}

interface RetrievalSet {
  readonly name: string;
  readonly documents: readonly Row[];
  readonly queries: readonly Row[];
  /** Degrees of relevance, by query and document. */
  readonly judged: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

function linesOf(folder: string, name: string): string[] {
  const file = path.join(folder, name);
  const text = existsSync(`${file}.gz`)
    ? gunzipSync(readFileSync(`${file}.gz`)).toString()
    : readFileSync(file, 'utf8');
  return text.split('\n').filter(Boolean);
}

function readSet(folder: string, maxQueries: number): RetrievalSet {
  const rows = (name: string) => linesOf(folder, name).map((line) => JSON.parse(line) as Row);
  const judged = new Map<string, Map<string, number>>();
  const isBeir = existsSync(path.join(folder, 'qrels'));
  for (const line of linesOf(folder, isBeir ? 'qrels/test.tsv' : 'qrels.tsv').slice(isBeir ? 1 : 0)) {
    const [query, document, degree] = line.split('\t') as [string, string, string];
    const own = judged.get(query) ?? new Map<string, number>();
    judged.set(query, own.set(document, Number(degree)));
  }
  const queries = rows('queries.jsonl').filter(({ _id }) => judged.has(_id));
  return {
    name: path.basename(folder),
    documents: rows('corpus.jsonl'),
    queries: queries.slice(0, maxQueries),
    judged,
  };
}

/** Returns document ids, best first. */
type Ask = (query: string) => Promise<readonly string[]> | readonly string[];

/** Gain as in TREC's evaluation: the relevance, discounted by the logarithm of the rank. */
function ndcg(found: readonly string[], judged: ReadonlyMap<string, number>): number {
  const sum = (gains: readonly number[]) => gains.reduce((all, gain, at) => all + gain / Math.log2(at + 2), 0);
  const ideal = [...judged.values()].sort((a, b) => b - a).slice(0, 10);
  return sum(ideal) > 0 ? sum(found.slice(0, 10).map((id) => judged.get(id) ?? 0)) / sum(ideal) : 0;
}

async function score({ queries, judged }: RetrievalSet, ask: Ask): Promise<number> {
  let sum = 0;
  for (const { _id, text } of queries) sum += ndcg(await ask(text), judged.get(_id)!);
  return (100 * sum) / queries.length;
}

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]+/gu;

/** Words in lower case, plurals in -s reduced, and pairs of letters in scripts without spaces. */
function plainTerms(text: string): string[] {
  const terms: string[] = [];
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    for (const [run] of word.matchAll(UNSPACED)) {
      const letters = [...run];
      for (let at = 0; at < Math.max(1, letters.length - 1); at++) terms.push(letters.slice(at, at + 2).join(''));
    }
    for (const part of word.replace(UNSPACED, ' ').split(' ')) {
      if (part !== '') terms.push(/^[a-z]{4,}s$/.test(part) && !part.endsWith('ss') ? part.slice(0, -1) : part);
    }
  }
  return terms;
}

/** BM25 over whole documents (Robertson and Zaragoza 2009), k1 = 1.2, b = 0.75. */
function textbookBm25(documents: readonly Row[]): Ask {
  const postings = new Map<string, Map<number, number>>();
  const lengths = documents.map(({ title = '', text }, at) => {
    const terms = plainTerms(`${title} ${text}`);
    for (const term of terms) {
      const own = postings.get(term) ?? new Map<number, number>();
      postings.set(term, own.set(at, (own.get(at) ?? 0) + 1));
    }
    return terms.length;
  });
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  return (query) => {
    const scores = new Map<number, number>();
    for (const term of new Set(plainTerms(query))) {
      const own = postings.get(term) ?? new Map<number, number>();
      const idf = Math.log(1 + (documents.length - own.size + 0.5) / (own.size + 0.5));
      for (const [at, count] of own) {
        const gain = (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * lengths[at]!) / mean));
        scores.set(at, (scores.get(at) ?? 0) + gain);
      }
    }
    const best = [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, 10);
    return best.map(([at]) => documents[at]!._id);
  };
}

const signal = new AbortController().signal;
const { embedder: model, reranker } = createStaticBackends();
await model.load();
const embedder: IndexEmbedder = {
  id: 'lectern-static-v2',
  ...BUILT_IN_SEARCH,
  async embed(texts) {
    const { dimensions } = BUILT_IN_SEARCH;
    const prepared = await model.prepare(texts, { signal });
    const outputs = await model.embed(prepared, { output: 'pooled', dimensions, signal });
    return outputs.map(({ values }) => values);
  },
};
const rerank: PassageReranker = async (query, texts) => {
  const { pairs } = await reranker.prepare(query, texts, { signal });
  return reranker.score(pairs, signal);
};

/** An index in a database prepares pages in this thread, and a query must not wait for all of them. */
const PAGES_AT_ONCE = 256;

const PREFIX = 'https://collection.test/';
const addressOf = (id: string) => `${PREFIX}${encodeURIComponent(id)}`;
const idOf = (url: string) => decodeURIComponent(url.slice(PREFIX.length));

async function openFilled({ documents }: RetrievalSet, dir: string): Promise<LocalIndex> {
  const file = path.join(dir, 'index.db');
  const index = await openLocalIndex({ file, url: given.database, maxBytes: 1e12, embedder });
  await index.clear();
  for (let at = 0; at < documents.length; at += PAGES_AT_ONCE) {
    const some = documents.slice(at, at + PAGES_AT_ONCE);
    await Promise.all(
      some.map(({ _id, title = '', text }) => index.add({ url: addressOf(_id), title, content: text })),
    );
  }
  await index.flush();
  return index;
}

async function measure(set: RetrievalSet): Promise<number[]> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-quality-'));
  const index = await openFilled(set, dir);
  const by = (retrievers: readonly Retriever[], reranker?: PassageReranker) => async (query: string) => {
    const hits = await index.search(parseQuery(query.replaceAll('"', ' ')), { by: retrievers, rerank: reranker });
    return hits.map(({ url }) => idOf(url));
  };
  try {
    const scores = [
      await score(set, textbookBm25(set.documents)),
      await score(set, by(['words'])),
      await score(set, by(['meaning'])),
      await score(set, by(['words', 'meaning'])),
    ];
    if (given.rerank) scores.push(await score(set, by(['words', 'meaning'], rerank)));
    return scores;
  } finally {
    await index.clear();
    await index.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const [root] = positionals;
if (root === undefined) throw new Error('name a folder of retrieval sets');
const names = given.sets?.split(',') ?? readdirSync(root).filter((name) => !name.startsWith('.'));
const HEADS = ['BM25', 'words', 'meaning', 'as shipped', ...(given.rerank ? ['reranked'] : [])];
const rows: (readonly [name: string, documents: number, queries: number, scores: readonly number[]])[] = [];
for (const name of names) {
  const set = readSet(path.join(root, name), Number(given.queries));
  const scores = await measure(set);
  rows.push([name, set.documents.length, set.queries.length, scores]);
  console.error(name, ...scores.map((value) => value.toFixed(2)));
}
const means = HEADS.map((_, at) => rows.reduce((sum, [, , , scores]) => sum + scores[at]!, 0) / rows.length);
const worst = HEADS.map((_, at) => Math.min(...rows.map(([, , , scores]) => scores[at]! - scores[1]!)));
const shown = (scores: readonly number[]) => scores.map((value) => value.toFixed(1));
console.log(`${machine()}\n\nnDCG@10 × 100\n`);
report(
  'search-quality',
  ['', 'documents', 'queries', ...HEADS],
  [
    ...rows.map(([name, documents, queries, scores]) => [name, `${documents}`, `${queries}`, ...shown(scores)]),
    ['mean', '', '', ...shown(means)],
    ['least difference from words', '', '', ...shown(worst)],
  ],
  { baselines: [ownBaseline('BM25 of the textbook')] },
);
