/** SearXNG's JSON API of the compat host, through the whole server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ListedPage, type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { startServer, type TestServer } from '../support/server.ts';

let service: Service;
let server: TestServer;
let key: string;
let pages: ListedPage[];

const PAGES: readonly ListedPage[] = [
  { title: 'Bees', url: 'https://bees.example/hive?a=1#top', text: 'All about <b>bees</b>' },
  { title: 'Wasps', url: 'https://wasps.example/', text: '' },
];

beforeAll(async () => {
  service = await startService((asked) => searxngAnswer(pages, asked));
  server = await startServer({
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
    compatKeyless: ['searxng'],
  });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await service.close();
});
beforeEach(() => {
  pages = [...PAGES];
  service.requests.splice(0);
});

const ask = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(server.urls.compat + path, init);
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
};

describe('the requests of clients', () => {
  it.each<[string, string, RequestInit]>([
    ['GET /search', '/search?q=bees&format=json', {}],
    ['GET / of a base URL without a path', '/?q=bees&format=json', {}],
    [
      'Open WebUI: Accept of a browser with format=json',
      '/search?q=bees&format=json',
      { headers: { accept: 'text/html' } },
    ],
    [
      'LangChain: POST with an empty body of type JSON',
      '/search?q=bees&format=json&pageNumber=1&numResults=10',
      { method: 'POST', headers: { 'content-type': 'application/json' } },
    ],
    ['a form', '/search', { method: 'POST', body: new URLSearchParams({ q: 'bees', format: 'json' }) }],
    ['LibreChat: engines that are not here', '/search?q=bees&format=json&engines=google,bing,duckduckgo', {}],
    ['the prefix', '/for/searxng/search?q=bees&format=json', {}],
    ['doubled and trailing slashes', '//search/?q=bees&format=json', {}],
  ])('%s', async (_, path, init) => {
    const { status, json } = await ask(path, init);
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(
      'query number_of_results results answers corrections infoboxes suggestions unresponsive_engines'.split(' '),
    );
    expect(json.query).toBe('bees');
    expect(json.results).toHaveLength(2);
    expect(json.results[0]).toMatchObject({
      url: 'https://bees.example/hive?a=1#top',
      title: 'Bees',
      content: 'All about bees',
      engine: 'mine',
      engines: ['mine'],
      score: 1,
      category: 'general',
      template: 'default.html',
      parsed_url: ['https', 'bees.example', '/hive', '', 'a=1', 'top'],
      positions: [1],
      publishedDate: null,
      img_src: '',
    });
    expect(json.results[1].score).toBe(0.5);
  });

  it('passes language, time range and category on', async () => {
    await ask('/search?q=bee%20hives&format=json&language=de-AT&time_range=week&categories=news');
    const asked = service.requests.map(({ url }) => Object.fromEntries(url.searchParams));
    expect(asked).toContainEqual(expect.objectContaining({ q: 'bee hives', time_range: 'month', categories: 'news' }));
    expect(asked.every(({ language }) => language?.startsWith('de'))).toBe(true);
  });

  it('takes a category and a language from the beginning of the query', async () => {
    await ask('/search?q=!news%20:de%20bees&format=json');
    const [asked] = service.requests;
    expect(Object.fromEntries(asked!.url.searchParams)).toMatchObject({ q: 'bees', categories: 'news' });
  });

  it('names the parameters that have no effect', async () => {
    const { headers } = await ask('/search?q=wasps&format=json&engines=startpage&safesearch=1');
    expect(headers.get('x-lectern-ignored')).toBe('engines, safesearch');
  });
});

describe('answers', () => {
  it('are an empty list if nothing is found', async () => {
    pages = [];
    const { status, json } = await ask('/search?q=nothing-here&format=json');
    expect([status, json.results]).toEqual([200, []]);
    expect(json.unresponsive_engines).toHaveLength(1);
  });

  it('are a page of links for a browser, without scripts', async () => {
    pages = [{ title: '<script>x</script>', url: 'https://a.example/?"><b>', text: 'y' }];
    const { status, headers, text } = await ask('/search?q=b%3Cb%3E', { headers: { accept: 'text/html' } });
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).not.toMatch(/<script|<b>/);
  });

  it('describe the instance and its health', async () => {
    const { json } = await ask('/config');
    expect(json).toMatchObject({ categories: ['general', 'images', 'news'], public_instance: false });
    expect(json.engines.map(({ name }: { name: string }) => name)).toContain('mine');
    expect((await ask('/healthz')).text).toBe('OK');
  });
});

describe('errors', () => {
  it.each([
    ['/search?format=json', 400, 'No query'],
    ['/search?q=%20&format=json', 400, 'No query'],
    ['/search?q=a&format=json&pageno=0', 400, /pageno/],
    ['/search?q=a&format=json&time_range=decade', 400, /time_range/],
    ['/search?q=a&format=json&safesearch=3', 400, /safesearch/],
    ['/search?q=a&format=json&language=!!', 400, /language/],
    ['/search?q=a&format=rss', 403, /rss/],
    ['/search?q=a&format=xml', 400, /format/],
  ])('%s: %s', async (path, status, message) => {
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ error: expect.stringMatching(message) });
  });

  it('refuse a wrong key, and take placeholders for no key', async () => {
    const withKey = (value: string) => ask('/search?q=bees&format=json', { headers: { 'x-api-key': value } });
    expect((await withKey('lectern_wrong')).status).toBe(401);
    expect((await withKey('None')).status).toBe(200);
    expect((await withKey(key)).status).toBe(200);
  });

  it('answer unknown paths under the prefix in the format of the dialect', async () => {
    const { status, json } = await ask('/for/searxng/nothing');
    expect([status, Object.keys(json)]).toEqual([404, ['error']]);
  });
});

it('needs a key if the operator does not name the dialect', async () => {
  const other = await startServer({ searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }] });
  const answer = await fetch(`${other.urls.compat}/search?q=bees&format=json`);
  expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([401, ['error']]);
  await other.close();
});
