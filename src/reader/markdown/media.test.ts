import { describe, expect, it } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { renderHtml } from '../render.suite.ts';
import { testOptions } from './convert.suite.ts';
import { playerKind } from './players.ts';
import { toMarkdown } from './to-markdown.ts';

const convert = (html: string, retainMedia: 'none' | 'text' | 'link' | 'image' | 'html') =>
  toMarkdown(parseDocument(html), {
    ...testOptions('https://example.org/page'),
    retainMedia,
  }).markdown;

describe('playerKind', () => {
  it.each([
    ['https://www.youtube.com/embed/abc', 'Video'],
    ['https://www.youtube-nocookie.com/embed/abc?start=3', 'Video'],
    ['https://player.vimeo.com/video/1', 'Video'],
    ['https://geo.dailymotion.com/player.html?video=x', 'Video'],
    ['https://player.twitch.tv/?channel=x', 'Video'],
    ['https://www.loom.com/embed/1', 'Video'],
    ['https://fast.wistia.net/embed/iframe/1', 'Video'],
    ['https://www.facebook.com/plugins/video.php?href=x', 'Video'],
    ['https://tube.example.org/videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d', 'Video'],
    ['https://w.soundcloud.com/player/?url=x', 'Audio'],
    ['https://open.spotify.com/embed/track/1', 'Audio'],
    ['https://band.bandcamp.com/EmbeddedPlayer/album=1', 'Audio'],
  ])('recognizes %s as %s', (url, kind) => expect(playerKind(url)).toBe(kind));

  it.each([
    'https://www.youtube.com/',
    'https://open.spotify.com/artist/1',
    'https://youtube.com.evil.example/embed/1',
    'https://notyoutube.com/embed/1',
    'https://www.facebook.com/plugins/like.php',
    'ftp://player.vimeo.com/video/1',
    'javascript:alert(1)//player.vimeo.com',
    'https://ads.example/',
    'about:blank',
  ])('returns null for %s', (url) => expect(playerKind(url)).toBeNull());
});

describe('an article with media', () => {
  const paragraph = (topic: string) =>
    `<p>This paragraph tells a good deal about ${topic}, in whole sentences, with commas, so that it reads like prose.</p>`;
  const page = `<!doctype html><title>Films</title><nav><a href="/">Home</a> <a href="/a">About</a></nav>
    <article><h1>Films</h1>${paragraph('films')}
    <div class="video-wrapper"><iframe data-src="https://www.youtube.com/embed/abc" width="560"></iframe></div>
    ${paragraph('their makers')}
    <figure><video controls><source src="/film.mp4" type="video/mp4">Your browser is old.</video><figcaption>The film</figcaption></figure>
    ${paragraph('the sound of them')}
    <audio controls src="/sound.ogg"></audio>
    <lite-youtube videoid="xyz_1"><button><span>Play</span></button></lite-youtube>
    ${paragraph('what came after')}</article>
    <footer><iframe src="https://www.youtube.com/embed/in-the-footer"></iframe> Imprint</footer>`;

  it('writes media in their places', () => {
    const { content } = renderHtml(page, { retainMedia: 'link' }).page;
    const order = [
      'about films',
      '[Video 1](https://www.youtube.com/embed/abc)',
      'their makers',
      '[Video 2](https://example.org/film.mp4)',
      'The film',
      'the sound',
      '[Audio 1](https://example.org/sound.ogg)',
      '[Video 3](https://www.youtube.com/embed/xyz_1)',
      'came after',
    ];
    const places = order.map((text) => content!.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(content).not.toMatch(/footer|browser is old|Play/);
  });

  it('writes media as HTML with their sources', () => {
    const { content } = renderHtml(page, { retainMedia: 'html' }).page;
    expect(content).toContain(
      '<video controls=""><source src="https://example.org/film.mp4" type="video/mp4"></video>',
    );
    expect(content).toContain('<iframe src="https://www.youtube.com/embed/abc" width="560"></iframe>');
  });

  it('links media by default, and omits them with none', () => {
    const { content } = renderHtml(page).page;
    expect(content).toBe(renderHtml(page, { retainMedia: 'link' }).page.content);
    const without = renderHtml(page, { retainMedia: 'none' }).page.content!;
    expect(without).not.toMatch(/Video|Audio|iframe|film\.mp4/);
    // Nothing else may change.
    const rest = content!.replace(/\[(?:Video|Audio) \d\]\(\S+\)/g, '');
    expect(rest.replace(/\s+/g, ' ')).toBe(without.replace(/\s+/g, ' '));
  });
});

describe('media as HTML', () => {
  it('contain no scripts', () => {
    const html =
      '<video src="javascript:x()" poster="javascript:y()" onerror="z()" x-on:click="a()" @click="b()"><source src="data:text/html,x"></video>' +
      '<iframe src="https://player.vimeo.com/video/1" srcdoc="<script>x()</script>" onload="x()" title=\'"><script>\'></iframe>';
    expect(convert(html, 'html')).toBe(
      '<video></video> <iframe src="https://player.vimeo.com/video/1" title="&quot;&gt;&lt;script&gt;"></iframe>',
    );
  });

  it('are on one line without control characters', () => {
    expect(convert('<video src="/a" title="a\n\nb\u001dc"></video>', 'html')).toBe(
      '<video src="https://example.org/a" title="a b c"></video>',
    );
  });

  it('are written inside HTML tables', () => {
    const table = '<table><tr><th>A</th></tr><tr><td><video src="/a"></video></td></tr></table>';
    const markdown = (retainMedia: 'link' | 'html' | 'none') =>
      toMarkdown(parseDocument(table), {
        ...testOptions('https://example.org/'),
        gfm: 'table-html',
        retainMedia,
      }).markdown;
    expect(markdown('link')).toContain('<td><a href="https://example.org/a">Video 1</a></td>');
    expect(markdown('html')).toContain('<td><video src="https://example.org/a"></video></td>');
    expect(markdown('none')).toContain('<td></td>');
  });
});

it('converts many media, and media with many sources', () => {
  const many = '<video src="/a"></video>'.repeat(50_000);
  expect(convert(many, 'text')).toMatch(/Video 50000$/);
  const sources = `<video>${'<source src="javascript:x">'.repeat(50_000)}</video>`;
  expect(convert(sources, 'link')).toBe('Video 1');
  expect(convert(`${'<object>'.repeat(50_000)}deep`, 'link')).toBe('deep');
});
