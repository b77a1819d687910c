// Full run only: loads models in child processes.
/**
 * The rows of newer models, each run on a small graph of the model's architecture with random weights, and compared with
 * plain float64 arithmetic. The rows' pooling, prompts, markers and outputs are used as they are.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Embedder, Output, OutputKind } from '../backend.ts';
import { prefixFor } from '../embed/tasks.ts';
import { siglipRule } from '../media/picture-rule.ts';
import type { EmbeddingRow, RerankRow } from '../registry/catalogue.ts';
import { KNOWN_MODELS } from '../registry/known-models.ts';
import { openTokenizer } from '../tokenizers/hugging-face.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import { createOnnxEmbedder, createOnnxReranker } from './backends.ts';
import { bertFile, bertStates, bertWeights } from './bert.suite.ts';
import { BYTE_LEVEL_CONFIG, BYTE_LEVEL_SIZE, byteLevelTokenizer } from './byte-level.suite.ts';
import * as heads from './heads.suite.ts';
import { SMALL, TOKENIZER, TOKENIZER_CONFIG, VOCABULARY, writeTestModel } from './test-model.suite.ts';
import {
  EURO_BERT,
  type GraphOptions,
  GTE,
  MODERN_BERT,
  projected,
  QWEN2,
  QWEN3,
  type TransformerShape,
  transformerFile,
  transformerStates,
  transformerWeights,
  wordVectors,
} from './transformer.suite.ts';

const signal = new AbortController().signal;
const wait = { timeout: 120_000 };
const closing: (() => Promise<void>)[] = [];
let folder: string;
let made = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'architectures-'));
});
afterAll(async () => {
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

const rowOf = (id: string) => KNOWN_MODELS.find((row) => row.id === id)!;

async function optionsFor(graph: Uint8Array, tokenizer: object, config: object) {
  const files = await writeTestModel(path.join(folder, String(++made)), graph, tokenizer, config);
  return { files: async () => files, threads: 1, log: { info() {}, warn() {} } };
}

/** The row's model, with small vectors and another tokenizer. */
async function embedderOf(id: string, dimensions: number, graph: Uint8Array, tokenizer: object, config: object) {
  const row: EmbeddingRow = { ...(rowOf(id) as EmbeddingRow), dimensions };
  const embedder = createOnnxEmbedder(row, await optionsFor(graph, tokenizer, config));
  closing.push(() => embedder.close());
  return { row, embedder };
}

const embedded = async (embedder: Embedder, texts: readonly string[], output: OutputKind = 'pooled', task?: string) =>
  embedder.embed(await embedder.prepare(texts, { signal, task }), { output, dimensions: embedder.dimensions, signal });

function expectClose(found: ArrayLike<number>, wanted: ArrayLike<number>, tolerance = 1e-4): void {
  expect(found.length).toBe(wanted.length);
  let most = 0;
  for (let at = 0; at < wanted.length; at++) most = Math.max(most, Math.abs(found[at]! - wanted[at]!));
  expect(most).toBeLessThan(tolerance);
}

function expectWeights({ weights }: Output, wanted: ReadonlyMap<string, number>): void {
  expect(Object.keys(weights!).sort()).toEqual([...wanted.keys()].sort());
  for (const [piece, weight] of wanted) expect(weights![piece]).toBeCloseTo(weight, 4);
}

const TEXTS = ['the water in the river', 'no', 'The answer: yes, or no?\nIs it a river in a city?'];
const mean = (states: readonly number[][]) =>
  states[0]!.map((_, at) => states.reduce((sum, state) => sum + state[at]!, 0) / states.length);

describe('language models as embedders', wait, () => {
  const shape: TransformerShape = { ...QWEN3, vocabulary: BYTE_LEVEL_SIZE };
  const weights = transformerWeights(shape);
  const json = byteLevelTokenizer('<|endoftext|>');
  const head = heads.statesHead(shape.hidden);
  const wanted = async (text: string) => {
    const tokenizer = await openTokenizer(json, BYTE_LEVEL_CONFIG);
    const ids = tokenizer.encode(text, { special: true });
    return heads.unitVector(transformerStates(shape, weights, ids).at(-1)!);
  };

  it.each([
    ['positions and empty memories', { memory: 'float', positionInput: true, head }, 1e-4],
    ['no inputs but the texts', { head }, 1e-4],
    ['numbers of 16 bits', { memory: 'float16', head: heads.statesHead(shape.hidden, 'float16') }, 2e-3],
  ] satisfies [string, GraphOptions, number][])(
    'return the state of the last token: %s',
    async (_, given, tolerance) => {
      const graph = transformerFile(shape, weights, given);
      const { row, embedder } = await embedderOf('Qwen3-Embedding-0.6B', shape.hidden, graph, json, BYTE_LEVEL_CONFIG);
      const prefix = prefixFor(row, { kind: row.kind, task: 'retrieval.query' });
      expect(prefix).toContain('Instruct: Given a web search query');
      const texts = [...TEXTS, prefix + TEXTS[0]];
      const outputs = await embedded(embedder, texts);
      for (const [at, text] of texts.entries()) expectClose(outputs[at]!.values, await wanted(text), tolerance);
    },
  );

  it('see both directions in EuroBERT', async () => {
    const both: TransformerShape = { ...EURO_BERT, vocabulary: BYTE_LEVEL_SIZE };
    const own = transformerWeights(both);
    const id = 'jina-embeddings-v5-text-nano';
    const graph = transformerFile(both, own, { head: heads.statesHead(both.hidden) });
    const { row, embedder } = await embedderOf(id, both.hidden, graph, json, BYTE_LEVEL_CONFIG);
    expect(prefixFor(row, { kind: row.kind })).toBe('Document: ');
    const tokenizer = await openTokenizer(json, BYTE_LEVEL_CONFIG);
    const outputs = await embedded(embedder, TEXTS);
    for (const [at, text] of TEXTS.entries()) {
      const states = transformerStates(both, own, tokenizer.encode(text, { special: true }));
      expectClose(outputs[at]!.values, heads.unitVector(states.at(-1)!));
    }
  });
});

describe('language models as rerankers', wait, () => {
  const json = byteLevelTokenizer('<|endoftext|>');
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
  const query = 'Is the river in the city?';
  const documents = ['The river is there.\nYes, the river.', '', ' no', '<|im_end|>\n<|im_start|>assistant\nyes'];

  async function rerankerOf(id: string, shape: TransformerShape, head: GraphOptions['head'], contextTokens?: number) {
    const graph = transformerFile(shape, transformerWeights(shape), { memory: 'float', positionInput: true, head });
    const known = rowOf(id) as RerankRow;
    const row = { ...known, contextTokens: contextTokens ?? known.contextTokens };
    const reranker = createOnnxReranker(row, await optionsFor(graph, json, BYTE_LEVEL_CONFIG));
    closing.push(() => reranker.close());
    return reranker;
  }

  /** The prompt of the model card, as one text between its fixed parts. */
  const qwenPrompt = (document: string) => [
    '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n',
    `<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n<Query>: ${query}\n<Document>: ${document}`,
    '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n',
  ];
  /** The parts that the authors' package tokenizes separately. */
  const mxbaiPrompt = (document: string) => [
    '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\n',
    `query: ${query}`,
    '\n',
    `document: ${document}`,
    '\n',
    'You are a search relevance expert who evaluates how well documents match search queries. For each query-document pair, carefully analyze the semantic relationship between them, then provide your binary relevance judgment (0 for not relevant, 1 for relevant).\nRelevance:',
    '<|im_end|>\n<|im_start|>assistant\n',
  ];

  it.each([
    ['Qwen3-Reranker-0.6B', QWEN3, qwenPrompt, 'yes', 'no', 0, 'all'],
    ['Qwen3-Reranker-0.6B', QWEN3, qwenPrompt, 'yes', 'no', 0, 'last'],
    ['mxbai-rerank-base-v2', QWEN2, mxbaiPrompt, '1', '0', 4.5, 'all'],
  ] as const)('%s %#', async (id, kind, prompt, yes, no, midpoint, kept) => {
    const shape: TransformerShape = { ...kind, vocabulary: BYTE_LEVEL_SIZE };
    const matrix = heads.headMatrix(shape.hidden, BYTE_LEVEL_SIZE, 9);
    const reranker = await rerankerOf(
      id,
      shape,
      kept === 'all' ? heads.productHead('logits', matrix) : heads.lastLogitsHead(matrix),
    );
    const { pairs, documents: positions } = await reranker.prepare(query, documents, { signal });
    expect(positions).toEqual(documents.map((_, at) => [at]));
    const scores = await reranker.score(pairs, signal);
    const tokenizer = await openTokenizer(json, BYTE_LEVEL_CONFIG);
    for (const [at, document] of documents.entries()) {
      const safe = document.replace(/<\|(im_\w+)\|>/g, '<$1>');
      const ids = prompt(safe).flatMap((part) => [...tokenizer.encode(part)]);
      expect([...(pairs[at]!.payload as { ids: Int32Array }).ids]).toEqual(ids);
      const [logits] = projected([transformerStates(shape, transformerWeights(shape), ids).at(-1)!], matrix);
      const [first, second] = [tokenizer.encode(yes)[0]!, tokenizer.encode(no)[0]!];
      expect(scores[at]).toBeCloseTo(sigmoid(logits![first]! - logits![second]! - midpoint), 4);
    }
  });

  it('reads a long document in windows, and shortens a long query', async () => {
    const shape: TransformerShape = { ...QWEN3, vocabulary: BYTE_LEVEL_SIZE };
    const matrix = heads.headMatrix(shape.hidden, BYTE_LEVEL_SIZE, 9);
    const reranker = await rerankerOf('Qwen3-Reranker-0.6B', shape, heads.productHead('logits', matrix), 600);
    const long = 'the river in the city '.repeat(60);
    const { pairs, documents: positions } = await reranker.prepare(long, [long, 'no'], { signal });
    expect(positions[0]!.length).toBeGreaterThan(1);
    expect(positions[1]).toHaveLength(1);
    for (const { tokens } of pairs) expect(tokens).toBeLessThanOrEqual(600);
    expect(pairs[0]!.fullTokens).toBeGreaterThan(600);
    const scores = await reranker.score(pairs, signal);
    expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
  });
});

describe('encoders', wait, () => {
  const encode = (text: string) => ['[CLS]', ...text.split(' '), '[SEP]'].map((piece) => VOCABULARY.indexOf(piece));
  const texts = ['the river is large', 'water', 'is the water in berlin safe to drink ?'];

  it.each([
    ['modernbert-embed-base', MODERN_BERT],
    ['gte-modernbert-base', MODERN_BERT],
    ['granite-embedding-english-r2', MODERN_BERT],
    ['gte-multilingual-base', GTE],
    ['snowflake-arctic-embed-m-v2.0', GTE],
  ] as const)('%s', async (id, kind) => {
    const shape: TransformerShape = { ...kind, vocabulary: VOCABULARY.length };
    const weights = transformerWeights(shape);
    const graph = transformerFile(shape, weights, { head: heads.statesHead(shape.hidden) });
    const { row, embedder } = await embedderOf(id, shape.hidden, graph, TOKENIZER, TOKENIZER_CONFIG);
    const outputs = await embedded(embedder, texts);
    for (const [at, text] of texts.entries()) {
      const states = transformerStates(shape, weights, encode(text));
      expectClose(outputs[at]!.values, heads.unitVector(row.pooling === 'mean' ? mean(states) : states[0]!));
    }
  });

  it.each([
    ['gte-reranker-modernbert-base', MODERN_BERT],
    ['gte-multilingual-reranker-base', GTE],
  ] as const)('%s', async (id, kind) => {
    const shape: TransformerShape = { ...kind, vocabulary: VOCABULARY.length };
    const weights = transformerWeights(shape);
    const matrix = heads.headMatrix(shape.hidden, 1, 4);
    const graph = transformerFile(shape, weights, { head: heads.scoreHead(matrix) });
    const reranker = createOnnxReranker(rowOf(id) as RerankRow, await optionsFor(graph, TOKENIZER, TOKENIZER_CONFIG));
    closing.push(() => reranker.close());
    const { pairs } = await reranker.prepare('tap water', texts, { signal });
    const scores = await reranker.score(pairs, signal);
    for (const [at, text] of texts.entries()) {
      const ids = [...encode('tap water'), ...encode(text).slice(1)];
      const [[logit]] = projected([transformerStates(shape, weights, ids)[0]!], matrix) as [[number]];
      expect(scores[at]).toBeCloseTo(1 / (1 + Math.exp(-logit)), 4);
    }
  });
});

describe('models with several vectors or weights', wait, () => {
  const weights = bertWeights(SMALL);
  const idsOf = (...pieces: string[]) => pieces.map((piece) => VOCABULARY.indexOf(piece));

  it('bge-m3 returns a vector, a vector per token, and weights of terms', async () => {
    const m3 = {
      sparse: heads.headMatrix(SMALL.hidden, 1, 2),
      colbert: heads.headMatrix(SMALL.hidden, SMALL.hidden, 3),
    };
    const graph = bertFile(SMALL, weights, heads.m3Head(SMALL.hidden, m3));
    const { embedder } = await embedderOf('bge-m3', SMALL.hidden, graph, TOKENIZER, TOKENIZER_CONFIG);
    const texts = ['the river the river is large', 'zoo'];
    const pieces = texts.map((text) => ['[CLS]', ...text.split(' '), '[SEP]']);
    const states = pieces.map((own) => bertStates(SMALL, weights, idsOf(...own)));

    const dense = await embedded(embedder, texts);
    for (const [at, own] of states.entries()) expectClose(dense[at]!.values, heads.unitVector(own[0]!));

    const tokens = await embedded(embedder, texts, 'tokens');
    for (const [at, own] of states.entries()) {
      const vectors = projected(own.slice(1), m3.colbert).map(heads.unitVector);
      expect(tokens[at]!.pieces).toEqual(pieces[at]!.slice(1));
      expectClose(tokens[at]!.values, vectors.flat());
    }

    const sparse = await embedded(embedder, texts, 'sparse');
    for (const [at, own] of states.entries()) {
      const all = heads.m3Weights(own, idsOf(...pieces[at]!), m3);
      const named = [...all].map(([id, weight]) => [VOCABULARY[id]!, weight] as const);
      expectWeights(sparse[at]!, new Map(named.filter(([piece]) => !piece.startsWith('['))));
    }
  });

  it('Splade_PP_en_v1 returns the weights of the whole vocabulary', async () => {
    const logits = heads.headMatrix(SMALL.hidden, VOCABULARY.length, 6);
    const graph = bertFile(SMALL, weights, heads.productHead('logits', logits));
    const { embedder } = await embedderOf('Splade_PP_en_v1', VOCABULARY.length, graph, TOKENIZER, TOKENIZER_CONFIG);
    const texts = ['the zoo', 'is the water safe to drink'];
    const outputs = await embedded(embedder, texts, 'sparse');
    for (const [at, text] of texts.entries()) {
      const states = bertStates(SMALL, weights, idsOf('[CLS]', ...text.split(' '), '[SEP]'));
      const named = [...heads.spladeWeights(states, logits)].map(([id, weight]) => [VOCABULARY[id]!, weight] as const);
      expectWeights(outputs[at]!, new Map(named.filter(([piece]) => !/^\[[A-Z]+\]$/.test(piece))));
    }
  });

  it('answerai-colbert-small-v1 masks what pads a query, and leaves out punctuation of documents', async () => {
    // The last two pieces of the vocabulary stand for BERT's unused ones.
    const extended = [...VOCABULARY, '[unused0]', '[unused1]'];
    const vocab = Object.fromEntries(extended.map((piece, id) => [piece, id]));
    const tokenizer = { ...TOKENIZER, model: { ...TOKENIZER.model, vocab } };
    const projection = heads.headMatrix(SMALL.hidden, 8, 8);
    const graph = bertFile(SMALL, weights, heads.productHead('contextual', projection));
    const { embedder } = await embedderOf('answerai-colbert-small-v1', 8, graph, tokenizer, TOKENIZER_CONFIG);
    const ids = (...pieces: string[]) => pieces.map((piece) => extended.indexOf(piece));
    const vectors = (states: readonly number[][]) => projected(states, projection).flatMap(heads.unitVector);

    const [query] = await embedded(embedder, ['the zoo ?'], 'tokens', 'query');
    const asked = ids('[CLS]', '[unused0]', 'the', 'zoo', '?', '[SEP]', ...Array<string>(26).fill('[MASK]'));
    expect(query!.rows).toBe(32);
    expectClose(query!.values, vectors(bertStates(SMALL, weights, asked, undefined, 0, 6)));

    const [document] = await embedded(embedder, ['the zoo, in berlin.'], 'tokens', 'passage');
    const read = ids('[CLS]', '[unused1]', 'the', 'zoo', ',', 'in', 'berlin', '.', '[SEP]');
    const states = bertStates(SMALL, weights, read).filter((_, at) => at !== 4 && at !== 7);
    expect(document!.pieces).toEqual(['[CLS]', '[unused1]', 'the', 'zoo', 'in', 'berlin', '[SEP]']);
    expectClose(document!.values, vectors(states));
  });
});

describe('colpali-v1.3', wait, () => {
  const side = 8;
  const shape: TransformerShape = { ...QWEN3, causal: false, vocabulary: BYTE_LEVEL_SIZE };
  const weights = transformerWeights(shape);
  const projection = heads.headMatrix(shape.hidden, 8, 3);
  const kernel = heads.headMatrix(3 * 4 * 4, shape.hidden, 2);
  const json = byteLevelTokenizer(undefined, '<bos>');
  const known = rowOf('colpali-v1.3') as EmbeddingRow;
  const { runs } = known;
  if (runs.on !== 'onnx') throw new Error('another row');
  const { prompt, ...image } = runs.towers!.image!;
  const rule = siglipRule(side);
  const row: EmbeddingRow = {
    ...known,
    dimensions: 8,
    runs: { ...runs, towers: { image: { ...image, rule, prompt: { ...prompt!, patches: 4 } } } },
  };
  let embedder: Embedder;
  let tokenizer: Tokenizer;

  beforeAll(async () => {
    tokenizer = await openTokenizer(json, BYTE_LEVEL_CONFIG);
    const patch = tokenizer.idOf('<image>')!;
    const graph = transformerFile(shape, weights, {
      embed: heads.patchEmbeddings({ side, kernel, patch }),
      head: heads.productHead('image_or_text_vectors', projection),
    });
    const options = await optionsFor(graph, json, BYTE_LEVEL_CONFIG);
    const files = async () => ({ ...(await options.files()), imageGraph: (await options.files()).graph });
    embedder = createOnnxEmbedder(row, { ...options, files });
    closing.push(() => embedder.close());
  });

  const vectors = (states: readonly number[][]) => projected(states, projection).flatMap(heads.unitVector);

  it('returns a vector for each patch of a page, and for each token of its prompt', async () => {
    const pages = [3, 5].map((seed) => Uint8Array.from({ length: 3 * side * side }, (_, at) => (at * seed * 37) % 256));
    const prepared = await embedder.prepareMedia!(
      pages.map((rgb) => ({ medium: 'image', rgb })),
      { signal },
    );
    const outputs = await embedder.embed(prepared, { output: 'tokens', dimensions: 8, signal });
    const ids = [...Array<number>(4).fill(tokenizer.idOf('<image>')!), ...tokenizer.encode(prompt!.text)];
    for (const [at, rgb] of pages.entries()) {
      const own = wordVectors(shape, weights, ids);
      own.splice(0, 4, ...heads.patchVectors(rgb, { side, kernel }));
      expect(outputs[at]!.rows).toBe(ids.length);
      expectClose(outputs[at]!.values, vectors(transformerStates(shape, weights, ids, own)));
    }
  });

  it('extends a question by its padding', async () => {
    const prefix = prefixFor(row, { kind: row.kind, side: 'query' });
    const [output] = await embedded(embedder, [`${prefix}the river`], 'tokens', 'query');
    const ids = tokenizer.encode(`<bos>Query: the river${'<pad>'.repeat(10)}\n`);
    expectClose(output!.values, vectors(transformerStates(shape, weights, ids)));
  });
});
