/** The search host, through the whole server: routes, parameters, fetched result pages, charges, failures. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ListedPage, type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { parseEvents, startServer, type TestServer } from '../support/server.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let site: Site;
let service: Service;
let server: TestServer;
let key: string;
/** The results of the search service, by query. It returns three pages for any other query. */
const found = new Map<string, ListedPage[]>();

beforeAll(async () => {
  site = await startSite({
    '/bees': `<title>Bees</title><meta name="description" content="All about bees"><link rel="icon" href="/icon.png"><main><h1>Bees</h1>
      <p>${'Bees find their way home by the sun and by what they have seen on the way. '.repeat(8)}</p>
      <h2>Honey</h2><p>${'Honey is made of nectar, which the bees thicken in the hive until it keeps. '.repeat(8)}</p>
      <p>See <a href="/article">the harbour</a>. <img src="/icon.png" alt="A bee"></p></main>`,
    '/wasps': `<title>Wasps</title><main><h1>Wasps</h1><p>${'Wasps build their nests of paper, which they make of old wood. '.repeat(8)}</p></main>`,
    '/icon.png': ({ response }) => void response.writeHead(200, { 'content-type': 'image/png' }).end(PNG),
    '/never': () => {},
    '/cut': ({ response }) => void response.destroy(),
  });
  service = await startService((asked) =>
    searxngAnswer(found.get(asked.url.searchParams.get('q')!) ?? listed('/bees', '/wasps', '/article'), asked),
  );
  server = await startServer({
    allowNetworks: site.allow.join(','),
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url, key: 'key-of-the-provider' }],
  });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await service.close();
  await site.close();
});
beforeEach(() => void service.requests.splice(0));

const listed = (...paths: string[]): ListedPage[] =>
  paths.map((path, index) => ({
    title: `Title ${index}`,
    url: path.startsWith('/') ? site.origin + path : path,
    text: `Snippet <b>${index}</b>`,
  }));

async function ask(path: string, { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {}) {
  const answer = await fetch(server.urls.search + path, {
    ...init,
    headers: { authorization: `Bearer ${key}`, accept: 'application/json', ...headers },
  });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  return {
    status: answer.status,
    text,
    type,
    head: answer.headers,
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
    json: (type.includes('json') ? JSON.parse(text) : undefined) as any,
  };
}
const asked = () => service.requests.at(-1)!.url.searchParams;

describe('the query', () => {
  it.each([
    ['/big%20cats', 'big cats'],
    ['/c++/and/more?num=1', 'c++/and/more'],
    ['/a%2Bb%2Fc%3Fd?num=1', 'a+b/c?d'],
    ['/path?q=parameter', 'parameter'],
    ['/?q=by+query', 'by query'],
    ['/search?q=by+the+query', 'by the query'],
    ['//slash', '/slash'],
  ])('of %s is %s', async (path, q) => {
    expect((await ask(path, { headers: { 'x-respond-with': 'no-content' } })).status).toBe(200);
    expect(asked().get('q')).toBe(q);
  });

  it('may be in a body of any type, which overrides the URL', async () => {
    const json = await ask('/search?q=a&num=1', {
      method: 'POST',
      body: JSON.stringify({ q: 'b', num: 2, site: ['a.test', 'b.test'] }),
      headers: { 'content-type': 'application/json' },
    });
    expect([json.status, json.json.data.length, asked().get('q')]).toEqual([200, 2, 'b site:a.test OR site:b.test']);
    const form = await ask('/', { method: 'POST', body: new URLSearchParams({ q: 'c', count: '1' }) });
    expect([form.json.data.length, asked().get('q')]).toEqual([1, 'c']);
    const multipart = new FormData();
    multipart.set('q', 'd');
    expect((await ask('/ignored', { method: 'POST', body: multipart })).status).toBe(200);
    expect(asked().get('q')).toBe('d');
  });

  it('prefers operators in headers to those in parameters', async () => {
    await ask('/cats?site=a.test&filetype=pdf&num=1', { headers: { 'x-site': 'b.test, c.test' } });
    expect(asked().get('q')).toBe('cats (filetype:pdf) AND (site:b.test OR site:c.test)');
  });

  it('carries country and language', async () => {
    await ask('/cats?gl=DE&hl=zh-tw&type=news&num=1&page=1&tbs=ignored');
    expect(Object.fromEntries(asked())).toMatchObject({ language: 'zh-TW', categories: 'news' });
  });

  it.each([
    ['/search', 'q'],
    ['/search?q=%20', 'q'],
    ['/%E0%A4%A', 'q'],
    ['/%20', 'q'],
    ['/?q=x&num=21', 'num'],
    ['/?q=x&count=-1', 'count'],
    ['/?q=x&num=2.5', 'num'],
    ['/?q=x&page=0', 'page'],
    ['/?q=x&gl=zz', 'gl'],
    ['/?q=x&hl=klingon', 'hl'],
    ['/?q=x&type=videos', 'type'],
    ['/?q=x&provider=nobody', 'provider'],
    ['/?q=x&engine=browser', 'provider'],
    ['/?q=x&respondWith=nothing', 'respondWith'],
    ['/?q=x&passages=50', 'passages'],
    ['/?q=x&since=yesterday', 'since'],
    ['/?q=x&timeout=181', 'timeout'],
    [`/?q=x&site=${'a'.repeat(201)}`, 'site'],
    [`/?q=${'a'.repeat(4_001)}`, 'q'],
  ])('%# is refused by the name of what is wrong', async (path, name) => {
    const { status, json } = await ask(path);
    expect([status, json.status, json.path]).toEqual([400, 40001, name]);
    expect(service.requests).toHaveLength(0);
  });

  it('of a hundred thousand characters is refused', async () => {
    const { status, json } = await ask('/search', {
      method: 'POST',
      body: JSON.stringify({ q: 'ab '.repeat(33_000) }),
      headers: { 'content-type': 'application/json' },
    });
    expect([status, json.path]).toEqual([400, 'q']);
  });
});

describe('answers', () => {
  it('in JSON have the results with their pages, in the order of the search', async () => {
    const { json, head } = await ask('/bees');
    expect(Object.keys(json)).toEqual(['code', 'status', 'data', 'meta']);
    expect(json.data.map(({ url }: { url: string }) => url)).toEqual(
      ['/bees', '/wasps', '/article'].map((path) => site.origin + path),
    );
    const [bees, wasps] = json.data;
    expect(bees).toMatchObject({
      title: 'Bees',
      description: 'All about bees',
      content: expect.stringContaining('## Honey'),
    });
    // A page without a description keeps the description from the search result.
    expect(wasps).toMatchObject({ title: 'Wasps', description: 'Snippet 1' });
    expect(
      Object.keys(bees).filter((name) =>
        ['title', 'url', 'description', 'content', 'metadata', 'external', 'usage'].includes(name),
      ),
    ).toEqual(['title', 'url', 'description', 'content', 'metadata', 'external', 'usage']);
    expect(json.meta).toEqual({ usage: { tokens: 10_000 } });
    expect(bees.usage.tokens).toBe(3_334);
    expect(head.get('x-usage-tokens')).toBe('10000');
    expect(head.get('x-search-provider')).toBe('mine');
  });

  it('in text are laid out by number', async () => {
    const { text, type, head } = await ask('/bees?withLinksSummary=true', { headers: { accept: '*/*' } });
    expect(type).toBe('text/plain; charset=utf-8');
    expect(head.get('x-usage-tokens')).toBe('10000');
    expect(
      text.startsWith(`[1] Title: Bees\n[1] URL Source: ${site.origin}/bees\n[1] Description: All about bees\n\n`),
    ).toBe(true);
    expect(text).toContain(`\n\n[1] Links/Buttons:\n- [the harbour](${site.origin}/article)\n\n[2] Title: Wasps\n`);
    expect(text).toMatch(/[^\n]\n$/);
  });

  it('in a stream grow until they are whole', async () => {
    const { text, type } = await ask('/bees', { headers: { accept: 'text/event-stream', 'x-no-cache': 'true' } });
    expect(type).toBe('text/event-stream; charset=utf-8');
    const events = parseEvents(text);
    expect(events.every(({ event }) => event === 'data')).toBe(true);
    const counts = events.map(
      ({ data }) => (data as unknown as { content: string }[]).filter(({ content }) => content).length,
    );
    expect(counts[0]).toBe(0);
    expect(counts).toEqual(counts.toSorted());
    expect(counts.at(-1)).toBe(3);
  });

  it('of a search alone read no page', async () => {
    const before = site.hits('/wasps');
    for (const path of ['/bees?respondWith=no-content', '/bees?num=0', '/bees?respondWith=no-content,html']) {
      const { json } = await ask(path, { headers: { 'x-no-cache': '1' } });
      expect(
        json.data.map(({ content, description }: { content: string; description: string }) => [content, description]),
      ).toEqual([
        ['', 'Snippet 0'],
        ['', 'Snippet 1'],
        ['', 'Snippet 2'],
      ]);
    }
    const { json } = await ask('/bees', { headers: { 'x-respond-with': 'no-content' } });
    expect(json.data[0].usage.tokens).toBe(3_334);
    expect(site.hits('/wasps')).toBe(before);
  });

  it('contain exactly the results of their page', async () => {
    found.set('many', listed(...Array.from({ length: 30 }, (_, index) => `/list?n=${index}`)));
    const pages = await Promise.all([1, 2, 3].map((page) => ask(`/many?num=7&page=${page}&respondWith=no-content`)));
    const urls = pages.flatMap(({ json }) => json.data.map(({ url }: { url: string }) => new URL(url).search));
    expect(urls).toEqual(Array.from({ length: 21 }, (_, index) => `?n=${index}`));
    expect((await ask('/many?num=0')).json.data).toHaveLength(10);
    expect((await ask('/many?num=20&respondWith=no-content')).json.meta.usage.tokens).toBe(20_000);
  });

  it('read pages with the options of the reader', async () => {
    const { json } = await ask(
      '/bees?num=1&retainLinks=none&url=https://elsewhere.test/&html=x&tokenBudget=1&base=final',
      {
        headers: { 'x-respond-with': 'html+text', 'x-engine': 'direct', 'x-remove-selector': 'h2' },
      },
    );
    expect(json.data).toHaveLength(1);
    expect(json.data[0]).toMatchObject({
      url: `${site.origin}/bees`,
      content: '',
      html: expect.stringContaining('<h1>'),
      text: expect.not.stringContaining('Honey\n'),
    });
    expect(json.data[0].metadata['lectern:engine']).toBe('direct');
    const chunked = await ask('/bees?num=1&markdownChunking=h2&withImagesSummary=true');
    expect(chunked.json.data[0].chunks.length).toBeGreaterThan(1);
    expect(Object.values(chunked.json.data[0].images)).toEqual([`${site.origin}/icon.png`]);
  });

  it('contain screenshots that the reader serves', async () => {
    const { json } = await ask('/bees?num=1', { headers: { 'x-respond-with': 'screenshot' } });
    const { screenshotUrl } = json.data[0];
    expect(screenshotUrl.startsWith(`${server.reader}/.pictures/`)).toBe(true);
    expect((await fetch(screenshotUrl)).headers.get('content-type')).toBe('image/png');
  });

  it('contain icons of sites as small pictures on request', async () => {
    const { json } = await ask('/bees?num=2', { headers: { 'x-with-favicons': 'true' } });
    expect(json.data[0].favicon).toMatch(/^data:image\/png;base64,/);
    // All pages of a site have the same icon.
    expect(json.data[1].favicon).toBe(json.data[0].favicon);
    found.set('no icon', listed(`${site.otherOrigin}/wasps`));
    expect((await ask('/no%20icon', { headers: { 'x-with-favicons': 'true' } })).json.data[0].favicon).toBe('');
    expect((await ask('/bees?num=1', { headers: { 'x-with-favicons': 'false' } })).json.data[0]).not.toHaveProperty(
      'favicon',
    );
  });

  it('of news cost more', async () => {
    const { json } = await ask('/bees?type=news&num=2');
    expect(json.meta.usage.tokens).toBe(50_000);
  });
});

describe('passages', () => {
  it('of all pages fit the tokens, and are those that answer', async () => {
    const { json } = await ask('/how%20is%20honey%20made?passages=200');
    const all = json.data.flatMap(({ passages }: { passages: unknown[] }) => passages);
    expect(all.length).toBeGreaterThan(0);
    expect(all.reduce((sum: number, { tokens }: { tokens: number }) => sum + tokens, 0)).toBeLessThanOrEqual(200);
    expect(json.data[0]).toMatchObject({ title: 'Bees', content: expect.stringContaining('nectar') });
    expect(json.data[0].passages[0]).toMatchObject({
      heading: expect.stringContaining('Honey'),
      tokens: expect.any(Number),
    });
    expect(json.data[0]).not.toHaveProperty('external');
  });

  it('are numbered by their sources in text', async () => {
    const { text } = await ask('/paper%20nests', { headers: { accept: 'text/plain', 'x-passages': '300' } });
    expect(text).toMatch(/\[\d\] Title: Wasps\n[\s\S]*old wood/);
  });
});

describe('pages that cannot be read', () => {
  it('keep the result of the search, with the reason', async () => {
    found.set(
      'bad',
      listed(
        '/cut',
        '/bees',
        'http://10.1.2.3/',
        'http://169.254.169.254/latest',
        `${server.urls.search}/x`,
        `${server.reader}/`,
        '/never',
      ),
    );
    const { json, status } = await ask('/bad?timeout=3');
    expect(status).toBe(200);
    const seen = json.data.map(({ title, content, warning }: { title: string; content: string; warning?: string }) => [
      title,
      content !== '',
      warning,
    ]);
    const failed = expect.stringMatching(/^This page could not be read(?:: \S.*|\.)$/);
    expect(seen).toEqual([
      ['Title 0', false, failed],
      ['Bees', true, undefined],
      ['Title 2', false, failed],
      ['Title 3', false, failed],
      ['Title 4', false, failed],
      ['Title 5', false, failed],
      ['Title 6', false, expect.stringMatching(/not be read|not read in time/)],
    ]);
  });

  it('are no failure even when none can', async () => {
    found.set('all bad', listed('/cut', 'http://10.0.0.1/'));
    const { json, status } = await ask('/all%20bad');
    expect([status, json.data.length, json.meta.usage.tokens]).toEqual([200, 2, 10_000]);
  });

  it('for an option that no page can serve fail as the option', async () => {
    const { status, json } = await ask('/bees?respondWith=vlm');
    expect([status, json.status, json.path]).toEqual([422, 42205, 'respondWith']);
    expect((await ask('/bees?targetSelector=.nowhere&num=1')).json.data[0]).toMatchObject({
      content: '',
      warning: expect.any(String),
    });
  });
});

describe('failures', () => {
  it('of finding nothing are coded', async () => {
    found.set('nothing', []);
    for (const path of ['/nothing', '/nothing?fallback=true']) {
      const { status, json } = await ask(path);
      expect([status, json.status, json.name]).toEqual([422, 42206, 'AssertionFailureError']);
    }
    const stream = await ask('/nothing', { headers: { accept: 'text/event-stream' } });
    expect(stream.status).toBe(422);
  });

  it('of having no such provider are too', async () => {
    for (const path of ['/x?provider=reader', '/x?type=images&provider=local']) {
      expect((await ask(path)).json).toMatchObject({ code: 422, status: 42206 });
    }
    expect((await ask('/bees?provider=mine&num=1')).status).toBe(200);
    expect((await ask('/bees?engine=google&num=1')).status).toBe(200);
    expect(asked().get('engines')).toBe('google');
  });

  it('have the format that the client accepts', async () => {
    const text = await ask('/search', { headers: { accept: 'text/plain' } });
    expect([text.status, text.text]).toEqual([
      400,
      'ParamValidationError(q): q is required: the query to search for\n',
    ]);
  });
});

describe('keys', () => {
  it('are needed to search, not to see the index', async () => {
    for (const path of ['/cats', '/search?q=cats', '/?q=cats']) {
      const none = await ask(path, { headers: { authorization: '' } });
      expect([none.status, none.json.status]).toEqual([401, 40103]);
    }
    expect((await ask('/cats', { headers: { authorization: 'Bearer wrong' } })).json.status).toBe(40102);
    const posted = await ask('/', {
      method: 'POST',
      body: new URLSearchParams({ q: 'cats' }),
      headers: { authorization: '' },
    });
    expect(posted.status).toBe(401);
    expect(service.requests).toHaveLength(0);

    const index = await ask('/', { headers: { authorization: '' } });
    expect([index.status, Object.keys(index.json.data)]).toEqual([200, ['usage1', 'usage2', 'homepage', 'note']]);
    expect((await ask('/', { method: 'POST', headers: { authorization: '', accept: '*/*' } })).text).toMatch(
      /\[Note\] An API key/,
    );
    const own = await ask('/', { method: 'POST' });
    expect(Object.keys(own.json.data)).toEqual(['usage1', 'usage2', 'homepage', 'authenticatedAs', 'balanceLeft']);
  });

  it('are charged once, only for successes', async () => {
    const { accounts, usage } = server.app.accounts;
    const account = await accounts.createAccount({ name: 'search', plan: 'paid', balance: 25_000 });
    const minted = await accounts.mintKey({ accountId: account.id, name: 'search' });
    const headers = { authorization: `Bearer ${minted.key}` };
    const sums = async () => {
      await usage.flush();
      return usage.sums({ by: ['face'], accountId: account.id });
    };
    let requests = 0;
    /** Waits until the request is charged, which releases the reservation. */
    const statusOf = async (path: string, accept = 'application/json') => {
      const { status } = await ask(path, { headers: { ...headers, accept } });
      requests++;
      await expect.poll(async () => (await sums())[0]?.requests).toBe(requests);
      return status;
    };
    expect(await statusOf('/bees?num=1')).toBe(200);
    expect(await statusOf('/nothing')).toBe(422);
    expect(await statusOf('/search')).toBe(400);
    expect(await statusOf('/bees?num=1', 'text/event-stream')).toBe(200);
    expect(await sums()).toMatchObject([{ face: 'search', requests: 4, tokens: 20_000 }]);
    expect(await statusOf('/bees?num=1')).toBe(200);
    expect((await ask('/bees?num=1', { headers })).json).toMatchObject({ code: 402, status: 40203 });
  });

  it('never appear in an answer', async () => {
    const { json, head } = await ask('/bees?num=1');
    expect(JSON.stringify(json) + JSON.stringify([...head])).not.toContain('key-of-the-provider');
    expect(service.requests.at(-1)?.headers.authorization ?? '').toMatch(/^$|Bearer key-of-the-provider/);
  });
});

it('answers probes, and 405 to other methods', async () => {
  expect((await ask('/live', { headers: { authorization: '' } })).status).toBe(200);
  const { status, head } = await ask('/cats', { method: 'DELETE' });
  expect([status, head.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
});

it('serves callers without a key if allowed', async () => {
  const settings = { allowNetworks: site.allow.join(','), searchProviders: [{ name: 'searxng', url: service.url }] };
  const limited = await startServer({ ...settings, browser: 'none', searchKeyless: 'limited', keylessRpm: 2 });
  try {
    const statusOf = async (path: string) => (await fetch(limited.urls.search + path)).status;
    expect([await statusOf('/bees?num=1'), await statusOf('/bees?num=1'), await statusOf('/bees?num=1')]).toEqual([
      200, 200, 429,
    ]);
  } finally {
    await limited.close();
  }
});

it('describes itself', async () => {
  const { json } = await ask('/openapi.json');
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  expect(await new Validator().validate(json)).toMatchObject({ valid: true });
  expect(Object.keys(json.paths)).toEqual(['/search', '/', '/{q}']);
  const names = json.paths['/search'].get.parameters.map(({ name }: { name: string }) => name);
  expect(names).toContain('X-Site');
  expect(names).not.toContain('X-Token-Budget');
  expect((await ask('/docs')).text).toContain('<code>X-With-Favicons</code>');
});
