/** The OpenAPI documents of a server: they must be complete, and match real requests and responses. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { type ExampleRequest, readOpenApi, sendExample } from '../support/openapi.ts';
import { startServer, type TestServer } from '../support/server.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a document
type Any = any;
const FACES = ['reader', 'search', 'model', 'admin'] as const;
type Face = (typeof FACES)[number];

const SECRET = 'correct horse battery staple';
/** The name of the interface of each API. */
const INTERFACES = { reader: 'reader', search: 'search', model: 'models', admin: 'admin' } as const;

const EXAMPLE_ORIGIN = 'https://example.com';
const LONG_MS = 60_000;
const PAGE = `<html lang="en"><head><title>How bees find home</title><meta name="description" content="Bees use the sun.">
  <link rel="icon" href="/icon.png"></head><body><main><h1>How bees find home</h1>
  <p>${'Bees find their way home by the sun and by what they have seen on the way. '.repeat(4)}</p>
  <p>See <a href="/dances">their dances</a>.</p></main></body></html>`;

let site: Site;
let service: Service;
let server: TestServer;
let key: string;
const documents = {} as Record<Face, Any>;
const apis = {} as Record<Face, ReturnType<typeof readOpenApi>>;

beforeAll(async () => {
  site = await startSite({ '/': PAGE, '/dances': PAGE.replace('find home', 'dance') });
  service = await startService((asked) =>
    searxngAnswer([{ title: 'Bees', url: `${site.origin}/`, text: 'How bees find home' }], asked),
  );
  server = await startServer({
    browser: 'none',
    keylessRpm: 20,
    keylessFeatures: [],
    maxBodyBytes: 100_000,
    modelMaxBodyBytes: 100_000,
    adminSecret: SECRET,
    adminPort: 0,
    allowNetworks: site.allow.join(','),
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
  });
  key = server.app.firstKey!;
  for (const face of FACES) {
    documents[face] = await (await fetch(`${server.urls[face]}/openapi.json`)).json();
    apis[face] = readOpenApi(documents[face]);
  }
});
afterAll(async () => {
  await server.close();
  await service.close();
  await site.close();
});

/** Replaces the example host with the site. */
const change = (text: string) => text.replaceAll(EXAMPLE_ORIGIN, site.origin);
const send = (face: Face, request: ExampleRequest, headers: Record<string, string> = {}) =>
  sendExample(server.urls[face]!, request, {
    headers: { authorization: `Bearer ${face === 'admin' ? SECRET : key}`, ...headers },
    change,
  });

const exampleOf = (face: Face, id: string, more: Partial<ExampleRequest> = {}): ExampleRequest => {
  const api = apis[face];
  return { ...api.requestsOf(api.operations.find((one) => one.id === id)!)[0]!, ...more };
};

describe.each(FACES)('the document of the %s host', (face) => {
  it('is valid, has the version of the interface, and an example of every request and answer', async () => {
    const document = documents[face];
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(document.info.version).toBe(INTERFACE_VERSIONS[INTERFACES[face]].version);
    apis[face].expectExamples();
  });
});

describe.each(['reader', 'search'] as const)('the document of the %s host', (face) => {
  it.each([
    ['application/json', 'application/json'],
    ['text/plain', 'text/plain'],
    ['text/event-stream', 'text/event-stream'],
  ])('is true of the answers to its examples, as %s', async (accept, type) => {
    const api = apis[face];
    const reads = api.operations.filter(({ operation }) => ['Reader', 'Search'].includes(operation.tags[0]));
    for (const request of reads.flatMap((one) => api.requestsOf(one))) {
      const answer = await send(face, request, { accept });
      expect([request.id, request.name, answer.status, answer.type.split(';')[0]]).toEqual([
        request.id,
        request.name,
        200,
        type,
      ]);
      api.expectAnswer(request.id, answer);
    }
  });
});

describe('enumerations', () => {
  it.each<[string, readonly string[]]>([
    ['X-Base', ['initial', 'final']],
    ['X-Retain-Images', ['all', 'none', 'alt', 'all_p', 'alt_p']],
    ['X-Retain-Media', ['none', 'text', 'link', 'image', 'html']],
    ['X-Retain-Links', ['all', 'none', 'text', 'gpt-oss']],
    ['X-Preset', ['reader', 'index', 'research', 'agent', 'spider']],
    ['X-Md-Heading-Style', ['setext', 'atx']],
    ['X-Md-Bullet-List-Marker', ['-', '+', '*']],
    ['X-Md-Em-Delimiter', ['_', '*']],
    ['X-Md-Strong-Delimiter', ['**', '__']],
    ['X-Md-Link-Style', ['inlined', 'referenced', 'discarded']],
    ['X-Md-Link-Reference-Style', ['full', 'collapsed', 'shortcut', 'discarded']],
    ['X-Respond-Timing', ['html', 'visible-content', 'mutation-idle', 'resource-idle', 'media-idle', 'network-idle']],
  ])('%s has exactly its values', (name, values) => {
    const { schema } = documents.reader.paths['/{url}'].get.parameters.find((one: Any) => one.name === name);
    expect([...schema.enum].sort()).toEqual([...values].sort());
  });

  it.each<[string, readonly string[]]>([
    [
      'respondWith',
      ['markdown', 'html', 'text', 'pageshot', 'screenshot', 'content', 'frontmatter', 'vlm', 'readerlm-v2'],
    ],
    ['engine', ['browser', 'direct', 'cf-browser-rendering']],
    ['markdownChunking', ['true', 'h1', 'h2', 'h3', 'h4', 'h5', 'structured', 's1', 's2', 's3', 's4', 's5']],
    ['userAgent', ['browser', 'auto', 'inherit', 'pass-through', 'bot', 'diversify']],
  ])('%s has known values beside other text', (name, values) => {
    const { schema } = documents.reader.paths['/'].get.parameters.find((one: Any) => one.name === name);
    expect(schema.anyOf[0].enum).toEqual(expect.arrayContaining([...values]));
    expect(schema.anyOf.some((one: Any) => one.type === 'string' && !one.enum)).toBe(true);
  });

  it('limits and defaults are those of the options', () => {
    const { parameters, operationId, security } = documents.reader.paths['/'].get;
    expect([operationId, security]).toEqual(['reader_get_root', [{}, { key: [] }]]);
    const schemaOf = (name: string) => parameters.find((one: Any) => one.name === name).schema;
    expect(schemaOf('timeout').anyOf[0]).toEqual({ type: 'number', exclusiveMinimum: 0, maximum: 180 });
    expect(schemaOf('page')).toEqual({ type: 'integer', minimum: 1 });
    expect(schemaOf('maxTokens')).toEqual({ type: 'integer', minimum: 500 });
    expect(schemaOf('retainImages').default).toBe('all');
    expect(schemaOf('respondWith').default).toBe('content');
  });
});

describe('answers with every field', () => {
  it('of a page', async () => {
    const api = apis.reader;
    const body = {
      url: `${EXAMPLE_ORIGIN}/`,
      respondWith: 'markdown+html+text',
      withLinksSummary: 'all',
      withImagesSummary: true,
      markdownChunking: 'h1',
      explain: true,
      trace: true,
    };
    const answer = await send('reader', exampleOf('reader', 'reader_post_root', { body }), {
      accept: 'application/json',
    });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).data).toHaveProperty('explanation');
    api.expectBody('reader_post_root', body);
    api.expectAnswer('reader_post_root', answer);
  });

  it('of a search', async () => {
    const api = apis.search;
    const body = { q: 'bees', num: 1, passages: 200, withFavicons: true, trace: true, respondWith: 'html+content' };
    const answer = await send('search', exampleOf('search', 'search_post', { body }), { accept: 'application/json' });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).data[0]).toHaveProperty('favicon');
    api.expectBody('search_post', body);
    api.expectAnswer('search_post', answer);
  });

  it.each(['reader', 'search'] as const)('of the root of the %s host without a target', async (face) => {
    const request = exampleOf(face, `${face}_get_root`, { query: {} });
    const answer = await send(face, request, { accept: 'application/json' });
    expect(JSON.parse(answer.text).data).toHaveProperty('authenticatedAs');
    apis[face].expectAnswer(request.id, answer);
  });
});

/** Sends the example of an operation and validates the response against the document. */
async function run(face: Face, id: string, more: Partial<ExampleRequest> = {}, headers: Record<string, string> = {}) {
  const answer = await send(face, exampleOf(face, id, more), { accept: 'application/json', ...headers });
  apis[face].expectAnswer(id, answer);
  return { ...answer, json: (answer.type.includes('/json') ? JSON.parse(answer.text) : undefined) as Any };
}

describe('the model host', () => {
  it('answers the examples of its endpoints as the document says', { timeout: LONG_MS }, async () => {
    const { operations } = apis.model;
    const simple = operations.filter(
      ({ operation, path }) => !['Batch', 'Classification'].includes(operation.tags[0]) && !path.includes('chat'),
    );
    expect(simple.length).toBeGreaterThan(8);
    for (const { id } of simple) expect([id, (await run('model', id)).status]).toEqual([id, 200]);
    const chat = await run('model', 'chat_completions_v1_chat_completions_post');
    expect(chat.json.choices[0].message.content).toMatch(/^Invoice 42/);
    const request = exampleOf('model', 'chat_completions_v1_chat_completions_post');
    const body = { ...(request.body as object), stream: true };
    const streamed = await run('model', request.id, { body });
    expect([streamed.type.split(';')[0], streamed.text.includes('[DONE]')]).toEqual(['text/event-stream', true]);
  });

  it('trains, lists and deletes classifiers as the document says', async () => {
    expect((await run('model', 'classify_v1_classify_post')).json.data[0].prediction).toBe('cooking');
    const { classifier_id: id } = (await run('model', 'train_v1_train_post')).json;
    const listed = (await run('model', 'list_classifiers_v1_classifiers_post')).json;
    expect(listed.map((one: Any) => one.classifier_id)).toContain(id);
    await run('model', 'list_classifiers_v1_classifiers_post__post');
    const body = { classifier_id: id, input: ['Bake bread'] };
    expect((await run('model', 'classify_v1_classify_post', { body })).status).toBe(200);
    const inPath = { classifier_id: id };
    const remove = 'delete_classifier_v1_classifiers__classifier_id__delete';
    expect((await run('model', remove, { inPath })).status).toBe(200);
    expect((await run('model', remove, { inPath })).status).toBe(404);
  });

  it('runs a batch as the document says', { timeout: LONG_MS }, async () => {
    const { batch_id } = (await run('model', 'create_batch_job_v1_batch_embeddings_post')).json;
    const inPath = { batch_id };
    const status = 'get_batch_status_v1_batch__batch_id__get';
    await expect
      .poll(async () => (await run('model', status, { inPath })).json.status, { timeout: LONG_MS })
      .toBe('completed');
    const output = await run('model', 'download_batch_output_v1_batch__batch_id__output_get', { inPath });
    expect(output.text.trim().split('\n')).toHaveLength(1);
    const errors = await run('model', 'download_batch_errors_v1_batch__batch_id__errors_get', { inPath });
    expect(errors.text).toContain('"code":"INVALID_LINE"');
    expect((await run('model', 'cancel_batch_job_v1_batch__batch_id__delete', { inPath })).json.status).toBe(
      'completed',
    );
    const jobs = (await run('model', 'list_batch_jobs_v1_batches_get')).json;
    expect(jobs.map((job: Any) => job.batch_id)).toContain(batch_id);
    expect((await run('model', status, { inPath: { batch_id: 'none' } })).status).toBe(404);
  });

  const EMBED = 'embeddings_v1_embeddings_post';
  const CHAT = 'chat_completions_v1_chat_completions_post';
  it.each<[number, string, Partial<ExampleRequest>, Record<string, string>]>([
    [400, EMBED, { body: { model: 'none', input: 'a' } }, {}],
    [400, EMBED, { body: { model: 'lectern-static-v2', input: 'word '.repeat(9_000) } }, {}],
    [401, EMBED, {}, { authorization: '' }],
    [401, EMBED, {}, { authorization: 'Bearer wrong' }],
    [401, EMBED, {}, { authorization: 'Basic abc' }],
    [404, 'get_model_v1_models__model_id__get', { inPath: { model_id: 'none' } }, {}],
    [413, EMBED, { body: { model: 'lectern-static-v2', input: 'a'.repeat(200_000) } }, {}],
    [422, EMBED, { body: { model: 'lectern-static-v2', input: [] } }, {}],
    [422, 'rerank_v1_rerank_post', { body: { model: 'lectern-static-rerank-v2' } }, {}],
    [422, 'create_batch_job_v1_batch_embeddings_post', { body: { model: 'lectern-static-v2' } }, {}],
    [422, 'train_v1_train_post', { body: { model: 'lectern-static-v2', input: [{ text: 'a' }] } }, {}],
    [400, 'classify_v1_classify_post', { body: { model: 'lectern-static-v2', input: 'a', labels: ['x', 'x'] } }, {}],
    [400, CHAT, { body: { model: 'lectern-ocr' } }, {}],
    [400, CHAT, { body: { model: 'none', messages: [{ role: 'user', content: 'a' }] } }, {}],
    [401, CHAT, {}, { authorization: 'Bearer wrong' }],
  ])('fails with %i at %s as the document says', async (status, id, more, headers) => {
    expect((await run('model', id, more, headers)).status).toBe(status);
  });
});

it('the admin API answers the examples as the document says', async () => {
  const account = (await run('admin', 'createAccount')).json.data;
  const made = (await run('admin', 'mintKey')).json.data;
  for (const id of ['getAccount', 'changeAccount']) await run('admin', id, { inPath: { id: account.id } });
  for (const id of ['changeKey', 'revokeKey']) await run('admin', id, { inPath: { id: made.id } });
  for (const id of ['listAccounts', 'listKeys', 'sumUsage', 'listPlans']) {
    expect([id, (await run('admin', id)).status]).toEqual([id, 200]);
  }
  expect((await run('admin', 'getAccount', { inPath: { id: 'none' } })).status).toBe(404);
  expect((await run('admin', 'createAccount', { body: { name: '' } })).json.faults.length).toBeGreaterThan(1);
  expect((await run('admin', 'listPlans', {}, { authorization: 'Bearer wrong' })).status).toBe(401);
});

it('crawls are as the document describes them', { timeout: LONG_MS }, async () => {
  const crawl = (id: string, more: Partial<ExampleRequest> = {}, accept = 'application/json') =>
    run('reader', id, more, { accept });
  const stream = await crawl('crawl_start', {}, 'text/event-stream');
  expect([stream.status, stream.text.includes('event: done')]).toEqual([200, true]);
  const finished = /"crawl_id":"(\w+)"/.exec(stream.text)![1]!;
  const started = await crawl('crawl_start', { body: { url: `${EXAMPLE_ORIGIN}/missing`, limit: 1, sitemap: false } });
  expect(started.status).toBe(202);
  const inPath = { id: started.json.crawl_id as string };
  expect((await crawl('crawl_pages', { inPath }, 'text/event-stream')).text).toContain('event: failed');
  expect((await crawl('crawl_pages', { inPath })).text).toContain('"error"');
  for (const id of ['crawl_get', 'crawl_cancel']) expect((await crawl(id, { inPath })).status).toBe(200);
  const listed = (await crawl('crawl_list')).json.map((one: Any) => one.crawl_id);
  expect(listed).toEqual(expect.arrayContaining([finished, inPath.id]));
  expect((await crawl('crawl_pages', { inPath: { id: finished } })).text).toContain('"event":"page"');
  expect((await crawl('crawl_get', { inPath: { id: 'crawl_none' } })).status).toBe(404);
});

describe('failures', () => {
  const html = '<p>a</p>';

  it('of callers without a key', async () => {
    const request = (body: object) => ({ ...exampleOf('reader', 'reader_post_root'), body });
    const sendWithoutKey = async (body: object) => {
      const answer = await send('reader', request(body), { accept: 'application/json', authorization: '' });
      apis.reader.expectAnswer('reader_post_root', answer);
      return { ...JSON.parse(answer.text), status: answer.status };
    };
    const scripted = await sendWithoutKey({ url: `${EXAMPLE_ORIGIN}/`, injectPageScript: '1' });
    expect(scripted.status).toBe(401);
    await expect
      .poll(() => sendWithoutKey({ html }), { timeout: LONG_MS })
      .toMatchObject({ status: 429, limitedBy: 'address' });
  });

  it('of an account without balance', async () => {
    const account = (await run('admin', 'createAccount', { body: { name: 'poor', plan: 'free', balance: 0 } })).json
      .data;
    const made = (await run('admin', 'mintKey', { body: { name: 'poor', accountId: account.id } })).json.data;
    const authorization = `Bearer ${made.key}`;
    expect((await run('reader', 'reader_post_root', { body: { html } }, { authorization })).status).toBe(402);
    expect((await run('model', 'rerank_v1_rerank_post', {}, { authorization })).status).toBe(403);
  });

  it.each<[number, string, Partial<ExampleRequest> & { readonly headers?: Record<string, string> }]>([
    [400, 'reader_post_root', { body: { url: 'https://example.com/', retainImages: 'some' } }],
    [401, 'reader_post_root', { body: { html }, headers: { authorization: 'Bearer wrong' } }],
    [409, 'reader_post_root', { body: { html: `<p>${'word '.repeat(100)}</p>`, tokenBudget: 1 } }],
    [413, 'reader_post_root', { body: { html: 'a'.repeat(200_000) } }],
    [422, 'reader_post_root', { body: { url: 'https://example.com/', assertStatusCode: 404 } }],
    [451, 'reader_get_url', { inPath: { url: 'http://10.0.0.1/' } }],
    [400, 'crawl_start', { body: { url: 'https://example.com/', limit: 0 } }],
    [401, 'crawl_list', { headers: { authorization: '' } }],
    [404, 'crawl_pages', { inPath: { id: 'none' } }],
  ])('%i of %s', async (status, id, { headers = {}, ...more }) => {
    const api = apis.reader;
    for (const accept of ['application/json', 'text/plain', 'text/event-stream']) {
      const answer = await send('reader', exampleOf('reader', id, more), { accept, ...headers });
      expect(answer.status).toBe(status);
      api.expectAnswer(id, answer);
    }
  });

  it.each<[number, string, Partial<ExampleRequest> & { readonly headers?: Record<string, string> }]>([
    [400, 'search_get', { query: { q: 'bees', num: '99' } }],
    [401, 'search_post', { headers: { authorization: '' } }],
    [413, 'search_post', { body: { q: 'a'.repeat(200_000) } }],
  ])('%i of %s', async (status, id, { headers = {}, ...more }) => {
    const answer = await send('search', exampleOf('search', id, more), { accept: 'application/json', ...headers });
    expect(answer.status).toBe(status);
    apis.search.expectAnswer(id, answer);
  });
});
