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

/** Returns all fields of a rendition except its content. */
const pageFields = (given: GivenOptions = {}): Partial<Page> => {
  const { content, html, usage, warning, metadata, ...page } = renderHtml(PAGE, given).page;
  const own = Object.entries(metadata!).filter(([name]) => !name.startsWith('lectern:kind'));
  return { ...page, metadata: Object.fromEntries(own) };
};

describe('metadata of the page', () => {
  it.each<[string, GivenOptions]>([
    ['of its content', {}],
    ['of the whole page', { respondWith: 'markdown' }],
    ['in JSON with HTML', { respondWith: 'content+html' }],
  ])('%s is the same with and without a selector', (_, given) => {
    const all = pageFields(given);
    for (const selector of ['.story', '.more', 'p', 'body', '.more, .story']) {
      expect(pageFields({ ...given, targetSelector: [selector] }), selector).toEqual(all);
    }
  });

  it('has the title from the heading, the author from the byline, and a date', () => {
    const page = pageFields({ targetSelector: ['.more p'] });
    expect(page).toMatchObject({ title: 'The ropewalk', description: 'Hemp and tar.', publishedTime: '2024-03-05' });
    expect(page.metadata).toMatchObject({ 'lectern:author': 'Ada Reyes', 'lectern:siteName': 'Quay Papers' });
    expect(renderHtml(PAGE, { targetSelector: ['.more p'] }).page.content).toBe('The harbour at night.');
  });

  it('is not taken from removed elements', () => {
    const given = { removeSelector: ['article h1', '.byline'] };
    expect(pageFields({ ...given, targetSelector: ['.story'] }).title).toBe(pageFields(given).title);
    expect(pageFields(given).title).not.toBe('The ropewalk');
  });

  it('is not taken from hidden elements, even if they are selected', () => {
    expect(pageFields({ targetSelector: ['#unseen'] }).title).toBe('The ropewalk');
  });
});
