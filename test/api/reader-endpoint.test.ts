/**
 * The reader's HTTP interface: ways of passing a target, content negotiation, envelopes, failures. No page is fetched.
 */

import { readdirSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '#errors.ts';
import { OPTIONS } from '#reader/index.ts';
import { parseEvents, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ browser: 'none', maxBodyBytes: 3_000_000, logLevel: 'silent' });
});
afterAll(() => server.close());

const HTML =
  '<html lang="en"><title>Tea</title><body><h1>Tea</h1><p>Green tea is made from leaves that were not oxidised.</p></body>';

interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | FormData | URLSearchParams;
  readonly json?: unknown;
}

async function ask(target: string, { json, ...init }: Ask = {}) {
  const body = json === undefined ? init.body : JSON.stringify(json);
  const headers = { ...(json !== undefined && { 'content-type': 'application/json' }), ...init.headers };
  const answer = await fetch(server.reader + target, {
    ...init,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { method: 'POST', body }),
  });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  return { answer, text, type, json: type.includes('json') ? JSON.parse(text) : undefined };
}

/** Node's own client normalizes paths. This function sends the request line unchanged. */
function askRaw(
  path: string,
  method = 'GET',
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string; headers: http.IncomingHttpHeaders }> {
  const { hostname, port } = new URL(server.reader);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path, method, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, body, headers: response.headers }));
    });
    request.on('error', reject).end();
  });
}

const jsonAccept = { accept: 'application/json' };

describe('the index', () => {
  it('explains in text how to use the host', async () => {
    const { answer, text, type } = await ask('/');
    expect(answer.status).toBe(200);
    expect(type).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(
      /^\[Usage 1\] http:.*\/YOUR_URL\n\[Usage 2\] http:.*\/YOUR_SEARCH_QUERY\n\[Homepage\] http.*\n$/,
    );
  });

  it('is an envelope in JSON', async () => {
    const { json } = await ask('/', { headers: jsonAccept });
    expect(json).toMatchObject({
      code: 200,
      status: 20000,
      data: { usage1: expect.any(String), usage2: expect.any(String), homepage: expect.any(String) },
    });
  });

  it('recognises the caller by a key', async () => {
    const { text } = await ask('/', { headers: { authorization: `Bearer ${server.app.firstKey}` } });
    expect(text).toMatch(/\n\n\[Authenticated as\] first key\n\[Balance left\] unlimited\n$/);
    const bare = await ask('/', { headers: { authorization: server.app.firstKey! } });
    expect(bare.answer.status).toBe(200);
  });

  it('does not exist for POST', async () => {
    const { answer, json } = await ask('/', { json: {} });
    expect(answer.status).toBe(400);
    expect(json).toMatchObject({ data: null, path: 'url', code: 400, name: 'ParamValidationError', status: 40001 });
  });
});

describe('HTML in the request', () => {
  const expected =
    /^Title: Tea\n\nURL Source: blob:[0-9a-f]{64}\n\nMarkdown Content:\n[\s\S]*Green tea is made from leaves that were not oxidised\.\n$/;

  it('is accepted as JSON', async () => expect((await ask('/', { json: { html: HTML } })).text).toMatch(expected));
  it('is accepted as a form', async () =>
    expect((await ask('/', { body: new URLSearchParams({ html: HTML }) })).text).toMatch(expected));
  it('is accepted as a multipart form', async () => {
    const form = new FormData();
    form.set('html', HTML);
    expect((await ask('/', { body: form })).text).toMatch(expected);
  });
  it('is accepted in the query', async () =>
    expect((await ask(`/?html=${encodeURIComponent(HTML)}`)).text).toMatch(expected));
  it('is accepted as JSON under the content type that curl sends by default', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask('/', { body: JSON.stringify({ html: HTML }), headers })).text).toMatch(expected);
  });
  it('is accepted as a file in a form, in base64, as a data URL and as an object', async () => {
    const base64 = Buffer.from(HTML).toString('base64');
    const form = new FormData();
    form.set('file', new File([HTML], 'tea.html', { type: 'text/html' }));
    expect((await ask('/', { body: form })).text).toMatch(expected);
    for (const file of [base64, `data:text/html;base64,${base64}`, { data: base64, type: 'text/html' }]) {
      expect((await ask('/', { json: { file } })).text).toMatch(expected);
    }
  });
  it('keeps its relative links and pictures as they are without a URL', async () => {
    const html =
      '<p>A <a href="/tea?a=1#b">link</a>, a <a href="#part">part</a>, <img src="img/leaf.png" alt="leaf"></p>';
    const { json } = await ask('/', {
      json: { html, withLinksSummary: 'all', withImagesSummary: true },
      headers: { accept: 'application/json' },
    });
    expect(json.data.content).toBe('A [link](/tea?a=1#b), a [part](#part), ![Image 1: leaf](img/leaf.png)');
    expect(json.data.links).toEqual([
      ['link', '/tea?a=1#b'],
      ['part', '#part'],
    ]);
    expect(json.data.images).toEqual({ 'Image 1: leaf': 'img/leaf.png' });
  });
  it('leaves no file behind', () => {
    const tmp = path.join(server.dataDir, 'tmp');
    const [own, ...others] = readdirSync(tmp);
    expect(others).toEqual([]);
    expect(readdirSync(path.join(tmp, own!))).toEqual([]);
  });
  it('is resolved against the URL that came with it', async () => {
    const { json } = await ask('/', {
      json: { html: '<p>Some <a href="b">link</a> in a paragraph of text</p>', url: 'https://a.test/x/' },
      headers: jsonAccept,
    });
    expect(json.data.url).toBe('https://a.test/x/');
    expect(json.data.content).toContain('[link](https://a.test/x/b)');
  });
  it('is accepted as a file for a text parameter, and as a JSON part', async () => {
    const form = new FormData();
    form.append('html', new File(['<p>x <em>b</em> and some words</p>'], 'page.html', { type: 'text/html' }));
    form.append('markdown', new File(['{"emDelimiter":"*"}'], 'md.json', { type: 'application/json' }));
    form.append('removeSelector[]', 'nav');
    expect((await ask('/', { body: form })).text).toContain('x *b* and some words');
    const boundary = 'edge';
    const part = (name: string, type: string, value: string) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\ncontent-type: ${type}\r\n\r\n${value}\r\n`;
    const body = `${part('html', 'text/plain', '<p>x <em>b</em> and some words</p>')}${part('markdown', 'application/json; charset=utf-8', '{"emDelimiter":"*"}')}--${boundary}--\r\n`;
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    expect((await ask('/', { body, headers })).text).toContain('x *b* and some words');
  });
  it('gets a URL from its bytes, with the page in the fragment', async () => {
    const file = Buffer.from(HTML).toString('base64');
    const { json } = await ask('/https://a.test/', { json: { file, url: 'https://b.test/#3' }, headers: jsonAccept });
    expect(json.data.url).toMatch(/^blob:[0-9a-f]{64}#3$/);
    const typed = await ask('/', { json: { file: 'data:text/plain,%3Cb%3Ehello' }, headers: jsonAccept });
    expect(typed.json.data.content).toBe('<b>hello');
  });
  it('takes its URL from the path', async () => {
    const { json } = await ask('/https://a.test/y', { json: { html: HTML }, headers: jsonAccept });
    expect(json.data.url).toBe('https://a.test/y');
  });
});

describe('an answer', () => {
  it('is an envelope with the page object in JSON', async () => {
    const { json, answer } = await ask('/', { json: { html: HTML, withLinksSummary: true }, headers: jsonAccept });
    expect(Object.keys(json)).toEqual(['code', 'status', 'data', 'meta']);
    expect(json.status).toBe(20000);
    expect(Object.keys(json.data)).toEqual(['title', 'description', 'url', 'content', 'links', 'metadata', 'usage']);
    expect(json.meta.usage).toEqual(json.data.usage);
    expect(json.data.usage.tokens).toBeGreaterThan(5);
    expect(answer.headers.get('x-usage-tokens')).toBe(String(json.data.usage.tokens));
  });

  it('is a stream of complete pages', async () => {
    const { text, type } = await ask('/', { json: { html: HTML }, headers: { accept: 'text/event-stream' } });
    expect(type).toBe('text/event-stream; charset=utf-8');
    const events = parseEvents(text);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      event: 'data',
      data: { title: 'Tea', content: expect.stringContaining('Green tea') },
    });
  });

  it('is only the document for html, and only its text for text', async () => {
    expect((await ask('/', { json: { html: HTML, respondWith: 'html' } })).text).toBe(HTML);
    expect((await ask('/', { json: { html: HTML }, headers: { 'x-return-format': 'text' } })).text).toContain(
      'Green tea is made',
    );
  });

  it('starts with front matter', async () => {
    const { text } = await ask('/', {
      json: { html: HTML, respondWith: 'markdown+frontmatter', url: 'https://a.test/' },
    });
    expect(text).toMatch(/^---\ntitle: "Tea"\nurl: "https:\/\/a\.test\/"\nlang: "en"\n---\n\n/);
  });

  it('consists only of chunks in text', async () => {
    const html = '<title>T</title><h1>One</h1><p>first piece of text</p><h1>Two</h1><p>second piece of text</p>';
    const { text } = await ask('/', { json: { html, respondWith: 'markdown', markdownChunking: 'h1' } });
    expect(text.split('\n\n\u001d').length).toBeGreaterThanOrEqual(2);
    expect(text).not.toContain('URL Source');
  });

  it('joins formats in JSON, but not in text', async () => {
    const both = await ask('/', { json: { html: HTML, respondWith: 'markdown, html' }, headers: jsonAccept });
    expect(both.json.data).toMatchObject({ content: expect.any(String), html: HTML });
    const text = await ask('/', { json: { html: HTML, respondWith: 'markdown,html' } });
    expect(text.json).toMatchObject({ status: 40001, path: 'respondWith' });
  });

  it('is limited to selectors, with a warning if nothing matches', async () => {
    const json = { html: HTML, targetSelector: 'p', removeSelector: 'h1', respondWith: 'html' };
    expect((await ask('/', { json })).text).toMatch(/<body><p>Green tea [^<]*<\/p><\/body>/);
    const none = await ask('/', { json: { html: HTML, targetSelector: '.none' } });
    expect(none.json).toMatchObject({ code: 422, status: 42206, name: 'AssertionFailureError' });
  });

  it('takes several selectors from a header, in their order', async () => {
    const html = '<title>S</title><p class="a">first a(1)</p><p class="b">then b</p><p class="c">not c</p>';
    const headers = { 'x-target-selector': '.b, p:is(.a, .z)' };
    const { text } = await ask('/', { json: { html }, headers });
    expect(text).toMatch(/Markdown Content:\nthen b\n\nfirst a\(1\)\n$/);
  });

  it('is empty if the root is removed', async () => {
    const { answer, text } = await ask('/', { json: { html: HTML, removeSelector: 'html', respondWith: 'html' } });
    expect([answer.status, text]).toEqual([200, '<html lang="en"><head></head><body></body></html>']);
  });

  it('warns about iframes that were not read', async () => {
    const { json } = await ask('/', {
      json: { html: '<title>F</title><p>x</p><iframe src="https://a.test/"></iframe>' },
      headers: jsonAccept,
    });
    expect(json.data.warning).toBe(
      'This page contains iframe that are currently hidden, consider enabling iframe processing.',
    );
  });

  it('stays within the token limits', async () => {
    const html = `<title>Long</title><article>${'<p>One more sentence about the tea that is in the pot.</p>'.repeat(200)}</article>`;
    const cut = await ask('/', { json: { html, maxTokens: 500 }, headers: jsonAccept });
    expect(cut.json.data.usage.tokens).toBe(500);
    const budget = await ask('/', { json: { html, tokenBudget: 100 } });
    expect(budget.json).toMatchObject({ code: 409, status: 40904, name: 'BudgetExceededError' });
  });

  it('is compressed only for clients that accept it', async () => {
    const html = `<p>${'many words '.repeat(500)}</p>`;
    const body = { html, respondWith: 'text' };
    for (const encoding of ['gzip', 'br', 'deflate']) {
      const { answer, text } = await ask('/', { json: body, headers: { 'accept-encoding': encoding } });
      expect(answer.headers.get('content-encoding')).toBe(encoding);
      expect(text).toContain('many words many words');
    }
    const plain = await ask('/', { json: body, headers: { 'accept-encoding': 'identity' } });
    expect(plain.answer.headers.get('content-encoding')).toBeNull();
  });

  it('carries the documented CORS headers', async () => {
    const headers = { origin: 'https://app.test' };
    const { answer } = await ask('/', { headers });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.test');
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
    const preflight = await ask('/https://a.test/', {
      method: 'OPTIONS',
      headers: {
        ...headers,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-engine, authorization',
      },
    });
    expect(preflight.answer.status).toBe(200);
    expect(answer.headers.get('access-control-max-age')).toBe('25200');
    expect((await ask('/', { method: 'OPTIONS' })).answer.status).toBe(200);
    expect(preflight.answer.headers.get('access-control-max-age')).toBe('25200');
    expect(preflight.answer.headers.get('access-control-allow-methods')).toContain('POST');
    expect(preflight.answer.headers.get('access-control-allow-headers')).toBe('x-engine, authorization');
  });
});

describe('failures', () => {
  it('come as JSON by default, as text or an event if the client accepts only that', async () => {
    const json = { html: HTML, maxTokens: 3 };
    const asJson = await ask('/', { json });
    expect(asJson.json).toEqual({
      data: null,
      path: 'maxTokens',
      value: '3',
      code: 400,
      name: 'ParamValidationError',
      status: 40001,
      message: 'maxTokens must be at least 500',
      readableMessage: 'ParamValidationError(maxTokens): maxTokens must be at least 500',
    });
    const asText = await ask('/', { json, headers: { accept: 'text/plain' } });
    expect([asText.answer.status, asText.text]).toEqual([
      400,
      'ParamValidationError(maxTokens): maxTokens must be at least 500\n',
    ]);
    const asEvent = await ask('/', { json, headers: { accept: 'text/event-stream' } });
    expect(asEvent.answer.status).toBe(400);
    expect(asEvent.text).toBe(
      'event: error\ndata: "ParamValidationError(maxTokens): maxTokens must be at least 500"\n\n',
    );
  });

  it.each([
    [{ html: HTML, respondWith: 'nonsense' }, 'respondWith'],
    [{ html: HTML, respondTiming: 'later' }, 'respondTiming'],
    [{ html: HTML, timeout: 181 }, 'timeout'],
    [{ html: HTML, timeout: 0 }, 'timeout'],
    [{ html: HTML, retainLinks: 'some' }, 'retainLinks'],
    [{ html: HTML, targetSelector: 'p[' }, 'targetSelector'],
    [{ html: HTML, targetSelector: '*' }, 'targetSelector'],
    [{ html: HTML, removeSelector: '>>' }, 'removeSelector'],
    [{ html: HTML, markdown: { headingStyle: 'bold' } }, 'markdown.headingStyle'],
    [{ html: HTML, viewport: { width: -1 } }, 'viewport.width'],
    [{ html: HTML, assertStatusCode: 'ok' }, 'assertStatusCode'],
    [{ html: HTML, locale: '!!' }, 'locale'],
    [{ html: HTML, base: 'middle' }, 'base'],
    [{ html: HTML, referer: 'ftp://a' }, 'referer'],
    [{ url: 'ftp://a.test/' }, 'url'],
    [{ url: 'http://' }, 'url'],
    [{ html: HTML, preset: 'nonsense' }, 'preset'],
  ])('name the invalid option: %j', async (json, path) => {
    const { answer, json: body } = await ask('/', { json });
    expect([answer.status, body.name, body.path]).toEqual([400, 'ParamValidationError', path]);
  });

  it.each([
    [{ html: HTML, proxyUrl: 'gopher://proxy.test' }, 400, 'proxyUrl'],
    [{ url: 'https://a.test/', proxy: 'moon' }, 400, 'proxy'],
    [{ html: HTML, customHeader: { host: 'b.test' } }, 400, 'customHeader'],
    [{ html: HTML, storageState: { cookies: 'none' } }, 400, 'storageState'],
    [{ html: HTML, page: 0 }, 400, 'page'],
    [{ html: HTML, jsonSchema: 'no schema' }, 400, 'jsonSchema'],
    [{ pdf: 'aGVsbG8=' }, 422, 'pdf'],
  ])('report an invalid value: %j', async (json, status, path) => {
    const { answer, json: body } = await ask('/', { json });
    expect([answer.status, body.path]).toEqual([status, path]);
  });

  it.each([
    [{ respondWith: 'vlm', engine: 'auto' }, 'respondWith', /LECTERN_VISION_URL/],
    [{ respondWith: 'readerlm-v2' }, 'respondWith', /LECTERN_READERLM_URL/],
    [{ engine: 'readerlm-v2' }, 'respondWith', /LECTERN_READERLM_URL/],
    [{ jsonSchema: { type: 'object' } }, 'respondWith', /LECTERN_READERLM_URL/],
    [{ engine: 'cf-browser-rendering' }, 'engine', /LECTERN_CF_ACCOUNT/],
    [{ preloadUrl: 'http://a.test' }, 'preloadUrl', /LECTERN_BROWSER/],
    [{ exportStorageState: true }, 'exportStorageState', /LECTERN_BROWSER/],
  ])('name the setting that the operator lacks: %j', async (options, path, words) => {
    const headers = { accept: 'application/json' };
    const { json } = await ask('/', { json: { url: 'https://a.test/', ...options }, headers });
    expect(json).toMatchObject({ path, message: expect.stringMatching(words) });
  });

  it.each([{ withGeneratedAlt: true }, { retainImages: 'all_p' }, { retainImages: 'alt_p' }])(
    'without a vision model keeps images as they are and names the setting: %j',
    async (options) => {
      const html = `${HTML}<p>A cat sits on a wall. <img src="https://a.test/cat.png" alt="cat"><img src="https://a.test/x.png"></p>`;
      // `withGeneratedAlt` has no effect together with `respondWith`.
      const respondWith = 'withGeneratedAlt' in options ? '' : 'markdown';
      const json = { html, url: 'https://a.test/', respondWith, ...options };
      const { answer, json: body } = await ask('/', { json, headers: { accept: 'application/json' } });
      expect(answer.status).toBe(200);
      const { content, warning, usage } = body.data;
      if ('retainImages' in options && options.retainImages === 'alt_p') expect(content).not.toContain('cat.png)');
      else expect(content).toMatch(/!\[Image 1: cat\]\(\S+cat\.png\)\s*!\[Image 2\]\(\S+x\.png\)/);
      expect(warning).toContain('No alt text was generated: that needs a vision model: set LECTERN_VISION_URL');
      expect(usage.tokens).toBeLessThan(765);
    },
  );

  it('over the token budget come before any content', async () => {
    const { answer } = await ask('/', {
      json: { html: HTML, tokenBudget: 2 },
      headers: { accept: 'text/event-stream' },
    });
    expect(answer.status).toBe(409);
  });

  it('report a missing browser', async () => {
    const { json } = await ask('/', { json: { html: HTML, respondWith: 'screenshot' } });
    expect(json).toMatchObject({ status: 40001, path: 'respondWith', message: expect.stringContaining('browser') });
    const named = await ask('/', { json: { html: HTML, engine: 'browser' } });
    expect(named.json).toMatchObject({ status: 40001, path: 'engine' });
  });

  it('do not come from unknown values of some headers', async () => {
    const headers = {
      'x-retain-links': 'some',
      'x-retain-images': 'few',
      'x-max-tokens': 'many',
      'x-preset': 'none',
      'x-timeout': '900',
    };
    expect((await ask('/', { json: { html: HTML }, headers })).answer.status).toBe(200);
    expect((await ask('/', { json: { html: HTML }, headers: { 'x-md-hr': '' } })).answer.status).toBe(400);
  });

  it.each([
    ['{"html":', 'application/json', 400, 40001],
    ['[1]', 'application/json', 400, 40001],
    ['<x/>', 'application/xml', 400, 40001],
    ['--x\r\nbroken', 'multipart/form-data; boundary=x', 400, 40003],
    ['no boundary', 'multipart/form-data', 400, 40003],
  ])('report an invalid body: %j of %s', async (body, type, code, status) => {
    const { answer, json } = await ask('/', { body, headers: { 'content-type': type } });
    expect([answer.status, json.status]).toEqual([code, status]);
  });

  it('report JSON with too many values or too deep nesting, wherever it stands', async () => {
    const many = `{"html":"x","a":[${Array(150_000).fill('{}').join()}]}`;
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const post = async (body: string | URLSearchParams, headers: Record<string, string> = {}) => {
      const { json } = await ask('/', { body, headers });
      return [json.code, json.name, json.path, json.readableMessage];
    };
    const type = { 'content-type': 'application/json' };
    const tooMany = [400, 'ParamValidationError', 'body', expect.stringContaining('has too many values')];
    expect(await post(many, type)).toEqual(tooMany);
    expect(await post(many, { 'content-type': 'application/x-www-form-urlencoded' })).toEqual(tooMany);
    const part = `--xx\r\ncontent-disposition: form-data; name="a"\r\ncontent-type: application/json\r\n\r\n${many}\r\n`;
    expect(await post(`${part}--xx--\r\n`, { 'content-type': 'multipart/form-data; boundary=xx' })).toEqual(tooMany);
    const tooDeep = [400, 'ParamValidationError', 'jsonSchema', expect.stringContaining('is nested too deep')];
    expect(await post(new URLSearchParams({ html: 'x', jsonSchema: deep }))).toEqual(tooDeep);
    expect((await post(`{"html":"x","jsonSchema":${deep}}`, type)).slice(0, 3)).toEqual([
      400,
      'ParamValidationError',
      'body',
    ]);
    const headers = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x-${at}`, 'y']));
    const { json } = await ask('/', { json: { html: 'x', customHeader: headers } });
    expect([json.code, json.path]).toEqual([400, 'customHeader']);
  });

  it('report a body that is too large, and a field that is', async () => {
    const large = await ask('/', {
      body: JSON.stringify({ html: 'x'.repeat(3_100_000) }),
      headers: { 'content-type': 'application/json' },
    });
    expect(large.json).toMatchObject({ code: 413, status: 41301, name: 'RequestPayloadTooLargeError' });
    const form = new FormData();
    form.set('html', 'x'.repeat(2_200_000));
    expect((await ask('/', { body: form })).json).toMatchObject({ code: 413, status: 41301, path: 'html' });
  });

  it('leave a connection usable after a refused upload', async () => {
    const { hostname, port } = new URL(server.reader);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const send = (method: string, path: string, headers: Record<string, string>, body: string) =>
      new Promise<{ status: number; port: number }>((resolve, reject) => {
        const request = http.request({ agent, hostname, port, path, method, headers }, (response) => {
          const status = response.statusCode!;
          const { localPort } = response.socket;
          response.resume().on('end', () => resolve({ status, port: localPort! }));
        });
        request.on('error', reject).end(body);
      });
    const part = (name: string, more: string, body: string) =>
      `--xx\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${body}\r\n`;
    const body = `${part('html', '', 'x'.repeat(2_200_000))}${part('file', '; filename="a.txt"', 'y'.repeat(500_000))}--xx--\r\n`;
    const headers = {
      'content-type': 'multipart/form-data; boundary=xx',
      'content-length': String(Buffer.byteLength(body)),
    };
    try {
      const refused = await send('POST', '/', headers, body);
      expect(refused.status).toBe(413);
      expect(await send('GET', '/live', {}, '')).toEqual({ status: 200, port: refused.port });
    } finally {
      agent.destroy();
    }
  });

  it('report invalid base64 and unsupported kinds of files', async () => {
    expect((await ask('/', { json: { file: '!!!' } })).json).toMatchObject({ code: 422, status: 42203, path: 'file' });
    const pdf = Buffer.from('%PDF-1.7 nothing').toString('base64');
    expect((await ask('/', { json: { file: pdf } })).json).toMatchObject({ code: 422, status: 42203, path: 'file' });
    const film = { data: Buffer.from('ID3\x04\0\0').toString('base64'), type: 'audio/mpeg' };
    expect((await ask('/', { json: { file: film } })).json).toMatchObject({
      code: 422,
      status: 42206,
      message: expect.stringContaining('audio/mpeg'),
    });
    expect((await ask('/', { json: { file: { data: pdf, path: '/etc/passwd' } } })).json).toMatchObject({
      code: 400,
      path: 'file',
    });
  });

  it('report an unknown key', async () => {
    const { answer, json } = await ask('/', {
      json: { html: HTML },
      headers: { authorization: 'Bearer lectern_nothing' },
    });
    expect([answer.status, json.status, json.name]).toEqual([401, 40102, 'AuthenticationFailedError']);
  });

  it('report other methods', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const { answer, json } = await ask('/https://a.test/', { method });
      expect([answer.status, json.name, answer.headers.get('allow')]).toEqual([
        405,
        'MethodNotAllowedError',
        'GET, HEAD, POST, OPTIONS',
      ]);
    }
  });

  it("carry a request id like all answers, the caller's own if it is harmless", async () => {
    expect((await ask('/')).answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect((await ask('/', { headers: { 'x-request-id': 'mine-1' } })).answer.headers.get('x-request-id')).toBe(
      'mine-1',
    );
    expect(
      (await ask('/', { headers: { 'x-request-id': 'no "good"' } })).answer.headers.get('x-request-id'),
    ).not.toContain('good');
  });

  it('answer malformed HTTP requests', async () => {
    const long = await askRaw(`/${'a'.repeat(70_000)}`);
    expect([long.status, JSON.parse(long.body).name]).toEqual([431, 'RequestHeaderFieldsTooLargeError']);
    const undecodable = await askRaw('/http://%zz');
    expect([undecodable.status, JSON.parse(undecodable.body).path]).toEqual([400, 'url']);
  });
});

describe('hostile input', () => {
  it('is limited in the number of parameters, repeated or not', async () => {
    const body = 'a=&'.repeat(30_000);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask('/', { body, headers })).json).toMatchObject({ code: 400, path: 'body' });
    expect((await ask(`/?${'b[]&'.repeat(10_000)}`)).json).toMatchObject({ code: 400 });
    const many = await ask(`/?html=x&${'c=1&'.repeat(500)}`);
    expect(many.answer.status).toBe(200);
  });

  it('is limited in URLs, names and lists', async () => {
    const refused = async (json: unknown, path: string) =>
      expect((await ask('/', { json })).json).toMatchObject({ code: 400, path });
    await refused({ url: `http://a.test/${'x'.repeat(70_000)}` }, 'url');
    await refused({ url: `http://a${'.'.repeat(60_000)}b/` }, 'url');
    await refused({ url: 'http://a..b/' }, 'url');
    await refused({ html: HTML, removeSelector: Array(201).fill('nav') }, 'removeSelector');
  });

  it('cannot use property names that JavaScript treats specially', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const body = `{"html":${JSON.stringify(HTML)},"${name}":{"respondWith":"html","polluted":1}}`;
      const { text } = await ask('/', { body, headers: { 'content-type': 'application/json' } });
      expect(text).toMatch(/^Title: Tea/);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('gets no URL that runs a script into the answer', async () => {
    const html = `<title>T</title><p>words <a href="javascript:alert(1)">one</a> <a href="java&#10;script:alert(2)">two</a>
<a href="&#1;vbscript:x">three</a> <a href="data:text/html,<script>4</script>">four</a> <a href="view-source:javascript:5">five</a>
<img src="javascript:alert(6)" alt="six"> <a href="https://a.test/">seven</a></p>`;
    for (const withLinksSummary of [true, 'all']) {
      const { json } = await ask('/', {
        json: { html, withLinksSummary, withImagesSummary: true },
        headers: jsonAccept,
      });
      const shown = JSON.stringify(json.data);
      expect(shown).not.toMatch(/script:|data:text/);
      expect(shown).toContain('[seven](https://a.test/)');
      expect(json.data.content).toMatch(/one.*two[\s\S]*three.*four.*five/);
    }
  });
});

describe('refuses the URL', () => {
  it.each([
    'http://127.0.0.1/',
    'http://localhost:1234/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://metadata.google.internal/',
    'http://192.168.1.1',
  ])('%s', async (url) => {
    const { answer, json } = await ask('/', { json: { url } });
    expect([answer.status, json.status, json.name]).toEqual([451, 45102, 'SecurityCompromiseError']);
    expect(json.message).not.toMatch(/\d+\.\d+\.\d+/);
  });

  it('of the server itself', async () => {
    const { json } = await ask('/', { json: { url: `${server.reader}/` } });
    expect(json).toMatchObject({ status: 45102, path: 'url' });
  });

  it('of a host that does not exist', async () => {
    const { json } = await ask('/', { json: { url: 'http://no-such-host.invalid/' } });
    expect(json).toMatchObject({ code: 400, status: 40001, path: 'url' });
  });
});

describe('other routes', () => {
  it('describe the API in valid OpenAPI that names every option', async () => {
    const { json } = await ask('/openapi.json');
    const result = await new Validator().validate(json);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    expect(Object.keys(json.components.schemas.ReadOptions.properties)).toEqual(Object.keys(OPTIONS));
    expect(json.components.schemas.Failure.properties.name.enum).toEqual(Object.keys(PROBLEMS));
  });

  it('have a documentation page that runs no script', async () => {
    const { answer, text } = await ask('/docs/api/options');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const name of Object.keys(OPTIONS)) expect(text).toContain(`<code>${name}</code>`);
    expect(text).not.toContain('<script');
  });

  it('exclude crawlers and serve an icon', async () => {
    expect((await ask('/robots.txt')).text).toBe('User-agent: *\nDisallow: /\n');
    expect((await ask('/favicon.ico')).type).toBe('image/svg+xml');
  });

  it('answer probes', async () => {
    expect((await ask('/live')).json).toEqual({ status: 'ok' });
    expect((await ask('/ready')).json).toEqual({ status: 'ok' });
    expect((await ask('/health')).json).toMatchObject({
      status: 'ok',
      version: '0.0.0-test',
      browser: { available: false },
    });
  });
});

describe('one port for all faces', () => {
  it('tells the faces apart by host name', async () => {
    const all = await startServer({ browser: 'none', port: 0 });
    const get = (host: string, path: string) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        const { hostname, port } = new URL(all.urls.all!);
        http
          .get({ hostname, port, path, headers: { host } }, (response) => {
            let body = '';
            response.setEncoding('utf8').on('data', (chunk: string) => {
              body += chunk;
            });
            response.on('end', () => resolve({ status: response.statusCode!, body }));
          })
          .on('error', reject);
      });
    try {
      expect((await get('r.example.test', '/')).body).toContain('[Usage 1]');
      expect((await get('other.example.test', '/')).body).toContain('[Usage 1]');
      expect((await get('s.example.test', '/cats')).status).toBe(401);
      expect((await get('api.example.test:80', '/v1/models')).body).toContain('lectern-static-v2');
      expect((await get('flow.example.test', '/status')).body).toContain('"jina"');
    } finally {
      await all.close();
    }
  });
});
