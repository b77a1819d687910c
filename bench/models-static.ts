/**
 * The built-in model: time to load, embed and rerank, and quality if data sets are specified.
 *
 *     tsx --conditions=source bench/models-static.ts [--sts sts-test.tsv] [--beir folder ...]
 *
 * STS: lines with two sentences, and a score in one of the last columns (separated by tabs or commas). BEIR: folders
 * with corpus.jsonl, queries.jsonl and qrels/test.tsv or qrels.tsv. Files may be compressed (.gz). For each folder, nDCG@10 is calculated and compared with BM25.
 * The reranker orders the first 50 results of BM25: by its own scores, and by the sum of both scores, each scaled over
 * the candidates.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { floatsAsText } from '#models/embed/float-text.ts';
import { normalize } from '#models/embed/vectors.ts';
import { createStaticBackends } from '#models/static/backends.ts';
import { loadStaticModel } from '#models/static/model.ts';
import { createStaticScorer, type PreparedPair } from '#models/static/score.ts';
import { ownBaseline, report } from './report.ts';
import { machine, sized } from './support.ts';

const { values: given } = parseArgs({
  options: { sts: { type: 'string', multiple: true }, beir: { type: 'string', multiple: true } },
});
const signal = new AbortController().signal;
const startedAt = performance.now();
const usedBefore = process.cpuUsage();
const { embedder, reranker } = createStaticBackends();
await embedder.load();
const loadMs = performance.now() - startedAt;
const { user, system } = process.cpuUsage(usedBefore);
const loadCpuMs = (user + system) / 1000;

const WORDS =
  'the a of pot tea water stands on table and steam goes up past window where it was raining again market photosynthesis leaves sugar light quickly server request answers'.split(
    ' ',
  );
let seed = 6;
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >> 8) % below;
};
const texts = (count: number, words: number): string[] =>
  Array.from({ length: count }, () => Array.from({ length: words }, () => WORDS[random(WORDS.length)]).join(' '));

/** Reads a file, or the compressed file of that name. */
function readText(file: string): string {
  const compressed = file.endsWith('.gz') ? file : `${file}.gz`;
  return existsSync(compressed) ? gunzipSync(readFileSync(compressed)).toString() : readFileSync(file, 'utf8');
}

async function embed(inputs: readonly string[], dimensions: number): Promise<Float32Array[]> {
  const prepared = await embedder.prepare(inputs, { signal });
  const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions, signal });
  return outputs.map(({ values }) => values);
}

const COUNT = sized(4_000, 20);

/** The best of five rounds, to exclude the effect of other load. */
async function perSecond(count: number, work: () => Promise<unknown> | unknown): Promise<number> {
  let best = 0;
  for (let round = 0; round < 5; round++) {
    const from = performance.now();
    await work();
    best = Math.max(best, (count * 1000) / (performance.now() - from));
  }
  return Math.round(best);
}

async function speed(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const words of [16, 128]) {
    const inputs = texts(COUNT, words);
    for (const dimensions of [256, 1024]) {
      rows.push([`${words} tokens, ${dimensions} numbers`, await perSecond(COUNT, () => embed(inputs, dimensions))]);
    }
  }
  const documents = texts(500, 128);
  const pairs = await perSecond(500, async () => {
    const prepared = await reranker.prepare('how does photosynthesis make sugar', documents, { signal });
    await reranker.score(prepared.pairs, signal);
  });
  rows.push(['query-document pairs of 128 tokens', pairs]);
  // Different numbers each time, because the JavaScript engine caches the text of numbers.
  const vectors = Array.from({ length: 500 }, () =>
    normalize(Float32Array.from({ length: 1024 }, () => random(2_001) - 1_000)),
  );
  const asText = await perSecond(vectors.length, () => vectors.map((vector) => floatsAsText(vector).length));
  const asJson = await perSecond(vectors.length, () =>
    vectors.map((vector) => JSON.stringify(Array.from(vector)).length),
  );
  rows.push(['vectors of 1,024 numbers as text', asText], ['the same by JSON.stringify', asJson]);
  report('models.speed', ['On one core, through the functions', 'a second'], rows);
}

const dot = (a: Float32Array, b: Float32Array): number => {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
};

/** Ranks from 1. Equal values share their mean rank. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, at) => at).sort((a, b) => values[a]! - values[b]!);
  const result: number[] = new Array(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to++;
    for (let at = from; at < to; at++) result[order[at]!] = (from + to + 1) / 2;
    from = to;
  }
  return result;
}

function spearman(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const mean = (a.length + 1) / 2;
  let [xy, xx, yy] = [0, 0, 0];
  for (let at = 0; at < x.length; at++) {
    xy += (x[at]! - mean) * (y[at]! - mean);
    xx += (x[at]! - mean) ** 2;
    yy += (y[at]! - mean) ** 2;
  }
  return xy / Math.sqrt(xx * yy);
}

/** Splits a line of CSV or TSV into cells. */
function cells(line: string): string[] {
  if (line.includes('\t')) return line.split('\t');
  return Array.from(line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g), ([, cell = '']) =>
    cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell,
  ).slice(0, -1);
}

async function sts(file: string): Promise<(string | number)[]> {
  const pairs: { a: string; b: string; score: number }[] = [];
  for (const line of readText(file).split(/\r?\n/)) {
    const row = cells(line).map((cell) => cell.trim());
    const numbers = row.map((cell) => (cell === '' ? Number.NaN : Number(cell)));
    // The score is the number next to a sentence, with the two sentences either before or after it.
    const before = numbers.findIndex(
      (value, at) => at >= 2 && !Number.isNaN(value) && numbers.slice(at - 2, at).every(Number.isNaN),
    );
    const after = numbers.findIndex(
      (value, at) => !Number.isNaN(value) && at + 2 < row.length && numbers.slice(at + 1, at + 3).every(Number.isNaN),
    );
    if (after >= 0) pairs.push({ a: row[after + 1]!, b: row[after + 2]!, score: numbers[after]! });
    else if (before >= 0) pairs.push({ a: row[before - 2]!, b: row[before - 1]!, score: numbers[before]! });
  }
  const figures: number[] = [];
  for (const dimensions of [128, 256, 512, 1024]) {
    const a = await embed(
      pairs.map((pair) => pair.a),
      dimensions,
    );
    const b = await embed(
      pairs.map((pair) => pair.b),
      dimensions,
    );
    const likeness = a.map((vector, at) => dot(vector, b[at]!));
    figures.push(
      100 *
        spearman(
          likeness,
          pairs.map((pair) => pair.score),
        ),
    );
  }
  return [`${path.basename(file)} (${pairs.length} pairs)`, ...figures];
}

interface Retrieval {
  readonly ids: readonly string[];
  readonly documents: readonly string[];
  readonly queries: readonly { readonly text: string; readonly gains: ReadonlyMap<string, number> }[];
}

function readBeir(folder: string): Retrieval {
  const lines = (file: string) =>
    readText(path.join(folder, file))
      .split('\n')
      .filter((line) => line !== '');
  const objects = (file: string) => lines(file).map((line) => JSON.parse(line) as Record<string, string>);
  const corpus = objects('corpus.jsonl');
  const gains = new Map<string, Map<string, number>>();
  const qrels = existsSync(path.join(folder, 'qrels')) ? 'qrels/test.tsv' : 'qrels.tsv';
  for (const line of lines(qrels)) {
    const [query = '', document = '', gain = ''] = line.split('\t');
    if (!(Number(gain) > 0)) continue;
    const own = gains.get(query) ?? new Map<string, number>();
    gains.set(query, own.set(document, Number(gain)));
  }
  return {
    ids: corpus.map(({ _id }) => _id!),
    documents: corpus.map(({ title = '', text = '' }) => `${title} ${text}`.trim()),
    queries: objects('queries.jsonl')
      .filter(({ _id }) => gains.has(_id!))
      .slice(0, 1_000)
      .map(({ _id, text }) => ({ text: text!, gains: gains.get(_id!)! })),
  };
}

const UNSPACED = /[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]/;

/**
 * BM25 with the usual parameters (k1 = 1.2, b = 0.75, idf of the corpus itself), over lower-cased words, and over pairs of
 * characters in scripts without spaces.
 */
function createBm25(documents: readonly string[]): (query: string) => Float64Array {
  const postings = new Map<string, Map<number, number>>();
  const lengths: number[] = [];
  const wordsOf = (text: string) =>
    (text.toLowerCase().match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []).flatMap((word) =>
      UNSPACED.test(word)
        ? Array.from({ length: Math.max(1, word.length - 1) }, (_, at) => word.slice(at, at + 2))
        : word,
    );
  for (const [at, document] of documents.entries()) {
    const words = wordsOf(document);
    lengths.push(words.length);
    for (const word of words) {
      const posting = postings.get(word) ?? new Map<number, number>();
      postings.set(word, posting.set(at, (posting.get(at) ?? 0) + 1));
    }
  }
  const average = lengths.reduce((sum, length) => sum + length, 0) / documents.length;
  return (query) => {
    const scores = new Float64Array(documents.length);
    for (const word of new Set(wordsOf(query))) {
      const posting = postings.get(word) ?? [];
      const found = postings.get(word)?.size ?? 0;
      const idf = Math.log(1 + (documents.length - found + 0.5) / (found + 0.5));
      for (const [at, count] of posting) {
        scores[at]! += (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * lengths[at]!) / average));
      }
    }
    return scores;
  };
}

const best = (scores: ArrayLike<number>, count: number): number[] =>
  Array.from(scores, (_, at) => at)
    .sort((a, b) => scores[b]! - scores[a]! || a - b)
    .slice(0, count);

function ndcg(order: readonly string[], gains: ReadonlyMap<string, number>): number {
  const sum = (values: readonly number[]) =>
    values.slice(0, 10).reduce((total, gain, at) => total + gain / Math.log2(at + 2), 0);
  const ideal = sum([...gains.values()].sort((a, b) => b - a));
  return sum(order.map((id) => gains.get(id) ?? 0)) / ideal;
}

const scaled = (values: readonly number[]): number[] => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.map((value) => (high > low ? (value - low) / (high - low) : 0));
};

async function beir(folder: string): Promise<(string | number)[]> {
  const { ids, documents, queries } = readBeir(folder);
  const bm25 = createBm25(documents);
  const scorer = createStaticScorer(await loadStaticModel());
  const [small, whole] = [await embed(documents, 256), await embed(documents, 1024)];
  const sums = { small: 0, whole: 0, bm25: 0, fixed: 0, scaled: 0 };
  for (const { text, gains } of queries) {
    const named = (order: readonly number[]) => order.map((at) => ids[at]!);
    const byVector = async (vectors: readonly Float32Array[], dimensions: number) => {
      const [query] = await embed([text], dimensions);
      return ndcg(
        named(
          best(
            vectors.map((vector) => dot(vector, query!)),
            10,
          ),
        ),
        gains,
      );
    };
    sums.small += await byVector(small, 256);
    sums.whole += await byVector(whole, 1024);
    const first = best(bm25(text), 50);
    sums.bm25 += ndcg(named(first), gains);
    const now = () => undefined;
    const { pairs } = await scorer.prepare(
      text,
      first.map((at) => documents[at]!),
      undefined,
      now,
    );
    const payloads = pairs.map(({ payload }) => payload as PreparedPair);
    const parts = payloads.map((pair) => scorer.parts(pair));
    const scores = payloads.map((pair) => scorer.score(pair));
    const words = scaled(parts.map((part) => part.words ?? 0));
    const pieces = scaled(parts.map((part) => part.pieces ?? 0));
    const reordered = (by: readonly number[]) => ndcg(named(best(by, 10).map((at) => first[at]!)), gains);
    sums.fixed += reordered(scores);
    sums.scaled += reordered(words.map((value, at) => value + pieces[at]!));
  }
  const shown = (sum: number) => (100 * sum) / queries.length;
  return [
    `${path.basename(folder)} (${documents.length} documents, ${queries.length} queries)`,
    ...[sums.small, sums.whole, sums.bm25, sums.fixed, sums.scaled].map(shown),
  ];
}

console.log(machine());
console.log(`Loading: ${loadMs.toFixed(0)} ms, of which ${loadCpuMs.toFixed(0)} ms of processor time\n`);
await speed();
const stsRows = [];
for (const file of given.sts ?? []) stsRows.push(await sts(file));
if (stsRows.length > 0) report('models.sts', ['STS, Spearman x 100', '128', '256', '512', '1,024'], stsRows);
const beirRows = [];
for (const folder of given.beir ?? []) beirRows.push(await beir(folder));
if (beirRows.length > 0) {
  const heads = [
    'Retrieval, nDCG@10 x 100',
    '256',
    '1,024',
    'BM25',
    'reranked',
    'reranked, scaled over the candidates',
  ];
  report('models.beir', heads, beirRows, { baselines: [ownBaseline('BM25 of the textbook')] });
}
await Promise.all([embedder.close(), reranker.close()]);
