/**
 * Throughput of the ONNX backend on a model with MiniLM's shape and random weights (the speed does not depend on them),
 * compared with the pipeline of @huggingface/transformers on the same file:
 * `tsx --conditions=source bench/models-onnx.ts`. That package is installed into a temporary folder. Without access to
 * a registry, its column is empty.
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { QUIET } from '../scripts/npm-quiet.mjs';
import { childEnvironment } from '../src/concurrency/environment.ts';
import { createOnnxEmbedder, createOnnxReranker, type OnnxOptions } from '../src/models/onnx/backends.ts';
import { bertFile } from '../src/models/onnx/bert.suite.ts';
import {
  MINILM,
  type TestFolder,
  TOKENIZER,
  TOKENIZER_CONFIG,
  testEmbeddingRow,
  testRerankRow,
  VOCABULARY,
  writeTestModel,
} from '../src/models/onnx/test-model.suite.ts';
import { packageBaseline, report } from './report.ts';
import { machine, SMOKE, sized } from './support.ts';

const SHAPE = sized(MINILM, { ...MINILM, vocabulary: 500, layers: 1 });
const SECONDS = sized(2, 0.05);
const CALLERS = 4;
const SETTINGS = [
  { tokens: 16, texts: 1 },
  { tokens: 16, texts: 32 },
  { tokens: 128, texts: 1 },
  { tokens: 128, texts: 8 },
  { tokens: 512, texts: 1 },
].slice(0, sized(undefined, 1));
const signal = new AbortController().signal;
const log = { info() {}, warn: (facts: object, message: string) => console.error(message, facts) };
const row = testEmbeddingRow({ dimensions: SHAPE.hidden, contextTokens: SHAPE.positions });

/** A vocabulary of MiniLM's size with invented words. */
const words = Array.from({ length: SHAPE.vocabulary - VOCABULARY.length }, (_, at) => `w${at.toString(36)}`);
const vocab = Object.fromEntries([...VOCABULARY, ...words].map((piece, id) => [piece, id]));
const config = { ...TOKENIZER_CONFIG, model_max_length: SHAPE.positions };
const tokenizer = { ...TOKENIZER, model: { ...TOKENIZER.model, vocab } };

/** A text with the given number of tokens, including its two special tokens. */
const textOf = (tokens: number, seed: number) =>
  Array.from({ length: tokens - 2 }, (_, at) => words[(seed * 7_919 + at * 104_729) % words.length]).join(' ');
const textsOf = ({ tokens, texts }: (typeof SETTINGS)[number]) =>
  Array.from({ length: texts }, (_, at) => textOf(tokens, at));

/** Number of runs per second. */
async function rate(work: () => Promise<unknown>, callers = 1): Promise<number> {
  await work();
  await work();
  const since = performance.now();
  let count = 0;
  const call = async () => {
    while (performance.now() - since < SECONDS * 1_000) {
      await work();
      count++;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return count / ((performance.now() - since) / 1_000);
}

const optionsFor = (files: TestFolder, batching: OnnxOptions['batching'] = 'exact'): OnnxOptions => ({
  files: async () => files,
  batching,
  log,
});

/** The same texts through the pipeline of transformers.js, in a separate process. */
const PIPELINE = `
import { createInterface } from 'node:readline';
import { env, pipeline } from '@huggingface/transformers';
const { root, dtype, seconds } = JSON.parse(process.argv[2]);
env.allowRemoteModels = false;
env.localModelPath = root;
const extract = await pipeline('feature-extraction', 'model', { dtype });
for await (const line of createInterface({ input: process.stdin })) {
  const texts = JSON.parse(line);
  const once = () => extract(texts, { pooling: 'mean' });
  await once();
  await once();
  const since = performance.now();
  let count = 0;
  while (performance.now() - since < seconds * 1000) { await once(); count++; }
  console.log(count / ((performance.now() - since) / 1000));
}
`;

function installPipeline(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{"private":true,"type":"module"}');
  writeFileSync(path.join(folder, 'pipeline.js'), PIPELINE);
  const { status } = spawnSync('npm', ['install', '--ignore-scripts', ...QUIET, '@huggingface/transformers'], {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
  });
  return status === 0;
}

interface Pipeline {
  /** Number of times per second that all texts are processed. */
  rate(texts: readonly string[]): Promise<number>;
  close(): void;
}

function startPipeline(folder: string, files: TestFolder, dtype: 'fp32' | 'q8'): Pipeline {
  const root = path.join(folder, dtype);
  mkdirSync(path.join(root, 'model', 'onnx'), { recursive: true });
  copyFileSync(files.graph, path.join(root, 'model', 'onnx', dtype === 'q8' ? 'model_quantized.onnx' : 'model.onnx'));
  for (const file of [files.tokenizer, files.tokenizerConfig])
    copyFileSync(file, path.join(root, 'model', path.basename(file)));
  writeFileSync(path.join(root, 'model', 'config.json'), '{"model_type":"bert"}');
  const task = JSON.stringify({ root, dtype, seconds: SECONDS });
  const child = spawn(process.execPath, ['pipeline.js', task], {
    cwd: folder,
    env: childEnvironment(),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async rate(texts) {
      child.stdin.write(`${JSON.stringify(texts)}\n`);
      return Number((await answers.next()).value);
    },
    close: () => child.stdin.end(),
  };
}

interface Rates {
  readonly alone: number;
  readonly together: number;
  readonly pipeline: number | undefined;
}

/** Alternates between the two, so that other load affects both. */
async function sideBySide(options: OnnxOptions, transformers: Pipeline | undefined): Promise<Rates[]> {
  const embedder = createOnnxEmbedder(row, options);
  const rates: Rates[] = [];
  for (const setting of SETTINGS) {
    const texts = textsOf(setting);
    const work = async () =>
      embedder.embed(await embedder.prepare(texts, { signal }), { output: 'pooled', dimensions: 384, signal });
    const alone = (await rate(work)) * texts.length;
    const pipeline = transformers && (await transformers.rate(texts)) * texts.length;
    rates.push({ alone, pipeline, together: (await rate(work, CALLERS)) * texts.length });
  }
  await embedder.close();
  transformers?.close();
  return rates;
}

async function rerankRate(files: TestFolder): Promise<number> {
  const reranker = createOnnxReranker(testRerankRow({ contextTokens: SHAPE.positions }), optionsFor(files));
  const documents = Array.from({ length: 100 }, (_, at) => textOf(116, at));
  const perSecond = await rate(async () => {
    const { pairs } = await reranker.prepare(textOf(12, 1), documents, { signal });
    await reranker.score(pairs, signal);
  });
  await reranker.close();
  return perSecond * documents.length;
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;

/** Memory of the process while it embeds texts of all lengths. */
async function flood(files: TestFolder): Promise<string[]> {
  const embedder = createOnnxEmbedder(row, optionsFor(files));
  await embedder.load();
  const seen = [megabytes(embedder.memoryBytes)];
  for (let round = 0; round < sized(4, 1); round++) {
    for (let at = 0; at < sized(12, 1); at++) {
      const texts = Array.from({ length: 40 }, (_, text) => textOf(4 + ((at * 37 + text * 61) % 500), text));
      const prepared = await embedder.prepare(texts, { signal });
      await embedder.embed(prepared, { output: 'pooled', dimensions: 384, signal });
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    seen.push(megabytes(embedder.memoryBytes));
  }
  await embedder.close();
  return seen;
}

const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
try {
  const make = (name: string, shape: Partial<typeof SHAPE>) =>
    writeTestModel(path.join(dir, name), bertFile({ ...SHAPE, ...shape }), tokenizer, config);
  const floats = await make('floats', {});
  const bytes = await make('bytes', { quantized: true });
  const classifier = await make('classifier', { head: 'classifier' });
  console.log(machine());
  console.log(
    `graph: ${megabytes(readFileSync(floats.graph).length)}, int8 ${megabytes(readFileSync(bytes.graph).length)}`,
  );

  const folder = path.join(dir, 'pipeline');
  const hasPipeline = !SMOKE && installPipeline(folder);
  const lines: string[][] = [];
  for (const [name, files, dtype, batching] of [
    ['fp32', floats, 'fp32', 'exact'],
    ['int8', bytes, 'q8', 'exact'],
    ['int8, LECTERN_MODEL_BATCHING=fast', bytes, 'q8', 'fast'],
  ] as const) {
    const rates = await sideBySide(
      optionsFor(files, batching),
      hasPipeline ? startPipeline(folder, files, dtype) : undefined,
    );
    for (const [at, { tokens, texts }] of SETTINGS.entries()) {
      const { alone, together, pipeline } = rates[at]!;
      const perSecond = Math.round(together * tokens).toLocaleString('en-US');
      lines.push([
        name,
        `${texts} x ${tokens}`,
        alone.toFixed(1),
        together.toFixed(1),
        perSecond,
        pipeline?.toFixed(1) ?? '',
      ]);
    }
  }
  report(
    'models-onnx',
    ['weights', 'texts x tokens', 'texts/s, one caller', `${CALLERS} callers`, 'their tokens/s', 'the pipeline'],
    lines,
    { baselines: [hasPipeline ? packageBaseline('@huggingface/transformers', folder) : undefined] },
  );
  console.log(`rerank: ${(await rerankRate(classifier)).toFixed(1)} pairs/s of 128 tokens`);
  console.log(`memory, loaded and after each 480 texts of 4 to 503 tokens: ${(await flood(floats)).join(', ')}`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
