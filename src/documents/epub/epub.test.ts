import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { faultOf, htmlOf, parse } from '../parse.suite.ts';
import { kind } from './epub.ts';

const CONTAINER =
  '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>';

const ABOUT =
  '<dc:title>A book</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator><dc:language>en-GB</dc:language><dc:date>2020-02-03</dc:date><meta property="dcterms:modified">2021-05-06T07:08:09Z</meta>';

interface Options {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly about?: string;
  /** Whether the navigation page is one of the book's pages. */
  readonly showsNavigation?: boolean;
}

/** A book with the chapters `text/1.xhtml`, `text/2.xhtml` and so on. */
function book(
  bodies: readonly string[],
  { files = {}, about = ABOUT, showsNavigation = false }: Options = {},
): Record<string, Uint8Array> {
  const items = bodies.map(
    (_, n) => `<item id="c${n + 1}" href="text/${n + 1}.xhtml" media-type="application/xhtml+xml"/>`,
  );
  const refs = bodies.map((_, n) => `<itemref idref="c${n + 1}"/>`);
  const all: Record<string, string | Uint8Array> = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': CONTAINER,
    'OEBPS/content.opf': `<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">${about}</metadata><manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>${items.join('')}</manifest><spine><itemref idref="nav" linear="${showsNavigation ? 'yes' : 'no'}"/>${refs.join('')}</spine></package>`,
    'OEBPS/nav.xhtml':
      '<html xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><h1>Contents</h1><ol><li><a href="text/1.xhtml">One</a></li></ol></nav><nav epub:type="landmarks"><p>Places</p></nav></body></html>',
    ...files,
  };
  for (const [n, body] of bodies.entries()) {
    all[`OEBPS/text/${n + 1}.xhtml`] =
      `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title/><style>p{}</style></head><body>${body}</body></html>`;
  }
  return Object.fromEntries(
    Object.entries(all).map(([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content]),
  );
}

const read = (bodies: readonly string[], options?: Options) => parse(kind, zipSync(book(bodies, options)));
const html = async (body: string, options?: Options) => htmlOf(await read([body], options));

const faultWith = (bytes: Uint8Array) => faultOf(parse(kind, bytes));

it('gives a page for each chapter, and what the book says about itself', async () => {
  const found = await read(['<h1>One</h1>', '<h1>Zwölf</h1><p>End.</p>']);
  expect(found.pages).toEqual([
    { number: 1, html: '<h1>One</h1>', name: 'One' },
    { number: 2, html: '<h1>Zwölf</h1><p>End.</p>', name: 'Zwölf' },
  ]);
  expect(found).toMatchObject({
    title: 'A book',
    pageCount: 2,
    lang: 'en-GB',
    publishedTime: '2021-05-06T07:08:09.000Z',
    metadata: { creator: 'Ann, Bob', date: '2020-02-03' },
    notes: [],
  });
  expect((await parse(kind, zipSync(book(['a', 'b'])), 2)).pages).toEqual([{ number: 2, html: 'b' }]);
});

it('shows the table of contents if it is one of the pages', async () => {
  const found = await read(['<h1>One</h1>'], { showsNavigation: true });
  expect(found.pages.map(({ html }) => html)).toEqual(['<h1>Contents</h1><ol><li>One</li></ol>', '<h1>One</h1>']);
});

it('keeps links out and inside the chapter, and makes text of all others', async () => {
  expect(
    await html(
      '<p id="a">x<a href="#a">here</a> <a href="2.xhtml#b">there</a> <a href="https://example.com/">out</a> <a href="javascript:alert(1)">bad</a></p>',
    ),
  ).toBe('<p id="c1-a">x<a href="#c1-a">here</a> there <a href="https://example.com/">out</a> bad</p>');
});

it('takes out what only a reading program needs', async () => {
  const found = await read([
    '<nav epub:type="landmarks"><p>places</p></nav><script>alert(1)</script><p class="c" style="color:red" onclick="x()">a<!-- no --><a id="p1"/>b<span hidden="hidden">h</span></p><p style="display: none">secret</p><p style="font-size:0">tiny</p><pre><code class="x language-js">y</code></pre><iframe src="x">f</iframe><svg><desc>d</desc><text>t</text></svg>',
  ]);
  expect(htmlOf(found)).toBe('<p>a<a id="c1-p1"></a>b</p><pre><code class="language-js">y</code></pre>t');
  expect(found.hiddenCount).toBe(3);
});

it('shows pictures of the book, and only those', async () => {
  const png = Buffer.from('89504e470d0a1a0a00', 'hex');
  const body =
    '<p><img src="../img/a%20b.png" alt="A &quot;b&quot;"/><img src="https://example.com/x.png" alt="far"/><svg><image xlink:href="../img/none.png"/></svg></p>';
  expect(await html(body, { files: { 'OEBPS/img/a b.png': png } })).toBe(
    `<p><img alt="A &quot;b&quot;" src="data:image/png;base64,${png.toString('base64')}">far</p>`,
  );
});

it('marks notes', async () => {
  expect(
    await html(
      '<p>x<a epub:type="noteref" href="#n1">1</a></p><aside epub:type="footnote" id="n1"><p>Note.</p></aside>',
    ),
  ).toBe('<p>x<a href="#c1-n1" role="doc-noteref">1</a></p><aside id="c1-n1"><p>Note.</p></aside>');
});

describe('bad books', () => {
  it('are damaged', async () => {
    expect(await faultWith(strToU8('no book'))).toBe('damaged');
    expect(await faultWith(zipSync({ mimetype: strToU8('application/epub+zip') }))).toBe('damaged');
    const { 'OEBPS/content.opf': _, ...without } = book(['a']);
    expect(await faultWith(zipSync(without))).toBe('damaged');
    const { 'OEBPS/text/1.xhtml': __, ...empty } = book(['a']);
    expect(await faultWith(zipSync(empty))).toBe('damaged');
  });

  it('with a chapter missing give the others', async () => {
    const { 'OEBPS/text/2.xhtml': _, ...rest } = book(['a', 'b', 'c']);
    const found = await parse(kind, zipSync(rest));
    expect(found.pages.map(({ number }) => number)).toEqual([1, 3]);
    expect(found.notes).toEqual(['Chapters that could not be read in full: 2']);
  });

  it('that are protected are encrypted; scrambled fonts are no protection', async () => {
    const encryption = (algorithm: string, uri: string) =>
      `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/><enc:CipherData><enc:CipherReference URI="${uri}"/></enc:CipherData></enc:EncryptedData></encryption>`;
    const withKey = (content: string) => zipSync(book(['a'], { files: { 'META-INF/encryption.xml': content } }));
    const aes = 'http://www.w3.org/2001/04/xmlenc#aes256-cbc';
    expect(await faultWith(withKey(encryption(aes, 'OEBPS/text/1.xhtml')))).toBe('encrypted');
    expect(await faultWith(withKey(encryption('http://www.idpf.org/2008/embedding', 'OEBPS/font.otf')))).toBe('none');
  });

  it('that explode are too large', async () => {
    expect(await faultWith(zipSync(book([' '.repeat(20_000_000)])))).toBe('too large');
  });

  it('may be nested deep or full of open tags', async () => {
    for (const piece of ['<div>', '<a ', '<b/>', '<!--', '<svg>', '<img src="x"']) {
      const found = await parse(kind, zipSync(book([piece.repeat(100_000)]), { level: 0 }));
      expect(found.pages).toHaveLength(1);
    }
  }, 120_000);
});
