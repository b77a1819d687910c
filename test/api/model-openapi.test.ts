/** The OpenAPI document of the model host: it must be valid and complete, and match real responses. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createModelDescription } from '#api/models/openapi.ts';
import { openBatch } from '#batch/index.ts';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { fakeEmbedder, fakeReranker, fakeRerankRow, fakeRow } from '#models/embed/embed.suite.ts';
import { CHAT_FIELDS, EMBED_FIELDS, RERANK_FIELDS } from '#models/index.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createRegion } from '#net/region.ts';
import { drawnPage } from '#ocr/drawn-pages.suite.ts';
import { createLog } from '#telemetry/log.ts';

import { startChatHost } from '../support/chat-host.ts';
import { startModelHost, type TestModelHost } from '../support/model-host.ts';
import { readOpenApi } from '../support/openapi.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a document
const description = createModelDescription('1.0.0') as any;
const api = readOpenApi(description);

let host: TestModelHost;
beforeAll(async () => {
  host = await startModelHost({
    rows: [
      fakeRow('dense', { matryoshka: [4] }),
      fakeRow('omni', { kind: 'omni-v4' }),
      fakeRow('sparse', { kind: 'sparse' }),
      fakeRerankRow('ranker'),
    ],
    opening: { embedder: (row) => fakeEmbedder(row), reranker: (row) => fakeReranker(row) },
  });
});
afterAll(() => host.close());

it('is a valid OpenAPI 3.1 document, served as it is', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(description))).toMatchObject({ valid: true });
  expect(validator.version).toBe('3.1');
  const served = await (await fetch(`${host.url}/openapi.json`)).json();
  expect(served).toEqual({ ...description, info: { ...description.info, version: INTERFACE_VERSIONS.models.version } });
});

it('has every field of the tables, under each of its names', () => {
  const { EmbeddingsRequest, RerankRequest } = description.components.schemas;
  for (const [table, schema] of [
    [EMBED_FIELDS, EmbeddingsRequest],
    [RERANK_FIELDS, RerankRequest],
  ] as const) {
    const names = Object.entries(table).flatMap(([name, { aliases }]) => [name, ...aliases]);
    expect(Object.keys(schema.properties).sort()).toEqual(names.sort());
  }
});

it.each([
  ['/v1/embeddings', { model: 'dense', input: ['a', 'b'] }, 200],
  ['/v1/embeddings', { model: 'dense', input: 'a', embedding_type: ['base64', 'binary'], dimensions: 4 }, 200],
  ['/v1/embeddings', { model: 'omni', input: 'a b', return_multivector: true, return_tokenized_input: true }, 200],
  ['/v1/embeddings', { model: 'sparse', texts: ['a'] }, 200],
  ['/v1/rerank', { model: 'ranker', query: 'a', documents: ['a', { text: 'b', more: 1 }] }, 200],
  ['/v2/rerank', { model: 'ranker', query: 'a', documents: ['a', 'b'], top_n: 1 }, 200],
  ['/rerank', { query: 'a', texts: ['a', 'b'], return_text: true }, 200],
  ['/v1/embeddings', { model: 'none', input: 'a' }, 400],
  ['/v1/embeddings', { model: 'dense', input: 'word '.repeat(50) }, 400],
])('tells of requests and answers of %s what they are: %j', async (path, body, status) => {
  const { operationId, security } = description.paths[path].post;
  api.expectBody(operationId, body);
  const answer = await host.post(path, body);
  expect(answer.status).toBe(status);
  api.expectAnswer(operationId, { status, type: 'application/json', text: JSON.stringify(answer.body) });
  expect(security).toEqual([{ key: [] }]);
});

it.each([
  ['/v1/embeddings', { model: 'dense' }],
  ['/v1/embeddings', { input: 'a' }],
  ['/v1/rerank', { model: 'ranker', query: 'a', documents: [] }],
])('refuses what the server refuses: %s %j', async (path, body) => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(description, 'description');
  const at = `description#/paths/${path.replaceAll('/', '~1')}/post`;
  expect(ajv.getSchema(`${at}/requestBody/content/application~1json/schema`)!(body)).toBe(false);
  const answer = await host.post(path, body);
  expect(answer.status).toBe(422);
  const { operationId } = description.paths[path].post;
  api.expectAnswer(operationId, { status: 422, type: 'application/json', text: JSON.stringify(answer.body) });
});

it('describes chat completions, their failures and their models', async () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(description, 'description');
  const check = (name: string, value: unknown) => {
    const validate = ajv.getSchema(`description#/components/schemas/${name}`)!;
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
  };
  expect(Object.keys(description.components.schemas.ChatRequest.properties)).toEqual(Object.keys(CHAT_FIELDS));
  const chat = await startChatHost();
  try {
    const png = drawnPage({ width: 300, height: 200 }, () => {}).toString('base64');
    const request = {
      model: 'lectern-ocr',
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }] },
      ],
    };
    check('ChatRequest', request);
    check('ChatCompletion', (await chat.post('/v1/chat/completions', request)).body);
    const { events } = await chat.stream({ ...request, stream_options: { include_usage: true } });
    for (const event of events.slice(0, -1)) check('ChatChunk', JSON.parse(event.replace(/^data: /, '')));
    check('ChatFailure', (await chat.post('/v1/chat/completions', { model: 'lectern-ocr' })).body);
    check('ChatFailure', (await chat.post('/v1/chat/completions', { ...request, model: 'none' })).body);
    check('ModelListResponse', await (await fetch(`${chat.url}/v1/models`)).json());
  } finally {
    await chat.close();
  }
}, 60_000);

it('describes the list of models', async () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(description, 'description');
  const answer: unknown = await (await fetch(`${host.url}/v1/models`)).json();
  const validate = ajv.getSchema('description#/components/schemas/ModelListResponse')!;
  expect(validate(answer), JSON.stringify(validate.errors)).toBe(true);
  const one = (await (await fetch(`${host.url}/v1/models/dense`)).json()) as object;
  expect(Object.keys(one).sort()).toEqual(Object.keys(description.components.schemas.ModelInfo.properties).sort());
});

it('describes batch jobs', async () => {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
  ajv.addSchema(description, 'description');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'described-'));
  const guard = createGuard();
  const log = createLog('silent');
  const out = createFetch({ guard, region: createRegion({ region: 'any', euHosts: [], log }) });
  const batches = await startModelHost({
    rows: [fakeRow('dense', { matryoshka: [4] })],
    opening: { embedder: (row) => fakeEmbedder(row), reranker: (row) => fakeReranker(row) },
    batch: async ({ registry, models }) => ({
      guard,
      batch: await openBatch({
        dataDir: folder,
        registry,
        models,
        fetch: out,
        failureOf: ({ message }) => ({ code: 'INVALID_LINE', message }),
        charge: async () => {},
        jobs: 0,
        log,
      }),
    }),
  });
  try {
    const body = {
      model: 'dense',
      input: [{ custom_id: 'a', body: { input: ['x', { text: 'y' }], truncate: true } }],
      dimensions: 4,
    };
    expect(ajv.getSchema('description#/components/schemas/BatchEmbeddingRequest')!(body)).toBe(true);
    expect(ajv.getSchema('description#/components/schemas/BatchLine')!(body.input[0])).toBe(true);
    const { status, body: job } = await batches.post('/v1/batch/embeddings', body);
    expect(status).toBe(200);
    const isJob = ajv.getSchema('description#/components/schemas/BatchStatus')!;
    expect(isJob(job), JSON.stringify(isJob.errors)).toBe(true);
    const headers = { authorization: 'Bearer test-key' };
    for (const [place, methods] of Object.entries(description.paths)) {
      if (!place.startsWith('/v1/batch')) continue;
      for (const method of Object.keys(methods as object).filter((name) => name === 'get')) {
        const url = `${batches.url}${place.replace('{batch_id}', job.batch_id)}`;
        const answer = await fetch(url, { method: method.toUpperCase(), headers });
        // The files of a job do not exist before the job has ended.
        expect(answer.status, place).toBe(/output|errors/.test(place) ? 409 : 200);
      }
    }
  } finally {
    await batches.close();
    await out.close();
    await rm(folder, { recursive: true, force: true });
  }
});
