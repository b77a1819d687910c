/** Constructs of real pages that are easily lost or joined. */
import { describe, expect, test } from 'vitest';
import { markdownOf } from './convert.suite.ts';

describe('code', () => {
  test.each([
    ['lines that are boxes by their style', '<span style="display:block">a</span><span style="display:block">b</span>'],
    ['lines that are named so', '<span class="line">a</span><span class="line">b</span>'],
    ['lines that end in breaks', '<span class="token-line">a<br></span><span class="token-line">b<br></span>'],
  ])('keeps %s', (_, lines) => {
    expect(markdownOf(`<pre><code>${lines}</code></pre>`)).toBe('```\na\nb\n```');
  });

  test('keeps empty lines', () => {
    const empty = '<span class="token-line"><span style="display:inline-block"></span><br></span>';
    const line = (text: string) => `<span class="token-line">${text}<br></span>`;
    expect(markdownOf(`<pre><code>${line('a')}${empty}${line('b')}</code></pre>`)).toBe('```\na\n\nb\n```');
  });

  test('keeps its language beside a copy button', () => {
    expect(markdownOf('<pre><button>Copy</button><code class="language-yaml">a: 1\nb: 2</code></pre>')).toBe(
      '```yaml\na: 1\nb: 2\n```',
    );
  });

  test('of one line does not break the row of a table', () => {
    const table = '<tr><th>Name<th>Code</tr><tr><td>loop<td><pre>for x</pre></tr><tr><td>none<td>-</tr>';
    expect(markdownOf(`<table>${table}</table>`)).toBe(
      '| Name | Code |\n| --- | --- |\n| loop | `for x` |\n| none | - |',
    );
  });
});

describe('bold and italic', () => {
  test.each([
    '<b style="font-weight:normal">text</b>',
    '<b style="color:red; font-weight: 400;">text</b>',
    '<em style="font-style:normal">text</em>',
  ])('are not written if their style takes them away: %s', (html) => expect(markdownOf(html)).toBe('text'));

  test.each([
    ['<b style="mso-bidi-font-weight:normal">text</b>', '**text**'],
    ['<b style="font-weight:900">text</b>', '**text**'],
    ['<em style="font-weight:normal">text</em>', '_text_'],
  ])('stay with other styles: %s', (html, expected) => expect(markdownOf(html)).toBe(expected));
});

describe('a list directly in a list', () => {
  test('is a part of the item before it', () => {
    expect(markdownOf('<ul><li>One</li><ul><li>Inside</li></ul><li>Two</li></ul>')).toBe(
      '*   One\n    *   Inside\n*   Two',
    );
    expect(markdownOf('<ol><li>One</li><ul><li>Inside</li></ul><li>Two</li></ol>')).toBe(
      '1.   One\n     *   Inside\n2.   Two',
    );
  });

  test('without an item before it is a list', () => {
    expect(markdownOf('<ul><ul><li>Inside</li></ul></ul>')).toBe('*   Inside');
  });
});

test('a table in a cell of a table with headers is written in its cell', () => {
  const inside = '<table><tr><td>red</td><td>blue</td></tr><tr><td>grey</td><td></td></tr></table>';
  expect(
    markdownOf(`<table><tr><th>Box<th>Holds</tr><tr><td>A<td>${inside}</tr><tr><td>B<td>nothing</tr></table>`),
  ).toBe('| Box | Holds |\n| --- | --- |\n| A | red blue grey |\n| B | nothing |');
});

describe('icons that are written as words', () => {
  test.each([
    '<span class="material-icons" aria-hidden="true">star_rate</span>',
    '<i class="material-symbols-outlined">home</i>',
    '<mat-icon>arrow_back</mat-icon>',
    '<i class="icon" aria-hidden="true">arrow_forward</i>',
  ])('are omitted: %s', (html) => expect(markdownOf(`Rated ${html} five`)).toBe('Rated five'));

  test.each(['<span class="icon-box">home</span>', '<span class="material-icons">Two words</span>'])(
    'are not other words: %s',
    (html) => expect(markdownOf(`Rated ${html} five`)).not.toBe('Rated five'),
  );
});

test('a note in the margin does not run into the word that it belongs to', () => {
  const note =
    '<label for="n"></label><input type="checkbox" id="n"><span class="sidenote">The paint was a gift.</span>';
  expect(markdownOf(`<p>He painted it red${note} in a week.</p>`)).toBe(
    'He painted it red The paint was a gift. in a week.',
  );
});

describe('files in frames', () => {
  test.each([
    ['<embed src="/plan.pdf" type="application/pdf">', '[plan.pdf](https://kilns.example/plan.pdf)'],
    ['<iframe src="/a%20plan.docx?v=1"></iframe>', '[a plan.docx](https://kilns.example/a%20plan.docx?v=1)'],
    [
      '<object data="/file" type="application/pdf" title="The plan"></object>',
      '[The plan](https://kilns.example/file)',
    ],
  ])('become links: %s', (html, expected) => expect(markdownOf(html)).toBe(expected));

  test('are not linked beside their own text, without links, or inside a link', () => {
    expect(markdownOf('<object data="/plan.pdf">See <a href="/plan.pdf">the plan</a></object>')).toBe(
      'See [the plan](https://kilns.example/plan.pdf)',
    );
    expect(markdownOf('<embed src="/plan.pdf">', { retainLinks: 'none' })).toBe('');
    expect(markdownOf('<embed src="/plan.pdf">', { retainLinks: 'text' })).toBe('plan.pdf');
    expect(markdownOf('<iframe src="/page.html"></iframe>')).toBe('');
  });
});
