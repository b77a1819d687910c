import fc from 'fast-check';
import { parse as parse5, serialize } from 'parse5';
import { describe, expect, it } from 'vitest';
import { append, Comment, Element, find, Text } from './node.ts';
import { parseDocument, parseFragment } from './parse.ts';
import { innerHtml, outerHtml } from './serialize.ts';

const SOURCES = [
  '<!doctype html><html lang=en><head><title>a &amp; b</title></head><body class="x y">text<p>p<br>q</body></html>',
  '<p title="a&quot;b&lt;c&amp;d&nbsp;e">f &lt; g &gt; h &amp; i&nbsp;j "k"</p>',
  '<script>if (a < b && c > d) {}</script><style>a > b {}</style><xmp><b></xmp><iframe><p></iframe><noembed>&</noembed>',
  '<textarea>a &lt; b</textarea><title>&lt;x></title><noscript><p>&lt;</noscript>',
  '<svg viewBox="0 0 1 1" xlink:href="#a" xmlns:xlink="x"><path d=M0 /><title>&lt;</title><style>a > b</style></svg><math><mi>x</mi></math>',
  '<template><td>x<template><tr></template></template><table><tr><td>1<td>2</table>',
  '<!-- a --><ul><li>1<!----><li>2</ul><img src=a alt><input disabled><hr><wbr><select><option>o</select>',
  '<x-y a.b=1 :c=2 @d=3>é \u{1f600} \u2028</x-y><plaintext>a<b>',
];

describe('outerHtml', () => {
  it('returns the same HTML as parse5', () => {
    for (const source of SOURCES) {
      const theirs = serialize(parse5(source, { scriptingEnabled: false }), { scriptingEnabled: false });
      // parse5 does not escape < and > in attributes; it also keeps the doctype, which our trees do not contain.
      const values = (html: string) =>
        html.replace(/"[^"]*"/g, (value) => value.replace(/&lt;/g, '<').replace(/&gt;/g, '>'));
      expect(values(outerHtml(parseDocument(source)))).toBe(values(theirs.replace(/^<!DOCTYPE html>/, '')));
    }
  });

  it('includes the tags of an element, which innerHtml omits', () => {
    const list = find(parseDocument('<ul class=a><li>1</ul>'), 'ul')!;
    expect(outerHtml(list)).toBe('<ul class="a"><li>1</li></ul>');
    expect(innerHtml(list)).toBe('<li>1</li>');
    expect(outerHtml(list.first!)).toBe('<li>1</li>');
    expect(innerHtml(new Text('a'))).toBe('');
  });

  it('serializes single nodes, escaped according to their context', () => {
    expect(outerHtml(new Text('a < b & "c"\u00a0>'))).toBe('a &lt; b &amp; "c"&nbsp;&gt;');
    expect(outerHtml(new Comment(' x '))).toBe('<!-- x -->');
    expect(outerHtml(new Element('br', 'html', [{ name: 'a', value: '<"&>\u00a0' }]))).toBe(
      '<br a="&lt;&quot;&amp;&gt;&nbsp;">',
    );
    const script = new Element('script');
    append(script, new Text('a < b'));
    expect(outerHtml(script)).toBe('<script>a < b</script>');
    expect(outerHtml(script.first!)).toBe('a < b');
    const link = new Element('link', 'svg');
    append(link, new Text('a'));
    expect(outerHtml(link)).toBe('<link>a</link>');
  });

  it('returns the same HTML after parsing its output', () => {
    for (const source of SOURCES) {
      const once = outerHtml(parseDocument(source));
      expect(outerHtml(parseDocument(once.replace(/<\/plaintext>.*$/s, '')))).toBe(once);
    }
    const names = fc.constantFrom(
      'div',
      'span',
      'b',
      'ul',
      'section',
      'em',
      'code',
      'h2',
      'svg',
      'template',
      'details',
    );
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '&', '<', '>', '"', "'", '&lt;', '\u00a0', '\n', 'é', ';'),
    });
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof({ maxDepth: 4 }, text.map(escaped), tie('element')),
      element: fc
        .tuple(names, text, fc.array(tie('node'), { maxLength: 4 }))
        .map(([name, title, inside]) => `<${name} title="${escaped(title)}">${inside.join('')}</${name}>`),
    }));
    const fragments = fc.array(node, { maxLength: 5 }).map((parts) => `<div>${parts.join('')}</div>`);
    fc.assert(
      fc.property(fragments, (source) => {
        const once = outerHtml(parseFragment(source));
        expect(outerHtml(parseFragment(once))).toBe(once);
      }),
      { seed: 16_18, numRuns: 1000 },
    );
  });

  it('serializes very deep, wide and nested trees', () => {
    const count = 200_000;
    const top = new Element('p');
    let bottom = top;
    for (let i = 1; i < count; i++) {
      const inner = new Element('p');
      append(bottom, inner);
      bottom = inner;
    }
    expect(outerHtml(top)).toBe('<p>'.repeat(count) + '</p>'.repeat(count));
    const wide = '<i>x</i>'.repeat(count);
    expect(innerHtml(parseFragment(wide))).toBe(wide);
    const templates = '<template>'.repeat(200) + '</template>'.repeat(200);
    expect(innerHtml(parseFragment(templates))).toBe(templates);
  });
});

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
