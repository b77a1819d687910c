/**
 * Models with several vectors, with weights of terms, and language models that judge documents, over HTTP: small graphs
 * with random weights in folders of the operator.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDocuments, type Documents } from '#documents/documents.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { drawPdf, write } from '#documents/pdf/drawn.suite.ts';
import { siglipRule } from '#models/media/picture-rule.ts';
import { bertFile, bertWeights } from '#models/onnx/bert.suite.ts';
import { BYTE_LEVEL_CONFIG, BYTE_LEVEL_SIZE, byteLevelTokenizer } from '#models/onnx/byte-level.suite.ts';
import * as heads from '#models/onnx/heads.suite.ts';
import { SMALL, writeTestModel } from '#models/onnx/test-model.suite.ts';
import { QWEN3, transformerFile, transformerWeights } from '#models/onnx/transformer.suite.ts';
import { openTokenizer } from '#models/tokenizers/hugging-face.ts';
import { startRealModelHost, type TestModelHost } from '../support/model-host.ts';

const wait = { timeout: 120_000 };
const SIDE = 8;

let folder: string;
let host: TestModelHost;
let documents: Documents;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'kinds-'));
  const place = (name: string) => path.join(folder, name);
  const { hidden } = SMALL;
  const m3 = { sparse: heads.headMatrix(hidden, 1, 2), colbert: heads.headMatrix(hidden, hidden, 3) };
  await writeTestModel(place('m3'), bertFile(SMALL, bertWeights(SMALL), heads.m3Head(hidden, m3)));

  const json = byteLevelTokenizer(undefined, '<bos>');
  const tokenizer = await openTokenizer(json, BYTE_LEVEL_CONFIG);
  const shape = { ...QWEN3, vocabulary: BYTE_LEVEL_SIZE };
  const weights = transformerWeights(shape);
  const patches = {
    side: SIDE,
    kernel: heads.headMatrix(48, shape.hidden, 2),
    patch: tokenizer.idOf('<image>')!,
  };
  const pages = transformerFile(shape, weights, {
    embed: heads.patchEmbeddings(patches),
    head: heads.productHead('vectors', heads.headMatrix(shape.hidden, 4, 3)),
  });
  await writeTestModel(place('pages'), pages, json, BYTE_LEVEL_CONFIG);
  const logits = heads.headMatrix(shape.hidden, BYTE_LEVEL_SIZE, 9);
  const judge = transformerFile(shape, weights, { memory: 'float', head: heads.productHead('logits', logits) });
  await writeTestModel(place('judge'), judge, json, BYTE_LEVEL_CONFIG);

  const embedder = { does: 'embed', contextTokens: SMALL.positions };
  const image = {
    file: 'onnx/model.onnx',
    rule: siglipRule(SIDE),
    tokens: 9,
    prompt: { patch: '<image>', patches: 4, text: '<bos>Describe the image.\n' },
  };
  documents = createDocuments({
    memoryMb: 1_024,
    timeoutMs: 60_000,
    libreoffice: createLibreOffice({ program: 'none', temporaryDir: folder }),
  });
  host = await startRealModelHost(
    {
      models: [
        {
          ...embedder,
          id: 'm3',
          kind: 'm3',
          dimensions: hidden,
          pooling: 'none',
          runs: { on: 'onnx', folder: place('m3') },
        },
        {
          ...embedder,
          ...{ id: 'pages', kind: 'colbert', dimensions: 4, prefixes: { query: 'Query: ', passage: '' } },
          runs: { on: 'onnx', folder: place('pages'), querySuffix: '<pad><pad>\n', towers: { image } },
        },
        {
          ...{ id: 'judge', does: 'rerank', contextTokens: 256 },
          runs: {
            ...{ on: 'onnx', folder: place('judge') },
            judge: {
              before: '<|im_start|>',
              query: '',
              between: '\n',
              document: ' ',
              after: '<|im_end|>',
              yes: 'yes',
              no: 'no',
            },
          },
        },
      ],
    },
    { media: { documents, temporaryDir: folder } },
  );
}, 120_000);

afterAll(async () => {
  await host?.close();
  await documents.close();
  await rm(folder, { recursive: true, force: true });
});

const embed = (body: Record<string, unknown>) => host.post('/v1/embeddings', body);
const dot = (left: readonly number[], right: readonly number[]) =>
  left.reduce((sum, value, at) => sum + value * right[at]!, 0);

describe('a model of kind m3', wait, () => {
  const model = 'm3';
  const input = ['the river', 'zoo'];

  it('returns one vector, a vector per token, or weights of terms', async () => {
    const dense = await embed({ model, input });
    expect(dense.body.data.map(({ embedding }: { embedding: number[] }) => embedding.length)).toEqual([32, 32]);

    const { body } = await embed({ model, input, return_multivector: true, return_tokenized_input: true });
    expect(body.data.map((one: { tokenized_input: string[] }) => one.tokenized_input)).toEqual([
      ['the', 'river', '[SEP]'],
      ['zoo', '[SEP]'],
    ]);
    const [first] = body.data[0].embeddings as number[][];
    expect(dot(first!, first!)).toBeCloseTo(1, 4);

    const sparse = await embed({ model, input, return_sparse: true });
    expect(sparse.status).toBe(200);
    for (const [at, { embedding }] of sparse.body.data.entries())
      for (const piece of Object.keys(embedding)) expect(input[at]!.split(' ')).toContain(piece);
  });

  it('is listed with what it can return', async () => {
    const listed = (await (await fetch(`${host.url}/v1/models/m3`)).json()) as Record<string, unknown>;
    expect(listed).toMatchObject({ kind: 'm3', available: true, how: 'on disk' });
    expect(listed.supported_features).toEqual(expect.arrayContaining(['multivector', 'sparse']));
  });

  it.each([
    [{ return_sparse: true, return_multivector: true }, 'body -> return_sparse'],
    [{ return_sparse: true, dimensions: 8 }, 'body -> dimensions'],
    [{ return_sparse: 'yes' }, 'body -> return_sparse'],
    [{ model: 'lectern-static-v2', return_sparse: true }, 'body -> return_sparse'],
  ])('refuses %j', async (more, field) => {
    const answer = await embed({ model, input: 'x', ...more });
    expect([answer.status, answer.body.errors[0].field]).toEqual([422, field]);
  });
});

describe('an embedder of pages', wait, () => {
  const model = 'pages';

  it('returns the vectors of an image, and of each page of a PDF', async () => {
    const png = await sharp({ create: { width: 20, height: 30, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();
    const picture = await embed({ model, input: [{ image: png.toString('base64') }] });
    expect(picture.body.data).toHaveLength(1);
    const count = picture.body.data[0].embeddings.length;
    expect(count).toBeGreaterThan(4);

    const pdf = drawPdf({
      pages: ['The first page.', 'The second page.'].map((text) => ({ content: write(50, 700, [text]) })),
    });
    const pages = await embed({ model, input: { pdf: Buffer.from(pdf).toString('base64') } });
    expect(pages.body.data.map((one: { embeddings: number[][] }) => one.embeddings.length)).toEqual([count, count]);
  });

  it('adds the prompt and the padding of queries', async () => {
    const tokens = async (input_type: string) =>
      (await embed({ model, input: 'the river', input_type, return_tokenized_input: true })).body.data[0]
        .tokenized_input;
    const [query, document] = [await tokens('query'), await tokens('document')];
    expect(query.join('')).toMatch(/^<bos>Query:.*river<pad><pad>/);
    expect(document.join('')).toMatch(/^<bos>.*river$/);
  });
});

describe('a language model as reranker', wait, () => {
  it('scores documents between 0 and 1, and long ones in windows', async () => {
    const documentList = ['yes', 'no, the river', 'the river in the city. '.repeat(80)];
    const { status, body } = await host.post('/v1/rerank', {
      model: 'judge',
      query: 'river?',
      documents: documentList,
    });
    expect(status).toBe(200);
    expect(body.results).toHaveLength(3);
    for (const { relevance_score: score } of body.results) expect(score > 0 && score < 1).toBe(true);
    const strict = await host.post('/v1/rerank', {
      ...{ model: 'judge', query: 'river?', documents: documentList, truncation: false },
    });
    expect([strict.status, strict.body.code]).toEqual([400, 'INPUT_TOKEN_LIMIT_EXCEEDED']);
  });
});
