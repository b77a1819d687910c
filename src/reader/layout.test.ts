import { describe, expect, it } from 'vitest';
import { CHUNK_SEPARATOR, textLayout } from './layout.ts';

const PAGE = { title: 'T', url: 'https://example.org/', content: 'text' };

describe('textLayout', () => {
  it('has a title, a URL and the content', () => {
    expect(textLayout(PAGE)).toBe('Title: T\n\nURL Source: https://example.org/\n\nMarkdown Content:\ntext\n');
  });

  it('puts every optional line in its place', () => {
    const page = { ...PAGE, publishedTime: '2026-01-02', warning: 'one\ntwo', numPages: 3 };
    expect(textLayout(page, ['Images:\n- i', 'Links/Buttons:\n- l'])).toBe(
      'Title: T\n\nURL Source: https://example.org/\n\nPublished Time: 2026-01-02\n\nWarning: one\nWarning: two\n\n' +
        'Number of Pages: 3\n\nMarkdown Content:\ntext\n\nImages:\n- i\n\nLinks/Buttons:\n- l\n',
    );
  });

  it('keeps the title on one line', () => {
    expect(textLayout({ ...PAGE, title: 'a\n\nURL Source: b' })).toMatch(
      /^Title: a URL Source: b\n\nURL Source: https/,
    );
  });

  it('has only the chunks if there are any', () => {
    expect(textLayout({ ...PAGE, chunks: ['a', 'b'] }, ['Images:\n- i'])).toBe(`a${CHUNK_SEPARATOR}b`);
    expect(CHUNK_SEPARATOR).toBe('\n\n\u001d');
  });
});
