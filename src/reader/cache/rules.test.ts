import { describe, expect, it } from 'vitest';
import { type GivenOptions, OPTIONS, type OptionName } from '../options/options.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Target } from '../target.ts';
import { file, page, request, TEA_URL } from './cache.suite.ts';
import {
  type Copy,
  capturedBy,
  copyKey,
  flightKey,
  hasTokens,
  isWorthCaching,
  maxAgeMs,
  mayRead,
  mayWrite,
  serves,
} from './rules.ts';

/** For each option, a value that turns it on. */
const ON: { readonly [Name in OptionName]: GivenOptions[Name] } = {
  url: TEA_URL,
  html: '<p>tea</p>',
  file: 'dGVh',
  pdf: 'dGVh',
  respondWith: 'html',
  preset: 'agent',
  engine: 'browser',
  base: 'final',
  respondTiming: 'network-idle',
  timeout: 30,
  scroll: 3,
  targetSelector: ['main'],
  waitForSelector: ['main'],
  removeSelector: ['aside'],
  comments: 'drop',
  withIframe: true,
  withShadowDom: true,
  removeOverlay: true,
  detachInvisibles: true,
  injectPageScript: ['1'],
  injectFrameScript: ['1'],
  viewport: { width: 100, height: 100 },
  preloadUrl: 'https://tea.example/',
  noServiceWorker: true,
  retainLinks: 'text',
  retainImages: 'none',
  retainMedia: 'link',
  withLinksSummary: true,
  withImagesSummary: true,
  withGeneratedAlt: true,
  keepImgDataUrl: true,
  markdown: { hr: '***' },
  noGfm: true,
  markdownChunking: 'h2',
  maxTokens: 500,
  tokenBudget: 9,
  locale: 'de',
  referer: 'https://ref.example/',
  userAgent: 'kettle/1',
  setCookies: ['a=b'],
  customHeader: { 'x-a': 'b' },
  skipCertVerification: true,
  proxyUrl: 'http://proxy.example:1',
  proxy: 'de',
  proxyResources: true,
  robotsTxt: 'kettle',
  assertStatusCode: 200,
  assertNotBlocked: true,
  noCache: true,
  cacheTolerance: 60,
  doNotTrack: true,
  zeroDataRetention: true,
  exportStorageState: true,
  trace: true,
  explain: true,
  pageMarkers: true,
  storageState: { cookies: [] },
  page: 2,
  pdfRunningText: 'keep',
  filePassword: 'kettle',
  annotations: 'inline',
  instruction: 'what tea is it?',
  jsonSchema: { type: 'object' },
};
const NAMES = Object.keys(OPTIONS) as OptionName[];
const only = (name: OptionName, more: Parameters<typeof request>[2] = {}) =>
  request({ [name]: ON[name] }, TEA_URL, more);
const named = (which: (name: OptionName) => boolean) => NAMES.filter(which);

describe('mayRead and mayWrite', () => {
  it('forbid reading with options that bypass the cache, and with credentials', () => {
    expect(named((name) => !mayRead(only(name).options))).toEqual([
      'removeOverlay',
      'detachInvisibles',
      'injectPageScript',
      'injectFrameScript',
      'viewport',
      'preloadUrl',
      'setCookies',
      'customHeader',
      'skipCertVerification',
      'proxyUrl',
      'noCache',
      'zeroDataRetention',
      'exportStorageState',
      'storageState',
      'filePassword',
      'instruction',
    ]);
    expect(mayRead(request({ cacheTolerance: 0 }).options)).toBe(false);
    expect(mayRead(request({ noCache: true, cacheTolerance: 60 }).options)).toBe(false);
  });

  it('forbid writing with options that forbid storing, and with credentials', () => {
    expect(named((name) => !mayWrite(only(name).options))).toEqual([
      'removeOverlay',
      'detachInvisibles',
      'injectPageScript',
      'injectFrameScript',
      'viewport',
      'preloadUrl',
      'setCookies',
      'customHeader',
      'skipCertVerification',
      'proxyUrl',
      'doNotTrack',
      'zeroDataRetention',
      'exportStorageState',
      'storageState',
      'filePassword',
    ]);
  });

  it('allow everything with options that are off', () => {
    const off = { noCache: false, doNotTrack: false, setCookies: [], customHeader: {}, instruction: '' };
    expect(mayRead(request(off).options)).toBe(true);
    expect(mayWrite(request(off).options)).toBe(true);
  });

  it('forbid everything with the preset that removes invisible content', () => {
    const { options } = request({ preset: 'reader' });
    expect([mayRead(options), mayWrite(options)]).toEqual([false, false]);
  });

  it('allow copies as old as the caller tolerates, and of any age for submitted content', () => {
    expect(maxAgeMs(request(), 1000)).toBe(1000);
    expect(maxAgeMs(request({ cacheTolerance: 7200 }), 1000)).toBe(7_200_000);
    const upload = { url: 'blob:1', upload: { bytes: new Uint8Array(1), mediaType: 'application/pdf' } };
    expect(maxAgeMs(request({}, upload), 1000)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the key of a copy', () => {
  const plain = copyKey(request());

  it('differs only by options that change the capture', () => {
    const keyed = { keyed: true };
    const split = named((name) => mayRead(only(name).options) && copyKey(only(name, keyed)) !== plain);
    expect(split).toEqual([
      'scroll',
      'waitForSelector',
      'withIframe',
      'withShadowDom',
      'locale',
      'referer',
      'userAgent',
      'proxy',
      'page',
      'pdfRunningText',
      'annotations',
    ]);
  });

  it('differs by the values of those options', () => {
    expect(copyKey(request({ withIframe: true }))).not.toBe(copyKey(request({ withIframe: 'quoted' })));
    expect(copyKey(request({ locale: 'DE-ch' }))).toBe(copyKey(request({ locale: 'de-CH' })));
    // Callers without a key use no proxy.
    expect(copyKey(request({ proxy: 'de' }))).toBe(plain);
  });

  it.each<[string, string, boolean]>([
    ['https://tea.example/Leaves?kind=green#steep', TEA_URL, true],
    ['https://tea.example/Leaves?kind=green#', TEA_URL, true],
    ['https://tea.example/Leaves?kind=green#/steep', TEA_URL, false],
    ['https://tea.example/Leaves?kind=green#3', TEA_URL, false],
    ['https://tea.example/leaves?kind=green', TEA_URL, false],
    ['http://tea.example/Leaves?kind=green', TEA_URL, false],
    ['https://tea.example/Leaves', TEA_URL, false],
  ])('of %s equals that of %s: %s', (one, other, equal) => {
    expect(copyKey(request({}, one)) === copyKey(request({}, other))).toBe(equal);
  });

  it('is the same for a page selected by option and by fragment; the option takes precedence', () => {
    const third = copyKey(request({ page: 3 }));
    expect(copyKey(request({}, `${TEA_URL}#3`))).toBe(third);
    expect(copyKey(request({ page: 3 }, `${TEA_URL}#9`))).toBe(third);
  });

  it('depends on content, type and name of submitted content', () => {
    const places = (targets: Target[]) => new Set(targets.map((target) => copyKey(request({}, target)))).size;
    const given = (text: string, url = TEA_URL, mediaType = 'text/html') => ({ url, given: { text, mediaType } });
    expect(places([given('a'), given('a')])).toBe(1);
    expect(places([given('a'), given('b'), given('a', 'https://x.example/'), given('a', TEA_URL, 'text/plain')])).toBe(
      4,
    );
    const upload = (url: string, name: string) => ({
      url,
      upload: { bytes: new Uint8Array(1), mediaType: 'application/pdf', name },
    });
    expect(places([upload('blob:1', 'a.pdf'), upload('blob:1', 'a.pdf')])).toBe(1);
    expect(places([upload('blob:1', 'a.pdf'), upload('blob:2', 'a.pdf'), upload('blob:1', 'b.pdf')])).toBe(3);
  });
});

describe('the key of concurrent reads', () => {
  it('is equal for reads that differ only after the capture', () => {
    const plain = flightKey(request({}, TEA_URL, { keyed: true }));
    const split = named((name) => mayRead(only(name).options) && flightKey(only(name, { keyed: true })) !== plain);
    expect(split).toEqual([
      'engine',
      'respondTiming',
      'scroll',
      'timeout',
      'targetSelector',
      'waitForSelector',
      'withIframe',
      'withShadowDom',
      'locale',
      'referer',
      'userAgent',
      'proxy',
      'proxyResources',
      'robotsTxt',
      'doNotTrack',
      'page',
      'pdfRunningText',
      'annotations',
      // A schema requires a model.
      'jsonSchema',
    ]);
    expect(flightKey(request())).not.toBe(plain);
    const keyless = ['content', 'markdown', 'html', 'screenshot', 'vlm'].map((respondWith) =>
      flightKey(request({ respondWith })),
    );
    expect(new Set(keyless).size).toBe(4);
  });
});

describe('a copy', () => {
  const copyOf = (snapshot: Snapshot, given: GivenOptions = {}): Copy => {
    const { text: _, screenshot, pageshot, ...facts } = snapshot;
    return {
      facts,
      screenshot: screenshot !== undefined,
      pageshot: pageshot !== undefined,
      captured: capturedBy(request(given)),
    };
  };
  const isServed = (copy: Copy, given: GivenOptions) => serves(copy, request(given));
  const rendered = page('tea', { engine: 'browser' });
  const picture = new Uint8Array(1);

  it.each<[string, Copy, GivenOptions, boolean]>([
    ['auto, by auto', copyOf(page('tea')), {}, true],
    ['auto, by the browser', copyOf(rendered, { engine: 'browser' }), {}, true],
    ['auto, by a named direct engine', copyOf(page('tea'), { engine: 'direct' }), {}, false],
    [
      'auto, JSON by a named direct engine',
      copyOf(page('1', { mediaType: 'application/json' }), { engine: 'direct' }),
      {},
      true,
    ],
    [
      'auto, failed JSON by a named direct engine',
      copyOf(page('1', { mediaType: 'application/json', status: 500 }), { engine: 'direct' }),
      {},
      false,
    ],
    ['direct, by the browser', copyOf(rendered), { engine: 'direct' }, false],
    ['direct, by auto that needed no browser', copyOf(page('tea')), { engine: 'direct' }, true],
    ['browser, by auto that needed none', copyOf(page('tea')), { engine: 'browser' }, false],
    ['browser, by auto that rendered', copyOf(rendered), { engine: 'browser' }, true],
    ['cf-browser-rendering, by the browser', copyOf(rendered), { engine: 'cf-browser-rendering' }, false],
    ['auto, fetched for HTML only', copyOf(page('tea'), { respondWith: 'html' }), {}, false],
    ['HTML only, by a named direct engine', copyOf(page('tea'), { engine: 'direct' }), { respondWith: 'html' }, true],
    ['a later timing', copyOf(rendered, { respondTiming: 'html' }), {}, false],
    ['an earlier timing', copyOf(rendered, { respondTiming: 'network-idle' }), { respondTiming: 'html' }, true],
    ['a later timing, direct', copyOf(page('tea'), { respondTiming: 'html' }), { engine: 'direct' }, true],
    ['a later timing, a document', copyOf(file('tea'), { respondTiming: 'html' }), {}, true],
    ['a document, by any engine', copyOf(file('tea'), { engine: 'direct' }), { engine: 'browser' }, true],
    ['a document for a language model', copyOf(file('tea')), { respondWith: 'readerlm-v2' }, true],
    ['a page for a language model', copyOf(rendered), { respondWith: 'readerlm-v2' }, true],
    [
      'a screenshot that is there',
      copyOf({ ...rendered, screenshot: picture }, { respondWith: 'screenshot' }),
      { respondWith: 'screenshot' },
      true,
    ],
    ['a screenshot that is not', copyOf(rendered, { respondWith: 'screenshot' }), { respondWith: 'screenshot' }, false],
    [
      'a page shot that is not',
      copyOf({ ...rendered, screenshot: picture }, { respondWith: 'screenshot' }),
      { respondWith: 'pageshot' },
      false,
    ],
    [
      'content, with pictures at hand',
      copyOf({ ...rendered, screenshot: picture }, { respondWith: 'screenshot' }),
      {},
      true,
    ],
    ['a vision model', copyOf({ ...rendered, screenshot: picture }), { respondWith: 'vlm' }, false],
    ['text recognition', copyOf({ ...rendered, pageshot: picture }), { respondWith: 'svc-ocr' }, false],
  ])('for %s: %#', (_, copy, given, served) => expect(isServed(copy, given)).toBe(served));
});

describe('isWorthCaching', () => {
  const long = 'tea '.repeat(300);
  const untitled = (words: string) => ({ text: `<p>${words}</p>` });
  it.each<[string, Snapshot, boolean]>([
    ['a page', page('tea'), true],
    ['a page that never settled', page('tea', { settled: false }), false],
    ['a page that was cut off', page('tea', { notes: ['this is the part that arrived'] }), false],
    ['a page without a title', page('', untitled(long)), false],
    ['a page with an empty title', page('', { text: `<title> \n</title><p>${long}</p>` }), false],
    ['a page whose second title has text', page('', { text: `<title>\n<title lang="en">T</title>` }), true],
    ['a page whose title never ends', page('', { text: '<title ' }), false],
    ['a page with its title far from the start', page('', { text: `${' '.repeat(2 ** 21)}<title>T</title>` }), false],
    ['text without a title', page('', { text: 'tea', mediaType: 'text/plain' }), true],
    ['a short page that was not found', page('tea', { status: 404 }), false],
    ['a long page that was not found', page(long, { status: 404 }), true],
    ['a short page that asks for a captcha', page('<div class="g-recaptcha"></div>'), false],
    ['a long page that mentions one', page(`${long}<div class="g-recaptcha"></div>`), true],
    ['HTML that came with the request and was not rendered', page('tea', { engine: 'given' }), false],
    ['HTML that came with the request and was rendered', page('tea', { engine: 'browser', url: 'blob:1' }), true],
    ['a page that forbids storing', page('tea', { noStore: true }), false],
    ['a document that forbids storing', file('tea', { noStore: true }), false],
    ['a file still to be read', page('', { file: { path: '/f', size: 1, mediaType: 'application/pdf' } }), false],
    ['the state of a browser', page('tea', { storageState: { cookies: [], origins: [] } }), false],
    ['a document without a title', file('tea'), true],
    ['a document with a query', file('tea', { url: `${TEA_URL}&file=a.pdf` }), false],
    ['a document with a query in its fragment', file('tea', { url: 'https://tea.example/a.pdf#?' }), true],
    ['an uploaded document', file('tea', { url: 'blob:1', engine: 'given' }), true],
    [
      'a document of which some pages were not read',
      file('tea', { notes: ['Page 4 is a picture without text'] }),
      true,
    ],
    ['a document that was cut off', file('tea', { notes: ['It broke off'], partial: true }), false],
    ['a document that was not found', file('tea', { status: 404 }), false],
  ])('%s: %#', (_, snapshot, kept) => expect(isWorthCaching(snapshot, request().options)).toBe(kept));

  it('accepts a page that forbids storing only if the caller sets a tolerance', () => {
    const secret = page('tea', { noStore: true });
    const asks = request({ cacheTolerance: 60 });
    expect(isWorthCaching(secret, asks.options)).toBe(true);
    expect(isWorthCaching(secret, request({ cacheTolerance: 0 }).options)).toBe(false);
    const { text: _, ...facts } = secret;
    const copy = { facts, screenshot: false, pageshot: false, captured: capturedBy(asks) };
    expect(serves(copy, asks)).toBe(true);
    expect(serves(copy, request())).toBe(false);
    expect(serves({ ...copy, facts: { ...facts, noStore: undefined } }, request())).toBe(true);
  });

  it('refuses documents read for a model, and pictures read with an instruction', () => {
    const picture = file('tea', { document: { title: '', mediaType: 'image/png', metadata: {}, hiddenCount: 0 } });
    expect(isWorthCaching(picture, request().options)).toBe(true);
    expect(isWorthCaching(picture, request({ instruction: 'what is it?' }).options)).toBe(false);
    expect(isWorthCaching(file('tea'), request({ respondWith: 'vlm' }).options)).toBe(false);
  });
});

describe('the estimate of tokens', () => {
  const enough = (text: string, html = true) => hasTokens(text, html, 10);
  it.each<[string, boolean]>([
    ['a '.repeat(20), true],
    ['a '.repeat(19), false],
    ['茶'.repeat(10), true],
    ['茶'.repeat(9), false],
    [' '.repeat(1000), false],
    [`<p class="${'tea'.repeat(100)}">tea</p>`, false],
    [`<script>${'tea '.repeat(100)}</script><STYLE>${'tea '.repeat(100)}</STYLE>`, false],
    [`<script>${'tea '.repeat(100)}`, false],
    [`<!-- ${'tea '.repeat(100)} --> tea`, false],
    [`<!-- ${'tea '.repeat(100)}`, false],
    [`<script></SCRIPT>${'tea '.repeat(10)}`, true],
    [`tea <`.repeat(10), false],
  ])('of %j', (text, expected) => expect(enough(text)).toBe(expected));

  it('counts text that is not HTML unchanged', () =>
    expect(enough(`<script>${'tea '.repeat(10)}</script>`, false)).toBe(true));
});
