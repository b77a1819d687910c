/**
 * No option is silently ignored. In each format, for fetched and for submitted pages, every option changes the response
 * or the request to the target, or is named in a warning or an error.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPTIONS } from '#reader/index.ts';
import { type Site, startSite } from '../site/site.ts';
import { parseEvents, startServer, type TestServer } from '../support/server.ts';

const PROSE = 'A sentence of some length that is there to be read by somebody, and more than once. '.repeat(4);
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const PAGE = `<!doctype html><html lang="en"><head><title>Glaze</title></head><body><main><h1>Glaze</h1><p id="one">${PROSE}</p>
<h2>Second</h2><p class="two">${PROSE} <em>Soft</em> and <strong>hard</strong>, <a href="/list">a link</a>, <img src="/boat.svg" alt="A boat"><img src="${PIXEL}" alt="A dot"></p>
<table><thead><tr><th>Clay</th><th>Price</th></tr></thead><tbody><tr><td>Red</td><td>3</td></tr></tbody></table><ul><li>One</li><li>Two</li></ul><hr>
<video src="/film.mp4"></video><p>${PROSE.repeat(20)}</p><ol class="comments"><li>Ada, May 2: it cracks.</li></ol></main></body></html>`;

let site: Site;
let server: TestServer;
beforeAll(async () => {
  site = await startSite({
    '/glaze': PAGE,
    '/to-glaze': ({ response }) => void response.writeHead(302, { location: '/glaze' }).end(),
  });
  server = await startServer({
    allowNetworks: site.allow.join(','),
    visionUrl: 'http://127.0.0.1:9',
    visionModel: 'none',
  });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Answer = any;

type OptionName = keyof typeof OPTIONS;

const FORMATS = ['content', 'markdown', 'html', 'text', 'frontmatter'] as const;

/** A non-default value for each option. */
const VALUES: Readonly<Partial<Record<OptionName, unknown>>> = {
  respondTiming: 'network-idle',
  targetSelector: '.two',
  waitForSelector: '#one',
  scroll: 2,
  removeSelector: '#one',
  comments: 'keep',
  withIframe: true,
  withShadowDom: true,
  removeOverlay: true,
  detachInvisibles: true,
  injectPageScript: '1',
  injectFrameScript: '1',
  viewport: { width: 400, height: 400 },
  preloadUrl: 'http://127.0.0.1/none',
  retainLinks: 'text',
  retainImages: 'none',
  retainMedia: 'text',
  withLinksSummary: true,
  withImagesSummary: true,
  keepImgDataUrl: true,
  markdown: { hr: '---', bulletListMarker: '+', emDelimiter: '*', headingStyle: 'setext' },
  noGfm: true,
  markdownChunking: 'h2',
  maxTokens: 500,
  tokenBudget: 1,
  explain: true,
  pageMarkers: true,
  proxyUrl: 'gopher://none.test',
  proxy: 'de',
  proxyResources: true,
  assertStatusCode: 201,
  exportStorageState: true,
  storageState: { cookies: [], origins: [] },
  page: 3,
  pdfRunningText: 'keep',
  filePassword: 'clay',
  annotations: 'inline',
  instruction: 'What is it?',
  jsonSchema: { type: 'object' },
  base: 'final',
};

/** Options whose effect is not visible in the response, with a description of the effect. Other tests check it. */
const ELSEWHERE: Readonly<Partial<Record<OptionName, string>>> = {
  url: 'what is read',
  html: 'what is read',
  file: 'what is read',
  pdf: 'what is read',
  respondWith: 'the format itself',
  preset: 'other options',
  engine: 'how it is read',
  timeout: 'a bound',
  noServiceWorker: 'always so',
  trace: 'beside the page',
  locale: 'sent to the target',
  referer: 'sent to the target',
  userAgent: 'sent to the target',
  setCookies: 'sent to the target',
  customHeader: 'sent to the target',
  skipCertVerification: 'how the target is reached',
  robotsTxt: 'whether it is read at all',
  assertNotBlocked: 'only pages that are not the content',
  noCache: 'copies',
  cacheTolerance: 'copies',
  doNotTrack: 'copies',
  zeroDataRetention: 'copies',
  withGeneratedAlt: 'asks a model',
};

async function ask(body: Record<string, unknown>, accept = 'application/json'): Promise<Answer> {
  const answer = await fetch(server.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ noCache: true, ...body }),
  });
  return answer.json();
}

it('lists every option: with a value, or with the reason why it has none', () => {
  const known = [...Object.keys(VALUES), ...Object.keys(ELSEWHERE)].sort();
  expect(known).toEqual(Object.keys(OPTIONS).sort());
});

describe.each([
  ['fetched by engine direct', () => ({ url: `${site.origin}/to-glaze`, engine: 'direct' })],
  ['that came with the request', () => ({ html: PAGE, url: 'https://pots.test/glaze', engine: 'direct' })],
])('of a page %s', (kind, target) => {
  const isGiven = kind.includes('came');
  // The formats of a submitted page are rendered by the same code.
  it.each(isGiven ? (['content', 'html'] as const) : FORMATS)(
    'no option is ignored silently in %s',
    async (respondWith) => {
      const { data: plain } = await ask({ ...target(), respondWith });
      const silent: string[] = [];
      for (const [name, value] of Object.entries(VALUES)) {
        // A submitted page has no redirects.
        if (isGiven && name === 'base') continue;
        const { data } = await ask({ ...target(), respondWith, [name]: value });
        // An error names the option that caused it.
        const isNamed = data === null || String(data.warning).includes(name);
        const { usage: _, warning: __, ...seen } = data ?? {};
        const { usage: ___, warning: ____, ...before } = plain;
        const isChanged = data !== null && JSON.stringify(seen) !== JSON.stringify(before);
        if (!isNamed && !isChanged) silent.push(name);
      }
      expect(silent).toEqual([]);
    },
  );
});

describe('of what came with the request', () => {
  it.each(['referer', 'setCookies', 'customHeader', 'locale', 'skipCertVerification', 'robotsTxt'] as const)(
    '%s has a warning that nothing was fetched',
    async (name) => {
      const value = { customHeader: { a: 'b' }, referer: 'https://a.test/', setCookies: ['a=1'], locale: 'de' }[
        name as string
      ];
      const { data } = await ask({ html: PAGE, engine: 'direct', [name]: value ?? 'true' });
      expect(data.warning).toContain(`${name} has no effect: nothing was fetched for this response.`);
    },
  );

  it.each(['waitForSelector', 'withIframe', 'viewport'] as const)(
    '%s has a warning that a file is not a page',
    async (name) => {
      const file = Buffer.from('a,b\n1,2\n').toString('base64');
      const { data } = await ask({ file, [name]: VALUES[name] });
      expect(data.warning).toContain(`${name} has no effect: the target is not a web page.`);
    },
  );
});

describe('an answer in text', () => {
  const text = async (body: Record<string, unknown>) => {
    const answer = await fetch(server.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${site.origin}/glaze`, engine: 'direct', ...body }),
    });
    return {
      status: answer.status,
      told: answer.headers.get('x-warning'),
      json: answer.status >= 400 ? await answer.json() : undefined,
    };
  };

  it('fails if a storage state or an explanation is requested', async () => {
    for (const name of ['exportStorageState', 'explain'])
      expect(await text({ engine: 'auto', [name]: true }), name).toMatchObject({
        status: 400,
        json: { path: name, message: expect.stringContaining('application/json') },
      });
    const stream = await fetch(`${server.reader}/${site.origin}/glaze`, {
      headers: { accept: 'text/event-stream', 'x-export-storage-state': 'true' },
    });
    expect(parseEvents(await stream.text()).at(-1)!.data).toHaveProperty('storageState');
  });

  it('carries its warnings in a header', async () => {
    expect((await text({ respondWith: 'html', removeSelector: ['.nöne', 'nav'] })).told).toBe(
      'removeSelector matched nothing on this page: .n?ne, nav',
    );
    expect((await text({ respondWith: 'text', maxTokens: 500 })).told).toContain('cut after 500 tokens (maxTokens)');
    expect((await text({ respondWith: 'html', withLinksSummary: true })).told).toContain('withLinksSummary');
    expect((await text({ withLinksSummary: true })).told).toBeNull();
  });
});

describe('a warning', () => {
  it('names the limit or selector that left something out', async () => {
    const target = { url: `${site.origin}/glaze`, engine: 'direct' };
    for (const respondWith of FORMATS)
      expect((await ask({ ...target, respondWith, maxTokens: 500 })).data.warning, respondWith).toContain('maxTokens');
    expect((await ask({ ...target, maxTokens: 100_000 })).data.warning).toBeUndefined();
    expect((await ask({ ...target, targetSelector: ['#one', '.gone'] })).data.warning).toContain(
      'targetSelector matched nothing on this page: .gone',
    );
    expect((await ask({ ...target, removeSelector: ['#one'] })).data.warning).toBeUndefined();
  });

  it('says that a tree is too deep for Markdown', async () => {
    const html = `${'<div>'.repeat(300)}<p>${PROSE}</p>`;
    expect((await ask({ html, engine: 'direct' })).data.warning).toContain('for Markdown: this is its text');
  });

  it('counts characters that could not be decoded', async () => {
    const { data } = await ask({ html: `<p>${PROSE} na\ufffdve</p>`, engine: 'direct' });
    expect(data.warning).toContain('1 character of this page could not be decoded');
  });

  it('names a selector that never appears, and says that a page did not become idle', { timeout: 90_000 }, async () => {
    const [missing, chatty] = await Promise.all([
      ask({ url: `${site.origin}/article`, waitForSelector: ['h1', '.never'], timeout: 15 }),
      ask({ url: `${site.origin}/chatty`, engine: 'browser', timeout: 15 }),
    ]);
    expect(missing.data.warning).toContain('waitForSelector did not appear in time: .never');
    expect(chatty.data.warning).toContain('had not become idle at the deadline');
  });
});
