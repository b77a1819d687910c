import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUnchanged } from './unchanged.ts';

const URL_OF = 'https://a.example/page';
const prose = (count = 12) =>
  Array.from(
    { length: count },
    (_, n) => `<p>Paragraph ${n} tells at some length of the harbour, of its boats and of the people there.</p>`,
  ).join('');
const page = (body: string) => `<!doctype html><title>A page</title><body>${body}`;

describe('the source of a page and its rendered form', () => {
  const source = page(`<article><h1>The harbour</h1>${prose()}</article><script src="/a.js"></script>`);
  const same = (rendered: string) => isUnchanged(source, rendered, URL_OF);

  it('are equal if they differ only in parts that are not read', () => {
    expect(same(source)).toBe(true);
    expect(
      same(source.replace('</article>', '</article><script>1</script><iframe src="/ad"></iframe><style>a{}</style>')),
    ).toBe(true);
    expect(same(source.replace('Paragraph 3', 'Section 3'))).toBe(true);
  });

  it('differ if words or elements were added or removed', () => {
    expect(same(source.replace('</article>', `${prose(2).replaceAll('tells', 'sings')}</article>`))).toBe(false);
    expect(same(source.replace(prose(12), prose(8)))).toBe(false);
    expect(same(source.replace('</article>', `</article><nav>${'<a href="/x">x</a>'.repeat(10)}</nav>`))).toBe(false);
    expect(same(source.replaceAll('<p>', '<p data-lectern-hidden="display">'))).toBe(false);
    expect(same('')).toBe(false);
  });

  it('differ by a small addition to a long page, inside or outside of its main content', () => {
    const long = page(`<article><h1>The harbour</h1>${prose(200)}</article><aside><ul id="x"></ul></aside>`);
    const rendered = (from: string, to: string) => isUnchanged(long, long.replace(from, to), URL_OF);
    expect(rendered('</article>', '<p>This one was written by somebody who came later.</p></article>')).toBe(false);
    expect(rendered('<ul id="x"></ul>', '<ul id="x"><li>The red boat costs forty, the blue one fifty.</ul>')).toBe(
      false,
    );
    expect(rendered('</article>', `${'<img src="/a.png"><img src="/b.png">'.repeat(3)}</article>`)).toBe(false);
    expect(rendered('</article>', '<a href="/1"></a><p>3 people read it</p></article>')).toBe(true);
  });

  it('are compared symmetrically', () => {
    const piece = fc.constantFrom('<p>one two three</p>', '<p>four</p>', '<div>', '</div>', 'text ', '<b>x</b>');
    const html = fc.array(piece, { maxLength: 40 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(html, html, (one, other) => {
        expect(isUnchanged(one, one, URL_OF)).toBe(true);
        expect(isUnchanged(one, other, URL_OF)).toBe(isUnchanged(other, one, URL_OF));
      }),
      { seed: 5, numRuns: 60 },
    );
  });
});
