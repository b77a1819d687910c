/**
 * Tests of image and audio models, using ONNX files with fixed weights. Each vector is compared with the result of
 * plain float64 arithmetic.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Embedder, ReadyMedium } from '../backend.ts';
import { filesIn } from '../hub/folder.ts';
import { CLAP_RULE, framesOf } from '../media/sound.ts';
import type { EmbeddingRow } from '../registry/catalogue.ts';
import { createOnnxEmbedder } from './backends.ts';
import { audioVector, type Family, imageVector, RULE, SIZE, textVector, writeTowers } from './towers.suite.ts';

const signal = new AbortController().signal;
const wait = { timeout: 180_000 };
const closing: (() => Promise<void>)[] = [];
let folder: string;
let made = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'towers-'));
});
afterAll(async () => {
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

async function opened(family: Family, given: Partial<EmbeddingRow> = {}): Promise<Embedder> {
  const place = path.join(folder, String(++made));
  const row = await writeTowers(place, family, given);
  const { runs } = row;
  if (runs.on !== 'onnx') throw new Error('another row');
  const embedder = createOnnxEmbedder(row, {
    files: async () => filesIn(place, runs),
    threads: 1,
    log: { info() {}, warn() {} },
  });
  closing.push(() => embedder.close());
  return embedder;
}

const picture = (seed: number): ReadyMedium => ({
  medium: 'image',
  rgb: Uint8Array.from({ length: 3 * RULE.width * RULE.height }, (_, at) => (at * seed * 37 + seed * 11) % 256),
});
const rgbOf = (one: ReadyMedium) => ('rgb' in one ? one.rgb : new Uint8Array());

async function embedMedia(embedder: Embedder, media: readonly ReadyMedium[]) {
  const prepared = await embedder.prepareMedia!(media, { signal });
  const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions: SIZE, signal });
  return outputs.map(({ values }) => [...values]);
}

async function embedTexts(embedder: Embedder, texts: readonly string[]) {
  const prepared = await embedder.prepare(texts, { signal });
  const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions: SIZE, signal });
  return outputs.map(({ values }) => [...values]);
}

function expectClose(found: readonly number[] | undefined, wanted: readonly number[]): void {
  expect(found).toHaveLength(wanted.length);
  for (const [at, value] of wanted.entries()) expect(Math.abs(found![at]! - value)).toBeLessThan(1e-4);
}

describe.each(['clip', 'siglip', 'one graph'] as const)('a model of the form %s', wait, (family) => {
  let embedder: Embedder;
  beforeAll(async () => {
    embedder = await opened(family);
  });

  it('returns the same vectors for images as plain arithmetic, alone and in a batch', async () => {
    const pictures = Array.from({ length: 40 }, (_, at) => picture(at + 1));
    const together = await embedMedia(embedder, pictures);
    for (const [at, one] of pictures.entries()) expectClose(together[at], imageVector(rgbOf(one)));
    expectClose((await embedMedia(embedder, [pictures[7]!]))[0], together[7]!);
  });

  it('returns vectors for texts, padded if the model was trained that way', async () => {
    const [long, short] = await embedTexts(embedder, ['the river is large', 'zoo']);
    const fill = (...pieces: string[]) =>
      family === 'siglip' ? [...pieces, ...new Array(12 - pieces.length).fill('[PAD]')] : pieces;
    expectClose(long, textVector(fill('[CLS]', 'the', 'river', 'is', 'large', '[SEP]')));
    expectClose(short, textVector(fill('[CLS]', 'zoo', '[SEP]')));
  });

  it('runs texts and images of one batch, in order', async () => {
    const [first, second] = [picture(3), picture(4)];
    const [seenFirst, seenSecond] = await embedder.prepareMedia!([first, second], { signal });
    const [read] = await embedder.prepare(['zoo'], { signal });
    const outputs = await embedder.embed([seenFirst!, read!, seenSecond!], {
      output: 'pooled',
      dimensions: SIZE,
      signal,
    });
    expectClose([...outputs[0]!.values], imageVector(rgbOf(first)));
    expectClose([...outputs[1]!.values], (await embedTexts(embedder, ['zoo']))[0]!);
    expectClose([...outputs[2]!.values], imageVector(rgbOf(second)));
    expect(seenFirst).toMatchObject({ tokens: 4, fullTokens: 4 });
  });

  it('prepares images by the rule of its row or of its published files', async () => {
    expect(await embedder.media!()).toEqual({ image: RULE, audio: undefined });
  });
});

describe('a model with audio input', wait, () => {
  it('returns the same vectors for windows of sound as plain arithmetic', async () => {
    const embedder = await opened('clap');
    const features = Float32Array.from({ length: framesOf(CLAP_RULE) * CLAP_RULE.bands }, (_, at) => Math.sin(at) - 1);
    const [heard] = await embedMedia(embedder, [{ medium: 'audio', features }]);
    expectClose(heard, audioVector(features));
    expect(await embedder.media!()).toMatchObject({ audio: CLAP_RULE });
    await expect(embedMedia(embedder, [picture(1)])).rejects.toThrow('The model clap failed on this input');
  });
});

it('is refused if its towers return vectors of other sizes', wait, async () => {
  const embedder = await opened('clip', { dimensions: SIZE + 1 });
  await expect(embedder.load()).rejects.toThrow('cannot be loaded');
});
