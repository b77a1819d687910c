/** Reading a real site through the whole server, as a client does: engines, formats, options, hostile pages. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Page, type Site, sendHtml, startSite } from '../site/site.ts';
import { pidsWith } from '../support/process.ts';
import { parseEvents, startServer, type TestServer } from '../support/server.ts';

const SHORT = '<!doctype html><title>Short</title><p>What had arrived.</p><script>document.title = "Run"</script>';
const cut =
  (type: string, head: string, body: string): Page =>
  ({ response }) =>
    void response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${head}\r\n\r\n${body}`);
const NESTED_BYTES = 12_000_000;

let site: Site;
let server: TestServer;
beforeAll(async () => {
  site = await startSite({
    '/nested': ({ response }) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<div>'.repeat(NESTED_BYTES / 5)),
    '/forged': ({ response }) =>
      void response.socket?.end(
        Buffer.from(
          'HTTP/1.1 404 X\x1dY\x85Warning: forged\x0b\r\ncontent-type: text/html\r\n\r\n<title>F</title><p>page',
          'latin1',
        ),
      ),
    '/lying-length': ({ response }) => {
      response.socket?.end(
        'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100000\r\n\r\n<title>Short</title><p>Less than was promised.',
      );
    },
    '/short': cut('text/html', 'content-length: 100000', SHORT),
    '/short-text': cut('text/plain', 'content-length: 100000', 'What had arrived.'),
    '/short-chunk': cut('text/html', 'transfer-encoding: chunked', `${SHORT.length.toString(16)}\r\n${SHORT}\r\n`),
    '/short-gzip': ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
      response.end(gzipSync(SHORT + randomBytes(50_000).toString('hex')).subarray(0, 20_000));
    },
    '/lying-charset': ({ response }) =>
      void response
        .writeHead(200, { 'content-type': 'text/html; charset=shift_jis' })
        .end('<title>Grüße</title><p>Grüße aus Köln, schöne grüne Bäume, süße Äpfel'),
    '/endless': ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const chunk = `<p>${'word '.repeat(20_000)}</p>`;
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    },
    '/nothing': ({ response }) => void response.writeHead(200, { 'content-type': 'text/html' }).end(),
    '/inject.js': ({ response }) =>
      void response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end(
          'document.addEventListener("DOMContentLoaded", () => document.body.insertAdjacentHTML("beforeend", "<p>Injected by URL.</p>"))',
        ),
    '/cookies': ({ request, response }) =>
      sendHtml(response, `<title>Cookies</title><p>Cookies: ${request.headers.cookie ?? 'none'}</p>`),
    '/structured': `<!doctype html><html lang="de"><head><title>Structured</title><meta name="description" content="A described page"><meta name="author" content="Somebody">
<link rel="canonical" href="https://canon.test/x"><link rel="alternate" type="application/rss+xml" href="/feed.xml"><meta property="article:published_time" content="2026-01-02T03:04:05Z"></head>
<body><main><h1>Structured</h1><table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody><tr><td>Tea</td><td>3</td></tr></tbody></table>
<pre><code class="language-js">const a = 1;\nconst b = 2;</code></pre><p>Text with <b>bold</b>, <a href="/article" title="T">a link</a> and <img src="/boat.svg" alt="a boat">.</p></main></body></html>`,
  });
  // No read comes from the cache; test/api/cache.test.ts tests that.
  server = await startServer({ allowNetworks: site.allow.join(','), cacheMaxBytes: 0 });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

async function read(path: string, headers: Record<string, string> = {}, init: RequestInit = {}) {
  const answer = await fetch(`${server.reader}/${site.origin}${path}`, { headers, redirect: 'manual', ...init });
  const text = await answer.text();
  const json = answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined;
  return { answer, status: answer.status, text, json };
}

const page = async (path: string, headers: Record<string, string> = {}) => {
  const { json, status } = await read(path, { accept: 'application/json', ...headers });
  expect(json?.readableMessage).toBeUndefined();
  expect(status).toBe(200);
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a page
  return json.data as Record<string, any>;
};

const ENGINES = ['direct', 'browser', 'auto'] as const;

it('returns no status for content that came with the request, rendered or not', async () => {
  for (const given of [
    { html: '<p>Words.' },
    { html: '<p>Words.', engine: 'browser' },
    { html: '<p>Words.', url: `${site.origin}/article` },
    { file: Buffer.from('a,b\n1,2\n').toString('base64') },
  ]) {
    const answer = await fetch(server.reader, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(given),
    });
    expect(answer.headers.get('x-target-status')).toBeNull();
    expect(((await answer.json()) as { data: object }).data).not.toHaveProperty('targetStatus');
  }
});

it.each([
  ['direct', '/short', '/short-chunk', '/short-text', '/short-gzip'],
  ['browser', '/short', '/short-chunk', '/short-text'],
  ['auto', '/short'],
])('returns the part that arrived of an incomplete answer, with a warning: engine %s', async (engine, ...paths) => {
  for (const path of paths) {
    const { content, warning } = await page(path, { 'x-engine': engine, 'x-respond-with': 'markdown' });
    expect(content, path).toContain('What had arrived.');
    expect(warning, path).toContain('The target broke off before the end of its content');
  }
});

describe('a page that is a set of frames', () => {
  it('is read with the content of its frames by engine browser', async () => {
    const engine = 'browser';
    const { content, warning } = await page('/frameset', { 'x-engine': engine, 'x-respond-with': 'markdown' });
    expect(content).toContain('# In the main frame');
    expect(content).toContain('[Leaf]');
    expect(content).toContain('A leaf of another site.');
    expect(content).not.toContain('shows no frames');
    expect(warning ?? '').not.toContain('were not read');
    const { html } = await page('/frameset', { 'x-engine': engine, 'x-respond-with': 'html', 'x-with-iframe': 'true' });
    expect(html).toContain('A leaf of another site.');
    expect(html).not.toContain('data-lectern');
  });

  it('is read with the content of its frames by engine auto', async () => {
    const { content } = await page('/frameset', { 'x-engine': 'auto' });
    expect(content).toContain('The main frame tells of the harbour');
  });

  it('has a warning about frames that could not be read', async () => {
    const { content, warning } = await page('/frameset/broken', { 'x-respond-with': 'markdown' });
    expect(content).toContain('# In the main frame');
    expect(warning).toContain('1 frame of this page could not be read and was left out');
  });

  it('has links to its frames, and a warning, by engine direct', async () => {
    const { content, warning } = await page('/frameset', { 'x-engine': 'direct' });
    expect(content).toContain('This browser shows no frames.');
    expect(content).toContain(`[What it is about](${site.origin}/frames/main)`);
    expect(warning).toContain('a set of frames that were not read');
  });
});

describe.each(ENGINES)('engine %s', (engine) => {
  const headers = { 'x-engine': engine };

  it('reads a page as Markdown in the text layout', async () => {
    const { text, answer } = await read('/article', headers);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(Number(answer.headers.get('x-usage-tokens'))).toBeGreaterThan(50);
    expect(
      text.startsWith(`Title: The harbour at night\n\nURL Source: ${site.origin}/article\n\nMarkdown Content:\n`),
    ).toBe(true);
    expect(text).toContain('## The market');
    expect(text).toContain('*   Herring');
    expect(text).toContain(`[the list](${site.origin}/list?page=2)`);
    expect(text).toContain(`![Image 1: A boat](${site.origin}/boat.svg)`);
    expect(text).not.toContain('Nobody in particular');
  });

  it('fails on success without content', async () => {
    if (engine === 'browser') return;
    expect((await read('/nothing', headers)).json).toMatchObject({ code: 422, status: 42206 });
  });

  it('follows redirects and returns the URL that the option base selects', async () => {
    expect((await page('/moved', headers)).url).toBe(`${site.origin}/moved`);
    expect((await page('/moved', { ...headers, 'x-base': 'final' })).url).toBe(`${site.origin}/article`);
  });

  it('returns the status as data, in every form of answer', async () => {
    expect(await page('/missing', headers)).toMatchObject({ targetStatus: 404 });
    // The other formats take the status from the same snapshot.
    if (engine === 'browser') return;
    expect(Object.keys(await page('/missing', headers)).slice(0, 6)).toEqual([
      'title',
      'description',
      'url',
      'targetStatus',
      'blocked',
      'content',
    ]);
    expect(await page('/moved', headers)).toMatchObject({ targetStatus: 200 });
    expect(await page('/plain.txt', headers)).toMatchObject({ targetStatus: 200 });
    const { text } = await read('/missing', { ...headers, accept: 'text/event-stream' });
    for (const { data } of parseEvents(text)) expect(data).toMatchObject({ targetStatus: 404 });
    for (const respondWith of ['content', 'html', 'text']) {
      const { answer } = await read('/missing', { ...headers, 'x-respond-with': respondWith });
      expect(answer.headers.get('x-target-status'), respondWith).toBe('404');
    }
  });

  it('returns the page of an error status, with a warning', async () => {
    const { warning, title } = await page('/missing', headers);
    expect(warning.split('\n')[0]).toBe('Target URL returned error 404: Not Found');
    expect(title).toBe('Gone fishing');
  });

  it('fails on another status than the asserted one', async () => {
    const { json } = await read('/missing', { ...headers, 'x-assert-status-code': '200' });
    expect(json).toMatchObject({
      code: 422,
      status: 42206,
      path: 'assertStatusCode',
      message: expect.stringMatching(/404.*200/),
    });
    expect((await read('/missing', { ...headers, 'x-assert-status-code': '404' })).status).toBe(200);
  });

  it.each([
    ['/charset/cyrillic', 'Привет'],
    ['/charset/japanese', '日本'],
    ['/charset/latin', 'naïve'],
    ['/lying-charset', 'Grüße aus Köln'],
  ])('decodes %s', async (path, words) => {
    // Like browsers, the browser engine trusts the charset that the server declares. Its own test reads the other
    // pages.
    if (path !== '/charset/cyrillic' && engine === 'browser') return;
    expect((await page(path, headers)).content).toContain(words);
  });

  it('sends the cookies it was given', async () => {
    const { content } = await page('/cookies', { ...headers, 'x-set-cookie': 'a=1, b=two; Path=/cookies' });
    expect(content).toMatch(/a=1; b=two|b=two; a=1/);
    expect((await page('/cookies', headers)).content).toContain('none');
  });

  it('sends language, user agent and referrer of the options', async () => {
    await page('/echo', {
      ...headers,
      'x-locale': 'de-CH',
      'x-user-agent': 'Somebody/1.0',
      'x-referer': 'https://from.test/page',
    });
    const sent = site.headers('/echo')!;
    expect(sent['accept-language']).toMatch(/^de-CH/);
    expect(sent['user-agent']).toBe('Somebody/1.0');
    expect(sent.referer).toMatch(/^https:\/\/from\.test\//);
  });

  it('fails on an endless redirect chain', async () => {
    const { json } = await read('/loop', headers);
    expect(json).toMatchObject({ code: 422, status: 42206 });
  });

  it('returns the part of an endless page that arrived before the timeout', async () => {
    const { content } = await page('/drip', { ...headers, 'x-timeout': engine === 'direct' ? '1' : '3' });
    expect(content).toContain('The first drop');
  });

  it('fails at the timeout if nothing arrives', async () => {
    const { json } = await read('/silent', { ...headers, 'x-timeout': engine === 'direct' ? '1' : '2' });
    expect(json).toMatchObject({ code: 422, status: 42206 });
  });

  it('refuses a redirect to a forbidden host', async () => {
    const { json } = await read(
      `/to?where=${encodeURIComponent(encodeURIComponent('http://169.254.169.254/latest'))}`,
      headers,
    );
    expect(json).toMatchObject({ code: 451, status: 45102, name: 'SecurityCompromiseError' });
    expect(JSON.stringify(json)).not.toContain('169.254');
  });
});

describe('scripts', () => {
  it.each(['browser', 'auto'])('run with engine %s', async (engine) => {
    const { title, content } = await page('/rendered', { 'x-engine': engine });
    expect(title).toBe('Rendered');
    expect(content).toContain('second word');
  });

  it('do not run with engine direct', async () => {
    expect((await page('/rendered', { 'x-engine': 'direct' })).content).not.toContain('second word');
  });

  it('run in submitted HTML that has no content by itself', async () => {
    const html =
      '<title>Empty</title><div id="root"></div><script>root.innerHTML = "<h1>Made</h1><p>by a script</p>"</script>';
    const answer = await fetch(server.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ html }),
    });
    expect(await answer.text()).toMatch(/Made[\s\S]*by a script/);
  });

  it('are injected, by text and by URL', async () => {
    const json = {
      url: `${site.origin}/article`,
      injectPageScript: [
        `${site.origin}/inject.js`,
        'document.addEventListener("DOMContentLoaded", () => { document.title = "Injected"; })',
      ],
      respondWith: 'html',
    };
    const answer = await fetch(server.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(json),
    });
    const { data } = (await answer.json()) as { data: { title: string; html: string } };
    expect(data.html).toContain('Injected by URL.');
    expect(data.html).toContain('<title>Injected</title>');
  });

  it('are refused if their URL is on a forbidden host', async () => {
    const json = { url: `${site.origin}/article`, injectPageScript: 'http://127.0.0.1:9/x.js' };
    const answer = await fetch(server.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    expect(answer.status).toBe(451);
  });

  it('waits for a selector', async () => {
    expect((await page('/late', { 'x-wait-for-selector': '#late' })).content).toContain('Much later.');
  });

  it.each(['html', 'visible-content', 'mutation-idle', 'resource-idle', 'media-idle', 'network-idle'])(
    'answers with timing %s',
    async (timing) => {
      const { content } = await page('/article', { 'x-respond-timing': timing });
      expect(content).toContain('The lighthouse keeps its own hours');
    },
  );
});

describe('the stream', () => {
  it('has more and more complete pages', async () => {
    const { text, answer } = await read('/stages', { accept: 'text/event-stream' });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = parseEvents(text);
    expect(events.length).toBeGreaterThan(1);
    expect(events.every(({ event }) => event === 'data')).toBe(true);
    expect(events[0]!.data.content).toContain('stage 0');
    expect(events[0]!.data.content).not.toContain('stage 3');
    expect(events.at(-1)!.data.content).toContain('stage 3');
    const lengths = events.map(({ data }) => String(data.content).length);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  });

  it('sends each page as soon as it is ready', async () => {
    const answer = await fetch(`${server.reader}/${site.origin}/stages`, {
      headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip' },
    });
    const reader = answer.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    expect(first).toMatch(/^event: data\ndata: \{/);
    expect(first).not.toContain('stage 3');
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      rest += new TextDecoder().decode(part.value);
    expect(rest).toContain('stage 3');
  });

  it('has an error status if the read fails before the first page', async () => {
    const { status, text } = await read('/loop', { accept: 'text/event-stream' });
    expect(status).toBe(422);
    expect(text).toMatch(/^event: error\ndata: "AssertionFailureError: /);
  });
});

describe('formats and Markdown', () => {
  it('fill the page object', async () => {
    const data = await page('/structured', {
      'x-with-links-summary': 'true',
      'x-with-images-summary': 'true',
      'x-engine': 'direct',
    });
    expect(data).toMatchObject({
      title: 'Structured',
      description: 'A described page',
      url: `${site.origin}/structured`,
      publishedTime: '2026-01-02T03:04:05Z',
      links: { 'a link': `${site.origin}/article` },
      images: { 'Image 1: a boat': `${site.origin}/boat.svg` },
      metadata: { lang: 'de', author: 'Somebody', description: 'A described page' },
      external: {
        canonical: { 'https://canon.test/x': {} },
        alternate: { [`${site.origin}/feed.xml`]: { type: 'application/rss+xml' } },
      },
    });
    expect(data.content).toContain('| Name | Price |\n| --- | --- |\n| Tea | 3 |');
    expect(data.content).toContain('```js\nconst a = 1;\nconst b = 2;\n```');
  });

  it('write Markdown in the style of the options', async () => {
    const headers = {
      'x-engine': 'direct',
      'x-respond-with': 'markdown',
      'x-md-heading-style': 'setext',
      'x-md-strong-delimiter': '__',
      'x-md-link-style': 'referenced',
      'x-retain-images': 'none',
    };
    const { content } = await page('/structured', headers);
    expect(content).toMatch(/^Structured\n=+\n/);
    expect(content).toContain('__bold__');
    expect(content).toMatch(/\[a link\]\[1\]/);
    expect(content).toMatch(/\[1\]: http:\/\/127\.0\.0\.1:\d+\/article "T"$/);
    expect(content).not.toContain('boat');
  });

  it.each([
    ['none', (text: string) => !text.includes('a link')],
    ['text', (text: string) => text.includes('a link') && !text.includes('/article')],
    ['gpt-oss', (text: string) => /【\d+†a link】/.test(text)],
  ])('retain links as %s', async (mode, holds) => {
    const { content } = await page('/structured', { 'x-engine': 'direct', 'x-retain-links': mode });
    expect(holds(content)).toBe(true);
  });

  it('list links and images after the text', async () => {
    const { text } = await read('/structured', {
      'x-engine': 'direct',
      'x-with-links-summary': 'true',
      'x-with-images-summary': 'true',
    });
    expect(text).toMatch(
      /\n\nImages:\n- !\[Image 1: a boat\]\(http[^)]*\)\n\nLinks\/Buttons:\n- \[a link\]\(http[^)]*\)\n$/,
    );
  });

  it('leave out hidden text, with a warning', async () => {
    for (const engine of ['browser', 'direct']) {
      const { content, warning } = await page('/hidden', { 'x-engine': engine, 'x-respond-with': 'markdown' });
      expect(content).toContain('Seen paragraph.');
      expect(content).toContain('seen white on black');
      for (const hidden of ['by display', 'by visibility', 'by opacity', 'by size', 'by transparency'])
        expect(content).not.toContain(hidden);
      if (engine === 'browser')
        for (const hidden of ['by place', 'by clip', 'by colour']) expect(content).not.toContain(hidden);
      expect(warning).toMatch(/pieces? that a person cannot see/);
    }
    const { html } = await page('/hidden', { 'x-engine': 'browser', 'x-respond-with': 'html' });
    expect(html).toContain('by display');
    expect(html).not.toContain('data-lectern');
  });

  it('include frames and shadow roots on request, else have a warning', async () => {
    const closed = await page('/frames', { 'x-engine': 'browser', 'x-respond-with': 'markdown' });
    expect(closed.warning).toContain(
      'This page contains iframe that are currently hidden, consider enabling iframe processing.',
    );
    const open = await page('/frames', { 'x-with-iframe': 'true', 'x-respond-with': 'markdown' });
    expect(open.content).toMatch(
      /Outside before[\s\S]*Inside the same site[\s\S]*Outside between[\s\S]*Inside another site[\s\S]*Outside after/,
    );
    const shadow = await page('/shadow', { 'x-with-shadow-dom': 'true', 'x-respond-with': 'markdown' });
    expect(shadow.content).toMatch(/Slotted title[\s\S]*Slotted body[\s\S]*From the shadow[\s\S]*Deeper/);
    const shut = await page('/shadow', { 'x-engine': 'browser', 'x-respond-with': 'markdown' });
    expect(shut.warning).toContain(
      'This page contains shadow DOM that are currently hidden, consider enabling shadow DOM processing.',
    );
  });

  it('leave text that is not HTML unchanged', async () => {
    expect((await page('/plain.txt')).content).toBe('plain <b>text</b>\nsecond line');
    expect((await page('/data.json')).content).toContain('"name": "Ünal"');
    expect((await page('/data.json')).title).toBe('');
  });

  it('fail on a damaged file', async () => {
    expect((await read('/paper.pdf')).json).toMatchObject({ code: 422, status: 42206, reason: 'damaged' });
  });
});

describe('pictures', () => {
  const isPng = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, 8)).toString('latin1') === '\x89PNG\r\n\x1a\n';
  const size = (bytes: Uint8Array) => [Buffer.from(bytes).readUInt32BE(16), Buffer.from(bytes).readUInt32BE(20)];

  it('are sent to text clients by a redirect', async () => {
    const { answer, text } = await read('/article', { 'x-respond-with': 'screenshot' });
    expect(answer.status).toBe(302);
    const location = answer.headers.get('location')!;
    expect(text).toBe(`${location}\n`);
    const png = new Uint8Array(await (await fetch(location)).arrayBuffer());
    expect(isPng(png)).toBe(true);
    expect(size(png)).toEqual([1280, 1280]);
  });

  it('have their URL and their tokens in JSON', async () => {
    const data = await page('/hidden', { 'x-respond-with': 'pageshot' });
    expect(data.html).toContain('Seen paragraph.');
    const png = new Uint8Array(await (await fetch(data.pageshotUrl)).arrayBuffer());
    expect(isPng(png)).toBe(true);
    expect(size(png)[1]).toBeGreaterThan(3000);
    expect(data.usage.tokens).toBeGreaterThan(765);
  });

  it('are not stored if nothing may be kept', async () => {
    const { answer } = await read('/article', { 'x-respond-with': 'screenshot', dnt: '1' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  it('have the size of the requested viewport', async () => {
    const body = JSON.stringify({
      url: `${site.origin}/article`,
      respondWith: 'screenshot',
      viewport: { width: 400, height: 300 },
      zeroDataRetention: true,
    });
    const answer = await fetch(server.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(size(new Uint8Array(await answer.arrayBuffer()))).toEqual([400, 300]);
  });

  it('that do not exist are not found', async () => {
    for (const name of ['x', 'A'.repeat(32), '../accounts/secret', '..%2f..%2faccounts%2fsecret']) {
      const answer = await fetch(`${server.reader}/.pictures/${name}.png`);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(await answer.text()).not.toContain('PNG');
    }
  });
});

describe('pages that use too much', () => {
  const alive = async () =>
    expect((await page('/article', { 'x-engine': 'direct' })).title).toBe('The harbour at night');

  // src/reader/engines/browser/hostile.test.ts covers more of these pages.
  it.each(['/hang', '/buffers'])('are answered, with the part before or a coded failure: %s', async (path) => {
    const { status, json, text } = await read(path, { 'x-engine': 'browser', 'x-timeout': '5' });
    if (status === 200) expect(text).toMatch(/Before the/);
    else expect(json).toMatchObject({ status: 42206 });
    await alive();
  });

  it('do not delay others: 12 MB of nested tags', async () => {
    const nested = read('/nested', { 'x-engine': 'direct' });
    await alive();
    const { status, json } = await nested;
    expect(status === 200 || json.status === 42206).toBe(true);
    await alive();
  });

  it('are refused: endless text', async () => {
    const { json } = await read('/endless', { 'x-engine': 'direct' });
    expect(json).toMatchObject({ code: 422, status: 42206, message: expect.stringContaining('32 MiB') });
    await alive();
  });

  it('are returned as far as they arrived: a wrong Content-Length', async () => {
    const { content, warning } = await page('/lying-length', { 'x-engine': 'direct' });
    expect(content).toContain('Less than was promised.');
    expect(warning).toBeTruthy();
  });

  it.each(['direct', 'browser'])('cannot add lines to the answer by a reason phrase: engine %s', async (engine) => {
    const { text } = await read('/forged', { 'x-engine': engine });
    expect(text).toMatch(/\n\nWarning: Target URL returned error 404: X Y Warning: forged\n/);
    expect(text).not.toMatch(/[\u001d\u0085\u000b]/);
  });

  it('see no header of the egress proxy', async () => {
    await page('/article', { 'x-engine': 'browser' });
    expect(site.headers('/article')).not.toHaveProperty('proxy-connection');
  });

  it('are closed when the client disconnects', async () => {
    const gone = new AbortController();
    const reading = fetch(`${server.reader}/${site.origin}/silent`, {
      signal: gone.signal,
      headers: { 'x-engine': 'browser' },
    });
    const outcome = reading.catch((error: Error) => error.name);
    await expect.poll(() => server.app.browser().pages, { timeout: 10_000 }).toBeGreaterThan(0);
    gone.abort();
    expect(await outcome).toBe('AbortError');
    await expect.poll(() => server.app.browser().pages, { timeout: 10_000 }).toBe(0);
  });

  it('fail alone when the browser is killed', async () => {
    const reads = Array.from({ length: 3 }, () =>
      read('/chatty', { 'x-engine': 'browser', 'x-timeout': '20', 'x-respond-timing': 'network-idle' }),
    );
    await expect.poll(() => server.app.browser().pages, { timeout: 15_000 }).toBe(3);
    for (const pid of pidsWith(server.dataDir)) process.kill(pid, 'SIGKILL');
    for (const { status, json, text } of await Promise.all(reads)) {
      if (status === 200) expect(text).toContain('Never silent.');
      else expect(json.code).toBeGreaterThanOrEqual(422);
    }
    const { content } = await page('/rendered', { 'x-engine': 'browser' });
    expect(content).toContain('second word');
  });

  it('are not blocked for others by wrong requests', async () => {
    for (let n = 0; n < 11; n++) {
      await read('/article', { 'x-target-selector': '.nope' });
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const body = JSON.stringify({ url: `${site.origin}/article`, html: '<p>x', targetSelector: '.nope' });
      await fetch(server.reader, { method: 'POST', headers, body });
    }
    expect((await read('/article')).status).toBe(200);
  });

  it('are blocked after ten failures of the same URL', async () => {
    for (let n = 0; n < 10; n++) await read('/loop?shut', { 'x-engine': 'direct' });
    const { json } = await read('/loop?shut', { 'x-engine': 'direct' });
    expect(json).toMatchObject({
      code: 403,
      status: 40301,
      name: 'OperationNotAllowedError',
      retryAfter: expect.any(Number),
    });
  });
});
