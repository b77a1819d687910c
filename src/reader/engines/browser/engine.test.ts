import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendHtml, type Visited } from '../../../../test/site/site.ts';
import { type Bench, noFolder, options, startBench, words } from './browser.suite.ts';

let bench: Bench;
const PDF = '%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF';
const PNG = `\x89PNG\r\n\x1a\n\0\0\0\rIHDR${'\0\x01'.repeat(40)}`;
const ZIP = `PK\x03\x04\x14\0\0\0\b\0${'\x9c\x01<\xff'.repeat(40)}`;
const PAGE = '<!doctype html><title>Saved</title><p id="x">As it came.</p><script>x.append(" And more.")</script>';
const send =
  (contentType: string | undefined, body: string, headers: Record<string, string> = {}) =>
  ({ response }: Visited) =>
    void response
      .writeHead(200, { ...(contentType && { 'content-type': contentType }), ...headers })
      .end(Buffer.from(body, 'latin1'));

beforeAll(async () => {
  bench = await startBench({
    pages: {
      '/behind-cookie': ({ request, response }) =>
        void (request.headers.cookie === 'pass=yes'
          ? response.writeHead(200, { 'content-type': 'application/pdf' }).end(PDF)
          : response.writeHead(200, { 'content-type': 'video/mp4' }).end('x')),
      '/sound.mp3': send('audio/mpeg', 'ID3'),
      '/untold-paper': send('application/pdf', PDF),
      '/shows': ({ response, url }) =>
        sendHtml(
          response,
          `<!doctype html><title>Shows</title><style>*{margin:0}</style>${decodeURIComponent(url.search.slice(1))}`,
        ),
      '/unnamed-paper': send('application/octet-stream', PDF),
      '/unnamed-archive': send('application/octet-stream', ZIP),
      '/unnamed-text': send('application/octet-stream', 'Only words.'),
      '/unnamed-page': send('application/octet-stream', PAGE),
      '/saved-page': send('text/html', PAGE, { 'content-disposition': 'attachment; filename=page.html' }),
      '/untyped-picture': send(undefined, PNG),
      '/untyped-text': send(undefined, 'Only words.'),
      '/untyped-page': send(undefined, PAGE),
      '/recipe.yaml': send('application/yaml', 'salt: 4 g\n'),
      '/lying': ({ response, url }) => {
        const body = {
          pdf: PDF,
          zip: ZIP,
          png: PNG,
          rss: '<?xml version="1.0"?><rss><channel><title>News</title></channel></rss>',
        };
        const type = url.searchParams.get('type')!;
        send(type, body[url.searchParams.get('body') as keyof typeof body])({ response } as Visited);
      },
      // More text than the browser processes at once, in a response that never ends.
      '/lying-at-length': ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        response.write(`${PDF}${'x y z '.repeat(200_000)}`);
      },
      '/bare': send('text/html', '%PDF is how such files begin. <b>This</b> is a page.'),
      '/sounds':
        '<title>Sounds</title><p>Listen.</p><audio><source src="/a.mp3">Old browsers.</audio><video style="display:none" src="/a.mp4"></video>',
      '/empty': send('text/html', ''),
      '/empty-text': send('text/plain', ''),
      '/emptied':
        '<script>document.documentElement.replaceChildren(document.createElement("head"), document.createElement("body"))</script>',
    },
  });
});
afterAll(() => bench.close());

const png = (bytes: Uint8Array | undefined) => {
  const view = Buffer.from(bytes ?? []);
  expect(view.subarray(1, 4).toString()).toBe('PNG');
  return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
};

describe.concurrent('reading pages', () => {
  it('reads a static page', async () => {
    const page = await bench.last('/article');
    expect(page).toMatchObject({
      url: `${bench.site.origin}/article`,
      status: 200,
      statusText: 'OK',
      mediaType: 'text/html',
      settled: true,
      engine: 'browser',
      notes: [],
    });
    expect(page.text).toMatch(/^<html lang="en"><head>/);
    expect(page.text).toContain('<li>Mackerel</li>');
  });

  it('runs scripts and waits for their requests', async () => {
    const page = await bench.last('/rendered');
    expect(words(page.text)).toContain('Rendered first word second word');
  });

  it('returns the status, its text and the date', async () => {
    expect(await bench.last('/missing')).toMatchObject({ status: 404, statusText: 'Not Found', settled: true });
    expect(await bench.last('/dated')).toMatchObject({ lastModified: 'Tue, 03 Mar 2026 10:00:00 GMT' });
  });

  it('follows redirects of all kinds to the final URL', async () => {
    const end = `${bench.site.origin}/article`;
    for (const path of ['/moved', '/meta-refresh', '/script-redirect']) {
      const page = await bench.last(path);
      expect(page.url, path).toBe(end);
      expect(page.status).toBe(200);
      expect(page.text).toContain('The harbour at night');
    }
    expect((await bench.last('/pushed')).url).toBe(`${bench.site.origin}/pushed/into?view=2`);
  });

  it('loads lazy content', async () => {
    const page = await bench.last('/lazy');
    for (let at = 0; at < 6; at++) expect(page.text).toContain(`filled Part ${at}`);
    expect(page.text).toContain('src="/boat.svg?5"');
  });

  it('decodes the encoding that the page declares', async () => {
    expect((await bench.last('/charset/cyrillic')).text).toContain('Привет');
    expect((await bench.last('/charset/japanese')).text).toContain('日本');
    expect((await bench.last('/charset/latin')).text).toContain('naïve');
  });

  it('returns the text of targets that are not HTML', async () => {
    expect(await bench.last('/data.json')).toMatchObject({
      mediaType: 'application/json',
      text: '{"name": "Ünal", "list": [1, 2, 3]}',
    });
    expect(await bench.last('/plain.txt')).toMatchObject({
      mediaType: 'text/plain',
      text: 'plain <b>text</b>\nsecond line\n',
    });
    expect((await bench.last('/page.xhtml')).text).toContain('<p>strict text<br></p>');
  });

  it('leaves files to the direct engine, with the cookies received so far', async () => {
    for (const [path, type] of [
      ['/paper.pdf', 'application/pdf'],
      ['/picture.png', 'image/png'],
      ['/feed.xml', 'xml'],
      ['/behind-cookie', 'application/pdf'],
    ] as const) {
      const page = await bench.last(path, { setCookies: ['pass=yes'] });
      expect(page, path).toMatchObject({ engine: 'direct', engineReason: 'the target is a file', status: 200 });
      expect(page.file!.mediaType, path).toContain(type);
      expect(page.url, path).toBe(bench.site.origin + path);
    }
    await expect(bench.last('/behind-cookie')).rejects.toMatchObject({ name: 'AssertionFailureError' });
    await expect(bench.last('/sound.mp3')).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  it('reads downloads', async () => {
    for (const [path, mediaType] of [
      ['/unnamed-archive', 'application/zip'],
      ['/untyped-picture', 'image/png'],
    ]) {
      const file = await bench.last(path!);
      expect(file, path).toMatchObject({ engine: 'direct', mediaType, file: { mediaType } });
    }
    for (const path of ['/unnamed-text', '/untyped-text']) {
      expect(await bench.last(path), path).toMatchObject({ mediaType: 'text/plain', text: 'Only words.' });
    }
    for (const path of ['/unnamed-page', '/saved-page', '/untyped-page']) {
      const page = await bench.last(path);
      expect(page, path).toMatchObject({ engine: 'browser', status: 200, url: bench.site.origin + path });
      expect(words(page.text), path).toContain('As it came. And more.');
    }
  });

  it('returns the storage state with a file', async () => {
    const storageState = { cookies: [{ name: 'a', value: '1', domain: '127.0.0.1', path: '/' }] };
    const file = await bench.last('/unnamed-paper', { storageState, exportStorageState: true });
    expect(file.storageState!.cookies).toMatchObject([{ name: 'a', value: '1' }]);
    expect(bench.site.headers('/unnamed-paper')!.cookie).toBe('a=1');
  });

  it('detects a file that is sent with another type', async () => {
    for (const [body, type, mediaType] of [
      ['pdf', 'text/html', 'application/pdf'],
      ['pdf', 'application/json', 'application/pdf'],
      ['zip', 'application/xhtml+xml', 'application/zip'],
      ['png', 'text/plain', 'image/png'],
      ['rss', 'text/html', 'application/rss+xml'],
    ] as const) {
      const file = await bench.last(`/lying?body=${body}&type=${encodeURIComponent(type)}`);
      expect(file, `${body} as ${type}`).toMatchObject({ engine: 'direct', file: { mediaType } });
    }
    const long = await bench.visit('/lying-at-length', { timeout: 10 }, { deadline: performance.now() + 10_000 });
    expect(long.at(-1)).toMatchObject({ engine: 'direct', file: { mediaType: 'application/pdf' } });
    expect(await bench.last('/bare')).toMatchObject({ engine: 'browser', mediaType: 'text/html' });
  });

  it('reads the file of a page that only shows a file', async () => {
    for (const tag of [
      '<object data="/paper.pdf"><p>Your browser shows no files.</p></object>',
      '<div><iframe src="/untold-paper"></iframe></div>',
    ]) {
      const page = await bench.last(`/shows?${encodeURIComponent(tag)}`);
      expect(page, tag).toMatchObject({ engine: 'direct', mediaType: 'application/pdf' });
      expect(page.url, tag).toMatch(/paper(?:\.pdf)?$/);
    }
    for (const tag of ['<p>A word.</p><embed src="/paper.pdf">', '<iframe src="/article"></iframe>']) {
      expect(await bench.last(`/shows?${encodeURIComponent(tag)}`), tag).toMatchObject({ engine: 'browser' });
    }
  });

  it('fails for an empty response', async () => {
    for (const path of ['/empty', '/empty-text']) {
      await expect(bench.last(path), path).rejects.toMatchObject({
        name: 'AssertionFailureError',
        message: 'The target responded with status 200 and no content',
      });
    }
    expect((await bench.last('/emptied')).text).toContain('<body></body>');
  });

  it('is not affected by names of form controls or by functions that the page overrides', async () => {
    const form = await bench.last('/form');
    expect(words(form.text)).toContain('After the form');
    expect(form.text).toContain('<input name="firstChild" value="x">');
    const page = await bench.last('/overriding');
    expect(page.text).toContain('<p>Honest text.</p>');
    expect(page.settled).toBe(true);
    expect(page.text.replace(/<script>.*<\/script>/s, '')).not.toContain('LIE');
  });
});

describe('large documents', () => {
  it('are captured, deep or wide', async () => {
    expect((await bench.last('/deep')).text).toContain('the bottom');
    expect((await bench.last('/wide')).text.match(/<i>/g)).toHaveLength(20_000);
  });
});

describe.concurrent('submitted HTML', () => {
  it('is rendered at its URL without fetching that', async () => {
    const html =
      '<title>Given</title><p><a href="x">link</a><script>document.write(location.href + " " + document.links[0].href)</script>';
    const page = await bench.last('/never/asked', { html });
    expect(bench.site.hits('/never/asked')).toBe(0);
    expect(page).toMatchObject({ url: `${bench.site.origin}/never/asked`, status: 200, mediaType: 'text/html' });
    expect(page.text).toContain(`${bench.site.origin}/never/asked ${bench.site.origin}/never/x`);
  });

  it('is rendered without a URL', async () => {
    const page = await bench.last('blob:0123', {
      html: '<title>Given</title><p>alone</p><script>localStorage.a = 1; document.body.append("ran")</script>',
    });
    expect(page).toMatchObject({ url: 'blob:0123', status: 200 });
    expect(words(page.text)).toContain('ran');
  });
});

describe.concurrent('visibility', () => {
  it('marks exactly what a person would not see', async () => {
    const { text } = await bench.last('/hidden');
    const marked = [...text.matchAll(/data-lectern-hidden="(\w+)">([^<]*)/g)].map(([, why, what]) => [
      what!.trim(),
      why,
    ]);
    expect(Object.fromEntries(marked)).toEqual({
      'by display': 'display',
      'by visibility': 'visibility',
      'by opacity': 'opacity',
      'by place': 'offscreen',
      'by clip': 'size',
      'by size': 'size',
      'by colour': 'color',
      'by transparency': 'color',
      'by indent': 'offscreen',
    });
    for (const seen of [
      'seen inside',
      'seen when opened',
      'seen white on black',
      'seen on a picture',
      'seen below the fold',
    ])
      expect(text).toContain(seen);
  });

  it('keeps media that is not displayed if media is requested', async () => {
    const kept = await bench.last('/sounds', { detachInvisibles: true, retainMedia: 'link' });
    expect(kept.text).toMatch(/<source src="\/a\.mp3">.*<video [^>]*src="\/a\.mp4"/);
    const { text } = await bench.last('/sounds', { detachInvisibles: true, retainMedia: 'none' });
    expect(text).not.toMatch(/<audio|<video/);
  });

  it('detaches elements that are not displayed if requested', async () => {
    const { text } = await bench.last('/hidden', { detachInvisibles: true });
    expect(text).not.toContain('by display');
    expect(text).toContain('by opacity');
    expect(text).toContain('<title>Hidden and seen</title>');
  });

  it('removes overlays if requested', async () => {
    expect((await bench.last('/overlay')).text).toContain('We value your cookies');
    const { text } = await bench.last('/overlay', { removeOverlay: true });
    expect(text).not.toContain('cookies');
    expect(text).not.toContain('id="wall"');
    expect(text).toContain('The text that matters.');
    const html =
      '<title>Named</title><img name="body"><img name="elementFromPoint"><img name="title"><p>Read all the same.</p>';
    expect((await bench.last('/named', { html, removeOverlay: true })).text).toContain('Read all the same.');
  });
});

async function expectFrames({ last, site }: Bench) {
  const page = await last('/frames', {
    withIframe: true,
    injectFrameScript: "addEventListener('DOMContentLoaded', () => document.body.append('by the script'))",
  });
  expect(page.hiddenFrames).toBe(false);
  expect(words(page.text)).toMatch(
    /Outside before\. .*Inside the same site, a link .*Outside between\. .*Inside another site\. .*A leaf of another site\. .*Inside the same site, a link .*From srcdoc .*Outside after\./,
  );
  expect(page.text.match(/by the script/g)).toHaveLength(6);
  expect(page.text).toContain(`<a href="${site.origin}/frames/deeper">`);
  expect(page.text).toContain(`<div data-lectern-frame="${site.otherOrigin}/frames/other">`);
  expect(page.text).not.toContain('color:blue');
  expect(page.text).not.toContain('var x');
}

describe.concurrent('frames and shadow roots', () => {
  it('are reported if they are not captured', async () => {
    expect(await bench.last('/frames')).toMatchObject({ hiddenFrames: true, hiddenShadow: false });
    expect(await bench.last('/shadow')).toMatchObject({ hiddenFrames: false, hiddenShadow: true });
  });

  it('are captured: open shadow roots with filled slots', async () => {
    const page = await bench.last('/shadow', { withShadowDom: true });
    expect(page.hiddenShadow).toBe(false);
    expect(page.text).toContain(
      '<h2><span slot="title">Slotted title</span></h2><div>Slotted body</div><p>From the shadow</p><inner-part><em>Deeper</em></inner-part>',
    );
    expect(page.text).not.toContain('lost');
  });

  it('are captured: nested frames of any site', async () => {
    await expectFrames(bench);
  });

  it('are captured: frames in other processes', async () => {
    const isolated = await startBench({ siteIsolation: true });
    try {
      await expectFrames(isolated);
    } finally {
      await isolated.close();
    }
  });

  it('are quoted: the text of frames', async () => {
    const { text } = await bench.last('/frames', { withIframe: 'quoted' });
    expect(text).toContain('<blockquote data-lectern-frame="quoted"><pre>Inside another site.</pre></blockquote>');
  });
});

describe('pictures', () => {
  it('show the window and the whole page', async () => {
    const page = await bench.last('/lazy', { respondWith: 'pageshot' });
    expect(png(page.screenshot)).toEqual({ width: 1280, height: 1280 });
    expect(png(page.pageshot).height).toBeGreaterThan(6 * 1400);
    expect(page.notes).toEqual([]);
    const tall = await bench.last('/shows?<div style="height:20000px">x</div>', { respondWith: 'pageshot' });
    expect(png(tall.pageshot).height).toBe(16_384);
    expect(tall.notes).toEqual(['The screenshot of the page ends after 16384 pixels; the rest was left out']);
    const small = await bench.last('/article', {
      respondWith: 'screenshot',
      viewport: { width: 400, height: 300, deviceScaleFactor: 2 },
    });
    expect(png(small.screenshot)).toEqual({ width: 800, height: 600 });
    expect(small.pageshot).toBeUndefined();
  });

  it('show text, even text that the browser would download', async () => {
    for (const path of ['/data.json', '/recipe.yaml', '/unnamed-text']) {
      const { screenshot, pageshot, mediaType, text } = await bench.last(path, { respondWith: 'pageshot' });
      expect(png(screenshot), path).toEqual({ width: 1280, height: 1280 });
      expect(png(pageshot).width, path).toBe(1280);
      expect([mediaType, text.length > 0], path).not.toEqual(['text/html', true]);
    }
  });

  it('need images, which are substituted otherwise', async () => {
    const before = bench.site.hits('/boat.svg');
    await bench.last('/article');
    expect(bench.site.hits('/boat.svg')).toBe(before);
    await bench.last('/article', { respondWith: 'screenshot' });
    expect(bench.site.hits('/boat.svg')).toBe(before + 1);
  });

  it('do not change what pages see: substituted images count as loaded', async () => {
    expect((await bench.last('/slow-image')).text).toContain('Image came');
  });
});

describe.concurrent('identity', () => {
  const echo = async (given: Record<string, unknown> = {}) => {
    const { text } = await bench.last('/echo', given);
    const part = (id: string) =>
      JSON.parse(
        new RegExp(`id="${id}">([^<]*)`)
          .exec(text)![1]!
          .replaceAll('&amp;', '&')
          .replaceAll('&gt;', '>')
          .replaceAll('&lt;', '<'),
      );
    return { headers: part('headers'), navigator: part('navigator') };
  };

  it('never calls itself headless', async () => {
    const seen = await echo();
    expect(JSON.stringify(seen)).not.toMatch(/headless/i);
    expect(seen.headers['user-agent']).toMatch(/ Chrome\/\d+\.0\.0\.0 /);
    expect(seen.navigator.agent).toBe(seen.headers['user-agent']);
    expect(seen.navigator.size).toBe('1280x1280');
  });

  it('uses user agent, language and referrer of the options', async () => {
    const seen = await echo({ userAgent: 'lectern', locale: 'de-CH', referer: `${bench.site.origin}/from` });
    expect(seen.headers['user-agent']).toMatch(/^Lectern\//);
    expect(seen.headers['accept-language']).toMatch(/^de-CH/);
    expect(seen.navigator.language).toBe('de-CH');
    expect(seen.headers.referer).toBe(`${bench.site.origin}/from`);
  });

  it('sends the cookies of the option, but not in the next read', async () => {
    expect((await echo({ setCookies: ['session=a b; Path=/', 'other=2'] })).headers.cookie).toMatch(/other=2/);
    const next = await echo();
    expect(next.headers.cookie).toBeUndefined();
    expect(next.navigator.fresh).toBe(true);
  });
});

describe.concurrent('scripts of the caller', () => {
  it('run at each navigation, in the main frame or in all', async () => {
    const page = await bench.last('/frames', {
      withIframe: true,
      injectPageScript: ["waitForSelector('body').then((body) => body.append('by the page script'))"],
      injectFrameScript: ["await waitForSelector('p'); document.body.append('by the frame script')"],
    });
    expect(page.text.match(/by the page script/g)).toHaveLength(1);
    expect(page.text.match(/by the frame script/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it('are fetched if given as a URL; their errors are ignored', async () => {
    const page = await bench.last('/article', {
      injectPageScript: [
        'syntax error here (',
        "throw new Error('x')",
        'https://scripts.example/a.js',
        "addEventListener('DOMContentLoaded', () => document.body.append('from ' + fetchedFrom))",
      ],
    });
    expect(page.text).toContain('from https://scripts.example/a.js');
  });

  it('are waited for', async () => {
    const page = await bench.last('/no-eval', {
      injectPageScript:
        "new Promise((done) => setTimeout(done, 1500)).then(() => document.body.append('after a while'))",
    });
    expect(page.text).toContain('after a while');
  });
});

describe('timing', () => {
  /** Matches the paragraph, not the script that creates it. */
  const later = /<\/script><p id="late">/;

  it('decides when to answer', async () => {
    for (const respondTiming of ['html', 'resource-idle']) {
      expect((await bench.last('/slow-image', { respondTiming })).text).toContain('Text is here.');
    }
    expect(bench.site.hits('/slow')).toBe(0);
    for (const respondTiming of ['media-idle', 'network-idle']) {
      expect((await bench.last('/slow-image', { respondTiming })).text).toContain('Image failed</title>');
    }
    // On a busy machine, quick scripts may already have run, but not slow ones.
    expect((await bench.last('/late', { respondTiming: 'html' })).text).not.toMatch(later);
    expect((await bench.last('/rendered', { respondTiming: 'visible-content' })).text).toContain('first word');
    expect((await bench.last('/late', { respondTiming: 'mutation-idle' })).text).not.toMatch(later);
  });

  it('waits for selectors, and returns the page as it is if one never matches', async () => {
    expect((await bench.last('/late', { waitForSelector: ['#late', 'p'] })).text).toMatch(later);
    expect((await bench.last('/late', { targetSelector: '#late' })).text).toMatch(later);
    const never = await bench.last('/late', { waitForSelector: '#never' }, 2_500);
    expect(never.text).toContain('At once.');
    expect(never.settled).toBe(false);
  });

  it('yields snapshots that are more and more complete', async () => {
    const pages = await bench.read('/stages');
    expect(pages.length).toBeGreaterThan(2);
    const sizes = pages.map(({ text }) => text.length);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(pages.at(-1)!.text).toContain('stage 3');
    expect(pages.map(({ settled }) => settled)).toEqual([...pages.slice(1).map(() => false), true]);
  });

  it('ends at once when the caller disconnects', async () => {
    const leaving = new AbortController();
    const visit = bench.engine.visit({
      url: `${bench.site.origin}/restless`,
      options: options(),
      deadline: performance.now() + 20_000,
      keyed: true,
      folder: noFolder,
      signal: leaving.signal,
    });
    const reading = (async () => {
      for await (const _ of visit) leaving.abort(new Error('gone'));
    })();
    await expect(reading).rejects.toThrow('gone');
    expect(bench.pool.status().pages).toBe(0);
  });
});
