/** Section 4.3: options for the request to the target, tested with the engine that works without a browser. */
import { afterAll, beforeAll, expect } from 'vitest';
import { CERTIFICATE, KEY, startHttpProxy, startSocks, type TestProxy } from '#net/proxy.suite.ts';
import { sendHtml } from '../site/site.ts';
import { type Headers, type ReaderHost, refused, send, startReader, type Values } from './reader-host.ts';
import { type SecureSite, startSecureSite } from './secure-site.ts';
import { hosted } from './seed.ts';

let host: ReaderHost;
let secure: SecureSite;
beforeAll(async () => {
  secure = await startSecureSite({ key: KEY, cert: CERTIFICATE });
  host = await startReader({
    pages: {
      '/told': ({ request, response }) =>
        sendHtml(response, `<title>Told</title><p>Cookies: ${request.headers.cookie ?? 'none'}.</p>`),
      '/late': ({ response }) => void setTimeout(() => sendHtml(response, '<title>Late</title><p>Late.</p>'), 3_000),
      '/created': ({ response }) => sendHtml(response, '<title>Created</title><p>It was created.</p>', 201),
      '/robots.txt': ({ response }) =>
        void response
          .writeHead(200, { 'content-type': 'text/plain' })
          .end('User-agent: *\nDisallow: /list\n\nUser-agent: goodbot\nDisallow: /article\n'),
      '/list': '<title>List</title><p>A list of things.</p>',
      '/search': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found())),
    },
    allow: [secure.host],
    settings: ({ origin }) => ({
      cacheMaxBytes: 10_000_000,
      searchProviders: [{ name: 'mine', kind: 'searxng', url: origin }],
    }),
  });
});
afterAll(async () => {
  await host.close();
  await secure.close();
});

/** The results of the site's search service. */
const found = () => ({
  query: 'harbour',
  results: [{ url: page('/article'), title: 'The harbour', content: 'Boats.' }],
});

const page = (path: string) => `${host.site.origin}${path}`;
/** Reads without the cache and without a browser. */
const read = (path: string, options: Values = {}, headers: Headers = {}) =>
  host.post({ url: page(path), noCache: true, engine: 'direct', ...options }, headers);
/** The headers that the site received. */
const sent = async (options: Values, headers: Headers = {}) => {
  for (const ask of [host.get, host.post]) {
    const { status, text } = await ask({ url: page('/told'), noCache: true, engine: 'direct', ...options }, headers);
    expect(status, text).toBe(200);
  }
  return host.site.headers('/told')!;
};

hosted.row('4.3', 'referer | string | none | Referer for the page', async () => {
  expect((await sent({ referer: 'https://from.test/page?x=1' })).referer).toBe('https://from.test/page?x=1');
  expect(await sent({})).not.toHaveProperty('referer');
  expect(await read('/told', { referer: 'nowhere' })).toMatchObject(refused('referer'));
});

hosted.row(
  '4.3',
  "userAgent | string | browser | Override User-Agent. Special values: browser (internal browser UA); auto (pass the caller's UA through if it starts with `Mozilla/5.0`, else internal browser UA); inherit or pass-through (UA of the request context); bot (pre-defined bot UA); diversify (diversified browser UA); or a custom string. Anonymous callers specifying a browser UA get no effect and fall back to the internal browser UA",
  async () => {
    const ua = async (options: Values, own = 'curl/8.1', key: Headers = host.key()) =>
      (await sent(options, { 'user-agent': own, ...key }))['user-agent'];
    const internal = (await ua({}))!;
    expect(internal).toMatch(/^Mozilla\/5\.0 .* Chrome\//);
    expect(await ua({ userAgent: 'browser' })).toBe(internal);
    expect(await ua({ userAgent: 'auto' })).toBe(internal);
    expect(await ua({ userAgent: 'auto' }, 'Mozilla/5.0 (mine)')).toBe('Mozilla/5.0 (mine)');
    expect(await ua({ userAgent: 'auto' }, 'Mozilla/4.0 (mine)')).toBe(internal);
    for (const userAgent of ['inherit', 'pass-through']) {
      expect(await ua({ userAgent })).toBe('curl/8.1');
      expect(await ua({ userAgent }, 'Mozilla/5.0 (mine)')).toBe('Mozilla/5.0 (mine)');
    }
    expect(await ua({ userAgent: 'bot' })).toMatch(/^Lectern\//);
    expect(await ua({ userAgent: 'diversify' })).toMatch(/^Mozilla\/5\.0 /);
    const custom = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    for (const userAgent of [custom, 'MyReader/1.0']) expect(await ua({ userAgent })).toBe(userAgent);
    // Without a key, the User-Agent of a browser is not sent.
    expect(await ua({ userAgent: custom }, 'curl/8.1', {})).toBe(internal);
    expect((await read('/told', { userAgent: custom })).data.warning).toContain('userAgent has no effect');
    expect(await ua({ userAgent: 'MyReader/1.0' }, 'curl/8.1', {})).toBe('MyReader/1.0');
  },
);

hosted.row(
  '4.3',
  'setCookies | any value or string | none | Cookies to send when fetching the URL (for login-protected pages); requests with cookies are not cached',
  async () => {
    expect((await sent({ setCookies: 'session=abc; Path=/; HttpOnly' })).cookie).toBe('session=abc');
    await host.post({ url: page('/told'), engine: 'direct', setCookies: ['a=1', 'b=2; Path=/told', 'c=3; Path=/no'] });
    expect(host.site.headers('/told')!.cookie!.split('; ').sort()).toEqual(['a=1', 'b=2']);
    expect(await sent({})).not.toHaveProperty('cookie');
    expect(await read('/told', { setCookies: 'nothing' })).toMatchObject(refused('cookies'));
    // The result is neither taken from the cache nor stored.
    const url = page('/told?cookies');
    const options = { url, engine: 'direct', setCookies: 'session=secret' };
    const before = host.site.hits('/told');
    expect((await host.post(options)).data.content).toContain('Cookies: session=secret.');
    expect((await host.post({ url, engine: 'direct' })).data.content).toContain('Cookies: none.');
    expect((await host.post(options)).data.content).toContain('Cookies: session=secret.');
    expect(host.site.hits('/told')).toBe(before + 3);
  },
);

hosted.row(
  '4.3',
  'noCache | pseudo-boolean | none | Ignore the internal cache; equivalent to cache tolerance 0',
  async () => {
    const url = page('/article?no-cache');
    const hits = async (options: Values) => {
      const before = host.site.hits('/article');
      expect((await host.get({ url, engine: 'direct', ...options })).status).toBe(200);
      return host.site.hits('/article') - before;
    };
    expect(await hits({})).toBe(1);
    expect(await hits({})).toBe(0);
    expect(await hits({ noCache: 'true' })).toBe(1);
    expect(await hits({ noCache: 'false' })).toBe(0);
    expect(await hits({ cacheTolerance: '0' })).toBe(1);
    expect(await hits({ noCache: 'true', cacheTolerance: '3600' })).toBe(1);
  },
  'What was read is stored for other requests.',
);

hosted.row('4.3', 'cacheTolerance | number | none | Internal cache tolerance in seconds', async () => {
  const url = page('/article?tolerance');
  const hits = async (options: Values) => {
    const before = host.site.hits('/article');
    expect((await host.get({ url, engine: 'direct', ...options })).status).toBe(200);
    return host.site.hits('/article') - before;
  };
  expect(await hits({})).toBe(1);
  expect(await hits({ cacheTolerance: 3_600 })).toBe(0);
  expect(await hits({ cacheTolerance: 0 })).toBe(1);
  // Waits until the copy is older than one second.
  await expect.poll(() => hits({ cacheTolerance: 1 }), { timeout: 20_000, interval: 300 }).toBe(1);
  expect(await hits({ cacheTolerance: 3_600 })).toBe(0);
  for (const cacheTolerance of [-1, 'long'])
    expect(await host.read({ url, cacheTolerance })).toMatchObject(refused('cacheTolerance'));
});

hosted.row('4.4', 'X-Cache-Tolerance | cacheTolerance', async () => {
  const hits = async (headers: Headers) => {
    const before = host.site.hits('/article');
    await host.at(page('/article?tolerance-header'), { 'x-engine': 'direct', ...headers });
    return host.site.hits('/article') - before;
  };
  expect(await hits({})).toBe(1);
  expect(await hits({ 'x-cache-tolerance': '3600' })).toBe(0);
  expect(await hits({ 'x-cache-tolerance': '0' })).toBe(1);
  expect(await hits({})).toBe(0);
});

hosted.row('4.4', 'X-No-Cache | noCache', async () => {
  const hits = async (headers: Headers) => {
    const before = host.site.hits('/article');
    await host.at(page('/article?no-cache-header'), { 'x-engine': 'direct', ...headers });
    return host.site.hits('/article') - before;
  };
  expect(await hits({})).toBe(1);
  expect(await hits({ 'x-no-cache': 'true' })).toBe(1);
  expect(await hits({ 'x-no-cache': 'false' })).toBe(0);
  expect(await hits({})).toBe(0);
});

hosted.row(
  '4.4',
  'DNT | When set to 1, the result of the request is not cached',
  async () => {
    const hits = async (headers: Headers) => {
      const before = host.site.hits('/article');
      await host.at(page('/article?dnt'), { 'x-engine': 'direct', ...headers });
      return host.site.hits('/article') - before;
    };
    expect(await hits({ dnt: '1' })).toBe(1);
    expect(await hits({})).toBe(1);
    expect(await hits({})).toBe(0);
    const zero = (headers: Headers) => host.at(page('/list?dnt'), { 'x-engine': 'direct', ...headers });
    await zero({ dnt: '0' });
    const before = host.site.hits('/list');
    await zero({});
    expect(host.site.hits('/list')).toBe(before);
  },
  'An existing copy may answer such a request.',
);

hosted.row(
  '4.3',
  'robotsTxt | string | none | Load and obey robots.txt of the target origin; optionally a bot UA to check against',
  async () => {
    const outcome = async (path: string, robotsTxt: string) => (await read(path, { robotsTxt })).status;
    expect(await outcome('/list', 'true')).toBe(409);
    expect(await outcome('/list', 'AnyBot')).toBe(409);
    expect(await outcome('/article', 'true')).toBe(200);
    expect(await outcome('/article', 'goodbot')).toBe(409);
    expect(await outcome('/list', 'goodbot')).toBe(200);
    const before = host.site.hits('/robots.txt');
    expect((await read('/list')).status).toBe(200);
    expect(host.site.hits('/robots.txt')).toBe(before);
    expect(await read('/list', { robotsTxt: 'true' })).toMatchObject({
      status: 409,
      json: { name: 'ResourcePolicyDenyError' },
    });
  },
);

hosted.row(
  '4.3',
  'assertStatusCode | number | none | Expected HTTP status of the crawled page; on mismatch the request is rejected with 422',
  async () => {
    for (const [path, status] of [
      ['/article', 200],
      ['/missing', 404],
      ['/created', 201],
    ] as const) {
      expect((await read(path)).status).toBe(200);
      expect((await read(path, { assertStatusCode: status })).status).toBe(200);
      for (const other of [status - 1, status + 1])
        expect(await read(path, { assertStatusCode: other })).toMatchObject({
          status: 422,
          json: { name: 'AssertionFailureError', path: 'assertStatusCode' },
        });
    }
    expect(await read('/article', { assertStatusCode: 'fine' })).toMatchObject(refused('assertStatusCode'));
  },
);

hosted.row(
  '4.3',
  'tokenBudget | number | none | Token budget; when the resulting token cost exceeds it the request is rejected; ignored for the search endpoint',
  async () => {
    const { tokens } = (await read('/article')).data.usage;
    expect((await read('/article', { tokenBudget: tokens })).status).toBe(200);
    expect(await read('/article', { tokenBudget: tokens - 1 })).toMatchObject({
      status: 409,
      json: { name: 'BudgetExceededError', path: 'tokenBudget' },
    });
    expect(await read('/article', { tokenBudget: 'few' })).toMatchObject(refused('tokenBudget'));
    // The search endpoint ignores this option.
    const search = async (more: string, headers: Headers = {}) =>
      send(`${host.server.urls.search}/search?q=harbour${more}`, { headers: { ...host.key(), ...headers } });
    const plain = await search('');
    expect(plain.data[0]).toMatchObject({
      url: page('/article'),
      content: expect.stringContaining('keeps its own hours'),
    });
    for (const { status, data } of [await search('&tokenBudget=1'), await search('', { 'x-token-budget': '1' })])
      expect([status, data[0].content]).toEqual([200, plain.data[0].content]);
  },
);

hosted.row('4.3', 'timeout | number, > 0 and <= 180 | none | Timeout in seconds', async () => {
  for (const timeout of [0.5, 1, 20, 179, 180]) expect((await read('/article', { timeout })).status).toBe(200);
  for (const timeout of [0, -1, 180.5, 181, 'long'])
    expect(await host.read({ url: page('/article'), timeout })).toMatchObject(refused('timeout'));
  expect((await read('/late')).data.title).toBe('Late');
  expect(await read('/late', { timeout: 1 })).toMatchObject({ status: 422, json: { name: 'AssertionFailureError' } });
  expect((await read('/late', { timeout: 60 })).data.title).toBe('Late');
});

hosted.row('4.3', 'skipCertVerification | pseudo-boolean | none | Skip SSL certificate verification', async () => {
  const secureRead = (options: Values) =>
    host.read({ url: secure.origin, engine: 'direct', noCache: true, ...options });
  for (const options of [{}, { skipCertVerification: 'false' }]) {
    const { status, json } = await secureRead(options);
    expect([status, json.message]).toEqual([422, expect.stringContaining('certificate')]);
  }
  expect((await secureRead({ skipCertVerification: 'true' })).data.content).toContain('Self-signed.');
});

hosted.row(
  '4.3',
  'proxyUrl | string | none | Custom proxy; protocols http, https, socks4, socks5; credentials in the form scheme://<user>:<password>@<host>:<port>',
  async () => {
    const account = { username: 'ann', password: 'secret' };
    const proxies: Record<string, TestProxy> = {
      http: await startHttpProxy({ account }),
      https: await startHttpProxy({ account, secure: true }),
      socks4: await startSocks({ account }),
      socks5: await startSocks({ account }),
    };
    const allow = Object.values(proxies).map(({ host }) => host);
    const own = await startReader({ allow });
    const { host: target } = new URL(own.site.origin);
    const through = (proxyUrl: string) =>
      own.read({ url: `${own.site.origin}/article`, engine: 'direct', proxyUrl, skipCertVerification: true });
    try {
      for (const [scheme, proxy] of Object.entries(proxies)) {
        const answer = await through(`${scheme}://ann:secret@${proxy.host}`);
        expect([scheme, answer.json?.message, answer.data?.title]).toEqual([scheme, undefined, 'The harbour at night']);
        expect(proxy.targets.join(), scheme).toContain(target);
        const wrong = await through(`${scheme}://bob:wrong@${proxy.host}`);
        expect([scheme, wrong.status, wrong.json.path]).toEqual([scheme, 422, 'proxyUrl']);
      }
      expect(await through('ftp://ann:secret@127.0.0.1:9')).toMatchObject(refused('proxyUrl'));
    } finally {
      await own.close();
    }
  },
);

hosted.row(
  '4.3',
  'proxy | string | none | Use a proxy provided by the service; optionally a two-letter country code',
  async () => {
    const [german, any] = [await startHttpProxy(), await startHttpProxy()];
    const own = await startReader({
      settings: { proxies: [{ url: any.origin }, { url: german.origin, countries: ['de'] }] },
      allow: [german.host, any.host],
    });
    const through = async (proxy: string | undefined, headers: Headers = own.key()) => {
      const before = [any.targets.length, german.targets.length];
      const url = `${own.site.origin}/article`;
      const answer = await own.post({ url, engine: 'direct', ...(proxy && { proxy }) }, headers);
      const used = [any.targets.length > before[0]!, german.targets.length > before[1]!];
      return { answer, used };
    };
    try {
      expect((await through(undefined)).used).toEqual([false, false]);
      expect((await through('none')).used).toEqual([false, false]);
      const { used, answer } = await through('de');
      expect([answer.data.title, used]).toEqual(['The harbour at night', [false, true]]);
      for (const name of ['any', 'true']) expect((await through(name)).used).toContain(true);
      expect((await through('fr')).answer).toMatchObject({ status: 422, json: { path: 'proxy' } });
      expect((await through('germany')).answer).toMatchObject(refused('proxy'));
    } finally {
      await own.close();
    }
  },
  '`any` and `true` mean any country. Callers without a key get no proxy.',
);

hosted.row('4.3', 'zeroDataRetention | pseudo-boolean | none | Accepted parameter', async () => {
  for (const zeroDataRetention of ['true', 'false', 'yes', '0', '']) {
    const options = { url: page('/article?zero'), engine: 'direct', zeroDataRetention };
    for (const { status, data } of [await host.get(options), await host.post(options)])
      expect([status, data.title]).toEqual([200, 'The harbour at night']);
  }
});
