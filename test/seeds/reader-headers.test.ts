/**
 * Section 4.4: each header has the same effect as the option in its row. Headers that need the browser are tested in
 * reader-browser.
 */
import { afterAll, beforeAll, expect } from 'vitest';
import { CERTIFICATE, KEY } from '#net/proxy.suite.ts';
import { seedRows } from '../../scripts/seeds.ts';
import { sendHtml } from '../site/site.ts';
import { makePdf } from './files.ts';
import { expectSameAsOption, type Headers, type ReaderHost, send, startReader, type Values } from './reader-host.ts';
import { type SecureSite, startSecureSite } from './secure-site.ts';
import { hosted } from './seed.ts';

const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const HTML = `<!doctype html><title>Tea table</title><main><h1>Tea</h1><p>Some <em>fine</em> and <strong>strong</strong> tea from <a href="https://tea.test/shop">the shop</a>.</p>
<ul><li>green</li><li>black</li></ul><hr><h2>Prices</h2><table><tr><th>Kind</th></tr><tr><td>Green</td></tr></table>
<p>Here is <img src="/leaf.png" alt="a leaf"> and <img src="${PIXEL}" alt="a dot">.</p><video src="https://tea.test/film.mp4"></video>
${'<p>Tea is picked by hand on the slopes above the river, and dried in the sun for a day.</p>'.repeat(40)}</main>`;

let host: ReaderHost;
let secure: SecureSite;
let pdf: string;
beforeAll(async () => {
  secure = await startSecureSite({ key: KEY, cert: CERTIFICATE });
  pdf = (await makePdf()).toString('base64');
  host = await startReader({
    pages: {
      // The page shows the request headers, so that equal responses mean equal requests.
      '/told': ({ request: { headers }, response }) =>
        sendHtml(
          response,
          `<title>Told</title><p>${JSON.stringify([headers['user-agent'], headers['accept-language'], headers.referer, headers.cookie])}</p>`,
        ),
      '/late': ({ response }) => void setTimeout(() => sendHtml(response, '<title>Late</title><p>Late.</p>'), 2_000),
      '/old/page': ({ response }) => void response.writeHead(301, { location: '/new/place' }).end(),
      '/new/place': '<title>Place</title><p>A page with a <a href="next">relative link</a>.</p>',
      '/robots.txt': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /told\n'),
    },
    allow: [secure.host],
    settings: { proxies: [{ url: 'http://127.0.0.1:9', countries: ['de'] }] },
  });
});
afterAll(async () => {
  await host.close();
  await secure.close();
});

/** Expects that the header and the option change the response in the same way. */
const same = (header: string, option: string, value: string, target: Values = {}, headers: Headers = {}) =>
  expectSameAsOption(host, { header, option, value, target: { ...on, ...target }, headers });
/** The HTML above, unless the test specifies a URL. */
const on: Values = { html: HTML, engine: 'direct', respondWith: 'markdown' };
const page = (path: string): Values => ({ html: '', url: `${host.site.origin}${path}` });
const markdown = async (headers: Headers): Promise<string> =>
  (await host.read({ html: HTML, url: 'https://tea.test/', respondWith: 'markdown' }, headers)).data.content;

hosted.row(
  '4.4',
  'Each header below carries the same option as the query parameter named in the second column.',
  async () => {
    const { paths } = (await send(`${host.server.reader}/openapi.json`, { headers: {} })).json;
    const { parameters } = paths['/'].get as { parameters: { in: string; name: string }[] };
    const has = (where: string, name: string) =>
      parameters.some((one) => one.in === where && one.name.toLowerCase() === name.toLowerCase());
    const rows = seedRows('hosted').filter(({ section, words }) => section === '4.4' && words.startsWith('X-'));
    const pairs = rows.flatMap(({ words }) => {
      const [header = '', query = ''] = words.split(' | ');
      return header.startsWith('X-Md-') ? [] : [[header, query.split(' ')[0]!] as const];
    });
    expect(pairs).toHaveLength(39);
    for (const [header, query] of pairs)
      expect([header, has('header', header), has('query', query)]).toEqual([header, true, true]);
  },
  'The options that the table leaves out have a header too, such as `X-No-Gfm` and `X-Instruction`.',
);

hosted.row('4.4', 'X-Respond-With | respondWith', () =>
  same('X-Respond-With', 'respondWith', 'html', { respondWith: '' }),
);
hosted.row('4.4', 'X-Target-Selector | targetSelector', () => same('X-Target-Selector', 'targetSelector', 'table'));
hosted.row('4.4', 'X-Remove-Selector | removeSelector', () => same('X-Remove-Selector', 'removeSelector', 'table'));
hosted.row('4.4', 'X-Keep-Img-Data-Url | keepImgDataUrl', () => same('X-Keep-Img-Data-Url', 'keepImgDataUrl', 'true'));
hosted.row('4.4', 'X-Proxy-Url | proxyUrl', async () => {
  await same('X-Proxy-Url', 'proxyUrl', 'http://ann:secret@127.0.0.1:9', page('/told'));
  await same('X-Proxy-Url', 'proxyUrl', 'gopher://127.0.0.1:9', page('/told'));
});
hosted.row('4.4', 'X-Proxy | proxy', async () => {
  await same('X-Proxy', 'proxy', 'fr', page('/told'), host.key());
  await same('X-Proxy', 'proxy', 'de', page('/told'), host.key());
});
hosted.row('4.4', 'X-Robots-Txt | robotsTxt', () => same('X-Robots-Txt', 'robotsTxt', 'AnyBot', page('/told')));
hosted.row('4.4', 'X-Set-Cookie | setCookies (standard Set-Cookie syntax)', async () => {
  const expires = new Date(Date.now() + 3_600_000).toUTCString();
  for (const value of [
    'session=abc',
    'session=abc; Path=/told; Domain=127.0.0.1; Max-Age=60; HttpOnly; SameSite=Lax',
    `session=abc; Expires=${expires}; Path=/`,
  ]) {
    await same('X-Set-Cookie', 'setCookies', value, page('/told'));
    const { content } = (await host.at(`${host.site.origin}/told`, { 'x-set-cookie': value })).data;
    expect([value, content]).toEqual([value, expect.stringContaining('session=abc')]);
  }
  const cookies = async (value: string) =>
    (await host.at(`${host.site.origin}/told`, { 'x-set-cookie': value })).data.content as string;
  expect(await cookies('session=abc; Path=/elsewhere')).not.toContain('session');
  expect(await cookies('session=abc; Max-Age=0')).not.toContain('session');
  expect(await cookies('a=1; Path=/, b=2; Path=/')).toMatch(/a=1; b=2|b=2; a=1/);
});
hosted.row('4.4', 'X-With-Images-Summary | withImagesSummary', () =>
  same('X-With-Images-Summary', 'withImagesSummary', 'true'),
);
hosted.row('4.4', 'X-With-links-Summary | withLinksSummary', async () => {
  await same('X-With-links-Summary', 'withLinksSummary', 'true');
  await same('X-With-links-Summary', 'withLinksSummary', 'all');
});
hosted.row('4.4', 'X-Retain-Links | retainLinks', async () => {
  for (const value of ['none', 'text', 'gpt-oss']) await same('X-Retain-Links', 'retainLinks', value);
});
hosted.row('4.4', 'X-Retain-Images | retainImages', async () => {
  for (const value of ['none', 'alt']) await same('X-Retain-Images', 'retainImages', value);
});
hosted.row('4.4', 'X-Retain-Media | retainMedia', async () => {
  for (const value of ['text', 'image', 'html']) await same('X-Retain-Media', 'retainMedia', value);
});
hosted.row('4.4', 'X-Preset | preset', async () => {
  for (const value of ['reader', 'index', 'research', 'agent', 'spider'])
    await same('X-Preset', 'preset', value, { respondWith: '' });
});
hosted.row('4.4', 'X-Skip-Cert-Verification | skipCertVerification', () =>
  same('X-Skip-Cert-Verification', 'skipCertVerification', 'true', { html: '', url: secure.origin }),
);
hosted.row('4.4', 'X-User-Agent | userAgent', async () => {
  for (const value of ['bot', 'inherit', 'Somebody/1.0'])
    await same('X-User-Agent', 'userAgent', value, page('/told'), host.key());
});
hosted.row('4.4', 'X-Timeout | timeout (seconds, maximum 180)', async () => {
  await same('X-Timeout', 'timeout', '1', page('/late'));
  const at = (timeout: string) => host.at(`${host.site.origin}/told`, { 'x-timeout': timeout });
  for (const timeout of ['1', '180', '181', '9999'])
    expect([timeout, (await at(timeout)).status]).toEqual([timeout, 200]);
});
hosted.row('4.4', 'X-Locale | locale', () => same('X-Locale', 'locale', 'de-CH', page('/told')));
hosted.row('4.4', 'X-Referer | referer', () => same('X-Referer', 'referer', 'https://from.test/', page('/told')));
hosted.row('4.4', 'X-Token-Budget | tokenBudget', () => same('X-Token-Budget', 'tokenBudget', '5'));
hosted.row('4.4', 'X-Max-Tokens | maxTokens', async () => {
  await same('X-Max-Tokens', 'maxTokens', '500');
  await same('X-Max-Tokens', 'maxTokens', '499');
});
hosted.row('4.4', 'X-Assert-Status-Code | assertStatusCode', () =>
  same('X-Assert-Status-Code', 'assertStatusCode', '201', page('/told')),
);
hosted.row('4.4', 'X-Base | base', () => same('X-Base', 'base', 'final', page('/old/page')));
hosted.row('4.4', 'X-Markdown-Chunking | markdownChunking', async () => {
  for (const value of ['true', 'h1', 's2']) await same('X-Markdown-Chunking', 'markdownChunking', value);
});
hosted.row(
  '4.4',
  'X-Page | page (ignored when no file/PDF is uploaded)',
  async () => {
    await same('X-Page', 'page', '2', { html: '', pdf });
    await same('X-Page', 'page', '2', { html: '', file: pdf });
    const plain = await host.at(`${host.site.origin}/article`);
    expect((await host.at(`${host.site.origin}/article`, { 'x-page': '2' })).data.content).toBe(plain.data.content);
  },
  'Of a document that is read by its URL, the page is returned too.',
);

hosted.open(
  '4.4',
  'Headers without a query equivalent:',
  'A heading: the rows below it are tested. Lectern also takes them as the options `doNotTrack` and `markdown` ' +
    '([reader wire format](wire/reader.md)).',
);

hosted.row(
  '4.4',
  'Accept | Response format: text/event-stream, application/json or text/json, text/plain',
  async () => {
    const type = async (accept: string) =>
      (await host.read({ html: HTML }, { accept })).headers.get('content-type')!.split(';')[0];
    expect(await type('text/event-stream')).toBe('text/event-stream');
    expect(await type('application/json')).toBe('application/json');
    expect(await type('text/json')).toBe('application/json');
    expect(await type('text/plain')).toBe('text/plain');
    expect(await type('*/*')).toBe('text/plain');
    expect(await type('application/json;q=0.9, text/html')).toBe('application/json');
  },
  'Text is the default; parameters of a media type are ignored, except `q=0`.',
);

hosted.row('4.4', 'X-Md-Heading-Style | Markdown heading style: setext, atx', async () => {
  expect(await markdown({ 'x-md-heading-style': 'setext' })).toContain('Prices\n------');
  expect(await markdown({ 'x-md-heading-style': 'atx' })).toContain('## Prices');
});
hosted.row('4.4', 'X-Md-Hr | Text used for horizontal rules in generated Markdown', async () => {
  for (const hr of ['---', '***', '~ ~ ~']) expect(await markdown({ 'x-md-hr': hr })).toContain(`\n\n${hr}\n\n`);
});
hosted.row('4.4', 'X-Md-Bullet-List-Marker | Bullet marker: -, +, *', async () => {
  for (const marker of ['-', '+', '*'])
    expect(await markdown({ 'x-md-bullet-list-marker': marker })).toContain(`${marker}   green\n${marker}   black`);
});
hosted.row('4.4', 'X-Md-Em-Delimiter | Emphasis delimiter: _, *', async () => {
  for (const sign of ['_', '*'])
    expect(await markdown({ 'x-md-em-delimiter': sign })).toContain(`Some ${sign}fine${sign} and`);
});
hosted.row('4.4', 'X-Md-Strong-Delimiter | Strong delimiter: **, __', async () => {
  for (const sign of ['**', '__'])
    expect(await markdown({ 'x-md-strong-delimiter': sign })).toContain(`and ${sign}strong${sign} tea`);
});
hosted.row('4.4', 'X-Md-Link-Style | inlined, referenced, discarded', async () => {
  expect(await markdown({ 'x-md-link-style': 'inlined' })).toContain('from [the shop](https://tea.test/shop).');
  const referenced = await markdown({ 'x-md-link-style': 'referenced' });
  expect(referenced).toContain('from [the shop][1].');
  expect(referenced).toMatch(/\n\n\[1\]: https:\/\/tea\.test\/shop$/);
  const discarded = await markdown({ 'x-md-link-style': 'discarded' });
  expect(discarded).toContain('from the shop.');
  expect(discarded).not.toContain('tea.test/shop');
});
hosted.row('4.4', 'X-Md-Link-Reference-Style | full, collapsed, shortcut, discarded', async () => {
  const by = (style: string) => markdown({ 'x-md-link-style': 'referenced', 'x-md-link-reference-style': style });
  expect(await by('full')).toMatch(/from \[the shop\]\[1\]\.[\s\S]*\n\[1\]: https:\/\/tea\.test\/shop$/);
  expect(await by('collapsed')).toMatch(/from \[the shop\]\[\]\.[\s\S]*\n\[the shop\]: https:\/\/tea\.test\/shop$/);
  expect(await by('shortcut')).toMatch(/from \[the shop\]\.[\s\S]*\n\[the shop\]: https:\/\/tea\.test\/shop$/);
  const discarded = await by('discarded');
  expect(discarded).toContain('from [the shop][1].');
  expect(discarded).not.toContain('https://tea.test/shop');
});

hosted.row('4.4', 'The X-Md-* headers are passed through to the HTML-to-Markdown converter.', async () => {
  const all = {
    'x-md-heading-style': 'setext',
    'x-md-hr': '-----',
    'x-md-bullet-list-marker': '+',
    'x-md-em-delimiter': '*',
    'x-md-strong-delimiter': '__',
    'x-md-link-style': 'referenced',
    'x-md-link-reference-style': 'shortcut',
  };
  expect(await markdown(all)).toMatch(
    /Some \*fine\* and __strong__ tea from \[the shop\]\.\n\n\+ {3}green\n\+ {3}black\n\n-----\n\nPrices\n------\n[\s\S]*\n\[the shop\]: https/,
  );
  // Also tested with the URL in the path, and for the main content.
  const { content } = (await host.at(`${host.site.origin}/article`, { 'x-md-bullet-list-marker': '+' })).data;
  expect(content).toContain('+   Herring\n+   Mackerel');
  // The converter does not produce other formats.
  const html = { html: HTML, respondWith: 'html' };
  expect((await host.read(html, all)).data.html).toBe((await host.read(html)).data.html);
  for (const name of Object.keys(all)) {
    const wrong = await host.read({ html: HTML }, { [name]: name === 'x-md-hr' ? '-'.repeat(129) : 'maybe' });
    expect([name, wrong.status]).toEqual([name, 400]);
  }
});

// The effect of these options is tested in reader-browser and reader-models. Without a browser, the header results in
// the same error or warning as the option.
hosted.row('4.4', 'X-Wait-For-Selector | waitForSelector', () =>
  same('X-Wait-For-Selector', 'waitForSelector', 'h1', page('/told')),
);
hosted.row('4.4', 'X-With-Iframe | withIframe', async () => {
  for (const value of ['true', 'quoted']) await same('X-With-Iframe', 'withIframe', value, page('/told'));
});
hosted.row('4.4', 'X-With-Shadow-Dom | withShadowDom', () =>
  same('X-With-Shadow-Dom', 'withShadowDom', 'true', page('/told')),
);
hosted.row('4.4', 'X-Remove-Overlay | removeOverlay', () =>
  same('X-Remove-Overlay', 'removeOverlay', 'true', page('/told')),
);
hosted.row('4.4', 'X-Detach-Invisibles | detachInvisibles', () =>
  same('X-Detach-Invisibles', 'detachInvisibles', 'true', page('/told')),
);
hosted.row('4.4', 'X-Preload-Url | preloadUrl', () =>
  same('X-Preload-Url', 'preloadUrl', `${host.site.origin}/article`, page('/told')),
);
hosted.row('4.4', 'X-Export-Storage-State | exportStorageState', () =>
  same('X-Export-Storage-State', 'exportStorageState', 'true', page('/told')),
);
hosted.row('4.4', 'X-Proxy-Resources | proxyResources', () =>
  same('X-Proxy-Resources', 'proxyResources', 'true', page('/told')),
);
hosted.row('4.4', 'X-Respond-Timing | respondTiming', async () => {
  for (const value of ['html', 'visible-content', 'mutation-idle', 'resource-idle', 'media-idle', 'network-idle'])
    await same('X-Respond-Timing', 'respondTiming', value, page('/told'));
});
hosted.row('4.4', 'X-Engine | engine', async () => {
  for (const value of ['browser', 'cf-browser-rendering', 'direct'])
    await same('X-Engine', 'engine', value, { ...page('/told'), engine: '' });
});
