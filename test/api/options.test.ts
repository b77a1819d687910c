/** Every option changes the response as its row in the option table specifies. None is silently ignored. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPTIONS } from '#reader/index.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const HTML = `<!doctype html><html lang="en"><head><title>Tea table</title></head><body><main>
<h1>Tea</h1><p>Some <em>fine</em> and <strong>strong</strong> tea, <del>cold</del> hot, from <a href="/shop">the shop</a>.</p>
<ul><li>green</li><li>black</li></ul><hr><h2>Prices</h2>
<table><tr><th>Kind</th><th>Price</th></tr><tr><td>Green</td><td>3</td></tr></table>
<p>Here is <img src="/leaf.png" alt="a leaf"> and here <img src="${PICTURE}" alt="a dot"> in a line of text.</p>
<h3>Deeper</h3><p>The last paragraph of the page has a few more words.</p></main></body></html>`;

let site: Site;
let server: TestServer;
beforeAll(async () => {
  site = await startSite();
  server = await startServer({ allowNetworks: site.allow.join(',') });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
async function read(body: Record<string, unknown>): Promise<any> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await fetch(server.reader, { method: 'POST', headers, body: JSON.stringify(body) });
  const json = (await answer.json()) as { data: unknown; readableMessage?: string };
  expect(json.readableMessage).toBeUndefined();
  return json.data;
}
const readHtml = (options: Record<string, unknown> = {}) =>
  read({ html: HTML, url: 'https://tea.test/table', respondWith: 'markdown', ...options });
const content = async (options: Record<string, unknown> = {}): Promise<string> => (await readHtml(options)).content;

describe('Markdown', () => {
  it('has the documented defaults', async () => {
    expect(await content()).toBe(`# Tea table

# Tea

Some _fine_ and **strong** tea, ~~cold~~ hot, from [the shop](https://tea.test/shop).

*   green
*   black

* * *

## Prices

| Kind | Price |
| --- | --- |
| Green | 3 |

Here is ![Image 1: a leaf](https://tea.test/leaf.png) and here ![Image 2: a dot](blob:http://localhost/${createHash('md5').update(PICTURE).digest('hex')}) in a line of text.

### Deeper

The last paragraph of the page has a few more words.`);
  });

  it.each([
    [{ headingStyle: 'setext' }, 'Prices\n------'],
    [{ hr: '-----' }, '\n\n-----\n\n'],
    [{ bulletListMarker: '-' }, '-   green\n-   black'],
    [{ emDelimiter: '*' }, '*fine*'],
    [{ strongDelimiter: '__' }, '__strong__'],
    [{ linkStyle: 'discarded' }, 'from the shop.'],
    [{ linkStyle: 'referenced', linkReferenceStyle: 'full' }, '[the shop][1]'],
    [{ linkStyle: 'referenced', linkReferenceStyle: 'collapsed' }, '[the shop][]'],
    [{ linkStyle: 'referenced', linkReferenceStyle: 'shortcut' }, '\n\n[the shop]: https://tea.test/shop'],
  ])('applies markdown %j', async (markdown, expected) => {
    expect(await content({ markdown })).toContain(expected);
  });

  it('ignores all Markdown headers if the body has `markdown`', async () => {
    const ask = async (body: Record<string, unknown>) => {
      const headers = { 'content-type': 'application/json', 'x-md-em-delimiter': '*', 'x-md-bullet-list-marker': '+' };
      const answer = await fetch(server.reader, {
        method: 'POST',
        headers,
        body: JSON.stringify({ html: HTML, respondWith: 'markdown', ...body }),
      });
      return await answer.text();
    };
    expect(await ask({})).toMatch(/\*fine\*[\s\S]*\+ {3}green/);
    expect(await ask({ markdown: { strongDelimiter: '__' } })).toMatch(/_fine_[\s\S]*__strong__[\s\S]*\* {3}green/);
  });

  it('noGfm disables the GitHub flavour, or only its tables', async () => {
    const none = await content({ noGfm: true });
    expect(none).not.toContain('|');
    expect(none).toContain('cold hot');
    const tables = await content({ noGfm: 'table' });
    expect(tables).toContain('<td>Green</td>');
    expect(tables).toContain('~~cold~~');
  });

  it('retainImages: none and alt', async () => {
    expect(await content({ retainImages: 'none' })).not.toContain('leaf');
    expect(await content({ retainImages: 'alt' })).toContain('Here is (Image 1: a leaf) and here (Image 2: a dot) in');
  });

  it('keepImgDataUrl', async () => {
    expect(await content({ keepImgDataUrl: true })).toContain(`![Image 2: a dot](${PICTURE})`);
  });

  it('withLinksSummary and withImagesSummary', async () => {
    const page = await readHtml({ withLinksSummary: 'all', withImagesSummary: true });
    expect(page.links).toEqual([['the shop', 'https://tea.test/shop']]);
    expect(Object.keys(page.images)).toEqual(['Image 1: a leaf', 'Image 2: a dot']);
    const cited = await readHtml({ retainLinks: 'gpt-oss' });
    expect(cited.links).toEqual({ 1: 'https://tea.test/shop' });
  });

  it('markdownChunking, plain and with headings repeated', async () => {
    const plain = await readHtml({ markdownChunking: 'h2' });
    expect(plain.chunks.map((chunk: string) => chunk.split('\n')[0])).toEqual(['# Tea table', '# Tea', '## Prices']);
    const deep = await readHtml({ markdownChunking: 's3' });
    expect(deep.chunks.at(-1)).toMatch(/^# Tea table\n# Tea\n## Prices\n### Deeper\n\nThe last paragraph/);
    expect(deep.content).toContain('### Deeper');
  });

  it('retainMedia', async () => {
    const html = `<title>Films</title><main><p>Before the film.</p><video src="/film.mp4" class="big" data-x="1"></video>
<audio><source src="/song.mp3"></audio><iframe src="https://www.youtube.com/embed/abc"></iframe><p>After the film.</p></main>`;
    const ask = async (retainMedia: string) =>
      (await read({ html, url: 'https://tea.test/', respondWith: 'markdown', retainMedia })).content as string;
    expect(await ask('none')).not.toMatch(/Video|film\.mp4/);
    expect(await ask('text')).toMatch(/Video 1[\s\S]*Audio 1[\s\S]*Video 2/);
    expect(await ask('link')).toMatch(
      /\[Video 1\]\(https:\/\/tea\.test\/film\.mp4\)[\s\S]*\[Audio 1\]\(https:\/\/tea\.test\/song\.mp3\)[\s\S]*\[Video 2\]\(https:\/\/www\.youtube\.com\/embed\/abc\)/,
    );
    expect(await ask('image')).toContain('![Video 1](https://tea.test/film.mp4)');
    const kept = await ask('html');
    expect(kept).toContain('<video src="https://tea.test/film.mp4"></video>');
    expect(kept).not.toMatch(/data-x|class=/);
  });

  it('retainMedia is `link` unless the caller or the preset says otherwise', async () => {
    const html = `<title>Films</title><main><h1>Films</h1><p>Before the film, a paragraph says what it is about, at some length.</p>
<video src="/film.mp4"></video><audio controls><source src="/song.mp3"></audio>
<iframe src="https://www.youtube.com/embed/abc"></iframe><p>After the film, another one says who made it, and when that was.</p></main>`;
    const ask = (given: Record<string, unknown>) =>
      read({ html, url: 'https://tea.test/', engine: 'direct', ...given });
    const links = [
      '[Video 1](https://tea.test/film.mp4)',
      '[Audio 1](https://tea.test/song.mp3)',
      '[Video 2](https://www.youtube.com/embed/abc)',
    ];
    const linked = [
      {},
      { respondWith: 'content' },
      { respondWith: 'markdown' },
      { respondWith: 'frontmatter' },
      { preset: 'research' },
      { preset: 'agent' },
      { preset: 'spider' },
      { preset: 'index', retainMedia: 'link' },
    ];
    for (const given of linked) {
      const { content } = await ask(given);
      for (const link of links) expect([given, content]).toEqual([given, expect.stringContaining(link)]);
    }
    expect((await ask({ preset: 'reader' })).content).toContain('<video src="https://tea.test/film.mp4"></video>');
    expect((await ask({ preset: 'index' })).content).not.toMatch(/Video|Audio|film\.mp4/);
    expect((await ask({ respondWith: 'html' })).html).toContain('<video src="/film.mp4"></video>');
    expect((await ask({ respondWith: 'text' })).text).not.toMatch(/Video \d|Audio \d|film\.mp4/);
  });

  it('presets', async () => {
    const ask = (preset: string, more = {}) =>
      read({ html: HTML, url: 'https://tea.test/table', engine: 'direct', preset, ...more });
    expect((await ask('reader')).content).toMatch(/^---\ntitle: [\s\S]*\[the shop\]\[1\]/);
    const index = await ask('index');
    expect(index.content).toContain('from the shop.');
    expect(index.chunks.length).toBeGreaterThan(1);
    expect((await ask('spider')).links).toEqual([['the shop', 'https://tea.test/shop']]);
    expect((await ask('agent')).content).toContain('(Image 1: a leaf)');
    expect((await ask('research', { retainLinks: 'none' })).content).not.toContain('the shop');
  });

  it('comments', async () => {
    const prose = '<p>The harbour office counted the boats this morning, and found two more than had left.</p>';
    const html = `<title>Boats</title><main><h1>Boats</h1>${prose.repeat(12)}
<section id="comments"><h2>1 comment</h2><p>Ada, May 2: they are mine.</p><form><button>Reply</button></form></section></main>`;
    const ask = async (options: object) =>
      (await read({ html, url: 'https://boats.test/news/two', engine: 'direct', ...options })).content;
    expect(await ask({})).not.toContain('they are mine');
    expect(await ask({ comments: 'drop' })).toBe(await ask({}));
    expect(await ask({ comments: 'keep' })).toMatch(/1 comment\n-*\n*Ada, May 2: they are mine\.$/);
    const from = async (path: string, headers: Record<string, string>) => {
      const { origin } = new URL(server.reader);
      const body = JSON.stringify({ html, url: 'https://boats.test/news/two', engine: 'direct' });
      const sent = { 'content-type': 'application/json', accept: 'application/json', ...headers };
      return (await fetch(`${origin}/${path}`, { method: 'POST', headers: sent, body })).text();
    };
    expect(await from('?comments=keep', {})).toContain('they are mine');
    expect(await from('', { 'x-comments': 'keep' })).toContain('they are mine');
    expect(await from('', { 'x-comments': 'maybe' })).not.toContain('they are mine');
    expect(JSON.parse(await from('?comments=maybe', {}))).toMatchObject({ code: 400, path: 'comments' });
  });

  it('targetSelector, removeSelector', async () => {
    expect(await content({ targetSelector: 'table', respondWith: 'content' })).toBe(
      '| Kind | Price |\n| --- | --- |\n| Green | 3 |',
    );
    expect(await content({ removeSelector: ['table', 'ul, hr'] })).not.toMatch(/Green|black|\* \* \*/);
  });
});

describe('the browser', () => {
  const url = (path: string) => `${site.origin}${path}`;

  it('removeOverlay', async () => {
    const page = (options: object) =>
      read({ url: url('/overlay'), engine: 'browser', respondWith: 'html', ...options });
    expect((await page({})).html).toContain('We value your cookies');
    expect((await page({ removeOverlay: true })).html).not.toContain('We value your cookies');
  });

  it('detachInvisibles', async () => {
    const { html, text } = await read({ url: url('/hidden'), detachInvisibles: true, respondWith: 'html+text' });
    expect(html + text).not.toContain('by display');
    expect(html).toContain('Seen paragraph.');
  });

  it('withIframe quoted', async () => {
    const page = await read({ url: url('/frames'), withIframe: 'quoted', respondWith: 'markdown' });
    expect(page.content).toMatch(/> .*Inside the same site/);
  });

  it('viewport', async () => {
    const html =
      '<title>Size</title><p id="a"></p><script>a.textContent = "The window is " + innerWidth + " by " + innerHeight</script>';
    const page = await read({ html, engine: 'browser', viewport: { width: 500, height: 400 }, respondWith: 'text' });
    expect(page.text).toContain('The window is 500 by 400');
  });

  it('timeout ends the wait for a page that does not settle', async () => {
    const page = await read({ url: url('/restless'), engine: 'browser', respondTiming: 'network-idle', timeout: 2 });
    expect(page.content).toContain('Never at rest.');
  });

  it('injected scripts cost at least 4,000 tokens', async () => {
    const page = await read({ url: url('/article'), injectFrameScript: 'window.x = 1' });
    expect(page.usage.tokens).toBe(4000);
  });

  it('userAgent accepts names of this program, of browsers and of the caller', async () => {
    const sent = async (userAgent: string, own: string) => {
      const headers = { 'content-type': 'application/json', 'user-agent': own };
      const body = JSON.stringify({ url: url('/echo'), engine: 'direct', noCache: true, userAgent });
      expect((await fetch(server.reader, { method: 'POST', headers, body })).status).toBe(200);
      return site.headers('/echo')!['user-agent'];
    };
    const browser = await sent('browser', 'curl/8.1');
    expect(browser).toMatch(/^Mozilla\/5\.0 .* Chrome\//);
    for (const name of ['bot', 'lectern']) expect(await sent(name, 'curl/8.1')).toMatch(/^Lectern\/0\.0\.0-test/);
    expect(await sent('diversify', 'curl/8.1')).toMatch(/^Mozilla\/5\.0 /);
    for (const name of ['inherit', 'pass-through']) expect(await sent(name, 'curl/8.1')).toBe('curl/8.1');
    expect(await sent('auto', 'curl/8.1')).toBe(browser);
    expect(await sent('auto', 'Mozilla/5.0 (mine)')).toBe('Mozilla/5.0 (mine)');
    // These requests have no API key.
    expect(await sent('Mozilla/5.0 (asked)', 'curl/8.1')).toBe(browser);
    const { warning } = await read({ url: url('/echo'), engine: 'direct', userAgent: 'Mozilla/5.0 (asked)' });
    expect(warning).toContain('userAgent has no effect: the User-Agent of a browser needs an API key.');
  });
});

it('lists every option of the hosted service, and our own', () => {
  const hosted =
    'url html file pdf respondWith preset engine base respondTiming timeout targetSelector waitForSelector removeSelector withIframe withShadowDom removeOverlay detachInvisibles injectPageScript injectFrameScript viewport preloadUrl noServiceWorker retainLinks retainImages retainMedia withLinksSummary withImagesSummary withGeneratedAlt keepImgDataUrl markdown noGfm markdownChunking maxTokens tokenBudget locale referer userAgent setCookies customHeader skipCertVerification proxyUrl proxy proxyResources robotsTxt assertStatusCode noCache cacheTolerance doNotTrack zeroDataRetention exportStorageState storageState page instruction jsonSchema';
  const ours = [
    'annotations',
    'assertNotBlocked',
    'comments',
    'explain',
    'filePassword',
    'pageMarkers',
    'pdfRunningText',
    'scroll',
    'trace',
  ];
  expect(Object.keys(OPTIONS).sort()).toEqual([...hosted.split(' '), ...ours].sort());
});
