import { describe, expect, test } from 'vitest';
import { renderHtml } from '../../render.suite.ts';

const markdownOf = (html: string) => renderHtml(html, { respondWith: 'markdown', retainMedia: 'link' }).page.content;
const IMAGE = '![Image 1: a kiln](https://example.org/kiln.jpg)';
const NOSCRIPT = '<noscript><img src="/kiln.jpg" alt="a kiln"></noscript>';

describe('the picture of a noscript', () => {
  test.each([
    ['replaces the placeholder before it', `<p><img src="blank.gif" alt="a kiln">${NOSCRIPT}</p>`],
    ['replaces the placeholder after it', `<p>${NOSCRIPT} <img class="lazy" src="data:image/gif;base64,AAAA"></p>`],
    ['replaces one without a URL in a wrapper', `<figure><span><img alt="a kiln"></span>${NOSCRIPT}</figure>`],
    ['is left out beside the picture', `<p><img src="/kiln.jpg" alt="a kiln">${NOSCRIPT}</p>`],
    ['is left out beside a lazy picture', `<p><img data-src="/kiln.jpg" alt="a kiln">${NOSCRIPT}</p>`],
    ['is shown if there is no other', `<div data-bg="x">${NOSCRIPT}</div>`],
    [
      'is found in a picture element',
      `<p><noscript><picture><source srcset="a.webp"><img src="/kiln.jpg" alt="a kiln"></picture></noscript></p>`,
    ],
  ])('%s', (_, html) => expect(markdownOf(html)).toBe(IMAGE));
  test.each([
    '<img height="1" width="1" src="https://count.example/tr.gif?id=1" alt="x">',
    '<img src="https://count.example/tr.gif" style="display:none" alt="x">',
    '<img src="https://count.example/p?c1=2&c2=3" alt="">',
    '<p>Please enable scripts.</p><img src="/kiln.jpg" alt="a kiln">',
    '<iframe src="https://count.example/ns.html"></iframe>',
  ])('is left out if it is %s', (content) => {
    expect(markdownOf(`<p>Words.</p><noscript>${content}</noscript>`)).toBe('Words.');
  });
  test('is in the list of images once', () => {
    const { images } = renderHtml(`<p>Text <img src="spacer.gif">${NOSCRIPT}</p>`, { withImagesSummary: true }).page;
    expect(images).toEqual({ 'Image 1: a kiln': 'https://example.org/kiln.jpg' });
  });
});

describe('AMP', () => {
  test.each([
    [
      '<amp-img src="/kiln.jpg" alt="a kiln" width="600" height="400"><noscript><img src="/kiln.jpg"></noscript></amp-img>',
      IMAGE,
    ],
    [
      '<amp-img srcset="/small.jpg 320w, /kiln.jpg 1200w" alt="a kiln"><amp-img placeholder src="/tiny.jpg"></amp-img></amp-img>',
      IMAGE,
    ],
    ['<amp-anim src="/kiln.jpg" alt="a kiln"></amp-anim>', IMAGE],
    ['<amp-youtube data-videoid="abc-1"></amp-youtube>', '[Video 1](https://www.youtube.com/embed/abc-1)'],
    ['<amp-vimeo data-videoid="123"></amp-vimeo>', '[Video 1](https://player.vimeo.com/video/123)'],
    ['<amp-video src="https://v.example/a.mp4" poster="/p.jpg"></amp-video>', '[Video 1](https://v.example/a.mp4)'],
    ['<amp-video><source src="https://v.example/a.mp4"></amp-video>', '[Video 1](https://v.example/a.mp4)'],
    [
      '<amp-iframe src="https://www.youtube.com/embed/abc"><amp-img placeholder src="/p.jpg"></amp-img></amp-iframe>',
      '[Video 1](https://www.youtube.com/embed/abc)',
    ],
    [
      '<amp-twitter data-tweetid="123"></amp-twitter>',
      '[https://twitter.com/i/status/123](https://twitter.com/i/status/123)',
    ],
    ['<amp-twitter data-tweetid="123"><blockquote placeholder>Two kilns.</blockquote></amp-twitter>', '> Two kilns.'],
    [
      '<amp-instagram data-shortcode="aB_1"></amp-instagram>',
      '[https://www.instagram.com/p/aB_1](https://www.instagram.com/p/aB_1)',
    ],
    ['<amp-twitter data-tweetid="1/../2"></amp-twitter>', ''],
  ])('%s', (html, markdown) => expect(markdownOf(`<div>${html}</div>`)).toBe(markdown));
});

test('a lazy picture in the main content', () => {
  const words = 'A kiln is a chamber in which clay is fired until it is hard and dense. '.repeat(30);
  const html = `<article><h1>Kilns</h1><p>${words}</p><p><img src="/lazy.gif" data-src="/kiln.jpg" alt="a kiln">${NOSCRIPT}</p><p>${words}</p></article>`;
  const { content } = renderHtml(html).page;
  expect(content!.split(IMAGE)).toHaveLength(2);
  expect(content!.match(/!\[/g)).toHaveLength(1);
});
