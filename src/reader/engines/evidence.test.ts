import { beforeAll, describe, expect, it } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { loadTokens } from '../tokens.ts';
import { evidenceOf } from './evidence.ts';

beforeAll(loadTokens);

const URL_OF = 'https://a.example/page';
const prose = (count = 12) =>
  Array.from(
    { length: count },
    (_, n) => `<p>Paragraph ${n} tells at some length of the harbour, of its boats and of the people there.</p>`,
  ).join('');
const look = (html: string, url = URL_OF) => evidenceOf(parseDocument(html), url);
const page = (body: string, head = '') => `<!doctype html><title>A page</title>${head}<body>${body}`;

describe('scripts', () => {
  it.each([
    '<script type="application/ld+json">{"a":1}</script>',
    '<script type="application/json" id="data">{}</script>',
    '<script type="text/template"><p>x</p></script>',
    '<script type="importmap">{}</script>',
    '<script type="speculationrules">{}</script>',
    '<script></script>',
    '<script src=""></script>',
    '<script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>',
    '<script src="//static.cloudflareinsights.com/beacon.min.js"></script>',
    "<script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}gtag('js',new Date())</script>",
    "<script>document.documentElement.classList.replace('no-js','js')</script>",
    '<script>document.documentElement.className = "js";</script>',
    '<noscript><img src="/pixel.gif"></noscript>',
    '<template><script>x()</script></template>',
    '<button onclick="go()">Go</button>',
    '<img src="/a.png" onerror="this.hidden = true">',
    "<script>dataLayer = []; var s = document.createElement('script'); s.src = '/gtm.js'; document.head.appendChild(s)</script>",
  ])('without effect on the content: %s', (html) => {
    expect(look(page(prose(), html))).toMatchObject({ scripts: false, sign: undefined });
    expect(look(page(prose() + html))).toMatchObject({ scripts: false });
  });

  it.each([
    '<script src="/app.js"></script>',
    '<script type="module">import "/app.js"</script>',
    '<script type="text/javascript; charset=utf-8">x()</script>',
    '<script src="https://googletagmanager.com.evil.example/x.js"></script>',
    '<script src="https://cdn.example/google-analytics.com/x.js"></script>',
    '<script>gtag("js"); document.body.innerHTML = "x"</script>',
    '<script>document.documentElement.className = "js"; start()</script>',
    '<script>dataLayer = []; document.body.append("One more line")</script>',
    '<script>gtag("js"); const row = document.createElement("p"); row.id = "x"; document.body.appendChild(row)</script>',
    '<script>gtag("js"); $("#list").html(items)</script>',
    '<script>fbq("init"); document.querySelector("ul").after(document.createTextNode("x"))</script>',
    '<svg><script href="/app.js"></script></svg>',
    '<img src="/a.png" onload="this.parentNode.innerHTML = list">',
  ])('with a possible effect: %s', (html) => expect(look(page(prose(), html)).scripts).toBe(true));

  it('may be an attribute of the body', () => {
    expect(look(`<!doctype html><body onload="start()">${prose()}`).scripts).toBe(true);
  });
});

describe('styles', () => {
  it.each([
    ['<style>body { max-width: 40em; font: 16px serif }</style>', false],
    ['<style>.x { display:none }</style>', true],
    ['<style>.x { position:absolute; left:-9999px }</style>', true],
    ['<style>p { color: #fff }</style>', true],
    ['<style>p { color: #222 }</style>', false],
    ['<link rel="stylesheet" href="/x.css">', true],
    ['<link rel="preload" as="style" href="/x.css" onload="this.rel=\'stylesheet\'">', true],
    ['<link rel="preload" as="style" href="/x.css">', false],
    ['<link rel="canonical" href="/x">', false],
  ])('that may hide content: %s %s', (html, styles) => expect(look(page(prose(), html)).styles).toBe(styles));
});

describe('a page that needs its scripts', () => {
  const script = '<script src="/app.js"></script>';
  it.each([
    ['<div id="root"></div>', 'its content is created by scripts'],
    ['<div id="__next"><div class="spinner">Loading...</div></div>', 'its content is created by scripts'],
    ['<app-root></app-root>', 'its content is created by scripts'],
    ['<noscript>You need to enable JavaScript to run this app.</noscript><main></main>', 'the page asks for scripts'],
    [
      '<i class="skeleton-line"></i><i class="skeleton-line"></i><i class="skeleton-line"></i>',
      'it shows placeholders for its content',
    ],
    ['<p>Welcome to the shop.</p>', 'too little content without scripts'],
    ['<h1>Loading</h1>', 'too little content without scripts'],
    [
      `<nav>${prose()}</nav><div style="display:none"><main>${prose()}</main></div>`,
      'its main part is hidden until its scripts run',
    ],
  ])('%s', (body, sign) => expect(look(page(body + script)).sign).toBe(sign));

  it.each([
    ['https://a.example/#/items/3', 'its URL is a route of its scripts'],
    ['https://a.example/#!/items', 'its URL is a route of its scripts'],
    ['https://a.example/#part', undefined],
  ])('%s', (url, sign) => expect(look(page(prose() + script), url).sign).toBe(sign));

  it('is recognized by a challenge, and by a refresh', () => {
    const challenge =
      '<title>Just a moment...</title><p>Checking.</p><script src="/cdn-cgi/challenge-platform/x.js"></script>';
    expect(look(challenge).sign).toBe('the page is a challenge');
    expect(look(page(prose(), '<meta http-equiv="Refresh" content="0; url=/next">')).sign).toBe(
      'the page redirects itself',
    );
    expect(look(page(prose(), '<meta http-equiv="refresh" content="600">')).sign).toBeUndefined();
    expect(
      look(page(prose(), '<noscript><meta http-equiv="refresh" content="0; url=/no"></noscript>')).sign,
    ).toBeUndefined();
  });

  it('has little content: a page with enough to read is not one', () => {
    const corners =
      '<div id="root"></div><noscript>Enable JavaScript to comment.</noscript><i aria-busy="true"></i><i aria-busy="true"></i><i aria-busy="true"></i>';
    expect(look(page(prose() + corners + script))).toMatchObject({ scripts: true, sign: undefined });
    expect(look(page(`<div id="root">${prose(2)}</div>${prose(1)}${script}`)).sign).toBeUndefined();
  });

  it('may consist of frames, without any script', () => {
    const set = '<html><head><title>Old</title></head><frameset cols="1,2"><frame src="a.html"><frame src="b.html">';
    expect(look(set)).toMatchObject({ scripts: false, sign: 'its frames are its content' });
    expect(look(page(`${prose()}<iframe src="a.html"></iframe>`)).sign).toBeUndefined();
  });

  it('has scripts', () => {
    expect(look(page('<p>Welcome.</p>'))).toMatchObject({ scripts: false, sign: undefined });
  });
});

describe('a page that shows a file', () => {
  const shown = (body: string, head = '') => look(page(body, head));
  const fileUrl = 'https://a.example/papers/one.pdf';

  it.each([
    '<embed src="/papers/one.pdf">',
    '<object data="papers/one.pdf"><p>Your browser shows no PDF.</p></object>',
    '<script>track()</script><div><iframe src="https://a.example/papers/one.pdf"></iframe></div>',
  ])('as its only content: %s', (body) => {
    expect(shown(body)).toMatchObject({ file: { url: fileUrl, alone: true }, sign: expect.any(String) });
  });

  it('is recognized by the type that the page declares', () => {
    expect(shown('<embed src="/show?n=1" type="application/pdf">')).toMatchObject({
      file: { url: 'https://a.example/show?n=1', alone: true },
      sign: 'the page shows a file',
    });
    expect(shown('<iframe src="one.pdf"></iframe>', '<base href="/papers/">').file?.url).toBe(fileUrl);
  });

  it('is also recognized beside a few words', () => {
    expect(shown('<h1>The paper</h1><embed src="/papers/one.pdf">')).toMatchObject({
      file: { url: fileUrl, alone: false },
      sign: 'the page shows a file',
    });
  });

  it.each([
    '<iframe src="/other.html"></iframe>',
    '<embed src="javascript:x.pdf">',
    '<embed>',
    `${prose()}<embed src="/papers/one.pdf">`,
  ])('is not a page that embeds HTML, or that has enough text: %s', (body) => {
    expect(shown(body)).toMatchObject({ file: undefined, sign: undefined });
  });
});

describe('words and tokens', () => {
  it('are counted', () => {
    expect(look(page(prose())).words).toBeGreaterThan(150);
    expect(look(page('<p>Two words.</p>')).tokens).toBeLessThan(42);
    expect(look(page(prose())).tokens).toBeGreaterThan(42);
  });
});

describe('hostile pages', () => {
  it.each([
    ['many empty roots', '<div id="root">'.repeat(100_000)],
    ['a deep page', '<div class="skeleton">'.repeat(50_000)],
    ['an endless style', `<style>${'color: '.repeat(300_000)}</style>`],
    ['an endless attribute', `<p class="${'skeleton '.repeat(200_000)}" id="${'x'.repeat(1_000_000)}">`],
    ['a script that nearly matches a known one', `<script>document.body.className${'('.repeat(3_900)}</script>`],
    ['frames in frames', '<object data="x.pdf">'.repeat(100_000)],
    ['many frames', '<embed src="x.pdf">'.repeat(100_000)],
    ['an endless script URL', `<script src="${'a.'.repeat(500_000)}"></script>`],
  ])('are examined in linear time: %s', (_, html) => {
    expect(look(html).words).toBeGreaterThanOrEqual(0);
  });
});
