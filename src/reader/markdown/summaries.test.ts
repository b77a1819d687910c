import { describe, expect, it } from 'vitest';
import { imagesSummary, linksSummary } from './summaries.ts';

describe('imagesSummary', () => {
  it('lists images of the content by number, and others as hidden', () => {
    const page = [
      { url: 'https://x/a', alt: 'A' },
      { url: 'https://x/b', alt: '' },
      { url: 'https://x/a', alt: 'again' },
      { url: 'https://x/c', alt: 'C\nc' },
    ];
    const content = [
      { index: 1, url: 'https://x/a', alt: 'A' },
      { index: 2, url: 'https://x/c', alt: 'C c' },
      { index: 3, url: 'https://x/a', alt: '' },
    ];
    expect(imagesSummary(page, content)).toEqual({
      text: 'Images:\n- ![Image 1,3: A](https://x/a)\n- ![Hidden Image 2](https://x/b)\n- ![Image 2: C c](https://x/c)',
      json: { 'Image 1,3: A': 'https://x/a', 'Hidden Image 2': 'https://x/b', 'Image 2: C c': 'https://x/c' },
    });
  });

  it('reports a page without images', () => {
    expect(imagesSummary([], [])).toEqual({
      text: 'Images:\nThis page does not seem to contain any images.',
      json: {},
    });
  });
});

describe('linksSummary', () => {
  const page = [
    ['one', 'https://x/1'],
    ['other text', 'https://x/1'],
    ['one', 'https://x/2'],
    ['script', 'javascript:x()'],
    ['file', 'file:///etc/x'],
    ['a [b]\nc', 'https://x/(3)'],
  ] as const;

  it('lists each URL once with its first text', () => {
    expect(linksSummary(page, [], 'unique')).toEqual({
      text: 'Links/Buttons:\n- [one](https://x/1)\n- [one](https://x/2)\n- [a \\[b\\] c](https://x/%283%29)',
      json: { one: 'https://x/2', 'a [b] c': 'https://x/(3)' },
    });
  });

  it('lists every link in order in mode all, except scripts and files', () => {
    const { json, text } = linksSummary(page, [], 'all');
    expect(json).toEqual([...page.slice(0, 3), ['a [b] c', 'https://x/(3)']]);
    expect(text.split('\n')).toHaveLength(5);
  });

  it('lists citations by their numbers', () => {
    const shown = [
      { id: 2, text: 'b', url: 'https://x/2' },
      { id: 5, text: 'e', url: 'https://x/5' },
    ];
    expect(linksSummary(page, shown, 'gpt-oss')).toEqual({
      text: 'Links/Buttons:\n- [2](https://x/2)\n- [5](https://x/5)',
      json: { 2: 'https://x/2', 5: 'https://x/5' },
    });
  });

  it('reports a page without links, and accepts the link text __proto__', () => {
    expect(linksSummary([], [], 'unique').text).toBe(
      'Links/Buttons:\nThis page does not seem to contain any buttons/links.',
    );
    expect(linksSummary([['__proto__', 'https://x/']], [], 'unique').text).toContain('[__proto__](https://x/)');
  });
});
