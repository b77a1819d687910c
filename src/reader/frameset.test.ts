import { describe, expect, it } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { outerHtml } from '#html/serialize.ts';
import { replaceFrameset } from './frameset.ts';
import { renderHtml } from './render.suite.ts';

const SOURCE = `<html><head><title>Old site</title></head><frameset cols="20%,80%"><frame src="nav.html" name="nav">
<frameset rows="1,2"><frame src="main.html" title="What it is about"><frame></frameset>
<noframes><body><p>This browser shows no frames.</p><a href="text.html">Go on</a></body></noframes></frameset></html>`;
const filled = (inner: string) =>
  `<html><head></head><body data-lectern-frame="frameset"><div>${inner}</div><noframes><p>No frames here.</p></noframes></body></html>`;
const replaceFrames = (html: string) => {
  const document = parseDocument(html);
  const unread = replaceFrameset(document);
  return { unread, body: outerHtml(find(document, 'body')!) };
};

describe('a frameset as it was sent', () => {
  it.each(['content', 'markdown', 'text', 'frontmatter'])(
    'yields its noframes content and links to its frames: %s',
    (respondWith) => {
      const { page } = renderHtml(SOURCE, { respondWith });
      const text = page.content ?? page.text;
      expect(text).toContain('This browser shows no frames.');
      expect(text).toContain('What it is about');
      expect(text).toContain('nav');
      expect(page.warning).toContain('a set of frames that were not read');
      if (respondWith === 'content') expect(text).toContain('(https://example.org/main.html)');
    },
  );

  it('can be selected from, and is unchanged as HTML', () => {
    expect(renderHtml(SOURCE, { targetSelector: ['p'] }).page.content).toContain('This browser shows no frames.');
    expect(renderHtml(SOURCE, { respondWith: 'html' }).page.html).toBe(SOURCE);
  });
});

describe('a frameset read by a browser', () => {
  it('yields the content of its frames', () => {
    const { unread, body } = replaceFrames(
      filled('<div data-lectern-frame="https://a.example/">Words of a frame.</div>'),
    );
    expect({ unread, body }).toEqual({
      unread: false,
      body: '<body><div><div data-lectern-frame="https://a.example/">Words of a frame.</div></div></body>',
    });
  });

  it('yields its noframes content if no frame could be read', () => {
    const { unread, body } = replaceFrames(filled('<div data-lectern-frame="https://a.example/"> </div>'));
    expect(unread).toBe(true);
    expect(body).toContain('<p>No frames here.</p>');
  });
});

it('noframes content is ignored on a page with a body', () => {
  const { unread, body } = replaceFrames(
    '<body><p>Words.</p><iframe src="/a"></iframe><noframes><p>No frames.</p></noframes>',
  );
  expect(unread).toBe(false);
  expect(body).not.toContain('No frames');
});

it('framesets are found in hostile pages', () => {
  for (const html of [
    '<frameset>'.repeat(50_000),
    `<frameset>${'<frame src=x>'.repeat(50_000)}`,
    `<frameset><noframes>${'<frameset>'.repeat(10_000)}`,
  ])
    expect(replaceFrames(html).unread).toBe(true);
});
