import { expect, test } from 'vitest';
import { isUrl } from './is-url.ts';

test('knows URLs from other texts, with a base or without', () => {
  expect(['http://a.example/', 'mailto:a@b.c', 'http://[::1]:80/'].every((text) => isUrl(text))).toBe(true);
  expect(['', 'a', '/a', 'http://', 'http://[/', 'http://a.example:99999/'].some((text) => isUrl(text))).toBe(false);
  expect(isUrl('/a', 'http://b.example/c')).toBe(true);
  expect(isUrl('http://[/', 'http://b.example/c')).toBe(false);
});

test('accepts every letter, however often it is called', () => {
  const valid = (text: string) => isUrl(text);
  for (let turn = 0; turn < 50_000; turn++) valid(`http://a.example/${turn % 10}`);
  for (const text of ['http://bücher.example/', 'http://a.example/ü', 'http://☃.example/'])
    expect(valid(text)).toBe(true);
});
