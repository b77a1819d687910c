/** The dialects of Exa, Brave, Serper, crawl4ai and the segmenter on the compat host, through the whole server. */
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ListedPage, type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import type { AnyJson } from '../support/any-json.ts';
import { startServer, type TestServer } from '../support/server.ts';

let site: Site;
let service: Service;
let server: TestServer;
let key: string;
let pages: ListedPage[];

const SENTENCE = 'Bees find their way home by the sun. ';

beforeAll(async () => {
  site = await startSite({
    '/bees': `<title>Bees</title><meta name="description" content="On bees"><nav><a href="/menu">Menu</a></nav><main><h1>Bees</h1><p>${SENTENCE.repeat(12)}</p><h2>Wax</h2><p>${'Wax is made by young workers. '.repeat(12)}</p><p><a href="https://elsewhere.example/">Elsewhere</a></p></main>`,
    '/wall': ({ response }) =>
      void response
        .writeHead(403, { 'content-type': 'text/html' })
        .end('<title>Access denied</title><h1>Access denied</h1>'),
  });
  service = await startService((asked) => searxngAnswer(pages, asked));
  server = await startServer({
    allowNetworks: site.allow.join(','),
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
  });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await service.close();
  await site.close();
});
beforeEach(() => {
  pages = [{ title: 'Bees', url: `${site.origin}/bees`, text: 'A snippet about bees' }];
  service.requests.splice(0);
});

async function send(path: string, body?: unknown, headers: Record<string, string> = { 'x-api-key': key }) {
  const answer = await fetch(server.urls.compat + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
}
const bearer = () => ({ authorization: `Bearer ${key}` });

describe('Exa', () => {
  it('searches without reading pages', async () => {
    const hits = site.hits('/bees');
    const { status, headers, json } = await send('/search', { query: 'bees', numResults: 50, type: 'auto' });
    expect(status).toBe(200);
    expect(json.results).toEqual([
      { id: `${site.origin}/bees`, url: `${site.origin}/bees`, title: 'Bees', score: expect.any(Number) },
    ]);
    expect(json).toMatchObject({ requestId: expect.any(String), costDollars: { total: 0 } });
    expect(headers.get('x-lectern-ignored')).toBe('numResults');
    expect(site.hits('/bees')).toBe(hits);
  });

  it('reads pages for text and for highlights', async () => {
    const text = await send('/search', { query: 'bees', contents: { text: { maxCharacters: 40 } } });
    expect(text.json.results[0].text).toHaveLength(40);
    const highlights = await send('/for/exa/search', {
      query: 'how do bees find home',
      contents: { highlights: true },
    });
    expect(highlights.json.results[0].highlights.join()).toContain('find their way home');
  });

  it('reads URLs, and says which failed', async () => {
    const urls = [`${site.origin}/bees`, 'http://10.0.0.1/', `${site.origin}/wall`];
    const { json } = await send('/contents', { urls, text: true });
    expect(json.results).toHaveLength(1);
    expect(json.results[0]).toMatchObject({ id: urls[0], title: 'Bees', text: expect.stringContaining(SENTENCE) });
    expect(json.statuses).toMatchObject([
      { id: urls[0], status: 'success' },
      { id: urls[1], status: 'error', error: { tag: 'SOURCE_NOT_AVAILABLE', httpStatusCode: 451 } },
      { id: urls[2], status: 'error', error: { tag: 'SOURCE_NOT_AVAILABLE' } },
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ['/for/exa/search', {}, /query/],
    ['/search', { query: 'a', numResults: 0 }, /numResults/],
    ['/search', { query: 'a', numResults: 1, startPublishedDate: 'soon' }, /startPublishedDate/],
    ['/search', { query: 'a', contents: { text: 'all' } }, /contents\.text/],
    ['/contents', {}, /urls/],
  ])('refuses %s %j', async (path, body, message) => {
    const { status, json } = await send(path, body);
    expect([status, json]).toEqual([
      400,
      { error: expect.stringMatching(message), requestId: expect.any(String), tag: 'INVALID_REQUEST_BODY' },
    ]);
  });

  it('refuses a wrong key', async () => {
    const { status, json } = await send('/search', { query: 'a' }, { 'x-api-key': 'wrong' });
    expect([status, json.tag]).toEqual([401, 'INVALID_API_KEY']);
  });
});

describe('Brave', () => {
  const ask = (query: string, token = key) =>
    send(`/res/v1/web/search?${query}`, undefined, { 'x-subscription-token': token });

  it('searches the web', async () => {
    const { status, headers, json } = await ask('q=bees&count=3&safesearch=strict&country=DE&search_lang=de');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      type: 'search',
      query: { original: 'bees', more_results_available: false },
      web: {
        type: 'search',
        results: [
          {
            type: 'search_result',
            title: 'Bees',
            url: `${site.origin}/bees`,
            description: 'A snippet about bees',
            profile: { name: '127.0.0.1' },
            meta_url: { scheme: 'http', hostname: '127.0.0.1', path: '/bees' },
          },
        ],
      },
    });
    expect(headers.get('x-lectern-ignored')).toBe('safesearch');
    expect(service.requests[0]!.url.searchParams.get('language')).toMatch(/^de/);
  });

  it('searches news and images', async () => {
    for (const kind of ['news', 'images']) {
      const { json } = await send(`/res/v1/${kind}/search?q=bees`, undefined, { 'x-subscription-token': key });
      expect(json).toMatchObject({ type: kind, results: [{ title: 'Bees', url: `${site.origin}/bees` }] });
      expect(service.requests.at(-1)!.url.searchParams.get('categories')).toBe(kind);
    }
  });

  it.each([
    ['count=3', /q/],
    ['q=a&count=0', /count/],
    ['q=a&offset=10', /offset/],
    ['q=a&freshness=recent', /freshness/],
    ['q=a&country=nowhere', /country/],
  ])('refuses %s', async (query, message) => {
    const { status, json } = await ask(query);
    expect([status, json.type, json.error.code]).toEqual([422, 'ErrorResponse', 'VALIDATION']);
    expect(json.error.detail).toMatch(message);
  });

  it('refuses a wrong key', async () => {
    const { status, json } = await ask('q=a', 'wrong');
    expect([status, json.error.code]).toEqual([401, 'SUBSCRIPTION_TOKEN_INVALID']);
  });
});

describe('Serper', () => {
  it('searches, one query or several', async () => {
    const { status, json } = await send('/search', { q: 'bees', num: 3, tbs: 'qdr:w' });
    expect(status).toBe(200);
    expect(json).toEqual({
      searchParameters: { q: 'bees', type: 'search', num: 3, page: 1, engine: 'google' },
      organic: [{ title: 'Bees', link: `${site.origin}/bees`, snippet: 'A snippet about bees', position: 1 }],
      credits: 1,
    });
    const several = await send('/search', [{ q: 'bees' }, { q: 'wasps' }]);
    expect(several.json.map((one: AnyJson) => [one.searchParameters.q, one.organic.length])).toEqual([
      ['bees', 1],
      ['wasps', 1],
    ]);
  });

  it('has a list in each kind of answer', async () => {
    for (const kind of ['images', 'news', 'videos']) {
      const { json } = await send(`/${kind}`, { q: 'bees' });
      expect(Array.isArray(json[kind]), kind).toBe(true);
    }
    pages = [];
    const none = await send('/search', { q: 'nothing here' });
    expect(none.json.organic).toEqual([]);
    expect(none.headers.get('x-warning')).toMatch(/\w/);
  });

  it('scrapes a page', async () => {
    const { json } = await send('/for/serper/scrape', { url: `${site.origin}/bees`, includeMarkdown: true });
    expect(json.text).toContain(SENTENCE);
    expect(json.markdown).toContain('## Wax');
    expect(json.metadata).toMatchObject({ title: 'Bees', description: 'On bees' });
  });

  it.each<[string, unknown, number, RegExp]>([
    ['/for/serper/search', {}, 400, /q/],
    ['/search', { q: 'a', num: 1_000 }, 400, /num/],
    ['/search', [{ q: 'a' }, { q: 5 }], 400, /q/],
    ['/scrape', { url: 'http://10.0.0.1/' }, 400, /not allowed/],
    ['/scrape', {}, 400, /url/],
  ])('refuses %s %j', async (path, body, status, message) => {
    const answer = await send(path, body);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ message: expect.stringMatching(message), statusCode: status });
  });

  it('says that a page was sent in place of the content', async () => {
    const { status, json } = await send('/scrape', { url: `${site.origin}/wall` });
    expect([status, json.statusCode]).toEqual([422, 422]);
  });
});

describe('crawl4ai', () => {
  const ask = (path: string, body: unknown) => send(path, body, bearer());

  it('writes Markdown, reduced or whole', async () => {
    const url = `${site.origin}/bees`;
    const fit = await ask('/md', { url });
    expect(fit.json).toMatchObject({ url, filter: 'fit', query: null, cache: '0', success: true });
    expect(fit.json.markdown).toContain('Wax is made');
    expect(fit.json.markdown).not.toContain('Menu');
    expect((await ask('/md', { url, f: 'raw' })).json.markdown).toContain('Menu');
    const fitting = await ask('/md', { url, f: 'bm25', q: 'who makes wax' });
    expect(fitting.json.markdown).toContain('young workers');
    expect((await ask('/md', { url: 'raw:<h1>Title</h1><p>Text of its own</p>', f: 'raw' })).json.markdown).toContain(
      'Text of its own',
    );
  });

  it('reads several URLs, and says which failed', async () => {
    const { status, headers, json } = await ask('/crawl', {
      urls: [`${site.origin}/bees`, 'http://10.0.0.1/'],
      crawler_config: { type: 'CrawlerRunConfig', params: { css_selector: 'main', word_count_threshold: 5 } },
    });
    expect(status).toBe(200);
    expect(headers.get('x-lectern-ignored')).toBe('word_count_threshold');
    const [read, failed] = json.results;
    expect(read).toMatchObject({ url: `${site.origin}/bees`, success: true, status_code: 200 });
    expect(read.markdown.raw_markdown).toContain('## Wax');
    expect(read.markdown.raw_markdown).not.toContain('Menu');
    expect(read.links.external).toEqual([{ href: 'https://elsewhere.example/', text: 'Elsewhere' }]);
    expect(failed).toMatchObject({ url: 'http://10.0.0.1/', success: false, error_message: expect.any(String) });
  });

  it('streams a line for each URL', async () => {
    const { headers, text } = await ask('/crawl/stream', { urls: [`${site.origin}/bees`, `${site.origin}/wall`] });
    expect(headers.get('content-type')).toContain('application/x-ndjson');
    const lines = text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line)).map(({ success, status }) => success ?? status)).toEqual([
      true,
      false,
      'completed',
    ]);
  });

  it('has a health endpoint of its own under the prefix', async () => {
    expect((await send('/for/crawl4ai/health')).json).toMatchObject({ status: 'ok', timestamp: expect.any(Number) });
  });

  it.each<[string, unknown, number, RegExp]>([
    ['/md', {}, 400, /url/],
    ['/md', { url: 'https://a.example', f: 'best' }, 400, /f/],
    ['/md', { url: 'https://a.example', f: 'bm25' }, 400, /q/],
    ['/md', { url: 'https://a.example', f: 'llm' }, 400, /language model/],
    ['/html', { url: 'http://10.0.0.1/' }, 400, /not allowed/],
    ['/crawl', { urls: [] }, 400, /urls/],
    ['/crawl', { urls: ['https://a.example'], crawler_config: { page_timeout: 'long' } }, 400, /page_timeout/],
    ['/for/crawl4ai/pdf', {}, 404, /pdf/],
  ])('refuses %s %j', async (path, body, status, message) => {
    const answer = await ask(path, body);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ detail: expect.stringMatching(message) });
  });
});

describe('the segmenter', () => {
  const segment = (body: object) => send('/v1/segment', { content: 'Hello, wörld! 👋🏽 Again.', ...body }, {});

  it('counts tokens, without a key', async () => {
    const { status, json } = await segment({});
    expect(status).toBe(200);
    expect(json).toEqual({
      num_tokens: encode('Hello, wörld! 👋🏽 Again.').length,
      tokenizer: 'cl100k_base',
      usage: { tokens: 0 },
    });
    const { json: got } = await send('/v1/segment?content=Hello&tokenizer=gpt2', undefined, {});
    expect(got).toMatchObject({ num_tokens: 1, tokenizer: 'gpt2' });
  });

  it.each(['cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base', 'p50k_edit', 'gpt2'])(
    'returns the tokens of %s, whose characters are whole',
    async (tokenizer) => {
      const { json } = await segment({ tokenizer, return_tokens: true });
      const [tokens] = json.tokens as [string, number[]][][];
      expect(tokens!.map(([text]) => text).join('')).toBe('Hello, wörld! 👋🏽 Again.');
      expect(tokens!.flatMap(([, ids]) => ids)).toHaveLength(json.num_tokens);
    },
  );

  it('splits the text into chunks that are the whole text', async () => {
    const content = `# Bees\n\n${SENTENCE.repeat(10)}\n\n${'x'.repeat(300)}`;
    const { json } = await segment({ content, return_chunks: true, max_chunk_length: 120 });
    expect(json.chunks.join('')).toBe(content);
    expect(json.num_chunks).toBe(json.chunks.length);
    expect(Math.max(...json.chunks.map(({ length }: string) => length))).toBeLessThanOrEqual(120);
    expect(json.chunk_positions.map(([start, end]: [number, number]) => content.slice(start, end))).toEqual(
      json.chunks,
    );
    expect(json.chunks[0]).toMatch(/\s$/);
  });

  it('keeps the first or the last tokens', async () => {
    const content = 'one two three four';
    const head = await segment({ content, head: 2, return_chunks: true });
    expect(head.json.chunks).toEqual(['one two']);
    const tail = await segment({ content, tail: 1, return_chunks: true });
    expect(tail.json.chunks).toEqual([' four']);
  });

  it.each<[object, RegExp]>([
    [{ content: 5 }, /content/],
    [{ content: 'x'.repeat(64_001) }, /content/],
    [{ tokenizer: 'words' }, /tokenizer/],
    [{ head: 1, tail: 1 }, /head and tail/],
  ])('refuses %j', async (body, message) => {
    const { status, json } = await segment(body);
    expect([status, json.error]).toEqual([400, expect.stringMatching(message)]);
  });
});
