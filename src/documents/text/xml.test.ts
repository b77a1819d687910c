import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attribute, elements, find, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { escapeText } from '#html/serialize.ts';
import type { DocumentFile } from '../document.ts';
import { isoDate } from './date.ts';
import { kind } from './xml.ts';

const FIXTURES = path.resolve(import.meta.dirname, '../../../test/fixtures/documents');

const parse = (source: string | Uint8Array, mediaType = 'application/xml', contentType?: string) => {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  const file: DocumentFile = { path: '', size: bytes.length, mediaType, contentType };
  return kind.parse(file, bytes, {});
};
const htmlOf = async (source: string) => (await parse(source)).pages[0]!.html;

const CASES = readdirSync(FIXTURES).filter((name) => /^(?:feed|sitemap|outline|xml)/.test(name));

describe('fixtures', () => {
  it('are there', () => expect(CASES.length).toBeGreaterThan(8));

  it.each(CASES)('%s', async (name) => {
    const folder = path.join(FIXTURES, name);
    const source = readdirSync(folder).find((file) => /^index\.(?:xml|json)$/.test(file))!;
    const { pages, ...facts } = await parse(readFileSync(path.join(folder, source)));
    const expected = JSON.parse(readFileSync(path.join(folder, 'facts.json'), 'utf8'));
    expect(JSON.parse(JSON.stringify({ ...facts, source: facts.source !== undefined }))).toEqual(expected);
    const html = pages.map((page) => page.html).join('\n');
    expect(`${html}\n`).toBe(readFileSync(path.join(folder, 'index.html'), 'utf8'));
  });
});

const rss = (item: string) => `<rss version="2.0"><channel><title>T</title><item>${item}</item></channel></rss>`;

describe('encodings', () => {
  it('are those of the declaration, the header, or the mark', async () => {
    const text = '<?xml version="1.0" encoding="ISO-8859-1"?><rss><channel><title>Été à Köln</title></channel></rss>';
    expect((await parse(Buffer.from(text, 'latin1'))).title).toBe('Été à Köln');
    const plain = text.replace(/<\?.*\?>/, '');
    expect((await parse(Buffer.from(plain, 'latin1'), 'text/xml', 'text/xml; charset=iso-8859-1')).title).toBe(
      'Été à Köln',
    );
    expect((await parse(Buffer.from(`\ufeff${plain}`, 'utf16le'))).title).toBe('Été à Köln');
  });
});

describe('what is no feed', () => {
  it.each([
    ['other XML', '<a><rss/></a>'],
    ['RDF of other things', '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><x>y</x></rdf:RDF>'],
    ['a feed of other things', '<feed><bag>oats</bag></feed>'],
    ['a feed with nothing in it', '<rss version="2.0"></rss>'],
    ['plain words', 'no XML at all'],
  ])('is its source: %s', async (_, source) => {
    expect(await parse(source)).toEqual({ title: '', pages: [], source, metadata: {}, notes: [], hiddenCount: 0 });
  });

  it('is refused when empty or too large', async () => {
    await expect(parse(' \n ')).rejects.toMatchObject({ kind: 'damaged' });
    await expect(parse(Buffer.alloc(33 * 1024 * 1024, 'a'))).rejects.toMatchObject({ kind: 'too large' });
  });
});

describe('what a stranger wrote', () => {
  const name = fc.constantFrom(
    'script',
    'style',
    'iframe',
    'img',
    'a',
    'p',
    'svg',
    'template',
    'h1',
    'td',
    'custom-x',
    'plaintext',
  );
  const value = fc.constantFrom(
    'javascript:alert(1)',
    ' java\tscript:x',
    'data:text/html,x',
    'https://ok.example/',
    '/x',
    '"><script>',
    'vbscript:x',
  );
  const markup = fc
    .array(
      fc.oneof(
        fc.string({ maxLength: 10 }),
        fc
          .tuple(name, fc.constantFrom('href', 'src', 'onclick', 'style', 'class', 'srcdoc'), value)
          .map(([tag, key, text]) => `<${tag} ${key}="${text}">`),
        name.map((tag) => `</${tag}>`),
        fc.constantFrom('&lt;script&gt;', '<![CDATA[', ']]>', '<!--', '&amp;'),
      ),
      { maxLength: 12 },
    )
    .map((pieces) => pieces.join(''));

  it('becomes no script, no handler and no unsafe address, escaped or not', async () => {
    await fc.assert(
      fc.asyncProperty(markup, fc.boolean(), async (text, escaped) => {
        const body = escaped ? escapeText(text) : text;
        const html = await htmlOf(
          rss(`<title>${body}</title><link>${body}</link><author>${body}</author><description>${body}</description>`),
        );
        for (const element of elements(find(parseDocument(html), 'body')!)) {
          expect(element.name).not.toMatch(/^(?:script|style|iframe|svg|template|plaintext|custom-x)$/);
          for (const each of element.attributes) {
            expect(each.name).toMatch(/^(?:href|src|alt|title|datetime|colspan|rowspan|start)$/);
            if (each.name === 'href' || each.name === 'src') {
              expect(each.value.replace(/[\0-\x20]/g, '')).not.toMatch(/^(?!https?:|mailto:)[a-z][a-z0-9+.-]*:/i);
            }
          }
        }
      }),
      { seed: 21, numRuns: 400 },
    );
  });

  it('stays text in titles', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 30 }), async (text) => {
        const html = await htmlOf(
          rss(`<title>x ${escapeText(escapeText(text))}</title><link>https://a.example/</link>`),
        );
        const body = find(parseDocument(html), 'body')!;
        expect([...elements(body)].map((element) => element.name)).toEqual(['h2', 'a']);
      }),
      { seed: 22, numRuns: 300 },
    );
  });

  it('is shown only where a person would see it', async () => {
    const html =
      '<p>a<span style="display: none">hidden <b>words</b></span></p><div hidden>more</div><p style="opacity:0">faint</p><p>b</p>';
    const parsed = await parse(rss(`<description><![CDATA[${html}]]></description>`));
    expect(parsed.pages[0]!.html).toContain('<p>a</p><p>b</p>');
    expect(parsed.hiddenCount).toBe(3);
  });

  it('keeps pictures of a small size, and links to the web and mail alone', async () => {
    const html = await htmlOf(
      rss(
        '<description><![CDATA[<img src="data:image/png;base64,AAAA" alt="dot"><img src="data:text/html,x" alt="no">' +
          `<img src="data:image/png;base64,${'A'.repeat(400_000)}"><a href="mailto:a@b.example">mail</a> <a href="file:///etc">file</a>]]></description>`,
      ),
    );
    const body = find(parseDocument(html), 'body')!;
    expect([...elements(body, 'img')].map((element) => attribute(element, 'alt'))).toEqual(['dot']);
    expect([...elements(body, 'a')].map(textOf)).toEqual(['mail']);
  });
});

describe('hostile XML', () => {
  it('expands no entities', async () => {
    const levels = Array.from({ length: 12 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('');
    const html = await htmlOf(
      `<!DOCTYPE rss [<!ENTITY e0 "lol">${levels}<!ENTITY x SYSTEM "file:///etc/passwd">]>${rss('<title>a &e12; &x;</title>')}`,
    );
    expect(html).toBe('<h2>a &amp;e12; &amp;x;</h2>');
  });

  const MANY = 200_000;
  it.each([
    ['tags that never end', `<rss>${'<a b="'.repeat(MANY)}`],
    ['tags without an end', `<rss>${'<a '.repeat(MANY)}`],
    ['sections that never end', `<rss>${'<![CDATA['.repeat(MANY)}`],
    ['comments that never end', `<rss>${'<!--'.repeat(MANY)}`],
    ['declarations that never end', `<rss>${'<!x['.repeat(MANY)}`],
    ['deep nesting', `<rss>${'<a>'.repeat(MANY)}`],
    ['end tags that end nothing', `<rss>${'<a>'.repeat(400)}${'</b>'.repeat(MANY)}`],
    ['attributes without end', `<rss ${' a'.repeat(MANY)}`],
    ['spaces without end', `<rss ${' '.repeat(1_000_000)}`],
    [
      'many names',
      `<rss ${Array.from({ length: 20_000 }, (_, at) => `xmlns:a${at}="http://www.w3.org/2005/Atom"`).join(' ')}>`,
    ],
  ])('is read to its end: %s', async (_, source) => {
    expect((await parse(source)).source).toBe(source);
  });

  it('is read also deep inside an entry, and in very many of them', async () => {
    const deep = await htmlOf(rss(`<description>${'&lt;div&gt;'.repeat(MANY)}x</description>`));
    expect(deep).toContain('x');
    const many = await htmlOf(`<rss><channel>${'<item><title>t</title></item>'.repeat(50_000)}</channel></rss>`);
    expect(many.match(/<h2>t<\/h2>/g)).toHaveLength(50_000);
    const sitemap = `<urlset>${'<url><loc>https://a.example/x</loc></url>'.repeat(50_000)}</urlset>`;
    expect((await htmlOf(sitemap)).match(/<li>/g)).toHaveLength(50_000);
  });

  it('stops at 32 MiB of HTML, and says so', async () => {
    const address = `https://a.example/${'x'.repeat(2_000)}`;
    const parsed = await parse(`<urlset>${`<url><loc>${address}</loc></url>`.repeat(12_000)}</urlset>`);
    expect(parsed.notes).toEqual(['The list is too long: its end is left out']);
    expect(Buffer.byteLength(parsed.pages[0]!.html)).toBeLessThan(33 * 1024 * 1024);
    expect(parsed.pages[0]!.html.endsWith('</li>\n</ul>')).toBe(true);
  });

  it('is read whatever it is', async () => {
    const piece = fc.constantFrom(
      '<rss>',
      '<channel>',
      '<item>',
      '<title>',
      '</title>',
      '</item>',
      '<link href=',
      '"',
      '>',
      '<',
      '&',
      'x',
      '<![CDATA[',
      ']]>',
      '<entry>',
      '<!--',
      '-->',
      '<feed xmlns="http://www.w3.org/2005/Atom">',
      '<urlset>',
      '<url>',
      '<loc>https://a.example/',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 30 }), async (pieces) => {
        const parsed = await parse(pieces.join(''));
        expect(parsed.source !== undefined || parsed.pages.length === 1).toBe(true);
      }),
      { seed: 23, numRuns: 500 },
    );
  });
});

it.each([
  ['Tue, 10 Jun 2003 04:00:00 GMT', '2003-06-10T04:00:00Z'],
  ['10 Jun 03 04:00 EST', '2003-06-10T09:00:00Z'],
  ['Di, 10 Jun 2003 04:00:00 CEST', '2003-06-10T02:00:00Z'],
  ['Tue, 10 Jun 2003 04:00:00 +0530', '2003-06-09T22:30:00Z'],
  ['2003-06-10T04:00:00', '2003-06-10T04:00:00Z'],
  ['2003-06-10 04:00', '2003-06-10T04:00:00Z'],
  ['2003-06-10T04:00:00.123456+0200', '2003-06-10T02:00:00Z'],
  ['2003-06-10', '2003-06-10'],
  ['2003', '2003'],
  ['June 10, 2003', '2003-06-10T00:00:00Z'],
  ['some day\n soon', 'some day soon'],
  ['', ''],
])('takes the date %j for %j', (text, date) => expect(isoDate(text)).toBe(date));
