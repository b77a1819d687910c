import { describe, expect, test } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { collectImages } from './images.ts';
import { bestCandidate, readSrcset } from './srcset.ts';

const BASE = 'https://clay.example/a/';
const GIF = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
const SVG = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 4 3'%3E%3C/svg%3E";

const urls = (html: string) =>
  collectImages(parseDocument(html), BASE).map(({ url }) => (url.startsWith(BASE) ? url.slice(BASE.length) : url));

describe('a placeholder loses against the picture in', () => {
  test.each([
    'data-src="m.png"',
    'data-original="m.png"',
    'data-lazy-src="m.png"',
    'data-lazy="m.png"',
    'data-original-src="m.png"',
    'data-actualsrc="m.png"',
    'data-srcset="s.png 320w, m.png 1200w, l.png 2400w"',
    'data-lazy-srcset="s.png 320w, m.png 640w"',
    'srcset="s.png 320w, m.png 1280w"',
  ])('%s', (lazy) => {
    for (const src of [
      GIF,
      SVG,
      '',
      '/img/blank.gif',
      'placeholder.svg',
      '/x/placeholder-16x9.png?v=2',
      'spacer.gif',
    ]) {
      expect(urls(`<img src="${src}" ${lazy}>`)).toEqual(['m.png']);
    }
    for (const src of [
      'loading.svg',
      'img/1x1.png',
      'ajax-loader.gif',
      'grey.gif',
      'lazy_placeholder.gif',
      'p/lazyload.png',
    ])
      expect(urls(`<img src="${src}" ${lazy}>`)).toEqual(['m.png']);
  });
  test('sources of a picture element', () => {
    const source = (set: string) => `<picture><source ${set}><img src="${GIF}" alt="a"></picture>`;
    expect(urls(source('srcset="s.webp 400w, m.webp 900w"'))).toEqual(['m.webp']);
    expect(urls(source(`srcset="${GIF}" data-srcset="s.webp 400w, m.webp 900w"`))).toEqual(['m.webp']);
    expect(urls(source('data-srcset="m.webp 1x, l.webp 2x"'))).toEqual(['m.webp']);
  });
  test('a candidate of the same srcset', () => {
    expect(urls(`<img srcset="${GIF} 1w, m.png 600w">`)).toEqual(['m.png']);
  });
});

describe('a picture stays', () => {
  test.each([
    ['beside a lazy attribute', '<img src="real.jpg" data-src="other.jpg" srcset="big.jpg 1000w">', 'real.jpg'],
    ['with the name of a placeholder and no other', '<img src="placeholder.png">', 'placeholder.png'],
    [
      'with a switch in the lazy attribute',
      '<img src="blank.gif" data-lazy="true" data-src=\'{"a":"b.png"}\'>',
      'blank.gif',
    ],
    ['in the lazy attribute, whatever its name', '<img src="blank.gif" data-src="lazy.jpg">', 'lazy.jpg'],
    ['with such a word within its name', '<img src="downloading-data.png" data-src="x.png">', 'downloading-data.png'],
    ['if the source is a placeholder', '<picture><source srcset="blank.gif"><img src="a.png"></picture>', 'a.png'],
  ])('%s', (_, html, url) => expect(urls(html)).toEqual([url]));
});

describe('a srcset', () => {
  test.each([
    ['a.png 320w, b.png 1280w, c.png 1920w', undefined, 'b.png'],
    ['a.png 1600w, b.png 2400w', undefined, 'a.png'],
    ['c.png 2x, a.png', undefined, 'a.png'],
    ['a.png 1x, b.png 2x, c.png 3x', 500, 'b.png'],
    ['a.png 1x, b.png 2x', 1500, 'a.png'],
    [
      'https://i.example/w_300,h_200/a.png 300w, https://i.example/w_900,h_600/a.png 900w',
      undefined,
      'https://i.example/w_900,h_600/a.png',
    ],
    ['a.png,b.png 2x', undefined, 'a.png,b.png'],
    ['a.png, b.png 2x', undefined, 'a.png'],
    ['a.png 300w 200h, b.png 600w 400h', undefined, 'b.png'],
    [' , ', undefined, undefined],
  ])('%s of width %s gives %s', (srcset, width, url) => expect(bestCandidate(readSrcset(srcset), width)).toBe(url));
  test('of hostile length is read', () => {
    for (const piece of [',', 'a ', 'a, ', 'a 1w,', ' '])
      expect(readSrcset(piece.repeat(500_000 / piece.length)).length).toBeLessThanOrEqual(200);
  });
});
