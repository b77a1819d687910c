/** Sections 5, 6 and 9 of the first document: keys, events and versions. */
import { afterAll, beforeAll, expect } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { parseEvents } from '../support/server.ts';
import {
  chatRequest,
  ENDPOINTS,
  expectFailure,
  FAR,
  type Headers,
  PATIENT,
  type SeedHost,
  startHost,
} from './host-server.ts';
import { hosted } from './seed.ts';

let site: Site;
let host: SeedHost;
/** A key with the paid plan. */
let key: Headers;
beforeAll(async () => {
  site = await startSite({ '/tea': '<title>Tea</title><p>Green tea is drunk hot.</p>' });
  host = await startHost({ allowNetworks: site.allow.join(',') });
  key = await host.keyOf('paid');
});
afterAll(async () => {
  await host?.close();
  await site?.close();
});

const JSON_ONLY = { accept: 'application/json' };
const readHtml = (headers: Headers) =>
  host.ask(host.urls.reader, { method: 'POST', headers: { ...JSON_ONLY, ...headers }, body: { html: '<p>Tea' } });
const search = (headers: Headers) => host.ask(`${host.urls.search}/tea`, { headers: { ...JSON_ONLY, ...headers } });

hosted.row('5', 'Requests carry header `Authorization: Bearer <API_KEY>`.', async () => {
  const { authorization } = key as { authorization: string };
  for (const [place, body] of Object.entries(ENDPOINTS)) {
    expect([place, (await host.post(place, body, key)).status]).toEqual([place, 200]);
    // Other headers are ignored, and so is a key without the scheme.
    const elsewhere = { ...host.freshAddress(), 'x-api-key': authorization.slice('Bearer '.length) };
    expect([place, (await host.post(place, body, elsewhere)).status]).toEqual([place, 401]);
  }
  const read = await host.ask(`${host.urls.reader}/${site.origin}/tea`, { headers: { ...key, ...JSON_ONLY } });
  expect([read.status, read.headers.get('x-ratelimit-limit')]).toEqual([200, '500']);
  // The search finds the page that was read before, because no search service is configured.
  await expect.poll(async () => (await search(key)).status, PATIENT).toBe(200);
});

hosted.row(
  '5',
  'Every endpoint except GET {base_url}/v1/models requires a key.',
  async () => {
    const list = await host.ask(`${host.urls.model}/v1/models`);
    expect([list.status, list.body.object]).toEqual([200, 'list']);
    const { body: description } = await host.ask(`${host.urls.model}/openapi.json`);
    const open = new Set(['/v1/models', '/v1/models/{model_id}', '/health', '/live', '/ready']);
    const paths = Object.entries<object>(description.paths).filter(([path]) => !open.has(path));
    expect(paths.map(([path]) => path)).toEqual(expect.arrayContaining(Object.keys(ENDPOINTS)));
    for (const [path, methods] of paths)
      for (const method of Object.keys(methods).filter((name) => name !== 'parameters')) {
        const url = host.urls.model + path.replace(/\{\w+\}/, 'some-id');
        const answer = await host.ask(url, { method: method.toUpperCase(), headers: host.freshAddress() });
        expect([method, path, answer.status]).toEqual([method, path, 401]);
        expectFailure(path, answer, [401, 'AUTH_MISSING_API_KEY']);
      }
  },
  '`GET /v1/models/{model_id}`, the probes and the interface description need no key either.',
);

hosted.row('5', 'The reader also answers without a key, at a lower rate limit.', async () => {
  const withKey = await readHtml(key);
  const address = host.freshAddress();
  const without = await readHtml(address);
  expect([withKey.status, withKey.headers.get('x-ratelimit-limit')]).toEqual([200, '500']);
  expect([without.status, without.headers.get('x-ratelimit-limit')]).toEqual([200, '20']);
  for (let sent = 1; sent < 20; sent++) expect((await readHtml(address)).status).toBe(200);
  const refused = await readHtml(address);
  expect([refused.status, refused.body.name]).toEqual([429, 'RateLimitTriggeredError']);
  expect((await readHtml({ ...address, ...key })).status).toBe(200);
});

hosted.row('5', 'The search host requires a key.', async () => {
  for (const init of [{}, { method: 'POST', body: { q: 'tea' } }]) {
    const url = `${host.urls.search}/${'body' in init ? 'search' : 'tea'}`;
    const answer = await host.ask(url, { ...init, headers: { ...JSON_ONLY, ...host.freshAddress() } });
    expect([answer.status, answer.body.name]).toEqual([401, 'AuthenticationRequiredError']);
    expect((await host.ask(url, { ...init, headers: { ...JSON_ONLY, ...key } })).status).not.toBe(401);
  }
});

hosted.row(
  '5',
  'A missing key gives code AUTH_MISSING_API_KEY (401); a wrongly formatted header gives AUTH_INVALID_FORMAT (401); an unknown key gives AUTH_INVALID_API_KEY (401).',
  async () => {
    const address = host.freshAddress();
    for (const [place, body] of Object.entries(ENDPOINTS))
      for (const [authorization, code] of [
        [undefined, 'AUTH_MISSING_API_KEY'],
        ['Basic dXNlcjpwYXNz', 'AUTH_INVALID_FORMAT'],
        ['Bearer', 'AUTH_INVALID_FORMAT'],
        ['lectern_abc', 'AUTH_INVALID_FORMAT'],
        ['Bearer two words', 'AUTH_INVALID_FORMAT'],
        ['Bearer unknown', 'AUTH_INVALID_API_KEY'],
      ] as const) {
        const headers = { ...address, ...(authorization !== undefined && { authorization }) };
        expectFailure(place, await host.post(place, body, headers), [401, code]);
      }
  },
);

hosted.row(
  '5',
  'Insufficient account balance gives AUTHZ_INSUFFICIENT_BALANCE (403); exceeding a plan resource limit gives AUTHZ_RESOURCE_LIMIT_EXCEEDED (403).',
  async () => {
    const poor = await host.keyOf('paid', 0);
    for (const [place, body] of Object.entries(ENDPOINTS))
      expectFailure(place, await host.post(place, body, poor), [403, 'AUTHZ_INSUFFICIENT_BALANCE']);
    const busy = await host.keyOf('paid');
    const job = { model: FAR, input: [{ custom_id: 'a', body: { input: 'hold' } }] };
    for (let jobs = 0; jobs < 10; jobs++) expect((await host.post('/v1/batch/embeddings', job, busy)).status).toBe(200);
    const refused = await host.post('/v1/batch/embeddings', job, busy);
    expectFailure('/v1/batch/embeddings', refused, [403, 'AUTHZ_RESOURCE_LIMIT_EXCEEDED']);
    host.models.release();
  },
);

hosted.row('5', 'Plans are named Free, Paid and Premium (rate limits in section 8).', async () => {
  for (const plan of ['free', 'paid', 'premium'])
    expect((await host.admin('/accounts', { name: 'x', plan })).body.data.plan).toBe(plan);
  const other = await host.admin('/accounts', { name: 'x', plan: 'standard' });
  expect([other.status, other.text]).toEqual([400, expect.stringMatching(/free.*paid.*premium/)]);
});

hosted.row(
  '6',
  'The reader can stream its output as server-sent events when header Accept is `text/event-stream`.',
  async () => {
    const accept = { ...key, accept: 'text/event-stream' };
    const address = `${host.urls.reader}/${site.origin}/tea`;
    for (const answer of [
      await host.ask(address, { headers: accept }),
      await host.ask(`${host.urls.reader}/?url=${site.origin}/tea`, { headers: accept }),
      await host.ask(host.urls.reader, { method: 'POST', headers: accept, body: { url: `${site.origin}/tea` } }),
    ]) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^text\/event-stream/),
      ]);
      const events = parseEvents(answer.text);
      expect(events.length).toBeGreaterThan(0);
      expect(events.at(-1)!.data).toMatchObject({ title: 'Tea', content: expect.stringContaining('drunk hot') });
    }
    const other = await host.ask(address, { headers: { ...key, accept: 'text/plain' } });
    expect(other.headers.get('content-type')).toMatch(/^text\/plain/);
  },
);

hosted.open(
  '6',
  'Webhook or notification events: not shown.',
  'A batch job calls its `webhook_url` once when it ends, with a signature ([models](wire/models.md#webhooks)).',
);

hosted.row(
  '9',
  'The model-host paths carry the prefix /v1.',
  async () => {
    for (const [place, body] of Object.entries(ENDPOINTS)) {
      expect(place).toMatch(/^\/v1\//);
      expect([place, (await host.post(place, body, key)).status]).toEqual([place, 200]);
    }
    expect((await host.ask(`${host.urls.model}/v1/models`)).status).toBe(200);
    expect((await host.post('/chat/completions', chatRequest('Tea?'), key)).status).toBe(404);
    expect((await host.ask(`${host.urls.model}/models`)).status).toBe(404);
  },
  'Clients of other model servers use the paths of those, such as `/v2/rerank`, `/rerank` and `/embeddings`.',
);

hosted.row(
  '9',
  'The interface description carries a date-based version string of the form YYYY.MM.DD.HHMM.',
  async () => {
    for (const url of [host.urls.reader, host.urls.search, host.urls.model]) {
      const { body } = await host.ask(`${url}/openapi.json`);
      const [, month, day, hour, minute] = /^\d{4}\.(\d\d)\.(\d\d)\.(\d\d)(\d\d)$/.exec(body.info.version)!.map(Number);
      expect([month! >= 1 && month! <= 12, day! >= 1 && day! <= 31, hour! < 24, minute! < 60]).toEqual(
        Array(4).fill(true),
      );
    }
  },
);

hosted.open(
  '9',
  'Policy for breaking changes and deprecations: not shown.',
  'Within a prefix such as `/v1`, fields and paths are only added; any other change gets a new prefix ([models](wire/models.md#endpoints)).',
);
