import { expect, it } from 'vitest';
import { chargeOf } from './charge.ts';
import { formatText } from './layout.ts';
import type { Result } from './result.ts';

const result = (more: Partial<Result> = {}): Result => ({
  title: 'First page',
  url: 'https://a.com/',
  description: 'What it is about',
  content: '',
  usage: { tokens: 1 },
  ...more,
});

it('has the format of docs/reference/wire/search.md', () => {
  const full = result({
    source: 'A',
    imageUrl: 'https://a.com/1.png',
    publishedTime: '2026-01-02T00:00:00Z',
    imageWidth: 3,
    imageHeight: 4,
    date: 'Jan 2, 2026',
    favicon: '',
    content: 'Markdown of the first page',
    images: { 'Image 1: [alt]': 'https://a.com/(1).png' },
    links: [['text', 'https://a.com/2']],
  });
  expect(formatText([full, result({ title: 'Second\npage', description: '', text: 'Its text', links: {} })])).toBe(
    `[1] Title: First page
[1] Source: A
[1] URL Source: https://a.com/
[1] Image URL: https://a.com/1.png
[1] Description: What it is about
[1] Published Time: 2026-01-02T00:00:00Z
[1] Image Width: 3
[1] Image Height: 4
[1] Date: Jan 2, 2026
[1] Favicon: 

Markdown of the first page

[1] Images:
- ![Image 1: \\[alt\\]](https://a.com/%281%29.png)

[1] Links/Buttons:
- [text](https://a.com/2)

[2] Title: Second page
[2] URL Source: https://a.com/
[2] Description: 

Its text

[2] Links/Buttons:
This page does not seem to contain any buttons/links.
`,
  );
});

it.each([
  // Five results without content cost as much as the list of results.
  { pages: [0, 0, 0, 0, 0], kind: 'web', tokens: 10_000, each: [2_000, 2_000, 2_000, 2_000, 2_000] },
  { pages: Array(11).fill(0), kind: 'web', tokens: 20_000, each: Array(11).fill(1_819) },
  { pages: [9_000, 5_000], kind: 'web', tokens: 14_000, each: [9_000, 5_000] },
  { pages: [0, 0, 0], kind: 'web', provider: 'bing', tokens: 30_000, each: [10_000, 10_000, 10_000] },
  { pages: [1, 2], kind: 'images', tokens: 50_000, each: [25_000, 25_000] },
  { pages: [3], kind: 'news', provider: 'bing', tokens: 50_000, each: [50_000] },
  { pages: [1_999_999, 9], kind: 'web', tokens: 2_000_000, each: [1_999_999, 9] },
] as const)('costs $tokens for $pages of $kind', ({ pages, kind, tokens, each, ...more }) => {
  expect(chargeOf(pages, kind, 'provider' in more ? more.provider : undefined)).toEqual({ tokens, each });
});
