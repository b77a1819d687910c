import { describe, expect, it } from 'vitest';
import { innerText } from './inner-text.ts';
import { append, Element, find, Text } from './node.ts';
import { parseDocument } from './parse.ts';

/** HTML bodies, each with the `document.body.innerText` that Chromium returns. */
const CASES: [body: string, text: string][] = [
  [
    '<p>Hello <b>big </b> world<br>x<table><tr><td>a<td>b<tr><td><p>c</p><td>d</table><ul><li>1<li>2</ul><pre>\n x\n  y\n</pre>tail',
    'Hello big world\nx\n\na\tb\n\n\nc\n\n\td\n1\n2\n x\n  y\n\ntail',
  ],
  ['a <br> b<br><br>c', 'a\nb\n\nc'],
  ['<div>a</div><div>b</div>c<p>d<p>e<div>f</div>', 'a\nb\nc\n\nd\n\ne\n\nf'],
  ['<div> a <span> b </span> c</div>', 'a b c'],
  ['<h1>T</h1>x<hr>y', 'T\nx\ny'],
  [
    '<table><caption>cap</caption><thead><tr><th>h1<th>h2<tbody><tr><td><td>2<tr><td colspan=2>x</table>after',
    'cap\nh1\th2\n\t2\nx\nafter',
  ],
  ['<table><tr><td>a</td></tr></table><table><tr><td>b</table>', 'a\nb'],
  ['<table><tr><td>a<table><tr><td>i1<td>i2<tr><td>i3</table>b<td>c<tr><td>d</table>z', 'a\ni1\ti2\ni3\nb\tc\nd\nz'],
  ['<select><option>o1<option>o2</select>x', 'o1\no2\nx'],
  ['a<select><optgroup label=L><option>o1<option>o2</optgroup></select>x', 'a\no1\no2\nx'],
  ['<textarea>t</textarea>x<button>b</button><input value=v>', 'xb'],
  ['<dl><dt>a<dd>b</dl>', 'a\nb'],
  ['x<span style="display:block">y</span>z', 'x\ny\nz'],
  ['x<div style="display:inline">y</div>z', 'xyz'],
  ['<div style="white-space:pre">  a\n  b</div>c', '  a\n  b\nc'],
  ['<pre>a\n</pre>b', 'a\n\nb'],
  ['<pre>a</pre><pre>\n\nb\n\n</pre>c', 'a\n\nb\n\n\nc'],
  ['a\u00a0 b &nbsp; c', 'a\u00a0 b \u00a0 c'],
  ['<details><summary>s</summary>inner</details>x', 's\nx'],
  ['<details open><summary>s</summary>inner</details>x', 's\ninner\nx'],
  ['<dialog>d</dialog><dialog open>e</dialog>', 'e'],
  ['<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>', '漢kan'],
  ['<svg><title>t</title><text>svgtext</text></svg>x', 'svgtext\nx'],
  ['<fieldset><legend>l</legend>f</fieldset>x', 'l\nf\nx'],
  ['<video>v</video><audio>a</audio><canvas>c</canvas><object>o</object><iframe>i</iframe>x', 'ox'],
  ['<p></p><p>a</p><p></p><p>b</p>', 'a\n\nb'],
  ['<ul><li><p>a</p></li><li><p>b</p></li></ul>', 'a\n\nb'],
  ['a<p>b</p>c', 'a\n\nb\n\nc'],
  ['<blockquote><p>q</p></blockquote>x', 'q\n\nx'],
  ['<b>a</b> <i>b</i>\n<u>c</u>', 'a b c'],
  ['<span>a</span><span>b</span>', 'ab'],
  ['a <span> </span> b', 'a b'],
  ['<div>a<br></div>b', 'a\n\nb'],
  ['<div>a<br><br></div>b', 'a\n\n\nb'],
  ['<div><br></div>b', '\n\nb'],
  ['<p>a<br></p><p>b</p>', 'a\n\n\nb'],
  ['<div style="visibility:hidden">h<span style="visibility:visible">v</span></div>x', 'vx'],
  ['<img alt=x>y', 'y'],
  ['<center>a</center>b<address>c</address>d', 'a\nb\nc\nd'],
  ['a<wbr>b&shy;c', 'ab\u00adc'],
  ['<label>l</label><meter value=1>m</meter><progress>p</progress>', 'l'],
  ['<noscript>n</noscript>x', 'x'],
  ['<template>t</template>x', 'x'],
  ['<ol><li>a<ol><li>b</ol><li>c</ol>', 'a\nb\nc'],
  ['a<!-- c -->b', 'ab'],
  ['<td>x</td>', 'x'],
  ['<table>foo<tr><td>a</table>', 'foo\na'],
  ['<table><tr><td> a </td> <td> b </td></tr> <tr><td>c</td></tr></table> z', 'a\tb\nc\nz'],
  ['<pre>a <b>b</b>  c</pre> d', 'a b  c\nd'],
  ['<pre>a</pre> b <pre> c</pre>', 'a\nb\n c'],
  ['a <pre>b', 'a\nb'],
  ['<code>  x  </code> y', 'x y'],
  ['<div>a </div> <div> b</div>', 'a\nb'],
  ['a\tb', 'a b'],
  ['<marquee>m</marquee>x', 'mx'],
  ['<listing>\n a</listing>', ' a'],
  ['<xmp> <b> </xmp>x', ' <b> \nx'],
  ['<p>a</p> <span> </span> <p>b</p>', 'a\n\nb'],
  ['<tr><td>1', '1'],
  ['<div hidden>x</div>y', 'y'],
  ['<figure><img><figcaption>c</figcaption></figure>x', 'c\nx'],
  ['<main><article><header>h</header><section>s</section></article></main>f', 'h\ns\nf'],
  ['<input type=button value=q>x', 'x'],
  ['<rt>a</rt>b', 'ab'],
  ['<a href=x>l1</a><a href=y>l2</a>', 'l1l2'],
  ['<div><span>a</span>\n<span>b</span>\n</div>', 'a b'],
  ['x<br>\n  y', 'x\ny'],
  ['x\n<br>y', 'x\ny'],
  ['<p>x\n</p>\n<p>\ny</p>', 'x\n\ny'],
  ['<div><p>a</p>b</div>c', 'a\n\nb\nc'],
  ['<p>a</p><table><tr><td>b</table><p>c</p>', 'a\n\nb\n\nc'],
  ['<td><br>', '\n'],
  ['<table><tr><td>a<br><td>b</table>', 'a\n\tb'],
  ['<table><tr><td>a<tr></tr><tr><td>b</table>', 'a\n\nb'],
  ['<table><thead><tr><td>a<tfoot><tr><td>f<tbody><tr><td>b</table>', 'a\nf\nb'],
];

const read = (source: string, name = 'body'): string =>
  innerText(find(parseDocument(`<!doctype html>${source}`), name)!);

describe('innerText', () => {
  it('returns the same text as a browser', () => {
    for (const [body, text] of CASES) expect(read(`<body>${body}`), body).toBe(text);
  });

  it('accepts a document, an element or a text node', () => {
    expect(innerText(parseDocument('<title>t</title><p>a</p>b'))).toBe('a\n\nb');
    expect(read('<p>a <b> b </b>', 'b')).toBe('b');
    expect(read('<table><tr><td>a<td>b<tr><td>c<td>d', 'table')).toBe('a\tb\nc\td');
    expect(read('<table><tr><td>a<td>b', 'tr')).toBe('a\tb');
    expect(read('<pre>a\n <b> b\n</b>', 'b')).toBe(' b\n');
    expect(read('<pre>a\n  b', 'pre')).toBe('a\n  b');
    expect(read('<script>let a;\nlet b;</script>', 'script')).toBe('let a; let b;');
    expect(innerText(new Text(' a  b '))).toBe('a b');
  });

  it('omits hidden elements', () => {
    expect(read('<p hidden>a<p style="color: red; DISPLAY:none !important">b<p>c<p style=display:block>d')).toBe(
      'c\n\nd',
    );
  });

  it('reads very deep, wide and long trees', () => {
    const count = 200_000;
    const top = new Element('div');
    let bottom = top;
    for (let i = 1; i < count; i++) {
      const inner = new Element(i % 2 ? 'span' : 'div');
      append(bottom, inner);
      bottom = inner;
    }
    append(bottom, new Text('x'));
    expect(innerText(top)).toBe('x');
    expect(read('<p>x'.repeat(count))).toBe(Array(count).fill('x').join('\n\n'));
    expect(read(`<table>${'<tr><td>a<td>b'.repeat(count / 4)}`)).toBe(
      Array(count / 4)
        .fill('a\tb')
        .join('\n'),
    );
    expect(read(`x${' '.repeat(count * 10)}y`)).toBe('x y');
    expect(read(`<p style="${' ;'.repeat(count)}display:none">x`)).toBe('');
  });
});
