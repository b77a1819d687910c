/** Keys, plans and limits over HTTP: every refusal in docs/reference/errors.md. */
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PlanName } from '#plans.ts';
import { type Site, startSite, type Visited } from '../site/site.ts';
import { type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { startServer, type TestServer } from '../support/server.ts';

const HTML = '<title>Tea</title><p>Green tea is made from leaves that were not oxidised, and is drunk hot.</p>';
const ONE_TEXT = JSON.stringify({ model: 'lectern-static-v2', input: 'green tea' });

const CHAT = { chatUrl: 'http://127.0.0.1:9/v1', chatModel: 'm' };
let site: Site;
/** The server for tests that differ only in the plan of their key. */
let shared: TestServer;
/** Functions that complete the pending responses of `/slow`, in the order of the requests. */
const releases: (() => void)[] = [];
const slowly = ({ response }: Visited) => {
  releases.push(() => response.writeHead(200, { 'content-type': 'text/html' }).end(HTML));
};
beforeAll(async () => {
  site = await startSite({
    '/slow': slowly,
    '/slow/too': slowly,
  });
  shared = await startServer({
    browser: 'none',
    allowNetworks: site.allow.join(','),
    refusedRpm: 100_000,
    keylessFeatures: ['scripts'],
    searchKeyless: 'limited',
    plans: {
      free: { concurrency: 'none', reader: { requestsPerMinute: 7 } },
      paid: {
        embeddings: { requestsPerMinute: 6, tokensPerMinute: 20 },
        rerank: { requestsPerMinute: 2 },
        chat: { requestsPerMinute: 2 },
      },
      premium: { features: [] },
    },
  });
});
afterAll(async () => {
  await shared?.close();
  await site.close();
});

async function start(settings: Record<string, unknown> = {}) {
  const server = await startServer({ browser: 'none', ...settings });
  onTestFinished(() => server.close());
  return server;
}

/** Creates a key for a new account. */
async function mint({ app }: TestServer, plan: PlanName, balance: number | null = null) {
  const { accounts } = app.accounts;
  const account = await accounts.createAccount({ name: plan, plan, balance });
  const { key, record } = await accounts.mintKey({ accountId: account.id, name: 'test' });
  return { key, record, account, headers: { authorization: `Bearer ${key}` } };
}

const readHtml = (server: TestServer, headers: Record<string, string> = {}, more: object = {}) =>
  fetch(server.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({ html: HTML, ...more }),
  });

const embed = (server: TestServer, headers: Record<string, string> = {}, body = ONE_TEXT) =>
  fetch(`${server.urls.model}/v1/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
const json = (answer: Response): Promise<any> => answer.json();

const MODEL_PATHS = ['/v1/embeddings', '/v1/rerank'];

describe('the Authorization header', () => {
  const long = 'x'.repeat(1_000_000);
  const MALFORMED: [string, string[], string][] = [
    ['none', [], 'AUTH_MISSING_API_KEY'],
    ['empty', ['Authorization:'], 'AUTH_MISSING_API_KEY'],
    ['blank', ['Authorization:   \t '], 'AUTH_MISSING_API_KEY'],
    ['Basic', ['Authorization: Basic dXNlcjpwYXNz'], 'AUTH_INVALID_FORMAT'],
    ['Bearer alone', ['Authorization: Bearer'], 'AUTH_INVALID_FORMAT'],
    ['a bare key', ['Authorization: lectern_abc'], 'AUTH_INVALID_FORMAT'],
    ['two tokens', ['Authorization: Bearer a b'], 'AUTH_INVALID_FORMAT'],
    ['a tab between', ['Authorization: Bearer\tabc'], 'AUTH_INVALID_FORMAT'],
    ['a tab within', ['Authorization: Bearer a\tb'], 'AUTH_INVALID_FORMAT'],
    ['not ASCII', ['Authorization: Bearer k\u00e9y'], 'AUTH_INVALID_FORMAT'],
    ['repeated', ['Authorization: Bearer abc', 'Authorization: Bearer abc'], 'AUTH_INVALID_FORMAT'],
    ['unknown', ['Authorization: Bearer abc'], 'AUTH_INVALID_API_KEY'],
    ['30 kB', [`Authorization: Bearer ${long.slice(0, 30_000)}`], 'AUTH_INVALID_API_KEY'],
    ['in other places', ['X-Api-Key: abc'], 'AUTH_MISSING_API_KEY'],
  ];

  it.each(MALFORMED)('%s, on the model host', async (_, lines, code) => {
    for (const path of [...MODEL_PATHS, '/v1/chat/completions']) {
      const answer = await rawRequest(shared.urls.model!, { method: 'POST', path, lines, body: '{"nonsense"' });
      const body = JSON.parse(answer.body);
      expect(answer.status).toBe(401);
      expect(answer.head.toLowerCase()).toContain('www-authenticate: bearer');
      if (path === '/v1/chat/completions') {
        expect(body.error).toMatchObject({ type: 'authentication_error', param: null, code });
        expect(Object.keys(body)).toEqual(['error']);
      } else {
        expect(Object.keys(body)).toEqual(['detail', 'code', 'request_id']);
        expect(body.code).toBe(code);
      }
    }
  });

  it('a key with one wrong character is unknown, on every host', async () => {
    const { key } = await mint(shared, 'free');
    const almost = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    expect((await embed(shared, { authorization: `Bearer ${almost}` })).status).toBe(401);
    const answer = await readHtml(shared, { authorization: `Bearer ${almost}` });
    expect([answer.status, (await json(answer)).name]).toEqual([401, 'AuthenticationFailedError']);
  });

  it('of 1 MB is rejected by every face in its own format', async () => {
    const lines = [`Authorization: Bearer ${long}`];
    const ask = (url: string): Promise<RawAnswer> => rawRequest(url, { lines });
    const [reader, model] = await Promise.all([ask(shared.reader), ask(shared.urls.model!)]);
    expect([reader.status, JSON.parse(reader.body).name]).toEqual([431, 'RequestHeaderFieldsTooLargeError']);
    expect([model.status, Object.keys(JSON.parse(model.body))]).toEqual([431, ['detail', 'request_id']]);
  });

  it('revoked and expired keys are unknown', async () => {
    const { accounts } = shared.app.accounts;
    const revoked = await mint(shared, 'free');
    expect((await readHtml(shared, revoked.headers)).status).toBe(200);
    await accounts.revokeKey(revoked.record.id);
    expect((await readHtml(shared, revoked.headers)).status).toBe(401);
    const expired = await mint(shared, 'free');
    await accounts.changeKey(expired.record.id, { expiresAt: Date.now() - 1 });
    expect((await embed(shared, expired.headers)).status).toBe(401);
  });

  it('is ignored by the model list and the probes', async () => {
    for (const path of ['/v1/models', '/health', '/live']) {
      const answer = await fetch(shared.urls.model + path, { headers: { authorization: 'Bearer nonsense' } });
      expect([path, answer.status]).toEqual([path, 200]);
    }
  });
});

describe('limits of a key', () => {
  it('requests per minute: passes exactly the limit of concurrent requests, with headers and Retry-After', async () => {
    const { headers } = await mint(shared, 'free');
    const answers = await Promise.all(Array.from({ length: 30 }, () => readHtml(shared, headers)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    const refused = answers.find(({ status }) => status === 429)!;
    const body = await json(refused);
    expect(body).toMatchObject({ name: 'RateLimitTriggeredError', status: 42903, code: 429, limitedBy: 'requests' });
    expect(body.message).toBe('Request rate limit exceeded: 7/7 requests per minute');
    expect(Number(refused.headers.get('retry-after'))).toBe(body.retryAfter);
    expect(body.retryAfter).toBeGreaterThan(50);
    expect(body.retryAfter).toBeLessThanOrEqual(61);
    expect(refused.headers.get('x-ratelimit-limit')).toBe('7');
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    const remaining = answers.filter(({ status }) => status === 200).map((a) => a.headers.get('x-ratelimit-remaining'));
    expect(remaining.map(Number).sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    // Another key has its own limit.
    expect((await readHtml(shared, (await mint(shared, 'free')).headers)).status).toBe(200);
  });

  it('requests and tokens per minute on the model host', async () => {
    const { headers } = await mint(shared, 'paid');
    const first = await embed(shared, headers);
    const { usage } = await json(first);
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('6');
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('5');
    expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('20');
    expect(first.headers.get('x-ratelimit-remaining-tokens')).toBe(String(20 - usage.total_tokens));
    const textsOf = (length: number) =>
      JSON.stringify({ model: 'lectern-static-v2', input: Array.from({ length }, () => 'tea') });
    const tooMuch = await embed(shared, headers, textsOf(20));
    const refused = await json(tooMuch);
    expect([tooMuch.status, refused.code]).toEqual([429, 'RATE_TOKEN_LIMIT_EXCEEDED']);
    expect(refused.detail).toBe(`Token rate limit exceeded: ${usage.total_tokens}/20 tokens per minute`);
    // A request that exceeds the limit of a whole minute can never succeed.
    const never = await embed(shared, headers, textsOf(30));
    const { code, detail } = await json(never);
    expect([never.status, code, never.headers.get('retry-after')]).toEqual([
      403,
      'AUTHZ_RESOURCE_LIMIT_EXCEEDED',
      null,
    ]);
    expect(detail).toContain('this request has 30 tokens, and the plan paid allows 20 tokens per minute');
    expect(never.headers.get('x-ratelimit-remaining-tokens')).toBe(String(20 - usage.total_tokens));
    // An invalid body counts as a request, but costs no tokens.
    const wrong = await embed(shared, headers, '{"model": "lectern-static-v2"}');
    expect(wrong.status).toBe(422);
    expect(wrong.headers.get('x-ratelimit-remaining-requests')).toBe('2');
    expect(wrong.headers.get('x-ratelimit-remaining-tokens')).toBe(String(20 - usage.total_tokens));
    for (let n = 0; n < 2; n++) await embed(shared, headers, '{}');
    const over = await embed(shared, headers, '{}');
    const body = await json(over);
    expect([over.status, body.code]).toEqual([429, 'RATE_REQUEST_LIMIT_EXCEEDED']);
    expect(body.detail).toBe('Request rate limit exceeded: 6/6 requests per minute');
    expect(over.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(50);
    // Each endpoint has its own limits.
    const other = await fetch(`${shared.urls.model}/v1/rerank`, { method: 'POST', headers, body: '{}' });
    expect(other.status).toBe(422);
  });

  it('are shown in every answer to a known key, on each endpoint', async () => {
    const { headers } = await mint(shared, 'paid');
    const { headers: spent } = await mint(shared, 'paid', 0);
    const NUMBERS = ['limit', 'remaining', 'reset'].flatMap((kind) =>
      ['requests', 'tokens'].map((what) => `x-ratelimit-${kind}-${what}`),
    );
    const post = (path: string, body: string, given = headers) =>
      fetch(shared.urls.model + path, { method: 'POST', headers: given, body });
    const rank = JSON.stringify({ model: 'lectern-static-rerank-v2', query: 'tea', documents: ['green tea'] });
    for (const [path, good, rpm, tpm] of [
      ['/v1/embeddings', ONE_TEXT, 6, 20],
      ['/v1/rerank', rank, 2, 10_000_000],
      ['/v1/chat/completions', undefined, 2, 5_000_000],
    ] as const) {
      const answers = [await post(path, ONE_TEXT, spent)];
      if (good) answers.push(await post(path, good));
      while (answers.at(-1)!.status !== 429) answers.push(await post(path, '{}'));
      const invalid = path.includes('chat') ? 400 : 422;
      const statuses = [...new Set(answers.map(({ status }) => status))];
      expect([path, statuses]).toEqual([path, [403, ...(good ? [200] : []), invalid, 429]]);
      for (const { status, headers: shown } of answers) {
        for (const name of NUMBERS)
          expect([path, status, name, shown.get(name)]).toEqual([path, status, name, expect.stringMatching(/^\d+$/)]);
        expect(shown.get('x-ratelimit-limit-requests')).toBe(String(rpm));
        expect(shown.get('x-ratelimit-limit-tokens')).toBe(String(tpm));
      }
      const refused = answers.at(-1)!.headers;
      expect(refused.get('x-ratelimit-remaining-requests')).toBe('0');
      // A whole number of seconds, equal to the reset of the window.
      expect(refused.get('retry-after')).toMatch(/^\d+$/);
      expect(Number(refused.get('x-ratelimit-reset-requests'))).toBeLessThanOrEqual(61);
    }
  });

  describe('of concurrent requests and features', () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer({
        browser: 'none',
        allowNetworks: site.allow.join(','),
        plans: { free: { concurrency: 1 }, paid: { concurrency: 3 }, premium: { features: [] } },
        ...CHAT,
      });
    });
    afterAll(() => server?.close());

    it('concurrent requests, over all faces, until they end or their client disconnects', async () => {
      const { headers } = await mint(server, 'free');
      const leaving = new AbortController();
      const slow = (path: string, signal?: AbortSignal) =>
        fetch(`${server.reader}/${site.origin}${path}`, { headers, signal: signal ?? null });
      const first = slow('/slow', leaving.signal).catch(() => undefined);
      await untilStatus(
        () => embed(server, headers),
        429,
        async (answer) => {
          const body = await json(answer);
          expect(body.code).toBe('RATE_CONCURRENCY_LIMIT_EXCEEDED');
          expect(body.detail).toBe('Concurrency limit exceeded: 1/1 concurrent requests');
          expect(answer.headers.get('retry-after')).toBe('1');
        },
      );
      const reader = await readHtml(server, headers);
      expect([reader.status, (await json(reader)).limitedBy]).toEqual([429, 'concurrency']);
      leaving.abort();
      await first;
      await untilStatus(() => embed(server, headers), 200);
      // The first client may have disconnected before the site received the request.
      const before = releases.length;
      const second = slow('/slow/too');
      await untilStatus(() => embed(server, headers), 429);
      while (releases.length === before) await new Promise((resolve) => setTimeout(resolve, 20));
      for (const release of releases) release();
      expect((await second).status).toBe(200);
      await untilStatus(() => embed(server, headers), 200);
    });

    it('pipelined requests end with their connection', { timeout: 120_000 }, async () => {
      const { key, headers, account } = await mint(server, 'paid');
      const { hostname, port } = new URL(server.reader);
      const socket = net.connect(Number(port), hostname);
      const before = releases.length;
      const lines = [`GET /${site.origin}/slow HTTP/1.1`, `Host: ${hostname}`, `Authorization: Bearer ${key}`];
      socket.write(`${lines.join('\r\n')}\r\n\r\n`.repeat(3));
      // By then all three were admitted: another request before would take the place of the third.
      while (releases.length === before) await new Promise((resolve) => setTimeout(resolve, 20));
      await untilStatus(() => embed(server, headers), 429);
      socket.destroy();
      const { usage } = server.app.accounts;
      const ended = async () => {
        await usage.flush();
        return (await usage.sums({ by: ['face'], accountId: account.id })).find(({ face }) => face === 'reader')
          ?.requests;
      };
      await expect.poll(ended, { timeout: 20_000 }).toBe(3);
      await untilStatus(() => embed(server, headers), 200);
    });

    it('features of a plan', async () => {
      const { headers } = await mint(server, 'premium');
      for (const [option, value] of [
        ['injectPageScript', 'document.title = 1'],
        ['withGeneratedAlt', true],
        ['retainImages', 'all_p'],
        ['retainImages', 'alt_p'],
        ['respondWith', 'readerlm-v2'],
        ['proxy', 'any'],
      ] as const) {
        const answer = await readHtml(server, headers, { [option]: value });
        expect([option, answer.status, await json(answer)]).toMatchObject([
          option,
          402,
          { name: 'TierFeatureConstraintError', status: 40202, path: option },
        ]);
      }
      expect((await readHtml(server, headers, { proxy: 'none', withGeneratedAlt: false })).status).toBe(200);
    });
  });
});

describe('balances', () => {
  it('decrease once for each request, are shown, and run out', async () => {
    const { headers, account } = await mint(shared, 'premium', 60);
    const { accounts, usage } = shared.app.accounts;
    const answer = await readHtml(shared, headers);
    const { tokens } = (await json(answer)).data.usage;
    expect(tokens).toBeGreaterThan(0);
    const balance = async () => {
      await usage.flush();
      return (await accounts.account(account.id))!.balance;
    };
    await expect.poll(balance).toBe(60 - tokens);
    // Keys and their accounts are cached for a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const index = await fetch(shared.reader, { headers: { ...headers, accept: 'application/json' } });
    expect((await json(index)).data).toMatchObject({ authenticatedAs: 'test', balanceLeft: 60 - tokens });

    // A request that costs more than the balance is rejected and costs nothing.
    const long = JSON.stringify({ model: 'lectern-static-v2', input: 'tea '.repeat(100) });
    const tooMuch = await embed(shared, headers, long);
    expect([tooMuch.status, (await json(tooMuch)).code]).toEqual([403, 'AUTHZ_INSUFFICIENT_BALANCE']);
    expect(await balance()).toBe(60 - tokens);

    await accounts.changeAccount(account.id, { balance: 0 });
    const empty = await readHtml(shared, headers);
    expect([empty.status, (await json(empty)).name]).toEqual([402, 'InsufficientBalanceError']);
    expect((await embed(shared, headers)).status).toBe(403);
    const read = async () => {
      await usage.flush();
      const sums = await usage.sums({ by: ['face'], accountId: account.id });
      return sums.find(({ face }) => face === 'reader');
    };
    await expect.poll(read).toMatchObject({ requests: 2, failed: 0 });
  });
});

describe('callers without a key', () => {
  it('read at the rate for their IP address', async () => {
    const server = await start({ keylessRpm: 3, refusedRpm: 4 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => readHtml(server)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(await json(refused)).toMatchObject({ name: 'RateLimitTriggeredError', limitedBy: 'address' });
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3');
    // Without a trusted proxy, the caller's header is ignored.
    expect((await readHtml(server, { 'x-forwarded-for': '203.0.113.7' })).status).toBe(429);
    expect((await readHtml(server, (await mint(server, 'free')).headers)).status).toBe(200);

    // Requests with unknown keys have a separate limit.
    const guess = () => embed(server, { authorization: 'Bearer guess' });
    const codes: string[] = [];
    for (let n = 0; n < 6; n++) codes.push((await json(await guess())).code);
    expect(codes).toEqual([...Array(4).fill('AUTH_INVALID_API_KEY'), ...Array(2).fill('RATE_IP_LIMIT_EXCEEDED')]);
    const limited = await guess();
    expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await embed(server, (await mint(server, 'free')).headers)).status).toBe(200);
  });

  it('are told apart behind a trusted proxy, IPv6 by /64, and may use only the features for keyless callers', async () => {
    const server = await start({
      ...{ keylessRpm: 1, trustedProxies: ['127.0.0.1'], keylessFeatures: ['scripts'] },
      ...CHAT,
    });
    const from = async (address: string) => (await readHtml(server, { 'x-forwarded-for': address })).status;
    expect(await from('203.0.113.7')).toBe(200);
    expect(await from('203.0.113.7')).toBe(429);
    expect(await from('203.0.113.8')).toBe(200);
    // The proxy appends the IP address. Everything before it was written by the caller.
    expect(await from('198.51.100.1, 203.0.113.8')).toBe(429);
    expect(await from('2001:db8:1:2::1')).toBe(200);
    expect(await from('2001:db8:1:2:ffff::9')).toBe(429);
    expect(await from('2001:db8:1:3::1')).toBe(200);

    let callers = 0;
    const ask = (option: string, value: unknown) =>
      readHtml(server, { 'x-forwarded-for': `192.0.2.${++callers}` }, { [option]: value });
    for (const [option, value] of [
      ['withGeneratedAlt', true],
      ['retainImages', 'all_p'],
      ['retainImages', 'alt_p'],
      ['respondWith', 'vlm'],
      ['jsonSchema', { type: 'object' }],
    ] as const) {
      const answer = await ask(option, value);
      expect([option, answer.status, await json(answer)]).toMatchObject([
        option,
        401,
        { name: 'AuthenticationRequiredError', status: 40103, path: option },
      ]);
    }
    expect((await ask('proxy', 'any')).status).toBe(200);
  });

  it.each([{ withGeneratedAlt: true }, { retainImages: 'all_p' }, { retainImages: 'alt_p' }])(
    'get images as they are where no vision model could describe them: %j',
    async (options) => {
      const html = `${HTML}<p>A cat sits on a wall. <img src="https://a.test/cat.png" alt="a cat"></p>`;
      for (const headers of [{}, (await mint(shared, 'premium')).headers]) {
        const answer = await readHtml(shared, headers, { html, ...options });
        expect(answer.status).toBe(200);
        const { content, warning } = (await json(answer)).data;
        expect(content).toContain('Image 1: a cat');
        expect(warning.match(/LECTERN_VISION_URL/g)).toHaveLength(1);
      }
      const search = await fetch(`${shared.urls.search}/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ q: 'green tea', ...options }),
      });
      expect([search.status, (await json(search)).name]).not.toEqual([401, 'AuthenticationRequiredError']);
    },
  );

  it('need a key when their rate is 0', async () => {
    const server = await start({ keylessRpm: 0 });
    const answer = await readHtml(server);
    expect([answer.status, (await json(answer)).name]).toEqual([401, 'AuthenticationRequiredError']);
  });
});

it('with auth off everybody is served and nothing is counted', async () => {
  const server = await start({ auth: 'off', keylessRpm: 1 });
  expect(server.app.firstKey).toBeUndefined();
  for (let n = 0; n < 3; n++) expect((await readHtml(server)).status).toBe(200);
  const answer = await embed(server, { authorization: 'Bearer anything' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-ratelimit-limit-requests')).toBeNull();
});

describe('web pages of other sites, where private networks may be read', () => {
  const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' };
  const ask = async (lines: Record<string, string>) => {
    const given = Object.entries(lines).map(([name, value]) => `${name}: ${value}`);
    const answer = await rawRequest(shared.reader, {
      method: 'POST',
      lines: [...given, 'Accept: application/json'],
      body: JSON.stringify({ html: HTML }),
    });
    return answer.status;
  };

  it.each([
    ['by their origin', { ...BROWSER, origin: 'https://evil.example' }],
    ['by what the browser says', { ...BROWSER, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    ['in a frame', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['by a neighbour', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }],
  ])('are refused %s, and served with a key', async (_, lines) => {
    expect(await ask(lines)).toBe(403);
    expect(await ask({ ...lines, authorization: `Bearer ${shared.app.firstKey}` })).toBe(200);
  });

  it('are refused under a foreign host name that resolves to this server', async () => {
    const { port } = new URL(shared.reader);
    const url = `http://127.0.0.1:${port}/`;
    const asked = (host: string, more: Record<string, string>) =>
      fetchWithHost(url, host, { ...BROWSER, ...more }).then(({ status }) => status);
    expect(await asked(`evil.example:${port}`, {})).toBe(403);
    expect(await asked(`localhost:${port}`, {})).toBe(200);
    expect(await asked(`nas:${port}`, {})).toBe(200);
    const program = { 'user-agent': 'curl/8' };
    expect(await asked(`evil.example:${port}`, program)).toBe(200);
    // A script that sends the User-Agent of another program.
    expect(await asked(`evil.example:${port}`, { ...program, 'accept-language': 'en' })).toBe(403);
    expect(await asked(`evil.example:${port}`, { 'accept-language': '*', 'sec-fetch-mode': 'cors' })).toBe(403);
    const fetchOfNode = { 'user-agent': 'node', 'accept-language': '*', 'sec-fetch-mode': 'cors' };
    expect(await asked(`evil.example:${port}`, fetchOfNode)).toBe(200);
  });

  it('do not affect people and programs', async () => {
    expect(await ask({})).toBe(200);
    expect(await ask({ ...BROWSER, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' })).toBe(200);
    const typed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await ask({ ...BROWSER, ...typed })).toBe(200);
    expect(await ask({ ...BROWSER, origin: new URL(shared.reader).origin, 'sec-fetch-site': 'same-origin' })).toBe(200);
  });
});

/** Written with `node:http`, because `fetch` always sets the Host header itself. */
async function fetchWithHost(url: string, host: string, headers: Record<string, string>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { hostname, port } = new URL(url);
  const net = await import('node:net');
  return new Promise<{ status: number }>((resolve, reject) => {
    const socket = net.connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    socket.on('close', () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]) }));
    socket.on('error', reject);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n`);
  });
}

async function untilStatus(
  ask: () => Promise<Response>,
  status: number,
  check: (answer: Response) => Promise<void> = async () => {},
): Promise<void> {
  for (;;) {
    const answer = await ask();
    if (answer.status === status) return check(answer);
    await answer.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
