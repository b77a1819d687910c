/** Section 8 of the first document: the limits of the plans, which are the defaults, and requests that exceed them. */
import { afterAll, beforeAll, expect } from 'vitest';
import {
  type Answer,
  chatRequest,
  ENDPOINTS,
  expectFailure,
  FAR,
  type Headers,
  MODEL,
  PATIENT,
  type PlanName,
  type SeedHost,
  startHost,
} from './host-server.ts';
import { hosted } from './seed.ts';

const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerank';
const CHAT = '/v1/chat/completions';

let host: SeedHost;
const keys = {} as Record<PlanName, Headers>;
beforeAll(async () => {
  host = await startHost();
  for (const plan of ['free', 'paid', 'premium'] as const) keys[plan] = await host.keyOf(plan);
});
afterAll(() => host?.close());

/** The limits in the response headers of the model host: requests and tokens per minute. */
const limitsOf = ({ headers }: Answer) =>
  ['requests', 'tokens'].map((kind) => Number(headers.get(`x-ratelimit-limit-${kind}`)));

/** Sends requests, 25 at a time, until exactly `limit` of them were counted. Returns the response to the next one. */
async function exceed(limit: number, send: () => Promise<Answer>): Promise<Answer> {
  for (let sent = 0; sent < limit; sent += 25)
    for (const { status } of await Promise.all(Array.from({ length: 25 }, send))) expect(status).not.toBe(429);
  return send();
}

/** Checks the limits of each plan on real responses of an endpoint. */
async function expectLimits(
  place: keyof typeof ENDPOINTS,
  limits: Readonly<Record<PlanName, readonly [number, number]>>,
): Promise<void> {
  for (const plan of ['free', 'paid', 'premium'] as const) {
    const answer = await host.post(place, ENDPOINTS[place], keys[plan]);
    expect([plan, answer.status, limitsOf(answer)]).toEqual([plan, 200, limits[plan]]);
  }
}

hosted.row(
  '8',
  'Requests per minute (RPM) and tokens per minute (TPM); any request over a limit is answered with 429.',
  async () => {
    // The lowest limit. Failed requests count too. The rows below check all limits.
    const paid = await host.keyOf('paid');
    const chat = await exceed(100, () => host.post(CHAT, {}, paid));
    expectFailure(CHAT, chat, [429, 'RATE_REQUEST_LIMIT_EXCEEDED']);
    // Each endpoint has its own count.
    expect((await host.post(EMBEDDINGS, ENDPOINTS[EMBEDDINGS], paid)).status).toBe(200);

    const free = await host.keyOf('free');
    for (const [place, limit, body] of [
      [EMBEDDINGS, 1_000_000, (input: string) => ({ model: FAR, input })],
      [CHAT, 500_000, chatRequest],
    ] as const) {
      expect((await host.post(place, body(`uses ${limit} tokens`), free)).status).toBe(200);
      await expect.poll(async () => (await host.post(place, body('more'), free)).status, PATIENT).toBe(429);
    }
    // If a single request has more tokens than the limit, retrying is pointless, and clients would retry 429.
    const million = { model: MODEL, input: Array.from({ length: 2_048 }, () => 'tea '.repeat(500)) };
    const large = await host.post(EMBEDDINGS, million, await host.keyOf('free'));
    expectFailure(EMBEDDINGS, large, [403, 'AUTHZ_RESOURCE_LIMIT_EXCEEDED']);
  },
  'A single request with more tokens than a minute allows gets 403, because clients retry 429 and no retry can succeed.',
);

hosted.row('8', '/v1/embeddings | 500 RPM, 1M TPM | 500 RPM, 10M TPM | 5,000 RPM, 100M TPM', () =>
  expectLimits(EMBEDDINGS, { free: [500, 1_000_000], paid: [500, 10_000_000], premium: [5_000, 100_000_000] }),
);

hosted.row('8', '/v1/rerank | 500 RPM, 1M TPM | 500 RPM, 10M TPM | 5,000 RPM, 100M TPM', () =>
  expectLimits(RERANK, { free: [500, 1_000_000], paid: [500, 10_000_000], premium: [5_000, 100_000_000] }),
);

hosted.row('8', '/v1/chat/completions | 100 RPM, 500K TPM | 100 RPM, 5M TPM | 1,000 RPM, 50M TPM', () =>
  expectLimits(CHAT, { free: [100, 500_000], paid: [100, 5_000_000], premium: [1_000, 50_000_000] }),
);

const readHtml = (headers: Headers, body: object = { html: '<p>Tea' }) =>
  host.ask(host.urls.reader, { method: 'POST', headers: { ...headers, accept: 'application/json' }, body });
const search = (headers: Headers, query = '') =>
  host.ask(`${host.urls.search}/search${query}`, { headers: { ...headers, accept: 'application/json' } });
const limitOf = ({ headers }: Answer) => Number(headers.get('x-ratelimit-limit'));

/** The standard limits apply to free and paid keys. */
hosted.row('8', 'reader | 500 RPM | 5,000 RPM', async () => {
  for (const [plan, limit] of [
    ['free', 500],
    ['paid', 500],
    ['premium', 5_000],
  ] as const) {
    const answer = await readHtml(keys[plan]);
    expect([plan, answer.status, limitOf(answer)]).toEqual([plan, 200, limit]);
  }
});

hosted.row('8', 'search | 100 RPM | 1,000 RPM', async () => {
  for (const [plan, limit] of [
    ['free', 100],
    ['paid', 100],
    ['premium', 1_000],
  ] as const) {
    const answer = await search(keys[plan], '?q=tea');
    expect([plan, limitOf(answer)]).toEqual([plan, limit]);
    // No page was read before, so nothing is found.
    expect(answer.body.name).toBe('AssertionFailureError');
  }
  const paid = await host.keyOf('paid');
  const refused = await exceed(100, () => search(paid));
  expect([refused.status, refused.body.name]).toEqual([429, 'RateLimitTriggeredError']);
});

hosted.row(
  '8',
  'Other bounds: reader `timeout` > 0 and <= 180 seconds; `page` integer >= 1; `maxTokens` >= 500; `tokenBudget` rejects a reader request whose token cost exceeds it. Input size limits of the embeddings, rerank and batch endpoints: not shown.',
  async () => {
    const html = '<p>Green tea is drunk hot.';
    for (const [option, refused, accepted] of [
      ['timeout', [0, -1, 180.5, 181], [0.5, 1, 180]],
      ['page', [0, -1, 1.5], [1, 2]],
      ['maxTokens', [0, 499], [500]],
    ] as const) {
      for (const value of refused) {
        const answer = await readHtml(keys.premium, { html, [option]: value });
        expect([option, value, answer.status, answer.body.name, answer.body.path]).toEqual([
          option,
          value,
          400,
          'ParamValidationError',
          option,
        ]);
      }
      for (const value of accepted)
        expect([option, value, (await readHtml(keys.premium, { html, [option]: value })).status]).toEqual([
          option,
          value,
          200,
        ]);
    }
    const { body } = await readHtml(keys.premium, { html });
    const cost = body.data.usage.tokens;
    expect((await readHtml(keys.premium, { html, tokenBudget: cost })).status).toBe(200);
    const over = await readHtml(keys.premium, { html, tokenBudget: cost - 1 });
    expect([over.status, over.body.name]).toEqual([409, 'BudgetExceededError']);
    // The sizes that were chosen: docs/reference/wire/models.md.
    const tooMany = await host.post(EMBEDDINGS, { model: MODEL, input: Array(2_049).fill('tea') }, keys.premium);
    expect([tooMany.status, tooMany.body.errors[0].type]).toEqual([422, 'too_long']);
  },
);
