/** Parts of a page that were streamed late are moved to where its scripts would move them. */
import { describe, expect, test } from 'vitest';
import { find, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { completeRawPage } from './raw-page.ts';

/** The text of the body, without its scripts. */
function completed(html: string): string {
  const document = parseDocument(`<!doctype html><title>Kilns</title><body>${html}`);
  completeRawPage(document);
  const body = find(document, 'body')!;
  return textOf(body).replace(/\s+/g, ' ').trim();
}

describe('a late part', () => {
  test('replaces what the page shows until then', () => {
    expect(
      completed('<!--$?--><template id="B:0"></template><p>Wait</p><!--/$--><p>End</p><div hidden id="S:0">Kiln</div>'),
    ).toBe('KilnEnd');
  });

  test('is placed inside another late part, and nothing beside it is removed', () => {
    const inner = '<p>One</p><template id="P:2"></template><p>Three</p><!--/$-->';
    expect(
      completed(
        `<!--$?--><template id="B:1"></template><!--/$--><div hidden id="S:2">Two</div><div hidden id="S:1">${inner}</div>`,
      ),
    ).toBe('OneTwoThree');
  });

  test('is placed where the scripts of the page say, if the numbers differ', () => {
    const places = '<template id="B:0"></template>A<template id="B:1"></template>B';
    const parts = '<div hidden id="S:0">zero</div><div hidden id="S:1">one</div>';
    const document = parseDocument(
      `<body>${places}${parts}<script>$RC("B:0","S:1");$RR("B:1","S:0",["/a.css"])</script>`,
    );
    completeRawPage(document);
    expect(textOf(find(document, 'body')!)).toMatch(/^oneAzeroB/);
  });

  test('is placed by the instruction for parts of parts', () => {
    const document = parseDocument(
      '<body><p>A<template id="P:7"></template>B</p><div hidden id="S:3">three</div><script>$RS("S:3","P:7")</script>',
    );
    completeRawPage(document);
    expect(textOf(find(document, 'p')!)).toBe('AthreeB');
  });

  test('stays where it is without a placeholder', () => {
    const document = parseDocument('<body><p>A</p><div hidden id="S:3">three</div>');
    completeRawPage(document);
    expect(find(document, 'div')!.attributes.map(({ name }) => name)).toContain('hidden');
  });
});

describe('noscript', () => {
  const text =
    '<p>Raw glaze is a powder in water. It is poured, brushed or sprayed on the dry pot, which is fired only once after that.</p>';
  const menu = '<nav><a href="/a">Kilns and their builders</a> <a href="/b">Clay from the river</a></nav>'.repeat(4);
  /** Whether the text in `noscript` became a part of the page. */
  const isOpened = (html: string) => {
    const document = parseDocument(`<body>${html}`);
    completeRawPage(document);
    return find(document, 'noscript') === null;
  };

  test('is part of the page if it contains the title of the page', () => {
    expect(isOpened(`${menu}<main><div>Wait</div><noscript><h1>Raw glaze</h1>${text}</noscript></main>`)).toBe(true);
    expect(isOpened(`${menu}<noscript><h1>Scripts are off</h1><p>Switch them on.</p></noscript>`)).toBe(false);
    expect(isOpened(`${menu}<h1>Glaze</h1><noscript><h1>Raw glaze</h1>${text}</noscript>`)).toBe(false);
  });

  test('is part of the page if it contains nearly all of the text', () => {
    expect(isOpened(`<p>Wait</p><noscript>${text.repeat(4)}</noscript>`)).toBe(true);
    expect(isOpened(`${menu}<noscript>${text}</noscript>`)).toBe(false);
  });
});
