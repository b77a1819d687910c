// Full run only: generates large documents.
import fc from 'fast-check';
import { html, parse as parse5, parseFragment as parseFragment5, type DefaultTreeAdapterTypes as Tree5 } from 'parse5';
import { describe, expect, it } from 'vitest';
import { children, type Document, find, type Node, textOf } from './node.ts';
import { MAX_DEPTH, parseDocument, parseFragment, parsePage } from './parse.ts';

/** A tree as lines, one per node with its depth; the same format for our trees and parse5's. */
function lines(document: Document): string[] {
  const out: string[] = [];
  const waiting: [Node, number][] = [[document, 0]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [node, depth] = next;
    const below = node.type === 1 && node.content ? [node.content] : [];
    if (node.type === 1) {
      const attributes = node.attributes.map(({ prefix, name, value }) => [prefix ?? '', name, value]);
      out.push(`${depth} <${node.namespace}:${node.name} ${JSON.stringify(attributes)}`);
    } else out.push(`${depth} ${node.type === 9 ? '' : JSON.stringify([node.type, node.value])}`);
    const under = node.type === 1 || node.type === 9 ? [...children(node), ...below] : [];
    for (const child of under.reverse()) waiting.push([child, depth + 1]);
  }
  return out;
}

const NAMESPACES: Record<string, string> = { [html.NS.HTML]: 'html', [html.NS.SVG]: 'svg', [html.NS.MATHML]: 'math' };

function lines5(document: Tree5.Node): string[] {
  const out: string[] = [];
  const waiting: [Tree5.Node, number][] = [[document, 0]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [node, depth] = next;
    if (node.nodeName === '#documentType') continue;
    if ('tagName' in node) {
      const attributes = node.attrs.map(({ prefix, name, value }) => [prefix ?? '', name, value]);
      out.push(`${depth} <${NAMESPACES[node.namespaceURI]}:${node.tagName} ${JSON.stringify(attributes)}`);
    } else if ('data' in node) out.push(`${depth} ${JSON.stringify([8, node.data])}`);
    else out.push(`${depth} ${'value' in node ? JSON.stringify([3, node.value]) : ''}`);
    const under: Tree5.Node[] = 'childNodes' in node ? [...node.childNodes] : [];
    if ('content' in node) under.push(node.content);
    for (const child of under.reverse()) waiting.push([child, depth + 1]);
  }
  return out;
}

/** An unclosed frame inside noscript ends differently on purpose. */
const FRAME_IN_NOSCRIPT = /<noscript[\s\S]*<iframe/i;

function expectSame(source: string): void {
  if (FRAME_IN_NOSCRIPT.test(source)) return;
  const theirs = parse5(source, { scriptingEnabled: false });
  const ours = parseDocument(source);
  expect(lines(ours), JSON.stringify(source)).toEqual(lines5(theirs));
  expect(ours.quirks, JSON.stringify(source)).toBe(theirs.mode === html.DOCUMENT_MODE.QUIRKS);
  const fragment = parseFragment5(source, { scriptingEnabled: false });
  expect(lines(parseFragment(source)), JSON.stringify(source)).toEqual(lines5(fragment));
}

/** Each of these is an edge case of the standard's tokenizer or tree construction. */
const EDGES = {
  'tag open': [
    'a < b',
    'a<',
    'a</',
    'a</>b',
    'a</ x>b',
    'a<?php ?>b',
    'a<?',
    'a<!>b',
    'a<!x>b',
    'a<!',
    '<3',
    '<a',
    '</a',
    '<é>',
    '</é>',
  ],
  'tag names': [
    '<A>',
    '<a\0b>x',
    '<DIV\tID=X>',
    '<a/b>',
    '<x-Y:Z>',
    '<É>',
    '<h1></H1>x',
    '<straßE></straßE>x',
    `<${'q'.repeat(40)}>x</${'Q'.repeat(40)}>y`,
  ],
  attributes: [
    '<a b>',
    '<a b c>',
    '<a b=>',
    '<a b= >',
    '<a b=c/>',
    '<a b="c"/>',
    '<br/ x>',
    '<a / b>',
    '<a =b>',
    '<a ==b>',
    '<a b==c>',
    '<a /=x>',
    '<a b/=c>',
    '<a b = c>',
    '<a b =\n"c"d=e>',
    `<a b='"' c="'">`,
    '<a b=c"d\'e<f`g=h>',
    '<a "b">',
    "<a 'b'=c>",
    '<a <b>',
    '<a b="x>y">',
    '<a b="x',
    "<a b='x",
    '<a b=x',
    '<a b',
    '<a b ',
    '<a b=',
    '<a B=1 b=2 c=3>',
    '<a b\0c=d\0e>',
    '<a b="\0">',
    '<a b=\0>',
    '<a b="1\r\n2\r3">',
    '<a b="c"d>',
    '<svg viewbox=1 xlink:href=a xmlns:xlink=b xml:lang=c>',
    '<math definitionurl=x>',
    '<html a=1><html b=2 a=3>',
    '<body a=1><body b=2 a=3>',
    '</a b=c/>',
    '<p></p x="y>z">w',
    `<a ${Array.from({ length: 90 }, (_, i) => `x${i % 60}=${i}`).join(' ')}>`,
  ],
  references: [
    '&',
    '&a',
    '&amp',
    '&amp;',
    '&ampx',
    '&amp=',
    '&notit;',
    '&notin;',
    '&no;',
    '&;',
    '&#',
    '&#;',
    '&#x',
    '&#x;',
    '&#65',
    '&#x41;y',
    '&#0;',
    '&#13;',
    '&#x80;',
    '&#xD800;',
    '&#x110000;',
    '&#99999999999;',
    '&nbsp',
    '&nbsp;&nbsp',
    '&lt&gt',
    '&<b>',
    '&am<b>p;',
    '&nGt;',
    '&fjlig;',
    '<a b="&amp">',
    '<a b="&amp=">',
    '<a b="&ampx">',
    '<a b=&amp;c>',
    '<a b=&lt>',
    '<a b="&notit;&notin;">',
    '<a b="&#65&#x41;">',
    '<a href="?a=1&copy=2&copy;=3&lt">',
    '<title>&amp;&lt</title>',
    '<style>&amp;</style>',
    '<pre>&#10;x',
    '<pre>\n&#10;x',
    '<textarea>\n\nx',
    'x&CounterClockwiseContourIntegral;y',
    '&CounterClockwiseContourIntegra',
    '&am&amp;&',
    '&&amp;',
  ],
  'white space and NUL': [
    'a\0b',
    '\u3000a\0b',
    `${'\u0100x'.repeat(40_000)}\0b`,
    '\0',
    ' \0 a',
    '<table>\0a',
    '<table> \0 <tr>\0<td>\0',
    '<svg>a\0b',
    '<select>a\0',
    '<title>a\0</title>',
    '<script>\0</script>',
    'a\r\nb\rc',
    '\r\n<pre>\r\nx',
    '<pre>\n\nx',
    '<pre> \nx',
    '<pre>x\n',
    '<pre></>\nx',
    '<listing>\nx',
    '<textarea>\nx</textarea>',
    '<textarea>\n',
    '<pre>\n<b>\nx',
    '<pre><!-- -->\nx',
    ' \n<html> \n<head> \n</head> \n<body> \n',
    ' x ',
    '\f\t x',
    '<table> a b <tr> c <td> d',
    'a\u2028b\u00a0c',
    '<html><body></body> x </html> y ',
    '<frameset> a b <frame> c </frameset> d ',
    '<colgroup> a ',
    '<table><colgroup> x <col> y',
    '\ufeffx',
    '<!doctype html> <!-- --> x',
  ],
  comments: [
    '<!---->',
    '<!-->x',
    '<!--->x',
    '<!--a-->b',
    '<!--a--!>b',
    '<!----!>b',
    '<!---!>b',
    '<!--a--',
    '<!--a-',
    '<!--a--!',
    '<!--a---',
    '<!--',
    '<!---',
    '<!----',
    '<!--a--b-->c',
    '<!--a--!b-->c',
    '<!--a--!-->c',
    '<!--a--->b',
    '<!--a<!-->b',
    '<!--a<!--->b',
    '<!--a<!--b-->c',
    '<!--a<!--!>b',
    '<!--a<!-',
    '<!--a<!--',
    '<!--a<-->b',
    '<!--a<<!-->b',
    '<!--\0-->',
    '<!-- -- >x',
    '<!-a->b',
    '</!-->x',
    '<!-->-->',
    '<!--a--!>b-->c--!>d',
    '<table><!--a--><tr><!--b-->',
    '</html><!--a-->',
    '</body><!--a-->',
  ],
  doctypes: [
    '<!doctype>',
    '<!doctype',
    '<!DOCTYPE html',
    '<!doctype html>',
    '<!doctypehtml>',
    '<!doctype HTML PUBLIC>',
    '<!doctype html public "">',
    '<!doctype html public "-//W3C//DTD HTML 4.01 Transitional//EN">',
    '<!doctype html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "x">',
    '<!doctype html public "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">',
    '<!doctype html public\'a\'"b">',
    '<!doctype html public "a>x',
    '<!doctype html system "a>x',
    "<!doctype html system ''>",
    '<!doctype html system>',
    '<!doctype html system "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd">',
    '<!doctype html system "about:legacy-compat">',
    '<!doctype html system "a" x',
    '<!doctype html system "a" x>',
    '<!doctype html public "a" "b" x',
    '<!doctype html public "a" x "b">',
    '<!doctype html x>',
    '<!doctype html publi>',
    '<!doctype\0>',
    '<!doctype \n\f html \t>',
    'x<!doctype html>',
    '<!doctype html public "a"',
    '<!doctype html public',
  ].flatMap((doctype) => [doctype, `${doctype}<p><table>`]),
  'raw text': [
    '<title>a<b></title>c',
    '<title>a</titlex></title>c',
    '<title>a</TITLE >c',
    '<title>a</title/x>c',
    '<title>a</title',
    '<title>a</title x="',
    '<title>',
    '<title>a</</title>',
    '<style><!--</style>-->',
    '<xmp><p></xmp>',
    '<iframe><p></iframe>x',
    '<noembed><p></noembed>',
    '<noframes></p></noframes>',
    '<noscript><p>x</noscript>',
    '<head><noscript><link><p>x</noscript>',
    '<plaintext>a</plaintext>\0b',
    '<textarea></textare></textarea>',
    '<svg><title>a<b>c</title><style><p>',
    '<title></title></title>x',
    '<style/>x</style>',
    '<script/>x</script>y',
    '<title>&lt;/title&gt;</title>',
  ],
  scripts: [
    '<script>a</script>b',
    '<script>a</SCRIPT\n>b',
    '<script>a</scriptx></script>b',
    '<script></</script>',
    '<script><!--</script>b',
    '<script><!--a--></script>b',
    '<script><!--<script>a</script>b--></script>c',
    '<script><!--<script>a</script></script>c',
    '<script><!--<script>a--></script>c',
    '<script><!--<script >x</script/>y</script>z',
    '<script><!--<scripty>x</script>z',
    '<script><!--<script',
    '<script><!--<script></script',
    '<script><!--><script></script>b',
    '<script><!---><script></script>b',
    '<script><!-<script></script>b',
    '<script><!-- - -- ---></script>',
    '<script><!--<</script>b',
    '<script><!--</</script>b',
    '<script><!--<scr<script></script>x</script>y',
    '<script>a<!b</script>',
    '<script><!--a--><!--<script></script>b</script>c',
    '<script><!--\0<script>\0</script>\0-->\0</script>',
    '<script><!--<SCRIPT></SCRIPT>--></script>x',
    '<script>"<!--" + "<script>"</script>x',
    '<script><!--<script>--',
    '<script>x',
    '<script><!--',
    '<script>a</script b="',
    '<script><!-- --><script></script>a',
    '<script><!--<script></scriptx></script>-</script>a',
  ],
  cdata: [
    '<![CDATA[a]]>b',
    '<svg><![CDATA[a]]>b',
    '<svg><![CDATA[a]]b]]]>c',
    '<svg><![CDATA[<p>&amp;]]>',
    '<svg><![CDATA[a',
    '<svg><![CDATA[a]',
    '<svg><![CDATA[a]]',
    '<svg><![CDATA[\0]]>',
    '<svg><![CDATA[]]>',
    '<math><mi><![CDATA[a]]>',
    '<math><![CDATA[ a ]]>',
    '<svg><foreignObject><![CDATA[a]]>',
    '<svg><![cdata[a]]>',
    '<svg><desc><![CDATA[a]]><svg><![CDATA[b]]>',
    '<svg/><![CDATA[a]]>',
    '<![CDATA[\0]]>',
    '<svg></svg><![CDATA[a]]>',
  ],
  construction: [
    '<b><p>x</b>y</p>z',
    '<a>1<a>2<a>3',
    '<b><i>x</b>y</i>z',
    '<p><b><p><b><p>x',
    '<b id=1><b id=1><b id=1><b id=1><p>x',
    '<table><b>x<tr>y<td>z',
    '<table><a>1<a>2</table>3',
    '<a><table><a>x',
    '<table><form><input></form><input type=hidden><input>',
    '<form><form>x</form>y',
    '<template><tr><td>x</template>y',
    '<template><template>x',
    '<table><template><td>x</template>',
    '<select><option>a<option>b<optgroup>c<hr><b>d</select>e',
    '<select><input>',
    '<select><select>',
    '<table><select><tr>',
    '<button><button>x',
    '<nobr>a<nobr>b',
    '<li>a<li><ul><li>b</ul>c<li>',
    '<dl><dt>a<dd>b<dt>c',
    '<h1>a<h2>b</h1>c',
    '<svg><p>x',
    '<svg><foreignObject><p>x</svg>y',
    '<math><mi><p>x</math>y',
    '<math><annotation-xml encoding=text/html><p>x',
    '<svg><desc><b>x</svg>y',
    '<svg><a href=1></a><font color=red>x',
    '<svg></p>',
    '<svg></br>',
    '</p>',
    '</br>',
    '<frameset><frame></frameset>',
    '<p><frameset>',
    '<ruby>a<rb>b<rt>c<rp>d',
    '<image>',
    '<isindex>',
    '<applet><b></applet>x',
    '<table><td><table><td>x</table>y</table>z',
    '<table><caption>a<td>b',
    '<table><colgroup><col><td>x',
    '<p><table>',
    '<!doctype html><p><table>',
    '<body><p></body>x<p>',
    '<head></head>x</head>y',
    '<a b=1><p><a b=2>x',
    '<font size=1><p>a<font size=2></p>b',
    '<b a=1 b=2><p></b>x',
    '<i a=1><p>x</i>y<p>z',
    '<math><mglyph></math>',
    '<math><mi><mglyph>',
    '<svg><g/>x',
    '<math><mtext><b>x</mtext>y',
  ],
};

describe('parseDocument and parseFragment', () => {
  for (const [what, sources] of Object.entries(EDGES)) {
    it(`build the same trees as parse5: ${what}`, () => {
      for (const source of sources) {
        expectSame(source);
        expectSame(`<p>a&amp;b</p>${source}<p>c&amp;d</p><script>e</script>--><i>f`);
      }
    });
  }

  const names =
    'a b i p div span table tr td th tbody caption colgroup col select option optgroup form input button ul li dl dt dd h1 h2 svg math mi mtext title desc foreignObject annotation-xml style script textarea noscript template iframe plaintext pre br hr img html head body frameset frame font nobr object ruby rt rp image'.split(
      ' ',
    );
  const pieces = [
    '<',
    '</',
    '<!',
    '<?',
    '>',
    '/>',
    '/',
    '=',
    '"',
    "'",
    ' ',
    '\n',
    '\r\n',
    '\r',
    '\t',
    '\f',
    '\0',
    '&',
    ';',
    '&amp',
    '&amp;',
    '&notit;',
    '&#',
    '&#x41',
    '&#0;',
    '&lt',
    '<!--',
    '-->',
    '--!>',
    '<!-->',
    '-',
    '!',
    '<![CDATA[',
    ']]>',
    ']',
    '<!doctype html>',
    '<!DOCTYPE',
    'public',
    'system',
    'x',
    'Yz',
    'é',
    '\ud83d\ude00',
    '\ud800',
    ' a=1',
    ' b="&amp;c"',
    " c='d",
    ' xlink:href=e',
    '<script>',
    '</script>',
    '<SCRIPT',
    '</SCRIPT >',
    '<title>',
    '</title>',
    '</style>',
    '</textarea>',
    '</select>',
    '</template>',
    '</table>',
    '</svg>',
  ];
  const piece = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...pieces) },
    { weight: 3, arbitrary: fc.constantFrom(...names).map((name) => `<${name}>`) },
    { weight: 1, arbitrary: fc.constantFrom(...names).map((name) => `<${name} `) },
    { weight: 2, arbitrary: fc.constantFrom(...names).map((name) => `</${name}>`) },
  );

  it('build the same trees as parse5 from random tags', () => {
    const soup = fc.array(piece, { maxLength: 40 }).map((parts) => parts.join(''));
    fc.assert(fc.property(soup, expectSame), { seed: 20_05, numRuns: 3000 });
  });

  it('build the same trees as parse5 from random script content', () => {
    const inside = fc.constantFrom(
      '<!--',
      '-->',
      '<script>',
      '<script ',
      '</script>',
      '</script',
      '</',
      '<',
      '-',
      '>',
      'x',
      '\0',
      '<!',
      '/',
    );
    const soup = fc.array(inside, { maxLength: 25 }).map((parts) => `<script>${parts.join('')}`);
    fc.assert(fc.property(soup, expectSame), { seed: 20_06, numRuns: 1500 });
  });

  it('build the same trees as parse5 from random characters', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), expectSame), { seed: 20_07, numRuns: 1000 });
  });

  it('end an unclosed frame with the noscript around it, as browsers with scripts do', () => {
    const frame = '<iframe src="https://tags.example/ns.html" height="0" />';
    for (const source of [
      `<body><noscript>${frame}</noscript><main>Text</main>`,
      `<head><noscript>${frame}</noscript></head><body><main>Text</main>`,
      `<body><noscript>${frame}</NOSCRIPT ><main>Text</main><iframe>x</iframe>`,
    ]) {
      expect(textOf(find(parseDocument(source), 'main')!), source).toBe('Text');
      expect(textOf(find(parseDocument(source), 'iframe')!), source).toBe('');
    }
    // Outside of noscript, the standard applies.
    expect(find(parseDocument(`<body><noscript></noscript>${frame}<main>Text</main>`), 'main')).toBeNull();
  });

  it('do not share attributes between elements', () => {
    const [first, second] = [...children(find(parseDocument('<b class=x><p>1</b>2'), 'body')!)].map((node) =>
      node.type === 1 ? (node.name === 'b' ? node : find(node, 'b')!) : null,
    );
    expect(second?.attributes).toEqual(first?.attributes);
    expect(second).not.toBe(first);
    first!.attributes[0]!.value = 'y';
    first!.attributes.push({ name: 'z', value: '' });
    expect(second?.attributes).toEqual([{ name: 'class', value: 'x' }]);
  });
});

describe('parsePage', () => {
  it('counts elements and depth', () => {
    expect(parsePage('<div><p>x</div>')).toMatchObject({ elements: 5, depth: 4, complete: true });
    expect(parsePage('<br><br><br>')).toMatchObject({ elements: 6, depth: 2 });
    expect(parsePage('<div>'.repeat(300))).toMatchObject({ elements: 303, depth: 302 });
  });

  it('ends the tree and reports it as incomplete if the source exceeds maxPieces', () => {
    const { document, complete, elements } = parsePage('<p a=1>x</p>'.repeat(100), { maxPieces: 53 });
    expect(complete).toBe(false);
    expect(elements).toBeLessThan(30);
    expect(textOf(document).length).toBeGreaterThan(20);
    expect(parsePage('<p a=1>x</p>'.repeat(100)).complete).toBe(true);
    expect(parsePage('<!---->'.repeat(100), { maxPieces: 53 }).complete).toBe(false);
  });

  it('keeps the first thousand attributes of a tag', () => {
    const source = `<a ${Array.from({ length: 100_000 }, (_, i) => `x${i}`).join(' ')}>y`;
    const link = find(parseDocument(source), 'a')!;
    expect(link.attributes).toHaveLength(1000);
    expect(textOf(link)).toBe('y');
  });
});

/** Depth of the tree, measured by walking it. */
function depthOf(document: Document): number {
  let depth = 0;
  let deepest = 0;
  const waiting: [Node, number][] = [[document, 0]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    [, depth] = next;
    deepest = Math.max(deepest, depth);
    const node = next[0];
    if (node.type === 1 && node.content) waiting.push([node.content, depth + 1]);
    if (node.type === 1 || node.type === 9) for (const child of children(node)) waiting.push([child, depth + 1]);
  }
  return deepest;
}

describe('depth', () => {
  const NESTING: Record<string, string> = {
    div: '<div>x',
    b: '<b>x',
    'b with attributes': '<b id=#>x',
    a: '<a><div>x',
    p: '<p><span>x',
    li: '<ul><li>x',
    table: '<table><tr><td>x',
    'table without cells': '<table>x',
    select: '<select><option>x',
    template: '<template>x',
    button: '<object><button>x',
    svg: '<svg><foreignObject>x',
    'svg groups': '<svg><g>x',
    math: '<math><mi>x',
    form: '<form><fieldset>x',
    unknown: '<x-y>x',
    'formatting closed from outside': '<div><b id=#><i id=#>x</div>',
    'formatting in templates': '<template><b id=#>x',
    'formatting across blocks': '<b id=#><p>x</b>',
    'closed in the wrong order': '<b id=#><i id=#><p>x</b></i>',
  };

  for (const [what, piece] of Object.entries(NESTING)) {
    it(`is bounded: ${what}`, () => {
      const count = 5_000;
      const source = Array.from({ length: count }, (_, i) => piece.replaceAll('#', String(i))).join('');
      const { document, depth, complete } = parsePage(source);
      expect(depthOf(document)).toBeLessThan(3 * MAX_DEPTH);
      expect(depth).toBeLessThan(3 * MAX_DEPTH);
      if (complete && !/select|template/.test(what)) expect(textOf(document)).toHaveLength(count);
    });
  }

  it('nests elements up to the limit like parse5', () => {
    const source = '<div>x'.repeat(MAX_DEPTH - 2);
    expect(lines(parseDocument(source))).toEqual(lines5(parse5(source)));
  });

  it('flattens elements beyond the limit', () => {
    const { document, depth } = parsePage(`${'<div>'.repeat(MAX_DEPTH)}<p>a<b>b</b></p><script>c</script>d`);
    expect(depth).toBeGreaterThanOrEqual(MAX_DEPTH);
    const bottom = find(document, 'p')!.parent!;
    expect(
      [...children(bottom)].map((node) => (node.type === 1 ? `<${node.name}>` : node.type === 3 ? node.value : '')),
    ).toEqual(['<div>', '<div>', '<p>', 'a', '<b>', 'b', '<p>', '<script>', 'd']);
    expect(textOf(find(document, 'script')!)).toBe('c');
  });
});

describe('hostile sources are parsed in linear time', () => {
  const times = (piece: string, count: number): string =>
    Array.from({ length: count }, (_, i) => piece.replaceAll('#', String(i))).join('');
  const many = 80_000;

  const HOSTILE: Record<string, [source: () => string, least: number]> = {
    '10 MB of nested tags': [() => '<div>'.repeat(2_000_000), 900_000],
    'unclosed formatting': [() => times('<b><i><font color=#>', 100_000), 100_000],
    'end tags that match nothing': [() => '<div>'.repeat(many) + '</p></x></b></h1></li>'.repeat(many), many],
    'formatting closed one level further out': [() => times('<b id=#><div>', many) + '</b>'.repeat(many), many],
    'links in links': [() => times('<a href=#><div>', many), many],
    'formatting that every paragraph reopens': [() => `<p>${times('<b id=#>', 2000)}${'<p>x'.repeat(10_000)}`, 50_000],
    'text between table rows': [() => `<table>${'<tr>x<b>y'.repeat(many)}`, many],
    'open paragraphs': [() => '<p>'.repeat(many) + '<span><p>'.repeat(many), many],
    'cells without a table': [() => `<table>${'<td>'.repeat(many)}</table>${'<td>'.repeat(many)}`, many],
    'options in selects': [() => `<select>${'<option><optgroup>'.repeat(many)}`, many],
    'templates side by side': [() => '<template><td></template>'.repeat(many), many],
    'forms in templates': [() => '<template><form></form></template>'.repeat(many), many],
    'attributes repeated on body': [() => times('<body a#=1>', many), 3],
    'an unclosed quote': [() => `${'<i>'.repeat(1000)}<a b="${'x&amp;'.repeat(500_000)}`, 1000],
    'an unclosed comment': [() => `<i><!--${'<!--'.repeat(2_000_000)}`, 4],
    'many comments that end in -->': [() => `${'<!-- x -->'.repeat(many)}<i>`, 4],
    'many comments that end in --!>': [() => `${'<!-- x --!>'.repeat(many)}<i>`, 4],
    'many scripts': [() => '<script>x</script>'.repeat(many), many],
    'a script in comments': [() => `<script>${'<!--<script>'.repeat(many)}`, 4],
    'incomplete end tags of a script': [() => `<script>${'</scrip'.repeat(many * 4)}`, 4],
    'incomplete end tags of a title': [() => `<title>${'</titl'.repeat(many * 4)}`, 4],
    'CDATA sections': [() => `<svg>${'<![CDATA[x]]>'.repeat(many)}<g>`, 5],
    'ampersands far apart': [() => `${'<i a="b">c'.repeat(many)}&amp;`, many],
    'ampersands everywhere': [() => '&'.repeat(many * 10) + '&amp'.repeat(many * 10), 3],
    'less-than signs': [() => '<'.repeat(many * 10), 3],
    'NUL everywhere': [() => 'a\0'.repeat(many * 2), 3],
    'carriage returns': [() => '\r'.repeat(many * 20), 3],
    'a long doctype': [() => `<!doctype html public "${' '.repeat(many * 20)}`, 3],
    doctypes: [() => '<!doctype html>'.repeat(many), 3],
    'tag names that are all different': [() => times('<x#>', many), many],
    'annotations in math': [() => `<math>${'<annotation-xml>'.repeat(many)}${'<p>'.repeat(many)}`, many],
  };

  for (const [what, [source, least]] of Object.entries(HOSTILE)) {
    it(what, () => {
      const { elements, document } = parsePage(source());
      expect(elements).toBeGreaterThanOrEqual(least);
      expect(find(document, 'body')).not.toBeNull();
      // Quadratic work takes far longer than this; linear work takes about a second, or a little more on a busy
      // machine.
    }, 60_000);
  }
});
