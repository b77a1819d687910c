/** The OpenAPI documents of the reader and the search host: complete, and true of real requests and answers. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { type ExampleRequest, readOpenApi, sendExample } from '../support/openapi.ts';
import { startServer, type TestServer } from '../support/server.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are walked freely
type Any = any;
type Face = 'reader' | 'search';

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
    maxBodyBytes: 100_000,
    allowNetworks: site.allow.join(','),
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
  });
  key = server.app.firstKey!;
  for (const face of ['reader', 'search'] as const) {
    documents[face] = await (await fetch(`${server.urls[face]}/openapi.json`)).json();
    apis[face] = readOpenApi(documents[face]);
  }
});
afterAll(async () => {
  await server.close();
  await service.close();
  await site.close();
});

/** The site stands for the host of the examples. */
const change = (text: string) => text.replaceAll(EXAMPLE_ORIGIN, site.origin);
const send = (face: Face, request: ExampleRequest, headers: Record<string, string> = {}) =>
  sendExample(server.urls[face]!, request, { headers: { authorization: `Bearer ${key}`, ...headers }, change });

const exampleOf = (face: Face, id: string, more: Partial<ExampleRequest> = {}): ExampleRequest => {
  const api = apis[face];
  return { ...api.requestsOf(api.operations.find((one) => one.id === id)!)[0]!, ...more };
};

describe.each(['reader', 'search'] as const)('the document of the %s host', (face) => {
  it('is valid, has the version of the interface, and an example of every request and answer', async () => {
    const document = documents[face];
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(document.info.version).toBe(INTERFACE_VERSIONS[face].version);
    apis[face].expectExamples();
  });

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

it('crawls are as the document describes them', { timeout: LONG_MS }, async () => {
  const api = apis.reader;
  const run = async (id: string, more: Partial<ExampleRequest> = {}, accept = 'application/json') => {
    const answer = await send('reader', exampleOf('reader', id, more), { accept });
    api.expectAnswer(id, answer);
    return answer;
  };
  const stream = await run('crawl_start', {}, 'text/event-stream');
  expect([stream.status, stream.text.includes('event: done')]).toEqual([200, true]);
  const started = await run('crawl_start', { body: { url: `${EXAMPLE_ORIGIN}/missing`, limit: 1, sitemap: false } });
  expect(started.status).toBe(202);
  const inPath = { id: JSON.parse(started.text).crawl_id as string };
  expect((await run('crawl_pages', { inPath }, 'text/event-stream')).text).toContain('event: failed');
  expect((await run('crawl_pages', { inPath })).text).toContain('"error"');
  for (const id of ['crawl_get', 'crawl_cancel']) expect((await run(id, { inPath })).status).toBe(200);
  expect(JSON.parse((await run('crawl_list')).text)).toHaveLength(2);
  const [first] = JSON.parse((await run('crawl_list')).text).reverse();
  const outcomes = await run('crawl_pages', { inPath: { id: first.crawl_id } });
  expect(outcomes.text).toContain('"event":"page"');
  expect((await run('crawl_get', { inPath: { id: 'crawl_none' } })).status).toBe(404);
});

describe('failures', () => {
  const html = '<p>a</p>';
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
