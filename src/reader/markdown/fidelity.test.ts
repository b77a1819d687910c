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

  test.each([
    ['a wrapper around a table with line numbers', '<div class="language-python highlight">', '</div>', 'python'],
    ['Jupyter', '<div class="highlight hl-ipython3">', '</div>', 'ipython3'],
    ['no theme of a highlighter', '<div class="language-ts">', '</div>', 'ts'],
  ])('has the language of %s', (_, before, after, language) => {
    const numbers = '<td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td>';
    const code = '<td class="code"><div><pre class="shiki shiki-themes has-diff"><code>a\nb</code></pre></div></td>';
    expect(markdownOf(`${before}<table><tr>${numbers}${code}</tr></table>${after}`)).toContain(
      `\`\`\`${language}\na\nb\n\`\`\``,
    );
  });

  test.each([
    ['<pre class="rust rust-example-rendered">a\nb</pre>', 'rust'],
    ['<pre><code class="makeup elixir">a\nb</code></pre>', 'elixir'],
    ['<pre language="bash"><code>a\nb</code></pre>', 'bash'],
    ['<pre data-syntaxhighlighter-params="brush: java; gutter: true">a\nb</pre>', 'java'],
    ['<pre class="code json xml">a\nb</pre>', ''],
  ])('has the language of its own name: %s', (html, language) => {
    expect(markdownOf(html)).toBe(`\`\`\`${language}\na\nb\n\`\`\``);
  });

  test('is recognized in the divisions of Doxygen, without its tooltips', () => {
    const lines = '<div class="line">if (x)</div>\n<div class="line">  run();</div>\n';
    expect(markdownOf(`<div class="fragment">${lines}<div class="ttc"><p>x: a number</p></div></div>`)).toBe(
      '```\nif (x)\n  run();\n```',
    );
  });

  test('is recognized by the style of a division', () => {
    const style = 'white-space:pre-wrap;font-family:SFMono-Regular, Menlo, monospace';
    expect(markdownOf(`<div style="${style}">a:\n  b</div>`)).toBe('```\na:\n  b\n```');
  });

  test('is not accompanied by a column of line numbers', () => {
    const numbers = '<div class="line-numbers-wrapper"><span>1</span><br><span>2</span></div>';
    expect(markdownOf(`<div><pre>a\nb</pre>${numbers}</div>`)).toBe('```\na\nb\n```');
    const cells = '<td><pre class="lines">\n\n18\n19</pre></td><td><pre class="code"># line 18\n\na\nb</pre></td>';
    expect(markdownOf(`<table><tr>${cells}</tr></table>`)).toBe('```\n# line 18\n\na\nb\n```');
  });

  test('beside values is not a column of line numbers', () => {
    const row =
      '<tr><td><pre>4</pre></td><td><pre>four</pre></td></tr><tr><td><pre>7 9</pre></td><td><pre>x</pre></td></tr>';
    expect(markdownOf(`<table>${row}</table>`)).toMatch(/`4`[\s\S]*four[\s\S]*`7 9`[\s\S]*x/);
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

test('a list of sections is no list', () => {
  const section = (title: string) => `<li><section><h2>${title}</h2><p>Text</p></section></li>`;
  expect(markdownOf(`<ul>${section('Fields')}${section('Methods')}</ul>`)).toBe(
    '## Fields\n\nText\n\n## Methods\n\nText',
  );
});

test('a bullet that the page writes itself is omitted', () => {
  expect(markdownOf('<ul><li><span class="tag">•</span> <p>One</p></li></ul>')).toBe('*   One');
  expect(markdownOf('<ul><li>One <span>•</span> two</li></ul>')).toBe('*   One • two');
});

test('links to the place where they stand are omitted', () => {
  const anchor = '<a class="sl-anchor-link" href="#first"><span class="sr-only">Section titled “First”</span></a>';
  expect(markdownOf(`<div><h2 id="first">First</h2>${anchor}</div>`)).toBe('## First');
  expect(markdownOf('<h2><span><a href="#a">&#9670;&#160;</a></span>weld()</h2>')).toBe('## weld()');
});

test('text for screen readers does not run into the next word', () => {
  expect(markdownOf('<p><span class="visually-hidden">Tip</span>Water early</p>')).toBe('Tip Water early');
});

test('the line below the title of MediaWiki pages is omitted', () => {
  expect(markdownOf('<h1>Kiln</h1><div id="siteSub">From Wikipedia, the free encyclopedia</div>')).toBe('# Kiln');
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
