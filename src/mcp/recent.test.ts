import { expect, it } from 'vitest';
import { createShelves } from './recent.ts';

const page = (name: string, text = name) => ({ url: `https://a.example/${name}`, reading: name, text });

it('lists the latest first, each address once', () => {
  const shelf = createShelves().open();
  for (const name of ['a', 'b', 'a']) shelf.put(page(name));
  shelf.put({ ...page('b'), reading: 'b in another form' });
  expect(shelf.list().map(({ reading }) => reading)).toEqual(['b in another form', 'a']);
  expect(shelf.find('b')?.text).toBe('b');
});

it('forgets by number, size and time', () => {
  let time = 0;
  const shelf = createShelves(() => time).open();
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
  const shelves = createShelves();
  const mine = shelves.of('mine');
  mine.put(page('a'));
  expect(shelves.of('yours').list()).toEqual([]);
  expect(shelves.open().list()).toEqual([]);
  expect(shelves.of('mine').list()).toHaveLength(1);
  for (let at = 0; at < 1_000; at++) shelves.of(`other ${at}`);
  expect(shelves.of('mine').list()).toEqual([]);
  expect(mine.list()).toEqual([]);
});

it('holds no more on all shelves together than there is room for: the oldest goes first, wherever it stands', () => {
  const shelves = createShelves();
  const all = Array.from({ length: 30 }, () => shelves.open());
  for (const [at, shelf] of all.entries()) shelf.put(page(String(at), 'x'.repeat(2_000_000)));
  expect(all.map((shelf) => shelf.list().length)).toEqual([...Array(5).fill(0), ...Array(25).fill(1)]);
  all[29]!.clear();
  all[0]!.put(page('again', 'x'.repeat(2_000_000)));
  expect(all.map((shelf) => shelf.list().length)).toEqual([1, ...Array(4).fill(0), ...Array(24).fill(1), 0]);
});
