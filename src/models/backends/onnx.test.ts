import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bertLogit, bertStates } from '../onnx/bert.suite.ts';
import { smallModel, testEmbeddingRow, testRerankRow, VOCABULARY, writeTestModel } from '../onnx/test-model.suite.ts';
import type { Prepared } from './backend.ts';
import { createOnnxEmbedder, createOnnxReranker, type OnnxOptions } from './onnx.ts';

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

describe('an encoder', wait, () => {
  const model = smallModel();
  let embedder: ReturnType<typeof createOnnxEmbedder>;

  beforeAll(async () => {
    embedder = createOnnxEmbedder(testEmbeddingRow(), await optionsFor(model.file));
    closing.push(() => embedder.close());
  });

  const embed = async (texts: readonly string[]) =>
    embedder.embed(await embedder.prepare(texts, { signal }), { output: 'pooled', dimensions: 32, signal });

  it('gives what plain arithmetic gives', async () => {
    const [output] = await embed(['The river is large.']);
    const ids = idsOf('[CLS]', 'the', 'river', 'is', 'large', '.', '[SEP]');
    expect(output!.rows).toBe(1);
    expectClose(output!.values, meanOf(bertStates(model.shape, model.weights, ids)), 1e-4);
  });
});
