/** Section 7 of the first document: triggers each error code of the model host on every endpoint that can return it. */
import { afterAll, beforeAll, expect } from 'vitest';
import { fakeEmbedder, fakeReranker, fakeRow } from '#models/embed/embed.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { startModelHost } from '../support/model-host.ts';
import {
  type Answer,
  chatRequest,
  ENDPOINTS,
  expectFailure,
  FAILING,
  FAR,
  type Headers,
  MODEL,
  PATIENT,
  type SeedHost,
  startHost,
} from './host-server.ts';
import { hosted } from './seed.ts';

const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerank';
const CHAT = '/v1/chat/completions';
const BATCH = '/v1/batch/embeddings';

let site: Site;
let host: SeedHost;
let key: Headers;
beforeAll(async () => {
  site = await startSite();
  const plans = { free: { classifiers: 1 } };
  host = await startHost({ allowNetworks: site.allow.join(','), refusedRpm: 3, plans });
  key = await host.keyOf('premium');
});
afterAll(async () => {
  await host?.close();
  await site?.close();
});

/** A picture of one pixel. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const sample = (label: string) => ({ text: `Some words about ${label}`, label });
const far = (input: string, model = FAR) => ({ model, input });

hosted.row(
  '7',
  'Failures on the model host carry `detail` (message), `code` (from the table) and `request_id` (to quote in a support request). The chat-completions endpoint is the exception: it answers in the error envelope of the chat-completion schema, with the same code inside it. Placeholders in messages: <current>, <limit>, <model>, <max_tokens>, <resource_type>, <resource_id>.',
  async () => {
    const { body } = await host.post(EMBEDDINGS, far('x', 'nope'), key);
    expect(body).toEqual({
      detail: expect.stringContaining('nope'),
      code: 'INPUT_MODEL_NOT_FOUND',
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const chat = await host.post(CHAT, chatRequest('x', 'nope'), key);
    expect(chat.body).toEqual({
      error: {
        message: expect.stringContaining('nope'),
        type: 'invalid_request_error',
        param: null,
        code: 'INPUT_MODEL_NOT_FOUND',
        request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
    expect(chat.body.error.request_id).not.toBe(body.request_id);
    // The rows below check these fields and the placeholders of each code.
  },
);

hosted.row('7', 'INPUT_INVALID_LABELS | 400 | Invalid training labels', async () => {
  const sport = sample('sport');
  for (const [place, body] of [
    ['/v1/train', { model: MODEL, input: [sport, sport] }],
    ['/v1/train', { model: MODEL, input: [sport, sample('')] }],
    ['/v1/classify', { model: MODEL, input: 'a', labels: ['one', 'one'] }],
  ] as const) {
    const answer = await host.post(place, body, key);
    expect(expectFailure(place, answer, [400, 'INPUT_INVALID_LABELS'])).toMatch(/^Invalid training labels\b/);
  }
});

hosted.row(
  '7',
  'INPUT_LABEL_LIMIT_EXCEEDED | 400 | Label count <current> exceeds the plan maximum <limit>',
  async () => {
    for (const [plan, limit] of [
      ['free', 64],
      ['paid', 256],
    ] as const) {
      const input = Array.from({ length: limit + 1 }, (_, at) => sample(`label ${at}`));
      const answer = await host.post('/v1/train', { model: MODEL, input }, await host.keyOf(plan));
      const message = expectFailure('/v1/train', answer, [400, 'INPUT_LABEL_LIMIT_EXCEEDED']);
      expect(message).toBe(`Label count ${limit + 1} exceeds the plan maximum ${limit}`);
    }
  },
);

hosted.row('7', 'INPUT_MODEL_NOT_FOUND | 400 | Model <model> not found', async () => {
  for (const [place, body] of Object.entries(ENDPOINTS)) {
    const answer = await host.post(place, { ...body, model: 'no-such-model' }, key);
    expect(expectFailure(place, answer, [400, 'INPUT_MODEL_NOT_FOUND'])).toMatch(/^Model no-such-model not found\b/);
  }
});

hosted.row(
  '7',
  'INPUT_TOKEN_LIMIT_EXCEEDED | 400 | Input text exceeds the model maximum of <max_tokens> tokens',
  async () => {
    const long = 'tea '.repeat(9_000);
    const model = 'lectern-static-rerank-v2';
    for (const [place, body] of [
      [EMBEDDINGS, { model: MODEL, input: long }],
      [RERANK, { model, query: 'tea', documents: [long], truncation: false }],
    ] as const) {
      const message = expectFailure(place, await host.post(place, body, key), [400, 'INPUT_TOKEN_LIMIT_EXCEEDED']);
      expect(message).toMatch(/^Input text exceeds the model maximum of 8192 tokens\b/);
    }
    const content = [
      { type: 'text', text: 'tea '.repeat(33_000) },
      { type: 'image_url', image_url: { url: PIXEL } },
    ];
    const asked = { model: 'lectern-ocr', messages: [{ role: 'user', content }] };
    const message = expectFailure(CHAT, await host.post(CHAT, asked, key), [400, 'INPUT_TOKEN_LIMIT_EXCEEDED']);
    expect(message).toMatch(/^Input text exceeds the model maximum of \d+ tokens\b/);
  },
);

const AUTH = [
  ['AUTH_INVALID_API_KEY | 401 | Invalid API key', 'Bearer unknown'],
  ['AUTH_INVALID_FORMAT | 401 | Invalid authorization format', 'Basic dXNlcjpwYXNz'],
  ['AUTH_MISSING_API_KEY | 401 | Authentication required', ''],
] as const;

/** Sends a wrong `Authorization` header to every endpoint, each time from a different IP address. */
async function expectRefused(words: (typeof AUTH)[number][0]): Promise<void> {
  const [code, , message] = words.split(' | ') as [string, string, string];
  const authorization = AUTH.find((one) => one[0] === words)![1];
  for (const [place, body] of Object.entries(ENDPOINTS)) {
    const answer = await host.post(place, body, { ...host.freshAddress(), ...(authorization && { authorization }) });
    expect(expectFailure(place, answer, [401, code])).toBe(message);
  }
}

hosted.row('7', 'AUTH_INVALID_API_KEY | 401 | Invalid API key', () =>
  expectRefused('AUTH_INVALID_API_KEY | 401 | Invalid API key'),
);
hosted.row('7', 'AUTH_INVALID_FORMAT | 401 | Invalid authorization format', () =>
  expectRefused('AUTH_INVALID_FORMAT | 401 | Invalid authorization format'),
);
hosted.row('7', 'AUTH_MISSING_API_KEY | 401 | Authentication required', () =>
  expectRefused('AUTH_MISSING_API_KEY | 401 | Authentication required'),
);

hosted.row('7', 'AUTHZ_INSUFFICIENT_BALANCE | 403 | Insufficient account balance', async () => {
  const poor = await host.keyOf('paid', 0);
  for (const [place, body] of Object.entries(ENDPOINTS)) {
    const answer = await host.post(place, body, poor);
    expect(expectFailure(place, answer, [403, 'AUTHZ_INSUFFICIENT_BALANCE'])).toBe('Insufficient account balance');
  }
  // A request that costs more than the remaining balance.
  const little = await host.keyOf('paid', 10);
  const answer = await host.post(EMBEDDINGS, { model: MODEL, input: 'tea '.repeat(100) }, little);
  expectFailure(EMBEDDINGS, answer, [403, 'AUTHZ_INSUFFICIENT_BALANCE']);
  expect((await host.post(EMBEDDINGS, { model: MODEL, input: 'tea' }, little)).status).toBe(200);
});

hosted.row('7', 'AUTHZ_RESOURCE_LIMIT_EXCEEDED | 403 | Resource limit exceeded for the plan', async () => {
  const free = await host.keyOf('free');
  const training = { model: MODEL, input: [sample('sport'), sample('cooking')] };
  expect((await host.post('/v1/train', training, free)).status).toBe(200);
  const message = expectFailure('/v1/train', await host.post('/v1/train', training, free), [
    403,
    'AUTHZ_RESOURCE_LIMIT_EXCEEDED',
  ]);
  expect(message).toMatch(/^Resource limit exceeded for the plan\b/);
});

hosted.row('7', 'RESOURCE_NOT_FOUND | 404 | <resource_type> <resource_id> not found or access denied', async () => {
  const get = (place: string, headers = key) => host.ask(host.urls.model + place, { headers });
  const job = (await host.post(BATCH, ENDPOINTS[BATCH], key)).body.batch_id;
  const other = await host.keyOf('premium');
  for (const [place, name, headers] of [
    ['/v1/models/nope', 'model nope', key],
    ['/v1/batch/nope', 'batch nope', key],
    [`/v1/batch/${job}`, `batch ${job}`, other],
    ['/v1/nothing', 'route GET /v1/nothing', key],
  ] as const) {
    const message = expectFailure(place, await get(place, headers), [404, 'RESOURCE_NOT_FOUND']);
    expect(message).toBe(`${name} not found or access denied`);
  }
  const answer = await host.post('/v1/classify', { classifier_id: 'nope', input: 'a' }, key);
  const message = expectFailure('/v1/classify', answer, [404, 'RESOURCE_NOT_FOUND']);
  expect(message).toBe('classifier nope not found or access denied');
});

hosted.row(
  '7',
  'CONFLICT_RESOURCE_BUSY | 409 | <resource_type> <resource_id> is currently being modified',
  async () => {
    const job = { model: FAR, input: [{ custom_id: 'a', body: { input: 'hold' } }] };
    const { batch_id: id } = (await host.post(BATCH, job, key)).body;
    const answer = await host.ask(`${host.urls.model}/v1/batch/${id}/output`, { headers: key });
    const message = expectFailure(BATCH, answer, [409, 'CONFLICT_RESOURCE_BUSY']);
    expect(message).toBe(`batch ${id} is currently being modified`);
    await host.ask(`${host.urls.model}/v1/batch/${id}`, { method: 'DELETE', headers: key });
    host.models.release();
  },
);

hosted.row(
  '7',
  'RATE_CONCURRENCY_LIMIT_EXCEEDED | 429 | Concurrency limit exceeded: <current>/<limit> concurrent requests',
  async () => {
    const free = await host.keyOf('free');
    const held = Array.from({ length: 5 }, () => host.post(CHAT, chatRequest('hold'), free));
    await expect.poll(() => host.models.held(), PATIENT).toBe(5);
    for (const [place, body] of Object.entries(ENDPOINTS)) {
      const message = expectFailure(place, await host.post(place, body, free), [
        429,
        'RATE_CONCURRENCY_LIMIT_EXCEEDED',
      ]);
      expect(message).toBe('Concurrency limit exceeded: 5/5 concurrent requests');
    }
    host.models.release();
    for (const answer of await Promise.all(held)) expect(answer.status).toBe(200);
  },
);

hosted.row('7', 'RATE_IP_LIMIT_EXCEEDED | 429 | IP rate limit exceeded', async () => {
  for (const [place, body] of Object.entries(ENDPOINTS)) {
    const address = host.freshAddress();
    for (let count = 0; count < 3; count++) expect((await host.post(place, body, address)).status).toBe(401);
    const message = expectFailure(place, await host.post(place, body, address), [429, 'RATE_IP_LIMIT_EXCEEDED']);
    expect(message).toBe('IP rate limit exceeded');
    expect((await host.post(place, body, { ...address, ...key })).status).toBe(200);
  }
});

hosted.row(
  '7',
  'RATE_REQUEST_LIMIT_EXCEEDED | 429 | Request rate limit exceeded: <current>/<limit> requests per minute',
  async () => {
    // The lowest limit of all plans. Refused requests count too.
    const paid = await host.keyOf('paid');
    for (let sent = 0; sent < 100; sent += 25)
      await Promise.all(Array.from({ length: 25 }, () => host.post(CHAT, {}, paid)));
    const message = expectFailure(CHAT, await host.post(CHAT, chatRequest('Tea?'), paid), [
      429,
      'RATE_REQUEST_LIMIT_EXCEEDED',
    ]);
    expect(message).toBe('Request rate limit exceeded: 100/100 requests per minute');
  },
);

hosted.row(
  '7',
  'RATE_TOKEN_LIMIT_EXCEEDED | 429 | Token rate limit exceeded: <current>/<limit> tokens per minute',
  async () => {
    for (const [place, limit, body] of [
      [EMBEDDINGS, 1_000_000, far],
      [CHAT, 500_000, chatRequest],
    ] as const) {
      const free = await host.keyOf('free');
      const used = await host.post(place, body(`uses ${limit} tokens`), free);
      expect([used.status, used.body.usage.total_tokens]).toEqual([200, limit]);
      // Usage is counted after the response was sent.
      let refused: Answer | undefined;
      await expect
        .poll(async () => {
          refused = await host.post(place, body('more'), free);
          return refused.status;
        }, PATIENT)
        .toBe(429);
      const message = expectFailure(place, refused!, [429, 'RATE_TOKEN_LIMIT_EXCEEDED']);
      const [, current] = new RegExp(`^Token rate limit exceeded: (\\d+)/${limit} tokens per minute$`).exec(message)!;
      expect(Number(current)).toBeGreaterThanOrEqual(limit);
    }
  },
);

hosted.row('7', 'INTERNAL_ERROR | 500 | An unexpected error occurred', async () => {
  const fail = () => {
    throw new Error('open /srv/secret: ENOENT');
  };
  const completions = { find: fail, prepare: fail, list: () => [], complete: fail } as never;
  const broken = await startModelHost({
    rows: [fakeRow('dense')],
    opening: {
      embedder: (row) => fakeEmbedder(row, { onBatch: fail }),
      reranker: (row) => fakeReranker(row),
    },
    completions,
  });
  try {
    for (const [place, body] of [
      [EMBEDDINGS, { model: 'dense', input: 'x' }],
      [CHAT, chatRequest('x')],
    ] as const) {
      const { status, headers, body: failure } = await broken.post(place, body);
      const message = expectFailure(place, { status, headers, body: failure, text: '' }, [500, 'INTERNAL_ERROR']);
      expect(message).toBe('An unexpected error occurred');
    }
  } finally {
    await broken.close();
  }
});

hosted.row('7', 'SERVICE_UNAVAILABLE | 503 | Service temporarily unavailable', async () => {
  for (const [place, body] of [
    [EMBEDDINGS, far('status 500', FAILING)],
    [CHAT, chatRequest('status 503')],
  ] as const) {
    const answer = await host.post(place, body, key);
    const message = expectFailure(place, answer, [503, 'SERVICE_UNAVAILABLE']);
    expect(message).toMatch(/^Service temporarily unavailable\b/);
    expect(message).not.toContain('secret');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
});

hosted.row('7', 'SERVICE_TIMEOUT | 504 | Service request timed out', async () => {
  for (const [place, body] of [
    [EMBEDDINGS, far('status 504', FAILING)],
    [CHAT, chatRequest('status 504')],
  ] as const) {
    const message = expectFailure(place, await host.post(place, body, key), [504, 'SERVICE_TIMEOUT']);
    expect(message).toMatch(/^Service request timed out\b/);
  }
});

hosted.row(
  '7',
  "Reader rules: when assertStatusCode differs from the crawled page's status, the request is rejected with 422. Reader status codes per error kind are listed in section 4.5. Field layout of the reader error bodies: not shown.",
  async () => {
    const read = (assertStatusCode: number) =>
      host.ask(host.urls.reader, {
        method: 'POST',
        headers: { ...key, accept: 'application/json' },
        body: { url: `${site.origin}/article`, assertStatusCode },
      });
    expect((await read(200)).status).toBe(200);
    const refused = await read(404);
    expect([refused.status, refused.body.name]).toEqual([422, 'AssertionFailureError']);
    // The format that was chosen: docs/reference/wire/reader.md.
    expect(refused.body).toMatchObject({
      data: null,
      code: 422,
      status: 42206,
      message: expect.any(String),
      readableMessage: expect.stringMatching(/^AssertionFailureError/),
    });
  },
);
