import { expect, it } from 'vitest';
import { find } from '#html/node.ts';
import { parsePage } from '#html/parse.ts';
import { findElements, textElements } from './find-elements.ts';

const OPTIONS = {
  baseUrl: 'https://a.example/page',
  places: undefined,
  keepImgDataUrl: false,
  pictureUrl: undefined,
  retainImages: 'all',
};

const elementsOf = (html: string, options = {}) =>
  findElements(find(parsePage(html).document, 'body')!, { ...OPTIONS, ...options });

it('splits content into elements in reading order', () => {
  const html =
    '<h2>Clay</h2>loose <b>bold</b> text<p>One<br>two</p><blockquote><p>Said.</p></blockquote>' +
    '<pre>a\n  b</pre><figure><img src="/a.png" alt="A  kiln"><figcaption>Figure 1</figcaption></figure><script>x()</script>';
  expect(elementsOf(html)).toEqual([
    { kind: 'heading', level: 2, text: 'Clay' },
    { kind: 'paragraph', text: 'loose bold text', emphasis: [{ text: 'bold', tag: 'b' }] },
    { kind: 'paragraph', text: 'One\ntwo' },
    { kind: 'quote', text: 'Said.' },
    { kind: 'code', text: 'a\n  b' },
    { kind: 'picture', text: 'A kiln', url: 'https://a.example/a.png' },
    { kind: 'caption', text: 'Figure 1' },
  ]);
});

it('items of nested lists have their depth', () => {
  expect(elementsOf('<ul><li>one<ol><li>two</li></ol></li><li><p>three</p></li></ul>')).toEqual([
    { kind: 'list item', level: 1, isNumbered: false, text: 'one' },
    { kind: 'list item', level: 2, isNumbered: true, text: 'two' },
    { kind: 'list item', level: 1, isNumbered: false, text: 'three' },
  ]);
});

it('links have their position, and scripts are no links', () => {
  const [element] = elementsOf('<p>See <a href="b">the log</a> or <a href="javascript:x()">not</a>.</p>');
  expect(element).toMatchObject({
    text: 'See the log or not.',
    links: [{ text: 'the log', url: 'https://a.example/b', start: 4 }],
  });
});

it('a picture inside a paragraph follows it', () => {
  const kinds = (options = {}) =>
    elementsOf('<p>before <img src="a.png" alt=""> after</p>', options).map(({ kind, text }) => [kind, text]);
  expect(kinds()).toEqual([
    ['paragraph', 'before after'],
    ['picture', ''],
  ]);
  expect(kinds({ retainImages: 'none' })).toEqual([['paragraph', 'before after']]);
});

it('tables have rows with spans, and a caption', () => {
  const html =
    '<table><caption>Costs</caption><tr><th colspan="2">Item</th></tr><tr><td rowspan="-1">Gas</td><td>12<table><tr><td>in</td></tr></table></td></tr></table>';
  expect(elementsOf(html)).toEqual([
    { kind: 'caption', text: 'Costs' },
    {
      kind: 'table',
      text: 'Item Gas 12in',
      rows: [
        [{ text: 'Item', isHeader: true, colspan: 2, rowspan: 1 }],
        [
          { text: 'Gas', isHeader: false, colspan: 1, rowspan: 1 },
          { text: '12in', isHeader: false, colspan: 1, rowspan: 1 },
        ],
      ],
    },
  ]);
});

it('formulas are LaTeX', () => {
  const math = (display: string) => `<math display="${display}"><msup><mi>c</mi><mn>2</mn></msup></math>`;
  expect(elementsOf(`<p>E is ${math('inline')}.</p>${math('block')}`)).toEqual([
    { kind: 'paragraph', text: 'E is c^{2}.' },
    { kind: 'formula', text: 'c^{2}' },
  ]);
});

it('a deep tree does not overflow the stack', () => {
  const depth = 20_000;
  expect(elementsOf(`${'<div>'.repeat(depth)}deep${'</div>'.repeat(depth)}`)).toEqual([
    { kind: 'paragraph', text: 'deep' },
  ]);
});

it('empty lines separate the paragraphs of plain text', () => {
  expect(textElements('one\ntwo\n \n\nthree\n')).toEqual([
    { kind: 'paragraph', text: 'one\ntwo' },
    { kind: 'paragraph', text: 'three' },
  ]);
});
