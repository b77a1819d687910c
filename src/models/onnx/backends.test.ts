// Full run only: loads models in child processes.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '#errors.ts';
import { describeEmbedder, describeReranker } from '../backend.suite.ts';
import type { Embedder, Prepared, Reranker } from '../backend.ts';
import type { EmbeddingRow } from '../registry/catalogue.ts';
import { createOnnxEmbedder, createOnnxReranker, type OnnxOptions } from './backends.ts';
import { bertLogit, bertStates } from './bert.suite.ts';
import { createGraph } from './onnx-file.suite.ts';
import { smallModel, testEmbeddingRow, testRerankRow, VOCABULARY, writeTestModel } from './test-model.suite.ts';

const signal = new AbortController().signal;
const quiet = { info() {}, warn() {} };
const wait = { timeout: 120_000 };

let folder: string;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'onnx-'));
});

afterAll(async () => {
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

let made = 0;
async function optionsFor(graph: Uint8Array): Promise<OnnxOptions> {
  const files = await writeTestModel(path.join(folder, String(++made)), graph);
  return { files: async () => files, threads: 1, log: quiet };
}

const idsOf = (...pieces: string[]) => pieces.map((piece) => VOCABULARY.indexOf(piece));
const meanOf = (states: readonly number[][]) =>
  states[0]!.map((_, at) => states.reduce((sum, state) => sum + state[at]!, 0) / states.length);

function expectClose(found: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number): void {
  expect(found.length).toBe(wanted.length);
  let most = 0;
  for (let at = 0; at < wanted.length; at++) most = Math.max(most, Math.abs(found[at]! - wanted[at]!));
  expect(most).toBeLessThan(tolerance);
}

async function opened(row: EmbeddingRow, graph: Uint8Array, given: Partial<OnnxOptions> = {}): Promise<Embedder> {
  const embedder = createOnnxEmbedder(row, { ...(await optionsFor(graph)), ...given });
  closing.push(() => embedder.close());
  return embedder;
}

/** Ids of the child processes of this process. */
async function children(): Promise<number[]> {
  const text = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Generates numbers in [0, 1) from a seed. */
function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('an encoder', wait, () => {
  const model = smallModel();
  let embedder: ReturnType<typeof createOnnxEmbedder>;

  beforeAll(async () => {
    embedder = createOnnxEmbedder(testEmbeddingRow(), await optionsFor(model.file));
    closing.push(() => embedder.close());
  });

  const embed = async (texts: readonly string[]) =>
    embedder.embed(await embedder.prepare(texts, { signal }), { output: 'pooled', dimensions: 32, signal });

  it('returns the same vector as plain arithmetic', async () => {
    const [output] = await embed(['The river is large.']);
    const ids = idsOf('[CLS]', 'the', 'river', 'is', 'large', '.', '[SEP]');
    expect(output!.rows).toBe(1);
    expectClose(output!.values, meanOf(bertStates(model.shape, model.weights, ids)), 1e-4);
  });

  it('returns the same vector for a text alone and in a batch', async () => {
    const texts = ['', 'a', 'the water', 'is the tap water in berlin safe to drink?', 'zoo '.repeat(40)];
    const together = await embed(texts);
    for (const [at, text] of texts.entries()) {
      const [alone] = await embed([text]);
      expectClose(together[at]!.values, alone!.values, 1e-6);
    }
  });

  it('accepts any string and counts the tokens that it runs', async () => {
    const texts = [
      '',
      '\ud800 lone \udfff',
      '\u200b\u200b',
      'x'.repeat(1_000_000),
      '\u0301'.repeat(10_000),
      'a '.repeat(400_000),
    ];
    const prepared = await embedder.prepare(texts, { maxTokens: 64, signal });
    expect(prepared.map(({ tokens }) => tokens <= 64 && tokens >= 2)).toEqual(texts.map(() => true));
    expect(prepared[0]).toMatchObject({ tokens: 2, fullTokens: 2 });
    // Tokens are counted up to eight times the context size; beyond that, their number is estimated.
    expect(prepared[5]!.tokens).toBe(64);
    expect(prepared[5]!.fullTokens).toBeGreaterThan(390_000);
    expect(prepared[5]!.fullTokens).toBeLessThan(410_000);
    const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal });
    expect(outputs).toHaveLength(texts.length);
  });

  it('truncates at the end and keeps the special tokens', async () => {
    const long = 'the river '.repeat(10);
    const [cut, whole] = [
      await embedder.prepare([long], { maxTokens: 8, signal }),
      await embedder.prepare(['the river the river the river'], { signal }),
    ];
    expect(cut[0]).toMatchObject({ tokens: 8, fullTokens: 22 });
    expect(cut[0]!.payload).toEqual(whole[0]!.payload);
  });

  it('does not truncate a text without a limit', async () => {
    const [prepared] = await embedder.prepare(['the '.repeat(100)], { signal });
    expect(prepared).toMatchObject({ tokens: 102, fullTokens: 102 });
  });

  it('returns the mean of its own tokens for each item of a document', async () => {
    const [prepared] = await embedder.prepareChunks!('', ['Berlin is large.', 'It has a zoo.'], { signal });
    const [output] = await embedder.embed([prepared!], { output: 'pooled', dimensions: 32, signal });
    const ids = idsOf(...['[CLS]', 'berlin', 'is', 'large', '.', 'i', '##t', 'has', 'a', 'zoo', '.', '[SEP]']);
    const states = bertStates(model.shape, model.weights, ids);
    expect(output!.rows).toBe(2);
    expectClose(output!.values, [...meanOf(states.slice(1, 5)), ...meanOf(states.slice(5, 11))], 1e-4);
    expect(prepared).toMatchObject({ tokens: 12, fullTokens: 12 });
  });

  it('puts the prefix once before a document, and into no item', async () => {
    const [prepared] = await embedder.prepareChunks!('the: ', ['zoo', 'water'], { signal });
    const [output] = await embedder.embed([prepared!], { output: 'pooled', dimensions: 32, signal });
    const states = bertStates(model.shape, model.weights, idsOf('[CLS]', 'the', ':', 'zoo', 'water', '[SEP]'));
    expectClose(output!.values, [...states[3]!, ...states[4]!], 1e-4);
  });

  it('packs items into windows, and truncates only an item that is longer than a window', async () => {
    const items = ['the zoo', 'in berlin', 'is large', 'water '.repeat(20), ''];
    const windows = await embedder.prepareChunks!('', items, { maxTokens: 8, signal });
    expect(windows.map(({ tokens, fullTokens }) => [tokens, fullTokens])).toEqual([
      [8, 8],
      [8, 22],
    ]);
    const outputs = await embedder.embed(windows, { output: 'pooled', dimensions: 32, signal });
    expect(outputs.map(({ rows }) => rows)).toEqual([3, 2]);
  });

  it('treats a single item as an ordinary text', async () => {
    const [span] = await embedder.prepareChunks!('the ', ['zoo'], { signal });
    const [text] = await embedder.prepare(['the zoo'], { signal });
    expect(span).toEqual(text);
  });

  it('returns a vector for each token, with its text', async () => {
    const prepared = await embedder.prepare(['the zoo'], { signal });
    const [output] = await embedder.embed(prepared, { output: 'tokens', dimensions: 32, signal });
    expect(output).toMatchObject({ rows: 4, pieces: ['[CLS]', 'the', 'zoo', '[SEP]'] });
    const states = bertStates(model.shape, model.weights, idsOf('[CLS]', 'the', 'zoo', '[SEP]'));
    expectClose(output!.values, states.flat(), 1e-4);
  });

  it('rejects an aborted request at once, and serves the others', async () => {
    const leaving = new AbortController();
    const prepared = await embedder.prepare(['the zoo'], { signal });
    const left = embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal: leaving.signal });
    const stays = embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal });
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(await stays).toHaveLength(1);
  });

  it('frees its memory, and loads again when it is used', async () => {
    expect(embedder.loaded).toBe(true);
    expect(embedder.memoryBytes).toBeGreaterThan(10_000_000);
    const last = embed(['the last']);
    await last;
    await embedder.unload();
    expect(embedder.loaded).toBe(false);
    expect(await embed(['the next'])).toHaveLength(1);
    expect(embedder.loaded).toBe(true);
  });

  it('finishes running requests before it is unloaded', async () => {
    const prepared = await embedder.prepare(Array(64).fill('the '.repeat(60)), { signal });
    const work = embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal });
    await embedder.unload();
    expect(await work).toHaveLength(64);
  });
});

describe('graphs of other kinds', wait, () => {
  const cases = [
    ['positions from outside', { positionInput: true }, {}],
    ['the first token', {}, { pooling: 'cls' }],
    ['the last token', {}, { pooling: 'last' }],
    ['unit vectors', {}, { normalizes: true }],
  ] as const;

  it.each(cases)('accepts %s', async (_, shape, given) => {
    const model = smallModel(shape);
    const row = testEmbeddingRow(given);
    const embedder = await opened(row, model.file);
    const prepared = await embedder.prepare(['the zoo', 'the river is large'], { signal });
    const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal });
    const states = bertStates(model.shape, model.weights, idsOf('[CLS]', 'the', 'zoo', '[SEP]'));
    const raw = { mean: meanOf(states), cls: states[0]!, last: states[3]!, none: [] }[row.pooling];
    const length = row.normalizes ? Math.hypot(...raw) : 1;
    expectClose(
      outputs[0]!.values,
      raw.map((value) => value / length),
      1e-4,
    );
    expect(embedder.prepareChunks !== undefined).toBe(row.pooling === 'mean');
  });

  it('chooses an adapter by the task, also within one batch', async () => {
    const model = smallModel({ taskInput: true });
    const taskIds = { 'retrieval.query': 1, 'retrieval.passage': 2, default: 0 };
    const row = testEmbeddingRow({ runs: { on: 'onnx', file: 'onnx/model.onnx', taskIds } });
    const embedder = await opened(row, model.file);
    const tasks = ['retrieval.query', 'retrieval.passage', undefined, 'unknown', 'retrieval.query'];
    const prepared: Prepared[] = [];
    for (const task of tasks) prepared.push(...(await embedder.prepare(['the zoo'], { task, signal })));
    const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal });
    for (const [at, task] of [1, 2, 0, 0, 1].entries()) {
      const states = bertStates(model.shape, model.weights, idsOf('[CLS]', 'the', 'zoo', '[SEP]'), undefined, task);
      expectClose(outputs[at]!.values, meanOf(states), 1e-4);
    }
  });

  it('runs texts one by one if a batch would change the quantization scales', async () => {
    const model = smallModel({ quantized: true });
    const embedder = await opened(testEmbeddingRow(), model.file);
    const texts = ['a', 'the water is safe to drink', 'zoo '.repeat(30)];
    const embed = async (some: string[]) =>
      embedder.embed(await embedder.prepare(some, { signal }), { output: 'pooled', dimensions: 32, signal });
    const together = await embed(texts);
    for (const [at, text] of texts.entries()) expectClose(together[at]!.values, (await embed([text]))[0]!.values, 1e-6);
    const states = bertStates(model.shape, model.weights, idsOf('[CLS]', 'a', '[SEP]'));
    // Eight-bit weights give only approximate results.
    expectClose(together[0]!.values, meanOf(states), 0.2);
  });

  it('runs such texts together on request', async () => {
    const model = smallModel({ quantized: true });
    const embedder = await opened(testEmbeddingRow(), model.file, { batching: 'fast' });
    const texts = ['a', 'the water is safe to drink', 'zoo '.repeat(30)];
    const prepared = await embedder.prepare(texts, { signal });
    const options = { output: 'pooled', dimensions: 32, signal } as const;
    const together = await embedder.embed(prepared, options);
    const alone = (await Promise.all(prepared.map((one) => embedder.embed([one], options)))).flat();
    expect(together.map(({ values }) => values)).not.toEqual(alone.map(({ values }) => values));
    for (const [at, { values }] of together.entries()) expectClose(values, alone[at]!.values, 0.2);
  });

  it('marks queries and documents and pads queries, as ColBERT does', async () => {
    const model = smallModel();
    const marks = { query: '?', document: '!', mask: '[MASK]', queryTokens: 8 };
    const row = testEmbeddingRow({ kind: 'colbert', runs: { on: 'onnx', file: 'onnx/model.onnx', marks } });
    const embedder = await opened(row, model.file);
    const pieces = async (task: string, text: string) => {
      const prepared = await embedder.prepare([text], { task, signal });
      return (await embedder.embed(prepared, { output: 'tokens', dimensions: 32, signal }))[0]!.pieces;
    };
    expect(await pieces('query', 'the zoo')).toEqual(['[CLS]', '?', 'the', 'zoo', '[SEP]', ...Array(3).fill('[MASK]')]);
    expect(await pieces('query', 'the '.repeat(20))).toEqual(['[CLS]', '?', ...Array(5).fill('the'), '[SEP]']);
    expect(await pieces('document', 'the zoo')).toEqual(['[CLS]', '!', 'the', 'zoo', '[SEP]']);
  });
});

describe('a cross-encoder', wait, () => {
  const model = smallModel({ head: 'classifier' });
  let reranker: Reranker;

  beforeAll(async () => {
    reranker = createOnnxReranker(testRerankRow(), await optionsFor(model.file));
    closing.push(() => reranker.close());
  });

  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

  it('returns the same scores as plain arithmetic', async () => {
    const { pairs, documents } = await reranker.prepare('tap water', ['the water is safe', ''], { signal });
    expect(documents).toEqual([[0], [1]]);
    const scores = await reranker.score(pairs, signal);
    const query = ['[CLS]', 'tap', 'water', '[SEP]'];
    for (const [at, rest] of [['the', 'water', 'is', 'safe', '[SEP]'], ['[SEP]']].entries()) {
      const ids = idsOf(...query, ...rest);
      const types = ids.map((_, token) => (token < query.length ? 0 : 1));
      expect(Math.abs(scores[at]! - sigmoid(bertLogit(model.shape, model.weights, ids, types)))).toBeLessThan(1e-4);
    }
  });

  it('returns the same score for a pair alone and in a batch', async () => {
    const { pairs } = await reranker.prepare('zoo', ['a', 'the '.repeat(30), 'berlin'], { signal });
    const together = await reranker.score(pairs, signal);
    for (const [at, pair] of pairs.entries()) {
      const [alone] = await reranker.score([pair], signal);
      expect(Math.abs(together[at]! - alone!)).toBeLessThan(1e-6);
    }
    expect(together.every((score) => score > 0 && score < 1)).toBe(true);
  });

  it('reads long documents in windows, and gives a query at most half of the context', async () => {
    const { pairs, documents } = await reranker.prepare('the '.repeat(500), ['zoo '.repeat(100), 'a'], { signal });
    expect(Math.max(...pairs.map(({ tokens }) => tokens))).toBeLessThanOrEqual(64);
    expect(documents[0]!.length).toBeGreaterThan(2);
    expect(documents.flat()).toEqual(pairs.map((_, at) => at));
    expect(pairs.at(-1)!.fullTokens).toBeGreaterThan(pairs.at(-1)!.tokens);
    expect(await reranker.score(pairs, signal)).toHaveLength(pairs.length);
  });
});

describe('the contract of backends', wait, () => {
  const positions = 512;

  describeEmbedder('an ONNX encoder', async () =>
    opened(testEmbeddingRow({ contextTokens: positions }), smallModel({ positions }).file),
  );

  describeReranker('an ONNX cross-encoder', async () =>
    createOnnxReranker(
      testRerankRow({ contextTokens: positions }),
      await optionsFor(smallModel({ positions, head: 'classifier' }).file),
    ),
  );
});

describe('a process that is killed', wait, () => {
  it('fails its requests with 503 and is restarted for the next', async () => {
    const before = await children();
    const embedder = await opened(testEmbeddingRow(), smallModel().file);
    await embedder.load();
    const [pid] = (await children()).filter((one) => !before.includes(one));
    const prepared = await embedder.prepare(Array(128).fill('the '.repeat(60)), { signal });
    const work = embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal });
    process.kill(pid!, 'SIGKILL');
    await expect(work).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError', facts: { retryAfter: 1 } });
    expect(embedder.loaded).toBe(false);
    expect(await embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal })).toHaveLength(128);
  });

  it('is killed at the time limit', async () => {
    const embedder = await opened(testEmbeddingRow(), smallModel().file, { timeoutMs: 1 });
    await embedder.load();
    await expect(embedder.prepare(Array(500).fill('x'.repeat(50_000)), { signal })).rejects.toMatchObject({
      name: 'ServiceTimeoutError',
    });
    expect(embedder.loaded).toBe(false);
  });

  it('is killed at the memory limit', async () => {
    const embedder = await opened(testEmbeddingRow(), smallModel().file, { maxBytes: 30_000_000 });
    await expect(embedder.load()).rejects.toThrow('exceeds its memory limit');
  });

  it('leaves no process behind after it is closed', async () => {
    const before = await children();
    const embedder = await opened(testEmbeddingRow(), smallModel().file);
    await embedder.load();
    // Processes started earlier may still be exiting.
    const added = async () => (await children()).filter((one) => !before.includes(one));
    expect(await added()).not.toEqual([]);
    await embedder.close();
    await expect.poll(added, { timeout: 10_000 }).toEqual([]);
    await expect(embedder.load()).rejects.toMatchObject({ code: 503 });
  });
});

describe('a folder', wait, () => {
  it('may lack a tokenizer configuration', async () => {
    const [bare, full] = [await optionsFor(smallModel().file), await optionsFor(smallModel().file)];
    const files = await bare.files(testEmbeddingRow());
    await rm(files.tokenizerConfig);
    const vectors = await Promise.all(
      [bare, full].map(async (options) => {
        const embedder = createOnnxEmbedder(testEmbeddingRow(), options);
        closing.push(() => embedder.close());
        const prepared = await embedder.prepare(['The zoo.', 'tap'], { signal });
        const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal });
        return outputs.flatMap(({ values }) => [...values]);
      }),
    );
    expect(vectors[0]).toHaveLength(64);
    expect(vectors[0]).toEqual(vectors[1]);
  });
});

describe('damaged files', wait, () => {
  const unloadable = { name: 'DownstreamServiceFailureError' };
  const { file } = smallModel();

  it('are detected: truncated, empty, other bytes, other sizes', async () => {
    const cases = [file.subarray(0, file.length / 2), file.subarray(0, 100), Buffer.alloc(0), randomBytes(5_000)];
    for (const bytes of cases) {
      const embedder = await opened(testEmbeddingRow(), bytes);
      await expect(embedder.load()).rejects.toMatchObject(unloadable);
      await embedder.close();
    }
  });

  it('are refused if they declare wrong sizes', async () => {
    for (const rows of [129, 1_000_000, 2 ** 40]) {
      const graph = createGraph();
      const ids = graph.input('input_ids', 'int64', ['batch', 'sequence']);
      const table = graph.tensor('words', [rows, 32], new Float32Array(128 * 32));
      graph.output('last_hidden_state', graph.node('Gather', [table, ids]), ['batch', 'sequence', 32]);
      const embedder = await opened(testEmbeddingRow(), graph.bytes());
      await expect(embedder.load()).rejects.toMatchObject(unloadable);
    }
  });

  it('are refused if their output contains NaN', async () => {
    const graph = createGraph();
    const ids = graph.input('input_ids', 'int64', ['batch', 'sequence']);
    const table = graph.tensor('words', [128, 32], new Float32Array(128 * 32).fill(Number.NaN));
    graph.output('last_hidden_state', graph.node('Gather', [table, ids]), ['batch', 'sequence', 32]);
    const embedder = await opened(testEmbeddingRow(), graph.bytes());
    await expect(embedder.load()).rejects.toMatchObject(unloadable);
  });

  it('fail one request but not the next if the tokenizer has more words than the graph', async () => {
    const embedder = await opened(testEmbeddingRow(), smallModel({ vocabulary: 40 }).file);
    const embed = async (text: string) =>
      embedder.embed(await embedder.prepare([text], { signal }), { output: 'pooled', dimensions: 32, signal });
    await expect(embed('the zoo')).rejects.toMatchObject({ name: 'DownstreamServiceError' });
    expect(await embed('a')).toHaveLength(1);
  });

  it('are refused if the vectors have another size than the row declares', async () => {
    const embedder = await opened(testEmbeddingRow({ dimensions: 64 }), file);
    await expect(embedder.load()).rejects.toMatchObject(unloadable);
  });

  it('never crash the server, whatever bit is wrong', async () => {
    const random = lcg(11);
    for (let round = 0; round < 6; round++) {
      const bytes = Buffer.from(file);
      const region = round % 2 ? 4_000 : bytes.length;
      for (let flips = 0; flips < 4; flips++) bytes[Math.floor(random() * region)]! ^= 1 << Math.floor(random() * 8);
      const embedder = await opened(testEmbeddingRow(), bytes);
      const outcome = await embedder
        .prepare(['the zoo'], { signal })
        .then((prepared) => embedder.embed(prepared, { output: 'pooled', dimensions: 32, signal }))
        .then(
          () => 200,
          (error: Problem) => error.code,
        );
      expect([200, 422, 503]).toContain(outcome);
      await embedder.close();
    }
  });

  it('report a damaged tokenizer, with the reason as the cause', async () => {
    const files = await writeTestModel(path.join(folder, String(++made)), file, '{"model": ');
    const embedder = createOnnxEmbedder(testEmbeddingRow(), { files: async () => files, log: quiet });
    closing.push(() => embedder.close());
    const cause = expect.objectContaining({ message: expect.stringContaining('JSON') });
    await expect(embedder.load()).rejects.toMatchObject({ ...unloadable, cause });
  });

  it('have another stamp after a change', async () => {
    const place = path.join(folder, String(++made));
    const files = await writeTestModel(place, file.subarray(0, 100));
    const embedder = createOnnxEmbedder(testEmbeddingRow(), { files: async () => files, log: quiet });
    const first = await embedder.stamp!();
    expect(await embedder.stamp!()).toBe(first);
    await writeTestModel(place, file);
    expect(await embedder.stamp!()).not.toBe(first);
  });
});
