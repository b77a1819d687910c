import { describe, expect, it } from 'vitest';
import type { GivenOptions } from './options/options.ts';
import { renderHtml } from './render.suite.ts';
import type { Page } from './rendition.ts';

const PROSE = 'The old ropewalk is as long as the quay, and its floor is a hand deep in hemp dust. '.repeat(20);
const PAGE = `<!doctype html><html lang="en"><head><title>The ropewalk, part 2 | Quay Papers</title>
<meta name="description" content="Hemp and tar."><meta property="og:site_name" content="Quay Papers"></head>
<body><header><nav><a href="/">Quay Papers</a></nav></header>
<article><h1>The ropewalk</h1><p class="byline">By Ada Reyes, <time datetime="2024-03-05">5 March 2024</time></p>
<div class="story"><p>${PROSE}</p></div></article>
<aside class="more"><h1>More of the quay</h1><p>The harbour at night.</p></aside>
<div style="display:none"><h1>The ropewalk, part 2</h1><p id="unseen">Unseen words.</p></div></body></html>`;

/** What a rendition says of the page beside what is in it. */
const said = (given: GivenOptions = {}): Partial<Page> => {
  const { content, html, usage, warning, metadata, ...page } = renderHtml(PAGE, given).page;
  const own = Object.entries(metadata!).filter(([name]) => !name.startsWith('lectern:kind'));
  return { ...page, metadata: Object.fromEntries(own) };
};

describe('what the page says about itself', () => {
  it.each<[string, GivenOptions]>([
    ['of its content', {}],
    ['of the whole page', { respondWith: 'markdown' }],
    ['in JSON with HTML', { respondWith: 'content+html' }],
  ])('%s is the same with and without a selector', (_, given) => {
    const all = said(given);
    for (const selector of ['.story', '.more', 'p', 'body', '.more, .story']) {
      expect(said({ ...given, targetSelector: [selector] }), selector).toEqual(all);
    }
  });

  it('has the heading for a title, the byline for an author, and a date', () => {
    const page = said({ targetSelector: ['.more p'] });
    expect(page).toMatchObject({ title: 'The ropewalk', description: 'Hemp and tar.', publishedTime: '2024-03-05' });
    expect(page.metadata).toMatchObject({ 'lectern:author': 'Ada Reyes', 'lectern:siteName': 'Quay Papers' });
    expect(renderHtml(PAGE, { targetSelector: ['.more p'] }).page.content).toBe('The harbour at night.');
  });

  it('is not said by what was removed', () => {
    const given = { removeSelector: ['article h1', '.byline'] };
    expect(said({ ...given, targetSelector: ['.story'] }).title).toBe(said(given).title);
    expect(said(given).title).not.toBe('The ropewalk');
  });

  it('is not said by what nobody sees, though it was pointed at', () => {
    expect(said({ targetSelector: ['#unseen'] }).title).toBe('The ropewalk');
  });
});
