/**
 * Failures of the model host: each has the specified status and code (docs/reference/wire/models.md, Error codes) and a
 * clear message.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { problem } from '#errors.ts';
import { fakeEmbedder, fakeReranker, fakeRow } from '#models/embed/embed.suite.ts';
import { TOKENIZER, TOKENIZER_CONFIG, writeTestModel } from '#models/onnx/test-model.suite.ts';
import { startModelHost, startRealModelHost, type TestModelHost } from '../support/model-host.ts';

const LONG_MS = 120_000;

let host: TestModelHost;
beforeAll(async () => {
  host = await startRealModelHost();
});
afterAll(() => host.close());

const model = 'lectern-static-v2';
const embed = (body: Record<string, unknown>) => host.post('/v1/embeddings', { model, ...body });
const rerank = (body: Record<string, unknown>) =>
  host.post('/v1/rerank', { model: 'lectern-static-rerank-v2', documents: ['tap water'], ...body });

describe('an unknown route', () => {
  const BODIES = [undefined, '{}', '{"nonsense', '[', '\ufeff', 'x'.repeat(100_000)];

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s is 404, whatever the body and the key', async (method) => {
    for (const place of ['/v1/nope', '/v1/embeddings/more', '/v1', '/', '/v3/rerank'])
      for (const body of BODIES)
        for (const authorization of [undefined, 'Bearer test-key', 'Bearer nonsense', 'Basic x']) {
          const headers = { ...(authorization && { authorization }) };
          const answer = await fetch(host.url + place, { method, headers, ...(body !== undefined && { body }) });
          const failure = (await answer.json()) as object;
          expect([answer.status, failure], `${place} ${body?.slice(0, 20)}`).toEqual([
            404,
            {
              detail: `route ${method} ${place} not found or access denied`,
              code: 'RESOURCE_NOT_FOUND',
              request_id: answer.headers.get('x-request-id'),
            },
          ]);
        }
  });

  it('is 404 before a body that is too large is read', async () => {
    const small = await startRealModelHost({}, { maxBodyBytes: 1_000 });
    onTestFinished(() => small.close());
    expect((await small.post('/v1/nope', 'x'.repeat(10_000))).status).toBe(404);
    expect((await small.post('/v1/embeddings', 'x'.repeat(10_000))).status).toBe(413);
  });

  it('is 405 for a known route with another method, whatever the body', async () => {
    for (const place of ['/v1/models', '/openapi.json', '/health'])
      for (const body of BODIES) {
        const answer = await fetch(host.url + place, { method: 'POST', ...(body !== undefined && { body }) });
        expect([place, answer.status, answer.headers.get('allow')]).toEqual([place, 405, 'GET, HEAD, OPTIONS']);
      }
    expect((await fetch(`${host.url}/openapi.json`, { method: 'HEAD' })).status).toBe(200);
  });
});

describe('an input with several kinds of content', () => {
  it.each([
    [{ text: 'a', image: 'data:image/png;base64,AAAA' }, 'text, image'],
    [{ text: '', image: 'data:image/png;base64,AAAA' }, 'text, image'],
    [{ text: 'a', image_url: { url: 'https://a.example/x.png' } }, 'text, image_url'],
    [{ type: 'image_url', text: 'a', image_url: { url: 'https://a.example/x.png' } }, 'text, image_url'],
    [{ text: 'a', url: 'https://a.example/x.png' }, 'text, url'],
    [{ image: 'AAAA', audio: 'AAAA', video: 'AAAA' }, 'image, audio, video'],
    [{ text: 'a', content: [{ text: 'b' }] }, 'text, content'],
  ])('%j is refused, not read in part', async (item, names) => {
    const message = `must hold one of ${names}, not several: send each as a separate input`;
    const { status, body } = await embed({ input: ['fine', item] });
    expect([status, body.errors]).toMatchObject([422, [{ field: 'body -> input -> 1', message, type: 'value_error' }]]);
    expect((await embed({ input: item })).body.errors).toMatchObject([{ field: 'body -> input', message }]);
  });

  it('is accepted if the others are null', async () => {
    const { status } = await embed({ input: { text: 'a', image: null, url: null, content: null } });
    expect(status).toBe(200);
  });

  it('is a document whose other fields are returned when it is ranked', async () => {
    const document = { text: 'tap water', url: 'https://a.example/', image: 'a.png', id: 7 };
    const { status, body } = await rerank({ query: 'water', documents: [document] });
    expect([status, body.results[0].document]).toEqual([200, document]);
  });
});

describe('texts without words', () => {
  const BLANK = [' ', '\n\t', '\ufeff', '\u3000', ' \u2028\r\n'];
  const UNSEEN = ['\0', '\u0001\u001f', '\u200b\u200d', '\u00ad', '\u{e0041}', '\ud800'];
  const NOTHING = ['', ...BLANK, ...UNSEEN];
  const SIGNS = ['!!!', '…', '😀', '💩💩', '‽'];
  const UNKNOWN = ['ꙮ', '𒀀', '\u0301\u0301'];
  const faultsAt = (places: readonly number[], message: string, input: readonly string[]) =>
    places.map((at) => ({ field: `body -> input -> ${at}`, message, type: 'value_error', input: input[at] }));

  it.each([1_024, 256, 64])(
    'at %i numbers: zero for the empty text, length 1 for unknown letters',
    async (dimensions) => {
      const { status, body } = await embed({ input: ['', ...UNKNOWN], dimensions });
      expect(status).toBe(200);
      const [empty, ...others] = body.data.map(({ embedding }: { embedding: number[] }) => Math.hypot(...embedding));
      expect(empty).toBe(0);
      for (const length of others) expect(length).toBeCloseTo(1, 4);
    },
  );

  it('are refused if they consist of white space, each by its name', async () => {
    const input = ['tea', ...BLANK, ''];
    const { status, body } = await embed({ input });
    const message = 'must not consist of white space';
    expect([status, body.errors]).toEqual([422, faultsAt([1, 2, 3, 4, 5], message, input)]);
    const alone = await embed({ input: ' ' });
    expect(alone.body.errors).toMatchObject([{ field: 'body -> input', message, input: ' ' }]);
    const asObject = await embed({ input: [{ text: '\n' }] });
    expect(asObject.body.errors).toMatchObject([{ field: 'body -> input -> 0', message }]);
  });

  it('are refused if the model knows nothing in them, each by its name', async () => {
    const { status, body } = await embed({ input: ['', ...UNSEEN, 'tea', ...SIGNS] });
    expect(status).toBe(422);
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(
      [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12].map((at) => `body -> input -> ${at}`),
    );
    expect(body.errors[0].message).toBe('contains nothing that this model knows: its vector would be zero');
  });

  it('are accepted as documents', async () => {
    const documents = [...NOTHING, 'tap water', ...SIGNS, ...UNKNOWN];
    const { status, body } = await rerank({ query: 'tap water', documents });
    expect(status).toBe(200);
    expect(body.results).toHaveLength(documents.length);
    expect(body.results[0].index).toBe(NOTHING.length);
  });

  it.each([...NOTHING.slice(1), '😀', '😀 💩'])('%j is refused as a query', async (query) => {
    for (const place of ['/v1/rerank', '/v2/rerank', '/rerank']) {
      const asked = { model: 'lectern-static-rerank-v2', query, documents: ['tap water'] };
      const { status, body } = await host.post(place, asked);
      expect([status, body.errors]).toMatchObject([
        422,
        [{ field: 'body -> query', message: 'contains no words that this model can match', input: query }],
      ]);
    }
    expect((await rerank({ query: '' })).body.errors).toMatchObject([{ field: 'body -> query', type: 'too_short' }]);
  });

  it('are named if the model has no vector for them', async () => {
    const zero = await startModelHost({
      rows: [fakeRow('dense')],
      opening: {
        embedder: (row) => {
          const fake = fakeEmbedder(row);
          const run = fake.embed;
          // A text without words has two tokens, which mark its start and end.
          fake.embed = async (batch, options) =>
            (await run(batch, options)).map((output, at) =>
              batch[at]!.tokens === 2 ? { ...output, values: new Float32Array(row.dimensions) } : output,
            );
          return fake;
        },
        reranker: (row) => fakeReranker(row),
      },
    });
    onTestFinished(() => zero.close());
    const { status, body } = await zero.post('/v1/embeddings', { model: 'dense', input: ['tea', '\0', '', '\0'] });
    const message = 'contains nothing that this model knows: its vector would be zero';
    expect([status, body.errors]).toEqual([
      422,
      [1, 3].map((at) => ({ field: `body -> input -> ${at}`, message, type: 'value_error' })),
    ]);
    expect(zero.charges.at(-1)).toMatchObject({ tokens: 0, status: 422 });
    expect((await zero.post('/v1/embeddings', { model: 'dense', input: ['tea'] })).status).toBe(200);
  });
});

describe('an unavailable model', () => {
  const rowOf = (runs: object, more: object = {}) => ({
    id: 'mine',
    does: 'embed',
    kind: 'text-v2',
    dimensions: 32,
    contextTokens: 64,
    runs: { on: 'onnx', ...runs },
    ...more,
  });

  async function folder(): Promise<string> {
    const made = await mkdtemp(path.join(os.tmpdir(), 'lectern-mine-'));
    onTestFinished(() => rm(made, { recursive: true, force: true }));
    return made;
  }

  async function hostWith(settings: Record<string, unknown>): Promise<TestModelHost> {
    const made = await startRealModelHost(settings);
    onTestFinished(() => made.close());
    return made;
  }

  /** A hub that responds to every request with this status. */
  async function hubWith(status: number): Promise<string> {
    const server: Server = createServer((_, response) => response.writeHead(status).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const ask = (from: TestModelHost) => from.post('/v1/embeddings', { model: 'mine', input: 'x' });
  /** The caller must not learn where the model is stored or downloaded from. */
  const expectOpaque = (detail: string) =>
    expect(detail).not.toMatch(/\/tmp|127\.0\.0\.1|localhost|ENOENT|EACCES|\.ts/);

  it.each(['on', 'off'])(
    'because its folder is missing (downloads %s)',
    { timeout: LONG_MS },
    async (modelDownload) => {
      const missing = path.join(await folder(), 'nowhere');
      const mine = await hostWith({ modelDownload, models: [rowOf({ folder: missing })] });
      const { status, body } = await ask(mine);
      expect([status, body.code]).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
      expect(body.detail).toContain('Model mine not found. Its folder on the server is missing or lacks a file.');
      expectOpaque(body.detail);
      const { data } = (await (await fetch(`${mine.url}/v1/models`)).json()) as { data: { id: string }[] };
      expect(data.map(({ id }) => id)).not.toContain('mine');
    },
  );

  it('because its folder was removed', { timeout: LONG_MS }, async () => {
    const there = await folder();
    await writeTestModel(there, Buffer.from('no graph'));
    const mine = await hostWith({ modelDownload: 'off', models: [rowOf({ folder: there })] });
    await fetch(`${mine.url}/v1/models`);
    await rm(there, { recursive: true });
    const { status, headers, body } = await ask(mine);
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(body.detail).toBe('Service temporarily unavailable: The folder of model mine is missing or incomplete');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  const GRAPH = randomBytes(5_000);
  it.each<[string, Buffer, string | object, string | object]>([
    ['graph', GRAPH, TOKENIZER, TOKENIZER_CONFIG],
    ['graph that is empty', Buffer.alloc(0), TOKENIZER, TOKENIZER_CONFIG],
    ['tokenizer', GRAPH, '{"model', TOKENIZER_CONFIG],
    ['tokenizer of another kind', GRAPH, '[]', '[]'],
    ['configuration of the tokenizer', GRAPH, TOKENIZER, 'null'],
  ])('since its files are damaged: the %s', { timeout: LONG_MS }, async (_, graph, tokenizer, config) => {
    const there = await folder();
    await writeTestModel(there, graph, tokenizer, config);
    const mine = await hostWith({ modelDownload: 'off', models: [rowOf({ folder: there })] });
    for (let tries = 0; tries < 2; tries++) {
      const { status, body } = await ask(mine);
      expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(body.detail).toContain('The model mine cannot be loaded: its files are damaged');
      expectOpaque(body.detail);
    }
  });

  it('because the rule for its images is damaged', { timeout: LONG_MS }, async () => {
    const there = await folder();
    await writeTestModel(there, GRAPH);
    await writeFile(path.join(there, 'preprocessor_config.json'), '{"size');
    const towers = { image: { file: 'onnx/model.onnx', tokens: 4 } };
    const row = rowOf({ folder: there, towers }, { kind: 'clip-v1' });
    const mine = await hostWith({ modelDownload: 'off', models: [row] });
    const { status, body } = await ask(mine);
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(body.detail).toContain('The model mine cannot be loaded');
  });

  it.each([
    [404, 'Could not download model mine: The hub has no file tokenizer.json in tests/mine at main'],
    [401, 'Could not download model mine: The hub requires a token with access to this model'],
    [403, 'Could not download model mine: The hub requires a token'],
    [429, 'Could not download model mine: The hub reports too many requests; try again later'],
    [418, 'Could not download model mine: The hub answered with status 418'],
    [500, 'Could not download model mine: The hub answered with status 500'],
  ])('since the hub answers %i', { timeout: LONG_MS }, async (answered, said) => {
    const modelHubUrl = await hubWith(answered);
    const mine = await hostWith({ modelDownload: 'on', modelHubUrl, models: [rowOf({}, { hub: 'tests/mine' })] });
    const { status, body } = await ask(mine);
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(body.detail).toContain(said);
    expectOpaque(body.detail);
  });

  it('because the hub cannot be reached', { timeout: LONG_MS }, async () => {
    const modelHubUrl = 'http://127.0.0.1:9';
    const mine = await hostWith({ modelDownload: 'on', modelHubUrl, models: [rowOf({}, { hub: 'tests/mine' })] });
    const { status, body } = await ask(mine);
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(body.detail).toContain('Model mine is not on this machine, and the hub cannot be reached');
    expectOpaque(body.detail);
  });

  it('because its folder cannot be written', { timeout: LONG_MS }, async () => {
    const modelHubUrl = await hubWith(200);
    const there = await folder();
    await mkdir(path.join(there, 'models'));
    const mine = await startRealModelHost(
      { modelDownload: 'on', modelHubUrl, models: [rowOf({}, { hub: 'tests/mine' })] },
      { modelsDir: path.join(there, 'file', 'models') },
    );
    onTestFinished(() => mine.close());
    await writeFile(path.join(there, 'file'), 'no folder');
    const { status, body } = await ask(mine);
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(body.detail).toBe(
      'Service temporarily unavailable: Could not download model mine: its folder on this machine is not writable',
    );
  });
});

describe('an unexpected error', () => {
  const hostThatFails = async (error: Error) => {
    const failing = await startModelHost({
      rows: [fakeRow('dense')],
      opening: {
        embedder: (row) =>
          fakeEmbedder(row, {
            onBatch: async () => {
              throw error;
            },
          }),
        reranker: (row) => fakeReranker(row),
      },
    });
    onTestFinished(() => failing.close());
    return failing.post('/v1/embeddings', { model: 'dense', input: 'x' });
  };

  it('is 500 and reveals no internals', async () => {
    const { status, headers, body } = await hostThatFails(new Error('open /srv/secret: ENOENT'));
    const { detail, code, request_id } = body;
    expect([status, detail, code]).toEqual([500, 'An unexpected error occurred', 'INTERNAL_ERROR']);
    expect(Object.keys(body)).toEqual(['detail', 'code', 'request_id']);
    expect(request_id).toBe(headers.get('x-request-id'));
  });

  it('is 500 with the name of the model that failed on an input', async () => {
    const message = 'The model dense failed on this input';
    const { status, body } = await hostThatFails(problem('DownstreamServiceError', { message }, new Error('secret')));
    expect([status, body.detail, body.code]).toEqual([
      500,
      `An unexpected error occurred: ${message}`,
      'INTERNAL_ERROR',
    ]);
  });
});
