// Full run only: converts all fixture pages.
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { append, Document, Element, Text } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { testOptions } from './convert.suite.ts';
import { type MarkdownOptions, toMarkdown } from './to-markdown.ts';

const OPTIONS = testOptions('https://example.org/docs/page');

const convert = (html: string, options: Partial<MarkdownOptions> = {}) =>
  toMarkdown(parseDocument(html), { ...OPTIONS, ...options });

const FIXTURES = new URL('../../../test/fixtures/markdown/', import.meta.url);

describe('fixtures', () => {
  const cases = readdirSync(FIXTURES);
  it('include more than 30 cases', () => expect(cases.length).toBeGreaterThan(30));
  for (const name of cases) {
    it(name, () => {
      const read = (file: string) => readFileSync(new URL(`${name}/${file}`, FIXTURES), 'utf8');
      const options = readdirSync(new URL(name, FIXTURES)).includes('options.json') ? read('options.json') : '{}';
      expect(`${convert(read('index.html'), JSON.parse(options)).markdown}\n`).toBe(read('index.md'));
    });
  }
});

describe('the result of the conversion', () => {
  it('numbers images as they are written', () => {
    const { images } = convert('<img src="a.png" alt="A"><img alt="no address"><img src="b.png">');
    expect(images).toEqual([
      { index: 1, url: 'https://example.org/docs/a.png', alt: 'A' },
      { index: 2, url: 'https://example.org/docs/b.png', alt: '' },
    ]);
  });

  it('skips images without alt text in the numbering if only alt text is kept', () => {
    const { images, markdown } = convert('<img src="a.png"><img src="b.png" alt="B">', { retainImages: 'alt' });
    expect(markdown).toBe('(Image 1: B)');
    expect(images).toEqual([{ index: 1, url: 'https://example.org/docs/b.png', alt: 'B' }]);
  });

  it('keeps data URLs if requested, else names them after the origin of the document', () => {
    const html = '<img src="data:image/gif;base64,AA">';
    expect(convert(html, { keepImgDataUrl: true }).markdown).toBe('![Image 1](data:image/gif;base64,AA)');
    expect(convert(html, { documentBase: 'https://cdn.example/x/' }).markdown).toMatch(
      /^!\[Image 1\]\(blob:https:\/\/cdn\.example\/[0-9a-f]{32}\)$/,
    );
  });

  it('returns the written links, citations with their number', () => {
    const html = '<a href="/a">one</a> <a href="/b"></a> <a href="javascript:x()">no</a> <a href="/c">two</a>';
    expect(convert(html).links).toEqual([
      { text: 'one', url: 'https://example.org/a' },
      { text: 'two', url: 'https://example.org/c' },
    ]);
    expect(convert(html, { retainLinks: 'gpt-oss' }).links).toEqual([
      { id: 1, text: 'one', url: 'https://example.org/a' },
      { id: 4, text: 'two', url: 'https://example.org/c' },
    ]);
  });

  it('converts an element without its siblings', () => {
    const document = parseDocument('<p>before</p><ul><li>item</ul><p>after</p>');
    const body = document.last?.type === 1 ? document.last.last : null;
    const list = body?.type === 1 ? body.first!.next : null;
    expect(list?.type === 1 && toMarkdown(list, OPTIONS).markdown).toBe('*   item');
  });
});

describe('untrusted pages', () => {
  const HOSTILE_LINKS = [
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'vbscript:x',
    'data:text/html,<script>alert(1)</script>',
  ];
  for (const href of HOSTILE_LINKS) {
    it(`cannot link to ${JSON.stringify(href)}`, () => {
      const document = parseDocument('<a>text</a>');
      const body = document.last?.type === 1 ? document.last.last : null;
      const anchor = body?.type === 1 ? body.first : null;
      if (anchor?.type !== 1) throw new Error('no anchor');
      anchor.attributes.push({ name: 'href', value: href });
      for (const retainLinks of ['all', 'gpt-oss'] as const) {
        expect(toMarkdown(document, { ...OPTIONS, retainLinks }).markdown).toBe('text');
      }
    });
  }

  it('cannot end a link early by its URL or title', () => {
    const { markdown } = convert('<a href="https://x.example/a)b <c> \\d" title="t&quot;) [x](y)">text</a>');
    expect(markdown).toBe('[text](https://x.example/a%29b%20%3Cc%3E%20/d "t\\") [x](y)")');
  });

  it('cannot add lines to titles, labels and headings', () => {
    const { markdown } = convert('<img src="a" alt="x\n\n# y"><h1>a\n<div>b</div><br>c</h1>', { title: 'T\n\n# fake' });
    expect(markdown.split('\n')).toEqual([
      '# T # fake',
      '',
      '![Image 1: x # y](https://example.org/docs/a)',
      '',
      '# a b c',
    ]);
  });

  it('cannot separate chunks or imitate citations', () => {
    const { markdown } = convert(
      '<p>a\u001db【1†x】</p><img src="a" alt="【2†y】\u001d"><pre>【3\u001d</pre><a href="/x" title="【4†z】">t</a>',
      {
        retainLinks: 'gpt-oss',
      },
    );
    expect(markdown).not.toContain('\u001d');
    expect(markdown.match(/【/g)).toHaveLength(1);
    expect(markdown).toContain('【1†t】');
  });
});

describe('hostile trees', () => {
  const nested = (name: string, depth: number) => {
    const root = new Document();
    let parent: Document | Element = root;
    for (let level = 0; level < depth; level++) {
      const element: Element = new Element(name);
      append(parent, element);
      append(element, new Text(`w${level} `));
      parent = element;
    }
    return root;
  };

  for (const name of [
    'div',
    'b',
    'span',
    'a',
    'ul',
    'li',
    'blockquote',
    'table',
    'td',
    'dd',
    'sup',
    'h1',
    'q',
    'code',
    'pre',
    'math',
    'mrow',
  ]) {
    it(`keeps every word of 10,000 nested ${name}`, () => {
      const { markdown } = toMarkdown(nested(name, 10_000), OPTIONS);
      expect(markdown).toContain('w0');
      expect(markdown).toContain('w9999');
      expect(markdown.length).toBeLessThan(10_000 * 200);
    });
  }

  it('converts 30,000 siblings of each kind', () => {
    for (const piece of [
      '<p>x',
      '<li>x',
      '<b>x</b>',
      '<a href=/>x</a>',
      '<tr><td>x<td>y',
      '<code>x</code>',
      '<img src=a>',
      '<!-- --> ',
      '*_`~[',
    ]) {
      const start = piece.startsWith('<tr') ? '<table>' : '';
      expect(convert(start + piece.repeat(30_000)).markdown.length).toBeGreaterThanOrEqual(
        piece.startsWith('<!') ? 0 : 30_000,
      );
    }
  });

  it('bounds the cells that spans add', () => {
    const rows = '<tr><td rowspan=65534 colspan=1000>x<td>y</td></tr>'.repeat(2_000);
    expect(convert(`<table>${rows}</table>`).markdown.length).toBeLessThan(rows.length * 50);
  });

  it('converts long runs of special characters', () => {
    for (const run of [
      '[',
      ']',
      '*',
      '_',
      '`',
      '\\',
      '#',
      '- ',
      '<',
      '&',
      ' ',
      '\n',
      '!',
      '~',
      '^',
      '1',
      '$',
      '$a',
      '\\(',
      '\\(a_',
      'x:// ',
    ]) {
      const text = run.repeat(80_000).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      expect(() =>
        convert(`<p>${text}</p><pre>${text}</pre><p><a href="/${run.repeat(100)}" title='${text}'>x</a>`),
      ).not.toThrow();
    }
  });
});

describe('random trees', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  const text = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));
  const { flow } = fc.letrec<{ inline: string; flow: string }>((tie) => ({
    inline: fc.oneof(
      { maxDepth: 3 },
      text,
      fc
        .tuple(fc.constantFrom('b', 'i', 'em', 's', 'span', 'code', 'a href="/x"', 'q', 'mark'), tie('inline'))
        .map(([tag, inner]) => `<${tag}>${inner}</${tag.split(' ')[0]}>`),
      fc.tuple(tie('inline'), fc.constantFrom('', ' ', '\n'), tie('inline')).map((parts) => parts.join('')),
    ),
    flow: fc.oneof(
      { maxDepth: 4 },
      tie('inline').map((inner) => `<p>${inner}</p>`),
      fc
        .tuple(fc.constantFrom('div', 'blockquote', 'section', 'h2', 'a href="/y"', 'details'), tie('flow'))
        .map(([tag, inner]) => `<${tag}>${inner}</${tag.split(' ')[0]}>`),
      fc
        .tuple(fc.constantFrom('ul', 'ol'), fc.array(tie('flow'), { minLength: 1, maxLength: 3 }))
        .map(([tag, items]) => `<${tag}>${items.map((item) => `<li>${item}</li>`).join('\n')}</${tag}>`),
      fc
        .array(fc.array(tie('inline'), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
        .map(
          (rows) =>
            `<table>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`,
        ),
      tie('inline').map((inner) => `<pre>${inner}\n${inner}</pre>`),
      fc.tuple(tie('flow'), tie('flow')).map((parts) => parts.join('')),
    ),
  }));

  const letters = (from: string) => from.replace(/[^a-z]/g, '');

  it('keep every letter in order', () => {
    fc.assert(
      fc.property(flow, (html) => {
        const shown = convert(html, { retainLinks: 'text' }).markdown;
        expect(letters(shown)).toBe(letters(html.replace(/<[^>]*>/g, '')));
      }),
      { seed: 20_261, numRuns: 400 },
    );
  });

  it('separate words that white space or a block separates', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('p', 'b', 'li', 'td', 'h2', 'code', 'a href="/x"'), word), {
          minLength: 1,
          maxLength: 20,
        }),
        (parts) => {
          const html = parts.map(([tag, text]) => `<${tag}>${text}</${tag.split(' ')[0]}>`).join('\n');
          const shown = convert(html, { retainLinks: 'text' }).markdown;
          expect(shown.match(/[a-z]+/g)).toEqual(parts.map(([, text]) => text));
        },
      ),
      { seed: 20_263, numRuns: 200 },
    );
  });

  it('produce no double blank lines outside of fences, and no open fence', () => {
    fc.assert(
      fc.property(flow, (html) => {
        let fence = false;
        let blank = 0;
        for (const line of convert(html).markdown.split('\n')) {
          const isFence = /^(?:> |[*] {3}|\d+\. {3}| )*```/.test(line);
          blank = fence || /[^>\s]/.test(line) ? 0 : blank + 1;
          expect(blank).toBeLessThan(2);
          if (isFence) fence = !fence;
        }
        expect(fence).toBe(false);
      }),
      { seed: 20_262, numRuns: 400 },
    );
  });
});
