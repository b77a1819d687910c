import { describe, expect, it } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { loadTokens } from '../tokens.ts';
import { cleanHtml, cutToTokens } from './model-input.ts';

const OPTIONS = { baseUrl: 'https://example.org/a/b', retainLinks: 'all', retainImages: 'all' } as const;
const clean = (html: string, options = {}) => cleanHtml(parseDocument(html), { ...OPTIONS, ...options });

describe('the HTML that a model receives', () => {
  it('has no scripts, styles, drawings, comments or frames', () => {
    const html =
      '<!doctype html><head><title>T</title></head><body><script>x()</script><style>a{}</style><!-- note --><svg><text>s</text></svg>' +
      '<iframe src="/f"></iframe><template><p>t</p></template><noscript>n</noscript><h1>Title</h1><p>Text</p></body>';
    expect(clean(html)).toBe('<h1>Title</h1><p>Text</p>');
  });

  it('has only meaningful attributes, and absolute URLs', () => {
    const html =
      '<p class="c" id="i" style="x" data-a="1" onclick="x()">A <a href="../c?d=1" class="l" title="t">link</a>' +
      '<img src="p.png" alt="A picture" width="3" loading="lazy"></p><table><tr><td colspan="2">x</td></tr></table>';
    expect(clean(html)).toBe(
      '<p>A <a href="https://example.org/c?d=1" title="t">link</a><img src="https://example.org/a/p.png" alt="A picture"></p>' +
        '<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>',
    );
  });

  it('has no data and no scripts in URLs', () => {
    expect(clean('<a href="javascript:x()">a</a><img src="data:image/png;base64,AAAA" alt="d">')).toBe(
      '<a>a</a><img alt="d">',
    );
    expect(clean(`<a href="/${'x'.repeat(3_000)}">a</a>`)).toBe('<a>a</a>');
  });

  it('keeps what the caller asks to keep', () => {
    const html = '<a href="/x">a</a><img src="/p.png" alt="d">';
    expect(clean(html, { retainLinks: 'none', retainImages: 'none' })).toBe('<a>a</a>');
  });

  it('collapses white space except where it is significant', () => {
    expect(clean('<div>\n  <p>a\n   b</p>\n\n  <pre>x\n  y</pre>  </div>')).toBe(
      '<div> <p>a b</p> <pre>x\n  y</pre> </div>',
    );
  });

  it('contains no control characters', () =>
    expect(clean('<p title="a\u001db">c\u001dd</p>')).toBe('<p title="a b">c d</p>'));

  it('is made from any tree', () => {
    expect(clean(`${'<div>'.repeat(50_000)}deep`)).toContain('deep');
    expect(clean('<p>x</p>'.repeat(50_000)).length).toBe(8 * 50_000);
    expect(clean('')).toBe('');
  });
});

describe('the end of a page that is too long', () => {
  it('is left out, with a notice', async () => {
    await loadTokens();
    const html = '<p>some words here</p>'.repeat(2_000);
    const { html: short, cut } = cutToTokens(html, 1_000);
    expect(cut).toBe(true);
    expect(short.length).toBeLessThan(html.length / 4);
    expect(short).toMatch(/left out -->$/);
    expect(cutToTokens(html, 100_000)).toEqual({ html, cut: false });
  });
});
