/** Firecrawl's API on the compat host, through the whole server: pages, searches, maps, files and errors. */
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawPdf, write } from '#documents/pdf/drawn.suite.ts';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import type { AnyJson } from '../support/any-json.ts';
import { startServer, type TestServer } from '../support/server.ts';

const STORY = 'Bees find their way home by the sun. '.repeat(12);
const BEES = `<html lang="en"><head><title>Bees</title>
  <meta name="description" content="About bees"><meta property="og:title" content="Bees at home">
  <meta name="statusCode" content="999"><meta name="twitter:card" content="summary">
  <link rel="icon" href="/bee.ico"></head>
  <body><nav><a href="/wasps">Wasps</a></nav>
  <main><h1>Bees</h1><p onclick="x()">${STORY}<a href="/hive" data-id="7">The hive</a></p><img src="/bee.png" alt="A bee">
  <script>var tracked = 1</script></main></body></html>`;

let site: Site;
let service: Service;
let server: TestServer;
let key: string;

beforeAll(async () => {
  site = await startSite({
    '/bees': BEES,
    '/gone': ({ response }) => void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Gone away</h1>'),
    '/login': ({ response }) =>
      void response
        .writeHead(403, { 'content-type': 'text/html' })
        .end('<title>Access denied</title><h1>Access denied</h1>'),
    '/slow': ({ response }) => void setTimeout(() => response.end('late'), 5_000).unref(),
    '/map/': '<title>Map</title><main><a href="/map/honey?x=1">Honey</a> <a href="/map/wax">Wax</a></main>',
    '/sitemap.xml': ({ response, origin }) =>
      void response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<urlset><url><loc>${origin}/map/listed</loc></url></urlset>`),
  });
  service = await startService((asked) =>
    searxngAnswer([{ title: 'Bees', url: `${site.origin}/bees`, text: 'A snippet about bees' }], asked),
  );
  server = await startServer({
    allowNetworks: site.allow.join(','),
    crawlDelayMs: 0,
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
  });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await service.close();
  await site.close();
});

async function post(route: string, body: unknown, authorization: string | undefined = `Bearer ${key}`) {
  const answer = await fetch(server.urls.compat + route, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as AnyJson };
}

describe('scrape', () => {
  it('returns Markdown and metadata by default', async () => {
    const url = `${site.origin}/bees?utm_source=x`;
    const { status, json } = await post('/v2/scrape', { url, origin: 'js-sdk@4', integration: null });
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(['success', 'data']);
    expect(Object.keys(json.data)).toEqual(['markdown', 'metadata']);
    expect(json.data.markdown).toContain('Bees find their way home');
    expect(json.data.metadata).toMatchObject({
      title: 'Bees',
      description: 'About bees',
      language: 'en',
      ogTitle: 'Bees at home',
      'twitter:card': 'summary',
      favicon: `${site.origin}/bee.ico`,
      url: `${site.origin}/bees`,
      sourceURL: url,
      statusCode: 200,
      contentType: 'text/html',
      proxyUsed: 'basic',
      creditsUsed: 1,
      scrapeId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(json.data.metadata.error).toBeUndefined();
  });

  it('returns the formats that were asked for, and only these', async () => {
    const formats = [
      ...['html', 'rawHtml', 'links', 'images'],
      { type: 'attributes', selectors: [{ selector: 'a', attribute: 'data-id' }] },
    ];
    const { json } = await post('/v2/scrape', { url: `${site.origin}/bees`, formats, maxAge: 0 });
    const { html, rawHtml, links, images, attributes, ...rest } = json.data;
    expect(Object.keys(rest)).toEqual(['metadata']);
    expect(html).toContain(`<a href="${site.origin}/hive">`);
    expect(html).not.toMatch(/script|onclick|Wasps/);
    expect(rawHtml).toContain('var tracked');
    expect(links).toEqual([`${site.origin}/wasps`, `${site.origin}/hive`]);
    expect(images).toEqual([`${site.origin}/bee.png`]);
    expect(attributes).toEqual([{ selector: 'a', attribute: 'data-id', values: ['7'] }]);
  });

  it('takes the whole page or parts of it', async () => {
    const url = `${site.origin}/bees`;
    const whole = await post('/v1/scrape', { url, onlyMainContent: false });
    expect(whole.json.data.markdown).toContain('Wasps');
    expect(whole.json.scrape_id).toBe(whole.json.data.metadata.scrapeId);
    const part = await post('/v2/scrape', { url, includeTags: ['h1'] });
    expect(part.json.data.markdown.trim()).toBe('# Bees');
    const none = await post('/v2/scrape', { url, includeTags: ['.absent'] });
    expect([none.status, none.json.data.markdown]).toEqual([200, '']);
    expect(none.json.data.warning).toMatch(/includeTags: Nothing on the page matches \.absent/);
  });

  it('reads a page of the target as a success, with its status', async () => {
    const gone = await post('/v2/scrape', { url: `${site.origin}/gone` });
    expect(gone.status).toBe(200);
    expect(gone.json.data.metadata.statusCode).toBe(404);
    expect(gone.json.data.metadata.error).toBeTruthy();
    const wall = await post('/v2/scrape', { url: `${site.origin}/login` });
    expect(wall.json.data.metadata).toMatchObject({ statusCode: 403, error: 'denied' });
    expect(wall.json.data.warning).toContain('Blocked: denied');
  });

  it('says which fields have no effect', async () => {
    const body = {
      url: `${site.origin}/bees`,
      location: { country: 'de', languages: ['de'] },
      minAge: 5,
      proxy: 'auto',
    };
    const { json } = await post('/v2/scrape', body);
    expect(json.warning).toMatch(/location\.country is ignored.*\nminAge is ignored/s);
    expect(json.data.warning).toBe(json.warning);
  });

  it('fails with the codes of the original', async () => {
    const unknown = await post('/v2/scrape', { url: 'http://nowhere.invalid/' });
    expect(unknown.json).toMatchObject({ success: false, code: 'SCRAPE_DNS_RESOLUTION_ERROR' });
    expect(unknown.status).toBe(500);
    const slow = await post('/v2/scrape', { url: `${site.origin}/slow`, timeout: 1_000 });
    expect([slow.status, slow.json.code]).toEqual([408, 'SCRAPE_TIMEOUT']);
    const closed = await post('/v2/scrape', { url: `http://127.0.0.1:${await closedPort()}/` });
    expect(closed.status).not.toBe(200);
  });

  it.each<[string, unknown, RegExp]>([
    ['/v2/scrape', {}, /url/],
    ['/v2/scrape', { url: 'not a url' }, /url/],
    ['/v2/scrape', { url: 5 }, /url/],
    ['/v2/scrape', { url: 'http://169.254.169.254/latest' }, /./],
    ['/v2/scrape', { url: 'https://a.example', formats: ['changeTracking'] }, /formats.*changeTracking/],
    ['/v2/scrape', { url: 'https://a.example', formats: ['nonsense'] }, /formats.*nonsense/],
    [
      '/v2/scrape',
      { url: 'https://a.example', formats: [{ type: 'attributes', selectors: [{ selector: '[', attribute: 'x' }] }] },
      /formats\.0.*selector/,
    ],
    ['/v2/scrape', { url: 'https://a.example', formats: [{ type: 'json' }] }, /formats\.0/],
    ['/v2/scrape', { url: 'https://a.example', formats: [{ type: 'json', prompt: 'x' }] }, /LECTERN_CHAT_URL/],
    ['/v1/scrape', { url: 'https://a.example', formats: ['extract'], extract: { prompt: 'x' } }, /LECTERN_CHAT_URL/],
    ['/v2/scrape', { url: 'https://a.example', actions: [{ type: 'wait', milliseconds: 5 }] }, /actions/],
    ['/v2/scrape', { url: 'https://a.example', lockdown: true }, /lockdown/],
    ['/v2/scrape', { url: 'https://a.example', waitFor: 900, timeout: 1_000 }, /waitFor/],
    ['/v2/scrape', { url: 'https://a.example', includeTags: ['['] }, /includeTags/],
    ['/v2/scrape', { url: 'https://a.example', headers: { host: 'x' } }, /headers|host/],
    ['/v2/crawl', { url: 'https://a.example', includePaths: ['('] }, /includePaths/],
    ['/v2/crawl', { url: 'https://a.example', allowExternalLinks: true }, /allowExternalLinks/],
    ['/v2/crawl', { url: 'https://a.example', webhook: 'https://b.example' }, /webhook/],
    ['/v2/crawl', { url: 'https://a.example', scrapeOptions: { formats: ['screenshot'] } }, /scrapeOptions\.formats/],
    ['/v2/crawl', { url: 'https://a.example', scrapeOptions: { includeTags: ['['] } }, /scrapeOptions\.includeTags/],
    ['/v2/crawl', { url: 'http://10.0.0.1/' }, /./],
    ['/v2/batch/scrape', { urls: [] }, /urls/],
    ['/v2/batch/scrape', { urls: ['nope nope'] }, /urls\.0/],
    ['/v2/map', { url: '' }, /url/],
    ['/v2/search', { query: 'a', limit: 101 }, /limit/],
    ['/v2/search', { query: '' }, /query/],
    ['/v2/search', { query: 'a', tbs: 'soon' }, /tbs/],
    ['/v2/search', { query: 'a', sources: ['films'] }, /sources/],
  ])('%s %j: 400', async (route, body, message) => {
    const { status, json } = await post(route, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ success: false, error: expect.stringMatching(message), code: 'BAD_REQUEST' });
    expect(json.details[0]).toMatchObject({ path: expect.any(Array), message: json.error });
  });

  it('needs a valid key, where one is sent or needed', async () => {
    const url = `${site.origin}/bees`;
    expect((await post('/v2/scrape', { url }, '')).status).toBe(200);
    const wrong = await post('/v2/scrape', { url }, 'Bearer wrong');
    expect([wrong.status, wrong.json.error]).toEqual([401, 'Unauthorized: Invalid token']);
    const missing = await post('/v2/crawl', { url }, 'Bearer ');
    expect([missing.status, missing.json.error]).toEqual([401, 'Unauthorized: Token missing']);
  });

  it('answers what it does not have with 404', async () => {
    const { status, json } = await post('/v2/agent', { prompt: 'x' });
    expect([status, json.success, json.error]).toEqual([404, false, 'Lectern does not have /v2/agent of Firecrawl']);
    const under = await post('/for/firecrawl/v2/nothing', {});
    expect([under.status, under.json.success]).toEqual([404, false]);
  });
});

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const listener = net.createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as net.AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

describe('map', () => {
  it('lists the sitemap and the links of the page, the best fit first', async () => {
    const { json } = await post('/v2/map', { url: `${site.origin}/map/`, search: 'wax' });
    expect(json).toMatchObject({ success: true, id: expect.any(String) });
    const urls = json.links.map(({ url }: { url: string }) => url.replace(site.origin, ''));
    expect(urls).toEqual(['/map/wax', '/map/', '/map/listed', '/map/honey']);
    expect(json.links[1]).toMatchObject({ title: 'Map' });
  });

  it('leaves out the sitemap or the page if asked, up to the limit', async () => {
    const url = `${site.origin}/map/`;
    const skipped = await post('/v1/map', { url, ignoreSitemap: true, ignoreQueryParameters: false });
    expect(skipped.json.links).toEqual([url, `${site.origin}/map/honey?x=1`, `${site.origin}/map/wax`]);
    const only = await post('/v2/map', { url, sitemap: 'only' });
    expect(only.json.links).toEqual([{ url: `${site.origin}/map/listed` }]);
    expect((await post('/v1/map', { url, limit: 2 })).json.links).toHaveLength(2);
  });

  it('refuses private networks', async () => {
    expect((await post('/v2/map', { url: 'http://10.0.0.1/' })).status).toBe(400);
  });
});

describe('search', () => {
  it('lists results without fields of documents', async () => {
    const { json } = await post('/v2/search', { query: 'bees', limit: 3, sources: [{ type: 'web' }] });
    expect(json).toMatchObject({ success: true, id: expect.any(String), creditsUsed: 1 });
    expect(json.data).toEqual({
      web: [{ url: `${site.origin}/bees`, title: 'Bees', description: 'A snippet about bees', position: 1 }],
    });
    const old = await post('/v1/search', { query: 'bees' });
    expect(old.json.data).toHaveLength(1);
  });

  it('reads the pages if asked for formats', async () => {
    const { json } = await post('/v2/search', {
      query: 'bees',
      scrapeOptions: { formats: ['markdown', 'links', 'html'] },
    });
    const [item] = json.data.web;
    expect(item).toMatchObject({ url: `${site.origin}/bees`, title: 'Bees', position: 1 });
    expect(item.markdown).toContain('Bees find their way home');
    expect(item.links).toContain(`${site.origin}/hive`);
    expect(item.html).toContain(`<a href="${site.origin}/hive">`);
    expect(item.metadata).toMatchObject({ sourceURL: `${site.origin}/bees`, statusCode: 200, title: 'Bees' });
  });

  it('needs a key', async () => {
    expect((await post('/v2/search', { query: 'bees' }, '')).status).toBe(401);
  });
});

describe('parse', () => {
  const upload = async (
    options: unknown,
    file = new File(['name,age\nAda,36\n'], 'people.csv', { type: 'text/csv' }),
  ) => {
    const form = new FormData();
    form.append('options', JSON.stringify(options));
    form.append('file', file);
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${server.urls.compat}/v2/parse`, { method: 'POST', headers, body: form });
    return { status: answer.status, json: (await answer.json()) as AnyJson };
  };

  it('converts a file', async () => {
    const { status, json } = await upload({ formats: ['markdown'], origin: 'x' });
    expect(status).toBe(200);
    expect(json.data.markdown).toMatch(/Ada\s*\|\s*36/);
    expect(json.data.metadata).toMatchObject({ sourceURL: 'people.csv', statusCode: 200 });
    expect(json.data.warning).toBeUndefined();
  });

  it('lists the pages of a document and cuts it', async () => {
    const pages = ['One', 'Two', 'Three'].map((word) => ({ content: write(72, 700, [`${word} page of bees`]) }));
    const pdf = new File([drawPdf({ pages })], 'pages.pdf', { type: 'application/pdf' });
    const { json } = await upload({ parsers: [{ type: 'pdf', maxPages: 2, pages: true, pageMarkers: true }] }, pdf);
    expect(json.data.pages.map(({ pageNumber }: { pageNumber: number }) => pageNumber)).toEqual([1, 2]);
    expect(json.data.markdown).toContain('\n\n---\n\n<!-- page 2 -->\n\n');
  });

  it.each<[unknown, RegExp]>([
    [{ formats: ['screenshot'] }, /screenshot/],
    [{ mobile: true }, /mobile/],
    [[], /body|options/],
  ])('refuses %j', async (options, message) => {
    const { status, json } = await upload(options);
    expect([status, json.error]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe('the account', () => {
  const get = async (route: string) =>
    (await fetch(server.urls.compat + route, { headers: { authorization: `Bearer ${key}` } })).json();

  it('shows its balance in both versions', async () => {
    expect(await get('/v2/team/credit-usage')).toMatchObject({
      success: true,
      data: { remainingCredits: expect.any(Number), billingPeriodEnd: null },
    });
    expect(await get('/v1/team/token-usage')).toMatchObject({ data: { remaining_tokens: expect.any(Number) } });
    expect(await get('/v2/team/queue-status')).toMatchObject({ success: true, jobsInQueue: 0 });
    expect(await get('/v2/concurrency-check')).toMatchObject({ success: true, concurrency: 0 });
  });
});

it('serves requests whose client offers HTTP/2, with their bodies', async () => {
  const { hostname, port } = new URL(server.urls.compat!);
  const body = JSON.stringify({ url: `${site.origin}/bees` });
  const socket = net.connect(Number(port), hostname);
  const head = [
    'POST /v2/scrape HTTP/1.1',
    `Host: ${hostname}:${port}`,
    'Connection: Upgrade, HTTP2-Settings, close',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`);
  setTimeout(() => socket.write(body.slice(10)), 50);
  const text = await new Promise<string>((resolve) => {
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      if (received.includes('"proxyUsed"')) resolve(received);
    });
    socket.on('close', () => resolve(received));
  });
  socket.destroy();
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(text).toContain('Bees find their way home');
});
