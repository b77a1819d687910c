/** Section 4.3: options that affect the rendered page. All tests share one browser. */
import { Server as ProxyServer } from 'proxy-chain';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { browserPages, createHeld } from './browser-pages.ts';
import { type Answer, type Headers, type ReaderHost, refused, startReader, type Values } from './reader-host.ts';
import { hosted } from './seed.ts';

/**
 * Generous enough for a busy machine, but below 20 s, from which on the browser would wait until the network is idle.
 */
const TIMEOUT_S = 19;
const held = createHeld();
/** `host:port` of each connection that the operator's proxy opened. */
const proxied: string[] = [];
let proxy: ProxyServer;
let host: ReaderHost;
beforeAll(async () => {
  proxy = new ProxyServer({
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: ({ hostname, port }) => {
      proxied.push(`${hostname}:${port}`);
      return {};
    },
  });
  await proxy.listen();
  host = await startReader({
    pages: { ...browserPages, ...held.pages },
    settings: {
      browser: undefined,
      cacheMaxBytes: 10_000_000,
      proxies: [{ url: `http://127.0.0.1:${proxy.port}`, countries: ['de'] }],
    },
    allow: [`127.0.0.1:${proxy.port}`],
  });
  // The browser is started when it opens its first page.
  await vi.waitFor(async () => expect((await read('/language')).status).toBe(200), { timeout: 60_000 });
}, 90_000);
afterAll(async () => {
  await host.close();
  await proxy.close(true);
});

const page = (path: string) => `${host.site.origin}${path}`;
const read = (path: string, options: Values = {}, headers: Headers = {}): Promise<Answer> =>
  host.get({ url: page(path), respondWith: 'markdown', timeout: TIMEOUT_S, ...options }, headers);
const content = async (path: string, options: Values = {}): Promise<string> => (await read(path, options)).data.content;
const rendered = (path: string, options: Values = {}) => content(path, { engine: 'browser', ...options });
/** Number of requests that the site received for the path during the work. */
async function hits(path: string, work: () => Promise<unknown>): Promise<number> {
  const before = host.site.hits(path);
  await work();
  return host.site.hits(path) - before;
}
const needsBrowser = async (options: Values) =>
  expect(await read('/article', { engine: 'direct', ...options })).toMatchObject(refused(Object.keys(options)[0]!));

hosted.row(
  '4.3',
  'preloadUrl | string | none | URL to preload before scraping; ignored when no URL is given',
  async () => {
    const preloadUrl = page('/sets');
    expect(await rendered('/mood')).toContain('Mood: null;');
    expect(
      await hits('/sets', async () => expect(await content('/mood', { preloadUrl })).toContain('Mood: calm; seen=1')),
    ).toBe(1);
    // No URL is passed.
    const html = '<title>Own</title><p>Own words.</p>';
    const answer = await host.post({ html, preloadUrl });
    expect([answer.status, answer.data?.content]).toEqual([200, expect.stringContaining('Own words.')]);
    expect(answer.data.warning).toContain('preloadUrl has no effect: no URL was given.');
    const file = Buffer.from('a,b\n1,2\n').toString('base64');
    const scripted = { html: `${html}<script>document.title = 'New'</script>`, engine: 'browser' };
    for (const target of [{ html }, { file }, scripted])
      expect(await hits('/sets', () => host.post({ ...target, preloadUrl, respondWith: 'text' }))).toBe(0);
  },
);

hosted.row(
  '4.3',
  'noServiceWorker | pseudo-boolean | none | Disable service workers in the browser',
  async () => {
    for (const noServiceWorker of ['true', 'false']) {
      const text = await rendered('/worker-page', { noServiceWorker, noCache: 'true' });
      expect(text).toMatch(/refused|no word/);
      expect(text).not.toContain('registered');
    }
    expect(host.site.hits('/worker.js')).toBe(0);
  },
  'Service workers never run, with the option or without.',
);

hosted.row('4.3', 'removeOverlay | pseudo-boolean | none | Remove overlay elements from the page', async () => {
  const html = async (options: Values) =>
    (await read('/overlay', { engine: 'browser', respondWith: 'html', ...options })).data.html as string;
  for (const options of [{}, { removeOverlay: 'false' }])
    expect(await html(options)).toContain('We value your cookies');
  const cleared = await html({ removeOverlay: 'true' });
  expect(cleared).not.toMatch(/We value your cookies|id="wall"/);
  expect(cleared).toContain('The text that matters.');
});

hosted.row(
  '4.3',
  'detachInvisibles | pseudo-boolean | none | Temporarily detach elements with computed display:none before snapshotting, then restore them; requires the browser engine; disables caching',
  async () => {
    const html = async (options: Values) =>
      (await read('/detached', { respondWith: 'html', respondTiming: 'network-idle', timeout: 20, ...options })).data
        .html;
    const detached = () => html({ detachInvisibles: 'true', waitForSelector: '#after:not(:empty)' });
    // The result is neither taken from the cache nor stored.
    const requests = await hits('/detached', async () => {
      expect(await html({ engine: 'browser', waitForSelector: '#after:not(:empty)' })).toContain('Not displayed.');
      const without = await detached();
      expect(without).toContain('Seen paragraph.');
      expect(without).not.toContain('Not displayed.');
      // The element is still in the page itself.
      expect(without).toContain('It is still in the page.');
      await detached();
    });
    expect(requests).toBe(3);
    const other = { url: page('/hidden?detached'), respondWith: 'html' };
    expect(
      await hits('/hidden', async () => {
        await host.get({ ...other, detachInvisibles: 'true' });
        expect((await host.get({ ...other, engine: 'browser' })).data.html).toContain('by display');
      }),
    ).toBe(2);
    await needsBrowser({ detachInvisibles: 'true' });
  },
);

hosted.row(
  '4.3',
  'waitForSelector | string (CSS selector) | none | Wait for such an element to appear before returning',
  async () => {
    expect(await rendered('/late', { respondTiming: 'mutation-idle' })).not.toContain('Much later.');
    const late = await rendered('/late', { respondTiming: 'mutation-idle', waitForSelector: '#late' });
    expect(late).toMatch(/At once\.[\s\S]*Much later\./);
    await needsBrowser({ waitForSelector: '#late' });
    expect(await read('/late', { waitForSelector: 'a[' })).toMatchObject(refused('waitForSelector'));
  },
);

hosted.row(
  '4.3',
  'targetSelector | string (CSS selector) | none | Return only the matching element instead of the full HTML; implies waitForSelector with the same selector',
  async () => {
    const direct = { engine: 'direct', targetSelector: 'h2, ul' };
    const { html } = (await read('/article', { ...direct, respondWith: 'html' })).data;
    expect(html).toMatch(/<body><h2>The market<\/h2><ul>[\s\S]*<\/ul><\/body>/);
    expect(html).not.toContain('lighthouse');
    expect(await content('/article', direct)).not.toContain('lighthouse');
    expect(await read('/article', { engine: 'direct', targetSelector: '.none' })).toMatchObject({ status: 422 });
    expect(await read('/article', { engine: 'direct', targetSelector: 'a[' })).toMatchObject(refused('targetSelector'));
    // The element is added after the page has become idle.
    const late = await rendered('/late?target', { respondTiming: 'mutation-idle', targetSelector: '#late' });
    expect(late).toContain('Much later.');
    expect(late).not.toContain('At once.');
  },
);

hosted.row(
  '4.3',
  'withIframe | pseudo-boolean or string | none | Fill iframe contents into the main document',
  async () => {
    for (const options of [{}, { withIframe: 'false' }])
      expect(await rendered('/framed', options)).not.toContain('Inside');
    const html = (await read('/framed', { withIframe: 'true', respondWith: 'html' })).data.html;
    expect(html).toContain('Inside the frame.');
    expect(await content('/framed', { withIframe: 'true' })).toMatch(/Outside\.\s+Inside the frame\./);
    expect(await content('/framed', { withIframe: 'quoted' })).toMatch(/> .*Inside the frame\./);
    await needsBrowser({ withIframe: 'true' });
  },
  'The string `quoted` includes the text of each frame as a quotation.',
);

hosted.row(
  '4.3',
  'withShadowDom | pseudo-boolean | none | Fill shadow DOM contents into the main document',
  async () => {
    for (const options of [{}, { withShadowDom: 'no' }])
      expect(await rendered('/shadow', options)).not.toContain('From the shadow');
    const filled = await content('/shadow', { withShadowDom: 'true' });
    expect(filled).toMatch(/Slotted title[\s\S]*Slotted body[\s\S]*From the shadow[\s\S]*Deeper/);
    await needsBrowser({ withShadowDom: 'true' });
  },
);

hosted.row(
  '4.3',
  'exportStorageState | pseudo-boolean | none | Export browser storage state in the JSON response; requires the browser engine; disables caching',
  async () => {
    const exported = () => read('/sets', { exportStorageState: 'true' });
    const requests = await hits('/sets', async () => {
      expect((await read('/sets', { engine: 'browser' })).data).not.toHaveProperty('storageState');
      expect((await exported()).data.storageState.cookies).toHaveLength(2);
      await exported();
    });
    expect(requests).toBe(3);
    const other = () => read('/sets?other', { engine: 'browser' });
    const stored = await hits('/sets', async () => {
      await read('/sets?other', { exportStorageState: 'true' });
      await other();
    });
    expect(stored).toBe(2);
    await needsBrowser({ exportStorageState: 'true' });
    const text = await read('/sets', { exportStorageState: 'true' }, { accept: 'text/plain' });
    expect(text.text).toContain('exportStorageState');
  },
);

hosted.row(
  '2',
  'When exportStorageState (or header X-Export-Storage-State) is enabled, the JSON response also carries a `storageState` field (browser cookies and per-origin localStorage accumulated during the crawl). Its shape mirrors the `storageState` request option so that it can be sent back in a later request.',
  async () => {
    const { data } = await host.at(page('/sets'), { 'x-export-storage-state': 'true' });
    const { cookies, origins } = data.storageState;
    expect(cookies).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'seen', value: '1', path: '/', domain: '127.0.0.1', httpOnly: false }),
        expect.objectContaining({ name: 'locked', value: '2', httpOnly: true }),
      ]),
    );
    expect(origins).toEqual([{ origin: host.site.origin, localStorage: [{ name: 'mood', value: 'calm' }] }]);
    const back = await host.post({ url: page('/mood'), engine: 'browser', storageState: data.storageState });
    expect(back.data.content).toContain('Mood: calm; seen=1');
    expect(host.site.headers('/mood')!.cookie).toMatch(/seen=1.*locked=2|locked=2.*seen=1/);
    // If a state was sent, the next state also contains what the page added.
    const state = { cookies: [], origins: [{ origin: host.site.origin, localStorage: [{ name: 'own', value: 'x' }] }] };
    const next = await host.post({ url: page('/sets'), storageState: state, exportStorageState: true });
    expect(next.data.storageState.origins[0].localStorage).toEqual(
      expect.arrayContaining([
        { name: 'own', value: 'x' },
        { name: 'mood', value: 'calm' },
      ]),
    );
  },
  'The field is in `data`.',
);

hosted.row(
  '4.3',
  'proxyResources | pseudo-boolean | none | Load resources (images, styles, scripts) through the proxy server',
  async () => {
    const through = async (options: Values, at = '/resources', more: readonly string[] = []) => {
      proxied.length = 0;
      const loaded = ['/style.css', '/boat.svg', ...more].map((path) => [path, host.site.hits(path)] as const);
      const asked = { engine: 'browser', proxy: 'de', respondTiming: 'media-idle', noCache: 'true', ...options };
      expect((await read(at, asked, host.key())).status).toBe(200);
      for (const [path, before] of loaded) expect([path, host.site.hits(path)]).toEqual([path, before + 1]);
      return [host.site.origin, host.site.otherOrigin].map((origin) => proxied.includes(new URL(origin).host));
    };
    expect(await through({})).toEqual([true, false]);
    expect(await through({ proxyResources: 'false' })).toEqual([true, false]);
    expect(await through({ proxyResources: 'true' })).toEqual([true, true]);
    expect(await through({ proxyResources: 'true' }, '/resources/script', ['/app.js'])).toEqual([true, true]);
  },
  'Without it, scripts are loaded through the proxy, the rest directly.',
);

hosted.row('4.3', 'locale | string | none | Browser locale for the page', async () => {
  expect(await rendered('/language', { locale: 'de-CH' })).toContain('Language: de-CH');
  expect(host.site.headers('/language')!['accept-language']).toMatch(/^de-CH/);
  expect(await rendered('/language')).toContain('Language: en-US');
  expect(await read('/language', { locale: 'not a language' })).toMatchObject(refused('locale'));
});

const SCRIPT = 'addEventListener("DOMContentLoaded", () => document.body.append("Injected as text."))';

hosted.row(
  '4.3',
  'injectPageScript | string | none | JavaScript (inline or as a URL) to run in the page before extraction',
  async () => {
    expect(await content('/framed', { injectPageScript: SCRIPT })).toMatch(/Outside\.\s+Injected as text\./);
    expect(await content('/framed', { injectPageScript: page('/inject.js') })).toContain('Injected by URL.');
    const html = async (options: Values) =>
      (await read('/framed', { withIframe: 'true', respondWith: 'html', ...options })).data.html as string;
    expect((await html({ injectPageScript: SCRIPT })).match(/Injected as text\./g)).toHaveLength(1);
    expect(await rendered('/framed')).not.toContain('Injected');
    await needsBrowser({ injectPageScript: SCRIPT });
  },
);

hosted.row('4.3', 'injectFrameScript | string | none | Same as injectPageScript, for frames', async () => {
  const html = async (injectFrameScript: string) =>
    (await read('/framed', { withIframe: 'true', respondWith: 'html', injectFrameScript })).data.html as string;
  expect(await html(SCRIPT)).toMatch(/Inside the frame\.<\/p>\s*Injected as text\./);
  expect(await html(page('/inject.js'))).toMatch(/Inside the frame\.<\/p>\s*Injected by URL\./);
  await needsBrowser({ injectFrameScript: SCRIPT });
});

hosted.row(
  '4.3',
  'respondTiming | enum: html, visible-content, mutation-idle, resource-idle, media-idle, network-idle | none | html = return unrendered HTML; visible-content = return as soon as any content is available; mutation-idle = wait until DOM mutations settle and stay unchanged for at least 0.2 s; resource-idle = wait until no further logic/content-relevant resources load successfully within 0.5 s; media-idle = same including media resources, 0.5 s; network-idle = wait for full page load (networkidle0)',
  async () => {
    const timed = (path: string, respondTiming: string) =>
      rendered(path, { respondTiming, timeout: 60, noCache: 'true' });
    /** Returns the response while the requests are held. */
    const early = async (path: string, timing: string, ...queries: string[]) => {
      const text = await timed(path, timing);
      for (const query of queries) held.release(query);
      return text;
    };
    /** Checks that the response waits for the held request: after one second, there is no response yet. */
    const late = async (path: string, timing: string, query: string) => {
      let isAnswered = false;
      const text = timed(path, timing).finally(() => {
        isAnswered = true;
      });
      await expect.poll(() => held.waiting(query), { timeout: 30_000 }).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect([path, timing, isAnswered]).toEqual([path, timing, false]);
      held.release(query);
      return text;
    };
    expect(await content('/rendered', { respondTiming: 'html' })).not.toContain('second word');
    expect(await content('/rendered', {})).toContain('second word');
    expect(await early('/timing/restless', 'visible-content', 'restless')).toContain(
      'This sentence is in the document',
    );
    const settled = await early('/timing/mutations', 'mutation-idle', 'mutations');
    expect([settled.includes('Change 8'), settled.includes('Fetched.')]).toEqual([true, false]);
    const fetched = await late('/timing/fetch', 'resource-idle', 'fetch');
    expect([fetched.includes('Fetched.'), fetched.includes('Styled.')]).toEqual([true, false]);
    held.release('style');
    expect(await late('/timing/style', 'media-idle', 'media')).toContain('Styled.');
    expect(await late('/timing/all', 'network-idle', 'all')).toContain('Fetched.');
    expect(await read('/article', { respondTiming: 'soon' })).toMatchObject(refused('respondTiming'));
  },
);
