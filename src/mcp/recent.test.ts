import { expect, it } from 'vitest';
import { createShelf, createShelves } from './recent.ts';

const page = (name: string, text = name) => ({ url: `https://a.example/${name}`, title: name, reading: name, text });

it('lists the latest first, each address once', () => {
  const shelf = createShelf();
  for (const name of ['a', 'b', 'a']) shelf.put(page(name));
  shelf.put({ ...page('b'), reading: 'b in another form' });
  expect(shelf.list().map(({ title }) => title)).toEqual(['b', 'a']);
  expect(shelf.find('b')?.text).toBe('b');
});

it('forgets by number, size and time', () => {
  let time = 0;
  const shelf = createShelf(() => time);
  for (let at = 0; at < 100; at++) shelf.put(page(String(at)));
  expect(shelf.list().length).toBe(30);
  expect(shelf.find('99')).toBeDefined();
  shelf.put(page('large', 'x'.repeat(3_999_990)));
  expect(shelf.list().length).toBeLessThan(10);
  shelf.put(page('too large', 'x'.repeat(4_000_001)));
  expect(shelf.list()).toEqual([]);
  shelf.put(page('old'));
  time = 16 * 60_000;
  expect([shelf.find('old'), shelf.list()]).toEqual([undefined, []]);
});

it('gives each name its own shelf, and lets go of those that nobody asks for', () => {
  const shelfOf = createShelves();
  shelfOf('mine').put(page('a'));
  expect(shelfOf('yours').list()).toEqual([]);
  expect(shelfOf('mine').list()).toHaveLength(1);
  for (let at = 0; at < 50; at++) shelfOf(`other ${at}`);
  expect(shelfOf('mine').list()).toEqual([]);
});
