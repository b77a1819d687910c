import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv } from 'ajv';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Problem } from '#errors.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import type { GivenOptions } from '../options/options.ts';
import { resolve } from '../options/resolve.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Visit } from './engine.ts';
import { createRemoteEngine } from './remote.ts';

const string = { type: 'string' };
const timeout = { type: 'number', exclusiveMinimum: 0, maximum: 60_000 };
const strict = (properties: object, required: string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});

/** Validates the parameters of the endpoint that the engine may use, according to its published description. */
const isRequest = new Ajv({ allErrors: true, strictTypes: false }).compile({
  ...strict({
    url: { type: 'string', pattern: '^https?://' },
    html: string,
    userAgent: string,
    bestAttempt: { type: 'boolean' },
    gotoOptions: strict({
      waitUntil: { enum: ['load', 'domcontentloaded', 'networkidle0', 'networkidle2'] },
      timeout,
      referer: string,
    }),
    waitForSelector: strict({ selector: string, timeout }, ['selector']),
    viewport: strict(
      {
        width: { type: 'number' },
        height: { type: 'number' },
        deviceScaleFactor: { type: 'number' },
        hasTouch: { type: 'boolean' },
        isLandscape: { type: 'boolean' },
        isMobile: { type: 'boolean' },
      },
      ['width', 'height'],
    ),
    cookies: {
      type: 'array',
      items: strict(
        {
          name: string,
          value: string,
          domain: string,
          path: string,
          expires: { type: 'number' },
          httpOnly: { type: 'boolean' },
          secure: { type: 'boolean' },
          sameSite: { enum: ['Strict', 'Lax', 'None'] },
        },
        ['name', 'value'],
      ),
    },
    authenticate: strict({ username: string, password: string }, ['username', 'password']),
    setExtraHTTPHeaders: { type: 'object', additionalProperties: string },
  }),
  oneOf: [{ required: ['url'] }, { required: ['html'] }],
});

interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

const PAGE = '<html><head><title>T</title></head><body><p>Rendered</p></body></html>';
const success = (result: unknown, meta?: object) => ({ success: true, errors: [], result, ...(meta && { meta }) });

async function start(reply: Reply = { body: success(PAGE) }, { region = 'any' as 'any' | 'eu' } = {}) {
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a request
  const requests: any[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const refuse = (status: number, code: number) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ success: false, errors: [{ code, message: 'secret' }], result: null }));
    if (request.method !== 'POST' || request.url !== '/client/v4/accounts/acc/browser-rendering/content')
      return refuse(404, 7003);
    if (request.headers.authorization !== 'Bearer tok') return refuse(401, 10000);
    const body = JSON.parse(Buffer.concat(pieces).toString('utf8'));
    if (!isRequest(body)) return refuse(400, 9999);
    requests.push(body);
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const fetch = createTrustedFetch({ region, euHosts: [], log: { info: () => {}, warn: () => {} } });
  onTestFinished(async () => {
    await fetch.close();
    server.closeAllConnections();
    server.close();
  });
  const lookup = async () => [{ address: '93.184.215.14', family: 4 }];
  const guard = createGuard({ lookup });
  const make = (token = 'tok', account = 'acc') =>
    createRemoteEngine({ url: `http://127.0.0.1:${port}/client/v4/`, account, token, fetch, guard });
  const engine = make();
  const visit = async (given: GivenOptions = {}, more: Partial<Visit> = {}, by = engine): Promise<Snapshot> => {
    const options = resolve({ engine: 'cf-browser-rendering', ...given });
    const seen: Snapshot[] = [];
    const asked = {
      url: 'https://example.org/page',
      options,
      deadline: performance.now() + 60_000,
      signal: new AbortController().signal,
      keyed: true,
      folder: async () => '/nowhere',
    };
    for await (const snapshot of by.visit({ ...asked, ...more })) seen.push(snapshot);
    expect(seen).toHaveLength(1);
    return seen[0]!;
  };
  return { visit, requests, make };
}

const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
};

describe('a page', () => {
  it('is rendered by the service', async () => {
    const { visit, requests } = await start();
    expect(await visit()).toMatchObject({
      url: 'https://example.org/page',
      status: 200,
      mediaType: 'text/html',
      text: PAGE,
      engine: 'cf-browser-rendering',
    });
    expect(requests[0]).toMatchObject({
      url: 'https://example.org/page',
      gotoOptions: { waitUntil: 'networkidle2' },
      bestAttempt: true,
    });
    expect(requests[0].userAgent).toMatch(/^Mozilla/);
  });

  it('has the status reported by the service', async () => {
    const { visit } = await start({ body: success(PAGE, { status: 404, title: 'T' }) });
    expect((await visit()).status).toBe(404);
  });

  it('is requested with the options of the caller', async () => {
    const { visit, requests } = await start();
    await visit({
      userAgent: 'Me/1',
      referer: 'https://from.example/',
      locale: 'de-CH',
      respondTiming: 'network-idle',
      waitForSelector: ['#a', '.b'],
      viewport: { width: 800, height: 600 },
      setCookies: ['a=1; Path=/; Secure; HttpOnly; SameSite=Lax'],
      customHeader: { 'x-own': 'yes', authorization: `Basic ${Buffer.from('me:pass:word').toString('base64')}` },
    } as GivenOptions);
    expect(requests[0]).toMatchObject({
      userAgent: 'Me/1',
      gotoOptions: { waitUntil: 'networkidle0', referer: 'https://from.example/' },
      waitForSelector: { selector: 'html:has(#a):has(.b)' },
      viewport: { width: 800, height: 600 },
      cookies: [
        { name: 'a', value: '1', domain: 'example.org', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' },
      ],
      authenticate: { username: 'me', password: 'pass:word' },
      setExtraHTTPHeaders: { 'x-own': 'yes', 'accept-language': 'de-CH,de;q=0.9' },
    });
  });

  it('may be HTML from the request', async () => {
    const { visit, requests } = await start();
    expect((await visit({}, { html: '<p>mine</p>' })).text).toBe(PAGE);
    expect(requests[0].html).toBe('<p>mine</p>');
    expect(requests[0].url).toBeUndefined();
  });

  it('has a timeout within the deadline of the read', async () => {
    const { visit, requests } = await start();
    await visit({}, { deadline: performance.now() + 10_000 });
    await visit({}, { deadline: performance.now() + 300_000 });
    expect(requests[0].gotoOptions.timeout).toBeLessThanOrEqual(9_000);
    expect(requests[1].gotoOptions.timeout).toBe(60_000);
  });
});

describe('refused before the service is called', () => {
  it.each<[string, GivenOptions]>([
    ['respondWith', { respondWith: 'screenshot' }],
    ['respondWith', { respondWith: 'vlm' }],
    ['respondWith', { respondWith: 'svc-ocr' }],
    ['injectPageScript', { injectPageScript: ['x()'] }],
    ['injectFrameScript', { injectFrameScript: ['x()'] }],
    ['scroll', { scroll: 3 }],
    ['withIframe', { withIframe: true }],
    ['withShadowDom', { withShadowDom: true }],
    ['removeOverlay', { removeOverlay: true }],
    ['detachInvisibles', { detachInvisibles: true }],
    ['exportStorageState', { exportStorageState: true }],
    ['storageState', { storageState: {} }],
    ['preloadUrl', { preloadUrl: 'https://example.org/first' }],
    ['noServiceWorker', { noServiceWorker: true }],
    ['skipCertVerification', { skipCertVerification: true }],
    ['proxyUrl', { proxyUrl: 'http://proxy.example:1' }],
    ['proxy', { proxy: 'us' }],
    ['proxyResources', { proxyResources: true }],
    ['customHeader', { customHeader: { Authorization: 'Bearer secret' } }],
    ['customHeader', { customHeader: { cookie: 'a=1' } }],
    ['cookies', { setCookies: ['no cookie'] }],
  ])('is %s: %j', async (path, given) => {
    const { visit, requests } = await start();
    const { name, facts } = await problemOf(visit(given));
    expect([name, facts.path]).toEqual(['ParamValidationError', path]);
    expect(requests).toHaveLength(0);
  });

  it.each(['http://127.0.0.1/', 'http://[::1]/', 'http://localhost/', 'http://169.254.169.254/latest'])(
    'the URL %s',
    async (url) => {
      const { visit, requests } = await start();
      expect((await problemOf(visit({}, { url }))).name).toBe('SecurityCompromiseError');
      expect(requests).toHaveLength(0);
    },
  );

  it('any page if processing must stay in the EU', async () => {
    const { visit, requests } = await start(undefined, { region: 'eu' });
    expect((await problemOf(visit())).name).toBe('DownstreamServiceFailureError');
    expect(requests).toHaveLength(0);
  });
});

describe('a failure of the service', () => {
  const failed = (code: number) => ({ success: false, errors: [{ code, message: 'secret' }], result: null });
  it.each<[string, Reply, object]>([
    [
      'at capacity',
      { status: 429, headers: { 'retry-after': '23' }, body: failed(2001) },
      { name: 'ServiceNodeResourceDrainError', status: 50303, facts: { retryAfter: 23 } },
    ],
    ['status 500', { status: 500, body: 'secret' }, { name: 'DownstreamServiceFailureError' }],
    ['a page that it cannot render', { status: 422, body: failed(6002) }, { name: 'AssertionFailureError' }],
    ['an error with status 200', { status: 200, body: failed(6002) }, { name: 'AssertionFailureError' }],
    ['a result that is not HTML', { body: success({ html: PAGE }) }, { name: 'AssertionFailureError' }],
    ['an empty result', { body: success(' ') }, { name: 'AssertionFailureError' }],
    ['invalid JSON', { body: '<html>secret' }, { name: 'DownstreamServiceFailureError' }],
    ['null', { body: 'null' }, { name: 'AssertionFailureError' }],
  ])('has our own message: %s', async (_, reply, expected) => {
    const { visit } = await start(reply);
    const problem = await problemOf(visit());
    expect(problem).toMatchObject(expected);
    expect(problem.message).not.toMatch(/secret|127\.0\.0\.1|tok/);
  });

  it('is an unknown token or account', async () => {
    const { visit, make } = await start();
    const token = await problemOf(visit({}, {}, make('wrong')));
    expect([token.code, token.message]).toEqual([500, 'The rendering service refused the token of this server']);
    const account = await problemOf(visit({}, {}, make('tok', 'a/b')));
    expect([account.code, account.message]).toEqual([500, expect.stringMatching(/does not know the account/)]);
  });

  it('is the reason of an abort', async () => {
    const { visit } = await start();
    const reason = new Error('gone');
    await expect(visit({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
