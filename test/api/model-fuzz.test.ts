/**
 * Arbitrary JSON sent to every endpoint of the model host: valid, invalid or unstructured. It is generated from the
 * tables of fields, so that new fields are tested automatically. No response may be an internal error, and every
 * failure must have the envelope of this host.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_FIELDS, EMBED_FIELDS, RERANK_FIELDS, type RequestField, TASKS } from '#models/index.ts';
import { INHERITED_NAMES } from '#own-value.suite.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 300_000;
const RUNS = 150;

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startServer({ browser: 'none', modelDownload: 'off' });
  key = server.app.firstKey!;
});
afterAll(() => server.close());

/** Parts of a request, in the formats of the tables and of other clients. */
const ITEMS = [
  { text: 'tea' },
  { image: 'AAAA' },
  { image: 'https://192.0.2.1/a.png' },
  { pdf: 'JVBERi0=' },
  { audio: 'AAAA' },
  { video: 'data:video/mp4;base64,AAAA' },
  { content: [{ text: 'tea' }, { image: 'AAAA' }] },
  { type: 'text', text: 'tea' },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  { type: 'image', format: 'base64', value: 'AAAA' },
  { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
  { role: 'user', content: 'tea' },
  { role: 'user', content: [{ type: 'text', text: 'tea' }] },
  { custom_id: 'a', body: { input: 'tea' } },
] as const;
const WORDS = [
  'lectern-static-v2',
  'lectern-static-rerank-v2',
  'svc-ocr',
  'tea',
  '',
  ' ',
  '\0',
  '\ud800',
  '😀',
  'float',
  'base64',
  'query',
  ...Object.values(TASKS).flatMap(({ values }) => values),
  ...INHERITED_NAMES,
];
const NUMBERS = [0, -0, 1, -1, 2, 64, 256, 1_024, 1e9, 1e300, 0.5, 2 ** 53];

/** JSON values: arbitrary ones, and ones that the endpoints accept. */
const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<unknown>(...WORDS, ...NUMBERS, null, true, false),
    fc.constantFrom<unknown>(...ITEMS),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc.constantFrom('text', 'image', 'content', 'type', 'url', 'body', ...INHERITED_NAMES),
      tie('value'),
      {
        maxKeys: 4,
      },
    ),
  ),
}));

type Fields = Readonly<Record<string, RequestField>>;

/** Valid bodies in which some fields are replaced with arbitrary values and other fields are added. */
const bodies = (fields: Fields, right: Readonly<Record<string, unknown>>) => {
  const names = Object.entries(fields).flatMap(([name, { aliases }]) => [name, ...aliases]);
  const changes = fc.dictionary(fc.constantFrom(...names, ...INHERITED_NAMES), anything, { maxKeys: 4 });
  const changed = changes.map((given) => JSON.stringify({ ...right, ...given }));
  const broken = fc.tuple(changed, fc.nat(60)).map(([text, at]) => text.slice(0, at));
  return fc.oneof(
    { weight: 8, arbitrary: changed },
    anything.map((value) => JSON.stringify(value)),
    broken,
  );
};

const BATCH_FIELDS: Fields = {
  ...EMBED_FIELDS,
  input_url: { aliases: [], meaning: '', schema: {} },
  webhook_url: { aliases: [], meaning: '', schema: {} },
};

const RERANK = { model: 'lectern-static-rerank-v2', query: 'tap water', documents: ['tea', { text: 'water' }] };
const EMBED = { model: 'lectern-static-v2', input: ['tea', { text: 'water' }] };

async function post(place: string, body: string) {
  const answer = await fetch(server.urls.model + place, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}

/** 403 is returned when there are too many jobs. */
const STATUSES = [200, 400, 403, 413, 422];

function expectAnswer(place: string, { status, text }: { status: number; text: string }): void {
  expect(STATUSES, text).toContain(status);
  if (status === 200) return;
  const failure = JSON.parse(text);
  if (place === '/v1/chat/completions') {
    expect(Object.keys(failure)).toEqual(['error']);
    expect(failure.error.message).toMatch(/\S/);
    return;
  }
  expect(failure.detail).toMatch(/\S/);
  expect(failure.request_id).toMatch(/^[0-9a-f]{32}$/);
  if (status === 422) for (const error of failure.errors) expect(error.field).toMatch(/^body( -> |$)/);
  else expect(failure.code).toMatch(/^[A-Z_]+$/);
}

describe('any body', () => {
  it.each<[string, Fields, Readonly<Record<string, unknown>>]>([
    ['/v1/embeddings', EMBED_FIELDS, EMBED],
    ['/v1/rerank', RERANK_FIELDS, RERANK],
    ['/v2/rerank', RERANK_FIELDS, RERANK],
    ['/rerank', RERANK_FIELDS, { query: 'tap water', texts: ['tea', 'water'] }],
    ['/v1/batch/embeddings', BATCH_FIELDS, { model: 'lectern-static-v2', input: [{ custom_id: 'a', body: EMBED }] }],
    ['/v1/chat/completions', CHAT_FIELDS, { model: 'svc-ocr', messages: [{ role: 'user', content: 'tea' }] }],
  ])('%s answers it', { timeout: LONG_MS }, async (place, fields, right) => {
    expect((await post(place, JSON.stringify(right))).status).toBeLessThanOrEqual(400);
    await fc.assert(
      fc.asyncProperty(bodies(fields, right), async (body) => expectAnswer(place, await post(place, body))),
      { numRuns: RUNS },
    );
    expect((await post('/v1/embeddings', JSON.stringify(EMBED))).status).toBe(200);
  });
});
