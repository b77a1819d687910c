/**
 * Tests which engine produces the result, and why, with real engines, a real browser and a site that records its
 * requests.
 */

import os from 'node:os';
import { Server as ProxyServer } from 'proxy-chain';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OperatorProxy } from '#net/proxy/proxy-table.ts';
import { createMemoryValues } from '#storage/shared/memory.ts';
import { createTemporaryFolder } from '#storage/temporary.ts';
import { sendHtml } from '../../../test/site/site.ts';
import { createAbuseRefusals } from '../abuse-refusals.ts';
import { createRenderer, type Renderer } from '../renderer.ts';
import { createSiteRecords, type SiteRecords } from '../site-records.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Target } from '../target.ts';
import { type Bench, options, startBench, words } from './browser/browser.suite.ts';
import { createCapture, type Engines } from './choose.ts';
import type { Engine } from './engine.ts';

const sentence = (n: number) =>
  `<p>Paragraph ${n} tells at some length of the harbour, of its boats and of the people who mend their nets there.</p>`;
const prose = Array.from({ length: 12 }, (_, n) => sentence(n)).join('');
const page = (head: string, body: string, rest = '') =>
  `<!doctype html><html lang="en"><head><title>The harbour</title>${head}</head><body><article><h1>The harbour</h1>${body}</article>${rest}</body></html>`;

/** A script shared by all pages of a site. It changes a page only if the page contains one of these elements. */
const SITE_SCRIPT = `
document.addEventListener('click', () => {});
const at = (name) => document.getElementById(name);
if (at('offers')) at('offers').innerHTML = '<p>Made of the offers: the red boat costs 40.</p>';
if (at('related')) at('related').insertAdjacentHTML('beforeend', '<li>Made as one more of the list.</li>');
const rows = document.querySelector('table.prices tbody');
if (rows) rows.innerHTML = '<tr><td>Made row</td><td>40</td></tr>';
const comments = at('comments');
if (comments) fetch('/comments?of=' + location.pathname).then((answer) => answer.json()).then((list) => {
  for (const text of list) comments.insertAdjacentHTML('beforeend', '<p>' + text + '</p>');
});
const wanted = JSON.parse(at('data')?.textContent ?? '[]');
for (const text of wanted) document.querySelector('article').insertAdjacentHTML('beforeend', '<p>' + text + '</p>');`;

/** The ways in which scripts change the third page of a site although they do not change its first two pages. */
const THIRD_PAGES: Readonly<Record<string, { body?: string; rest?: string; usual?: string }>> = {
  inline: {
    rest: `<script>document.querySelector('article').insertAdjacentHTML('beforeend', '<p>Made inline.</p>')</script>`,
  },
  external: { rest: '<script src="/made.js"></script>' },
  hydrated: { body: '<div id="offers"></div>' },
  list: { body: '<ul id="related"><li>One that was sent.</li></ul>' },
  table: { body: '<table class="prices"><thead><tr><th>What</th><th>Price</th></tr></thead><tbody></tbody></table>' },
  data: {
    usual: '<script type="application/json" id="data">[]</script>',
    rest: '<script type="application/json" id="data">["Made of data."]</script>',
  },
  fetched: { usual: '<section id="comments"><h2>Comments</h2></section>' },
};

/** The folder of a third page. Third pages that differ from the same first two pages share a folder. */
const folderOf = (name: string) => (THIRD_PAGES[name]!.usual ? `/taught-${name}` : '/taught');
const taught = Object.fromEntries(
  Object.entries(THIRD_PAGES).flatMap(([name, { body = '', rest, usual = '' }]) => {
    const shared = '<script src="/site.js"></script>';
    const plain = page('', prose, usual + shared);
    const third = page('', prose + body, (rest ?? usual) + shared);
    return [
      ...['one', 'two', 'plain'].map((file) => [`${folderOf(name)}/${file}`, plain.replaceAll('Paragraph', file)]),
      [`${folderOf(name)}/three-${name}`, third],
    ];
  }),
);

let asked: string[];
let told: string | string[] | undefined;
let bench: Bench;
let renderer: Renderer;
let sites: SiteRecords;
const CHALLENGE = '<!doctype html><title>Just a moment...</title><script>window._cf_chl_opt={}</script>';
let proxy: ProxyServer;
let operator: OperatorProxy;

beforeAll(async () => {
  let visits = 0;
  proxy = new ProxyServer({
    port: 0,
    host: '127.0.0.1',
    prepareRequestFunction: ({ request }) => {
      request.headers['x-by-proxy'] = 'yes';
      request.rawHeaders.push('x-by-proxy', 'yes');
      asked.push(new URL(request.url!).pathname);
      return {};
    },
  });
  await proxy.listen();
  operator = new OperatorProxy(new URL(`http://127.0.0.1:${proxy.port}`), { countries: ['de'], eu: true });
  bench = await startBench({
    allow: [`127.0.0.1:${proxy.port}`],
    names: { 'other.example': '127.0.0.1' },
    pages: {
      '/plain': page('<style>p { max-width: 40em }</style>', prose),
      '/counted': page(
        '<script>document.documentElement.className = "js"</script><script type="application/ld+json">{"@type":"Article"}</script>',
        prose,
        '<script async src="https://www.googletagmanager.com/gtag/js?id=x"></script><script>window.dataLayer = window.dataLayer || []; function gtag() { dataLayer.push(arguments) } gtag("js", new Date())</script>',
      ),
      '/styled': page('<style>.x { display: none }</style>', `${prose}<p class="x">Words that nobody sees.</p>`),
      '/calm/one': page('', prose, '<script>document.addEventListener("click", () => {})</script>'),
      '/calm/two': page('', prose, '<script>document.addEventListener("click", () => {})</script>'),
      '/calm/three': page('', prose, '<script>document.addEventListener("click", () => {})</script>'),
      '/calm/app': page('', '<div id="root"></div>', '<script>root.innerHTML = "<p>made by scripts</p>"</script>'),
      '/lively/one': page(
        '',
        prose,
        `<script>document.querySelector('article').insertAdjacentHTML('beforeend', ${JSON.stringify(prose.replaceAll('tells', 'sings'))})</script>`,
      ),
      ...taught,
      '/site.js': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'text/javascript' }).end(SITE_SCRIPT),
      '/made.js': ({ response }) =>
        void response
          .writeHead(200, { 'content-type': 'text/javascript' })
          .end(`document.querySelector('article').insertAdjacentHTML('beforeend', '<p>Made by one more script.</p>')`),
      '/comments': ({ response, url }) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(url.searchParams.get('of')!.includes('/three') ? '["Made by somebody who commented."]' : '[]'),
      '/private/one': page('', prose, '<script>document.addEventListener("click", () => {})</script>'),
      '/cookie-hop': ({ response }) =>
        void response
          .writeHead(302, { location: `${bench.site.origin}/cookie-gate`, 'set-cookie': 'hop=1; Path=/' })
          .end(),
      '/cookie-gate': ({ response }) => {
        response.setHeader('set-cookie', 'gate=open; Path=/; HttpOnly');
        sendHtml(
          response,
          page(
            '',
            '<div id="app"></div>',
            `<script>fetch('/cookie-echo').then((answer) => answer.text()).then((text) => { app.textContent = 'the server was told ' + text })</script>`,
          ),
        );
      },
      '/cookie-echo': ({ request, response }) => void response.end(request.headers.cookie ?? 'nothing'),
      '/suspicious': ({ response }) =>
        visits++ === 0 ? sendHtml(response, '<title>No</title><p>No.</p>', 403) : sendHtml(response, page('', prose)),
      '/walled': ({ request, response }) =>
        request.headers['x-by-proxy']
          ? sendHtml(response, page('', prose))
          : sendHtml(response, '<title>Wall</title><p>Not from here.</p>', 451),
      '/challenged': ({ request, response }) =>
        sendHtml(response, request.headers['x-by-proxy'] ? page('', prose) : CHALLENGE),
      '/challenged-everywhere': CHALLENGE,
      '/poor': '<title>Poor</title><p>Few words.</p>',
      '/shows-paper': '<!doctype html><title>Paper</title><embed src="/paper.pdf" type="application/pdf">',
      '/shows-paper-of-other': ({ response }) =>
        sendHtml(
          response,
          `<!doctype html><title>Paper</title><embed src="http://other.example:${new URL(bench.site.origin).port}/told.pdf">`,
        ),
      '/told.pdf': ({ request, response }) => {
        told = request.headers['x-secret'];
        response.setHeader('content-type', 'application/pdf');
        response.end('%PDF-1.4');
      },
      '/uncopied': ({ response }) => {
        response.setHeader('cache-control', 'no-store');
        response.setHeader('x-robots-tag', 'noindex');
        sendHtml(
          response,
          page('', '<div id="root"></div>', '<script>root.innerHTML = "<p>made by scripts</p>"</script>'),
        );
      },
      '/cut': ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/html', 'content-length': 100_000, connection: 'close' });
        const html = page('', '<div id="root"></div>', '<script>root.innerHTML = "<p>made by scripts</p>"</script>');
        response.write(html, () => response.destroy());
      },
      '/accepted': ({ response }) => sendHtml(response, '<title>Accepted</title><p>Few words.</p>', 202),
      '/missing': ({ response }) => sendHtml(response, '<title>Missing</title><p>Few words.</p>', 404),
    },
  });
  renderer = createRenderer({ threads: 1, memoryMb: 512, timeoutMs: 20_000 });
  sites = createSiteRecords({ store: createMemoryValues() });
});
afterAll(async () => {
  await bench.close();
  await renderer.close();
  await proxy.close(true);
});

interface Reading {
  readonly keyed?: boolean;
  readonly parts?: Partial<Engines>;
  readonly target?: Target;
}

async function readAll(
  path: string,
  given: Record<string, unknown> = {},
  { keyed = true, parts, target }: Reading = {},
) {
  const choose = createCapture({ direct: bench.direct, browser: bench.engine, renderer, sites, ...parts });
  const folder = createTemporaryFolder(os.tmpdir());
  const snapshots: Snapshot[] = [];
  asked = [];
  try {
    const request = {
      target: target ?? { url: bench.site.origin + path },
      options: options(given),
      signal: new AbortController().signal,
      keyed,
    };
    for await (const snapshot of choose(request, folder.path)) snapshots.push(snapshot);
  } finally {
    await folder.remove();
  }
  return snapshots;
}
const read = async (...args: Parameters<typeof readAll>) => (await readAll(...args)).at(-1)!;
const by = ({ engine, engineReason }: Snapshot) => `${engine}: ${engineReason}`;

describe('the page itself', () => {
  it('is returned without rendering if no script can change it', async () => {
    for (const path of ['/plain', '/counted']) {
      const snapshots = await readAll(path);
      expect(snapshots.map(by), path).toEqual(['direct: no scripts']);
      expect(snapshots[0]!.settled).toBe(true);
      expect(bench.site.hits(path)).toBe(1);
    }
  });

  it('is rendered if style sheets may hide some of it', async () => {
    const seen = await read('/styled');
    expect(by(seen)).toBe('browser: style sheets may hide parts of it');
    expect(seen.text).toMatch(/data-lectern-hidden="display">Words that nobody sees/);
  });

  it('is rendered from the fetched HTML if scripts create its content', async () => {
    const seen = await read('/rendered');
    expect(by(seen)).toBe('browser: its content is created by scripts');
    expect(words(seen.text)).toContain('first word');
    expect(bench.site.hits('/rendered')).toBe(1);
  });

  it('is requested again by the browser if a plain fetch was refused', async () => {
    const seen = await read('/suspicious');
    expect(by(seen)).toBe('browser: a plain fetch was answered with 403');
    expect(seen).toMatchObject({ status: 200, text: expect.stringContaining('Paragraph 3') });
  });

  it('is not rendered if the target is text or a file', async () => {
    expect(by(await read('/plain.txt'))).toBe('direct: the target is text');
    const drawn = await read('/plain.txt', { respondWith: 'screenshot' });
    expect(by(drawn)).toBe('direct: the target is text');
    expect(drawn.screenshot!.length).toBeGreaterThan(1_000);
    expect(by(await read('/paper.pdf'))).toBe('direct: the target is a file');
    expect(by(await read('/paper.pdf', { engine: 'browser' }))).toBe('direct: the target is a file');
  });
});

describe('a page that shows a file', () => {
  it('is read as that file, with a browser and without', async () => {
    const file = { mediaType: 'application/pdf' };
    expect(await read('/shows-paper')).toMatchObject({ engine: 'direct', file });
    const without = await read('/shows-paper', {}, { parts: { browser: undefined } });
    expect(without).toMatchObject({ engineReason: 'the page shows a file', file });
  });

  it('of another site is not told what was meant for the page', async () => {
    for (const parts of [{}, { browser: undefined }]) {
      told = 'nothing';
      const seen = await read('/shows-paper-of-other', { customHeader: { 'x-secret': 'mine' } }, { parts });
      expect(seen.file).toBeDefined();
      expect(told).toBeUndefined();
    }
  });
});

describe('an option', () => {
  it('selects the engine', async () => {
    expect(by(await read('/calm/one', { engine: 'direct' }))).toBe('direct: asked for');
    expect(by(await read('/plain', { engine: 'browser' }))).toBe('browser: asked for');
    expect(by(await read('/calm/one', { respondTiming: 'html' }))).toBe('direct: an early response was requested');
    const patient = 'browser: respondTiming waits for the page to become idle';
    expect(by(await read('/plain', { respondTiming: 'network-idle' }))).toBe(patient);
    expect(by(await read('/plain', { timeout: 25 }))).toBe(patient);
    expect(by(await read('/plain', { respondWith: 'screenshot' }))).toBe('browser: a picture was requested');
    expect(by(await read('/plain', { withShadowDom: true }))).toBe('browser: withShadowDom needs a browser');
  });

  it('that applies before the page prevents a plain fetch', async () => {
    const preloadUrl = `${bench.site.origin}/cookie-gate`;
    const before = bench.site.hits('/plain');
    expect(by(await read('/plain', { preloadUrl }))).toBe('browser: preloadUrl needs a browser');
    expect(bench.site.hits('/plain')).toBe(before + 1);
    expect(bench.site.headers('/plain')!.cookie).toContain('gate=open');
    const file = await read('/paper.pdf', { exportStorageState: true, setCookies: ['mine=1'] });
    expect(file).toMatchObject({ engine: 'direct', storageState: { cookies: [{ name: 'mine' }] } });
  });

  it('fails without the engine or service that it needs', async () => {
    const without = { parts: { browser: undefined } };
    await expect(read('/plain', { engine: 'browser' }, without)).rejects.toMatchObject({ facts: { path: 'engine' } });
    await expect(read('/plain', { viewport: { width: 500 } }, without)).rejects.toMatchObject({
      facts: { path: 'viewport' },
    });
    expect(by(await read('/rendered', {}, without))).toBe('direct: no browser is available');
    await expect(read('/plain', { engine: 'cf-browser-rendering' })).rejects.toMatchObject({
      name: 'ParamValidationError',
      message: expect.stringMatching(/LECTERN_CF_ACCOUNT.*LECTERN_CF_TOKEN/),
      facts: { path: 'engine' },
    });
  });

  it('for a picture of a file needs no browser', async () => {
    for (const respondWith of ['screenshot', 'pageshot', 'svc-ocr', 'vlm']) {
      const file = { mediaType: 'application/pdf' };
      const without = { parts: { browser: undefined } };
      expect(await read('/paper.pdf', { respondWith }, without)).toMatchObject({ file });
      expect(await read('/paper.pdf', { respondWith, engine: 'direct' })).toMatchObject({ file });
      for (const path of ['/plain', '/plain.txt']) {
        const refusal = (words: string) => ({
          name: 'ParamValidationError',
          message: expect.stringContaining(words),
          facts: { path: 'respondWith' },
        });
        await expect(read(path, { respondWith }, without)).rejects.toMatchObject(refusal('LECTERN_BROWSER'));
        await expect(read(path, { respondWith, engine: 'direct' })).rejects.toMatchObject(refusal('engine direct'));
      }
    }
  });

  it('of a preset is ignored without a browser', async () => {
    const without = { parts: { browser: undefined } };
    expect(by(await read('/plain', { preset: 'reader' }))).toBe('browser: detachInvisibles needs a browser');
    expect(by(await read('/plain', { preset: 'reader' }, without))).toBe('direct: no browser is available');
    const given = { preset: 'reader', removeOverlay: true };
    await expect(read('/plain', given, without)).rejects.toMatchObject({ facts: { path: 'removeOverlay' } });
  });

  it('selects the remote service', async () => {
    const remote: Engine = {
      name: 'cf-browser-rendering',
      async *visit(visit) {
        for await (const snapshot of bench.direct.visit(visit)) yield { ...snapshot, engine: 'cf-browser-rendering' };
      },
      close: async () => {},
    };
    const seen = await read('/plain', { engine: 'cf-browser-rendering' }, { parts: { remote } });
    expect(by(seen)).toBe('cf-browser-rendering: asked for');
  });

  it('for HTML alone, without a key, does not render the page', async () => {
    const keyless = { keyed: false };
    expect(by(await read('/rendered', { respondWith: 'html' }, keyless))).toBe(
      'direct: html without a key is not rendered',
    );
    expect((await read('/rendered', { respondWith: 'html+text' }, keyless)).engine).toBe('browser');
    expect((await read('/rendered', { respondWith: 'html', engine: 'browser' }, keyless)).engine).toBe('browser');
  });

  it('does not hide that the rendered HTML was incomplete', async () => {
    const note = 'The target broke off before the end of its content; this is the part that arrived';
    for (const engine of ['auto', 'browser']) {
      const seen = await read('/cut', { engine });
      expect(words(seen.text), engine).toContain('made by scripts');
      expect(seen, engine).toMatchObject({ engine: 'browser', notes: [note], partial: true });
    }
  });

  it('for cookies applies to the fetch and to rendering', async () => {
    expect(words((await read('/cookie-gate')).text)).toContain('the server was told gate=open');
    const seen = await read('/cookie-gate', { setCookies: ['mine=1'] });
    expect(words(seen.text)).toMatch(/told (?:mine=1; gate=open|gate=open; mine=1)/);
  });

  it('does not pass on cookies of other sites or of other reads', async () => {
    const { port } = new URL(bench.site.origin);
    const seen = await read('', {}, { target: { url: `http://other.example:${port}/cookie-hop` } });
    expect(words(seen.text)).toContain('the server was told gate=open');
    expect(words(seen.text)).not.toContain('hop');
    await read('/cookie-gate');
    expect(bench.site.headers('/cookie-gate')!.cookie).toBeUndefined();
  });
});

describe('what is known of a site', () => {
  const compared = (path: string, count: number) =>
    vi.waitFor(() => expect(noted.filter((url) => url.endsWith(path))).toHaveLength(count), { timeout: 20_000 });
  const noted: string[] = [];
  beforeAll(() => {
    const { recordComparison } = sites;
    vi.spyOn(sites, 'recordComparison').mockImplementation(async (url, template, unchanged) => {
      await recordComparison(url, template, unchanged);
      noted.push(url);
    });
  });

  it('is learned by comparing pages before and after rendering', async () => {
    for (const path of ['/calm/one', '/calm/two']) {
      expect(by(await read(path))).toBe('browser: scripts may change its content');
      await compared(path, 1);
    }
    const snapshots = await readAll('/calm/three');
    expect(snapshots.map(by)).toEqual([
      'direct: its scripts were not run: they changed nothing on other pages of the same template',
    ]);
    expect(by(await read('/calm/three', { timeout: 15 }))).toBe('browser: scripts may change its content');
  });

  it('allows an early answer only for a page with content', async () => {
    const early = { respondTiming: 'visible-content' };
    expect(by(await read('/calm/three', early))).toBe('direct: an early response was requested');
    const seen = await read('/calm/app', early);
    expect(by(seen)).toBe('browser: its content is created by scripts');
    expect(seen.text).toContain('<p>made by scripts</p>');
  });

  it('is not used for a page without content', async () => {
    const seen = await read('/calm/app');
    expect(by(seen)).toBe('browser: its content is created by scripts');
    expect(seen.text).toContain('<p>made by scripts</p>');
  });

  it.each(['/taught', '/taught-data', '/taught-fetched'])(
    'is not used for a page with more to do for scripts: %s',
    async (folder) => {
      for (const page of ['one', 'two']) {
        expect((await read(`${folder}/${page}`)).engine).toBe('browser');
        // Pages with scripts that load data are not compared again, so nothing is learned about the next page.
        if (folder !== '/taught-fetched' || page === 'one') await compared(`${folder}/${page}`, 1);
      }
      // From this point on, nothing is learned, so that the pages do not affect each other.
      const parts = { sites: { ...sites, note: () => {} } };
      if (folder !== '/taught-fetched') expect((await read(`${folder}/plain`, {}, { parts })).engine).toBe('direct');
      for (const name of Object.keys(THIRD_PAGES).filter((each) => folderOf(each) === folder)) {
        const seen = await read(`${folder}/three-${name}`, {}, { parts });
        expect(words(seen.text), name).toMatch(/Made (?:inline|by|of|as|row)/);
        expect(seen.engine, name).toBe('browser');
      }
    },
  );

  it('includes that scripts add to a page', async () => {
    await read('/lively/one');
    await compared('/lively/one', 1);
    const seen = await read('/lively/one');
    expect(by(seen)).toBe('browser: scripts change similar pages of this site');
    expect(seen.text).toContain('Paragraph 3 sings');
  });

  it('is not learned from reads that must not be stored', async () => {
    const options = [
      { doNotTrack: true },
      { zeroDataRetention: true },
      { setCookies: ['a=1'] },
      { customHeader: { a: 'b' } },
    ];
    for (const seen of await Promise.all(options.map((given) => read('/private/one', given))))
      expect(by(seen)).toBe('browser: scripts may change its content');
    await read('/private/one');
    await compared('/private/one', 1);
  });
});

describe('a proxy of the operator', () => {
  const pickProxy = (wanted: string) => (wanted === 'none' ? undefined : operator);

  it('is used if the page had little content without it', async () => {
    const snapshots = await readAll('/walled', { proxy: 'auto' }, { parts: { pickProxy } });
    expect(snapshots.at(-1)).toMatchObject({ status: 200, text: expect.stringContaining('Paragraph 3') });
    expect(snapshots[0]).toMatchObject({ status: 451, settled: false });
    expect(snapshots.map(({ proxied }) => proxied)).toEqual([undefined, true]);
    expect(asked).toContain('/walled');
    // The proxy adds no snapshots here: the first snapshot is the last.
    const poor = await readAll('/poor', { proxy: 'auto' }, { parts: { pickProxy } });
    expect(asked).toContain('/poor');
    expect(poor.at(-1)).toMatchObject({ status: 200, settled: true });
    expect(poor.at(-1)!.proxied).toBeUndefined();
  });

  it('is used if the page is a challenge without it', async () => {
    const given = { proxy: 'auto', engine: 'direct' };
    const seen = await read('/challenged', given, { parts: { pickProxy } });
    expect(seen).toMatchObject({ blocked: null, proxied: true, tried: ['direct', 'proxy'] });
    const last = await read('/challenged-everywhere', given, { parts: { pickProxy } });
    expect(last).toMatchObject({ blocked: { kind: 'challenge', by: 'cloudflare' }, tried: ['direct', 'proxy'] });
    expect(last.proxied).toBeUndefined();
  });

  it.each(['/accepted', '/missing'])('is not used for an answer with a meaningful status: %s', async (path) => {
    const seen = await read(path, { proxy: 'auto' }, { parts: { pickProxy } });
    expect(asked).toEqual([]);
    expect(seen.proxied).toBeUndefined();
  });

  it('is not used for a page with content, or if there is none', async () => {
    await read('/plain', { proxy: 'auto' }, { parts: { pickProxy } });
    expect(asked).toEqual([]);
    expect((await read('/walled', { proxy: 'auto' })).status).toBe(451);
  });

  it('is used from the start on request', async () => {
    for (const wanted of ['any', 'de', 'true']) {
      const seen = await read('/plain', { proxy: wanted }, { parts: { pickProxy } });
      expect(asked, wanted).toContain('/plain');
      expect(seen.proxied).toBe(true);
    }
  });

  it('is not used for callers without a key or with a proxy of their own', async () => {
    await read('/plain', { proxy: 'any' }, { keyed: false, parts: { pickProxy } });
    expect(asked).toEqual([]);
    const parts = { pickProxy: () => expect.unreachable('their own proxy comes first') };
    const seen = await read('/plain', { proxy: 'any', proxyUrl: operator.href }, { parts });
    expect(asked).toContain('/plain');
    expect(seen.proxied).toBeUndefined();
  });
});

describe('a page that was stopped as abuse', () => {
  it('is refused to callers without a key without a request; other pages are not', async () => {
    const abuse = createAbuseRefusals({ refusalMs: 60_000, store: createMemoryValues() });
    await abuse.add(`${bench.site.origin}/plain`, 'it made too many requests');
    const before = bench.site.hits('/plain');
    await expect(read('/plain', {}, { keyed: false, parts: { abuse } })).rejects.toMatchObject({
      name: 'SecurityCompromiseError',
      message: expect.stringContaining('it made too many requests'),
    });
    expect(bench.site.hits('/plain')).toBe(before);
    expect((await read('/plain', {}, { parts: { abuse } })).status).toBe(200);
    expect((await read('/plain?other', {}, { keyed: false, parts: { abuse } })).status).toBe(200);
  });
});

describe('a document that came with the request', () => {
  const given = (text: string, asked: Record<string, unknown> = {}) =>
    read('', asked, { target: { url: 'https://given.example/page', given: { text, mediaType: 'text/html' } } });

  it('is rendered if it has little content, or on request', async () => {
    expect(by(await given(page('', prose)))).toBe('given: it came with the request');
    const made = '<title>Made</title><div id="x"></div><script>x.textContent = "made here"</script>';
    const seen = await given(made);
    expect(by(seen)).toBe('browser: too little content without scripts');
    expect(seen.text).toContain('made here</div>');
    expect(by(await given(page('', prose), { engine: 'browser' }))).toBe('browser: asked for');
    expect(by(await given(page('', prose), { preset: 'reader' }))).toBe('browser: detachInvisibles needs a browser');
  });

  it('is not drawn without a browser', async () => {
    const target = { url: 'https://given.example/page', given: { text: page('', prose), mediaType: 'text/html' } };
    const without = { target, parts: { browser: undefined } };
    await expect(read('', { respondWith: 'screenshot' }, without)).rejects.toMatchObject({
      facts: { path: 'respondWith' },
    });
    expect(by(await read('', { preset: 'reader' }, without))).toBe('given: it came with the request');
  });
});

it('returns what a page says about copies and search engines, with each engine', async () => {
  const all = (
    await Promise.all(['direct', 'browser', 'auto'].map((engine) => readAll('/uncopied', { engine })))
  ).flat();
  for (const { noStore, robotsTag } of all) expect([noStore, robotsTag]).toEqual([true, 'noindex']);
  expect(new Set(all.map(({ engine }) => engine))).toEqual(new Set(['direct', 'browser']));
  expect((await read('/plain', { engine: 'direct' })).noStore).toBeUndefined();
});
