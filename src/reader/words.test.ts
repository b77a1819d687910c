import { expect, it } from 'vitest';
import { countWords } from './words.ts';

it.each([
  ['Three plain words.', 3],
  ["naïve café d'été", 4],
  ['日本語の文章です', 4],
  ['', 0],
])('counts %j', (text, words) => {
  expect(countWords(text)).toBe(words);
});
