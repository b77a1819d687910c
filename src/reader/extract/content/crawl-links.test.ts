import { describe, expect, test } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { resolve } from '../../options/resolve.ts';
import { taskFor } from '../../render.suite.ts';
import { render } from '../../render.ts';
import { findCrawlLinks } from './crawl-links.ts';

const URL = 'https://clay.example/a/page';
const urls = (html: string) => findCrawlLinks(parseDocument(html), URL).links.map(({ url }) => url);

describe('findCrawlLinks', () => {
  test('returns the links of text, image maps, frame sets and neighboring pages, each once', () => {
    expect(
      urls(`<link rel="prev next" href="2"><link rel="stylesheet" href="x.css"><a href="b#part">One</a> <a href="b">Again</a>
        <map><area href="/c"></map> <a href="mailto:a@b.example">mail</a> <a href="javascript:f()">run</a>
        <a href="#/route">route</a> <a href="#part">here</a> <a href="http://[">bad</a> <a>none</a>`),
    ).toEqual([
      'https://clay.example/a/2',
      'https://clay.example/a/b',
      'https://clay.example/c',
      'https://clay.example/a/page#/route',
      URL,
    ]);
    expect(urls('<frameset><frame src="left"><frame src="right"></frameset>')).toEqual([
      'https://clay.example/a/left',
      'https://clay.example/a/right',
    ]);
  });

  test('resolves relative links against the base of the page', () => {
    expect(urls('<base href="/other/"><a href="b">One</a>')).toEqual(['https://clay.example/other/b']);
  });

  test('marks a URL nofollow only if every link to it has nofollow', () => {
    const found = findCrawlLinks(
      parseDocument('<a rel="external NOFOLLOW" href="b">b</a><a rel="nofollow" href="c">c</a><a href="c">c</a>'),
      URL,
    );
    expect(found.links.map(({ nofollow }) => nofollow)).toEqual([true, false]);
    expect(found.nofollow).toBe(false);
    for (const content of ['noindex, nofollow', 'NONE'])
      expect(findCrawlLinks(parseDocument(`<meta name="Robots" content="${content}">`), URL).nofollow).toBe(true);
    expect(findCrawlLinks(parseDocument('<meta name="robots" content="noindex">'), URL).nofollow).toBe(false);
  });

  test('returns at most 10,000 links, in linear time', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `<a href="${at}">x</a>`).join('');
    expect(urls(many)).toHaveLength(10_000);
  });

  test('a rendition lists the links of the whole page if requested, whatever the options remove', () => {
    const html = '<nav><a href="menu">Menu</a></nav><main><p>Clay is dug.</p></main>';
    const task = { ...taskFor(html), options: resolve({ targetSelector: ['main'], retainLinks: 'none' }) };
    expect(render({ ...task, pageLinks: true }).pageLinks?.links).toEqual([
      { url: 'https://example.org/menu', nofollow: false },
    ]);
    expect(render(task).pageLinks).toBeUndefined();
  });
});
