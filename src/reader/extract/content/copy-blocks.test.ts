/** What is copied with the kept text: players, and borders between texts. */
import { describe, expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { innerHtml } from '#html/serialize.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { copyKeptBlocks } from './copy-blocks.ts';

const readClass = createClassReader();

/** The copy of everything except texts that start with `-`. */
function copied(html: string): string {
  const body = find(parseDocument(`<body><article>${html}</article>`), 'body')!;
  const surveyed = survey(body, readClass);
  const keep = Uint8Array.from(surveyed.blocks, ({ text }) => (text.startsWith('-') ? 0 : 1));
  return innerHtml(copyKeptBlocks(body, surveyed, keep)).replace(/^<body><article>|<\/article><\/body>$/g, '');
}

describe('players', () => {
  test.each([
    '<figure class="wp-block-embed is-provider-youtube"><div><iframe src="https://www.youtube.com/embed/a"></iframe></div></figure>',
    '<div class="youtube"><video src="/a.mp4"></video></div>',
    '<amp-youtube data-videoid="a"></amp-youtube>',
    '<lite-youtube videoid="a"></lite-youtube>',
  ])('stay, although their box is named after the site: %s', (html) => {
    expect(copied(`<p>Kilns</p>${html}`)).toBe(`<p>Kilns</p>${html}`);
  });

  test.each([
    '<div class="share-twitter"><img src="/t.png" width="20" height="20"></div>',
    '<div class="related youtube"><video src="/a.mp4"></video></div>',
  ])('are not the icons of share buttons or related films: %s', (html) => {
    expect(copied(`<p>Kilns</p>${html}`)).toBe('<p>Kilns</p>');
  });

  test('of advertising are not text', () => {
    expect(copied('<p>Kilns</p><amp-ad><div>Buy a kiln</div></amp-ad>')).toBe('<p>Kilns</p>');
  });
});

describe('code', () => {
  test.each([
    '<pre><div class="line"><span>a</span></div><div class="line"><span>  </span><b>b</b></div></pre>',
    '<pre><code>a<div>\n</div><div>b</div></code></pre>',
    '<table><tbody><tr><td class="blob-code">a</td></tr><tr><td class="blob-code">\n</td></tr></tbody></table>',
  ])('keeps its indentation and its empty lines: %s', (html) => expect(copied(html)).toBe(html));
});

describe('texts', () => {
  test.each([
    ['an empty paragraph', 'one<p></p>two', 'one<div></div>two'],
    ['a part that is omitted', 'one<div>-advertising</div>two', 'one<div></div>two'],
    ['an omitted part before a word in bold', 'one<p>-x</p><b>two</b>', 'one<div></div><b>two</b>'],
  ])('stay apart if %s is between them', (_, html, expected) => expect(copied(html)).toBe(expected));

  test.each([
    ['<p>one <b>two</b> three</p>'],
    ['one <x-y>two</x-y> three'],
    ['<p>one</p>two<p>three</p>'],
    ['<div>one<div>two</div></div>'],
  ])('get no border where there is none: %s', (html) => expect(copied(html)).toBe(html));
});
