import { expect, it } from 'vitest';
import { createRecentPageStore } from './recent.ts';

const page = (name: string, text = name) => ({ url: `https://a.example/${name}`, reading: name, text });

it('lists the latest first, each URL once', () => {
  const recent = createRecentPageStore().open();
  for (const name of ['a', 'b', 'a']) recent.put(page(name));
  recent.put({ ...page('b'), reading: 'b in another form' });
  expect(recent.list().map(({ reading }) => reading)).toEqual(['b in another form', 'a']);
  expect(recent.find('b')?.text).toBe('b');
});

it('evicts by number, size and age', () => {
  let time = 0;
  const recent = createRecentPageStore(() => time).open();
  for (let at = 0; at < 100; at++) recent.put(page(String(at)));
  expect(recent.list().length).toBe(30);
  expect(recent.find('99')).toBeDefined();
  recent.put(page('large', 'x'.repeat(3_999_990)));
  expect(recent.list().length).toBeLessThan(10);
  recent.put(page('too large', 'x'.repeat(4_000_001)));
  expect(recent.list()).toEqual([]);
  recent.put(page('old'));
  time = 16 * 60_000;
  expect([recent.find('old'), recent.list()]).toEqual([undefined, []]);
});

it('separates callers and evicts the least recently used', () => {
  const store = createRecentPageStore();
  const mine = store.of('mine');
  mine.put(page('a'));
  expect(store.of('yours').list()).toEqual([]);
  expect(store.open().list()).toEqual([]);
  expect(store.of('mine').list()).toHaveLength(1);
  for (let at = 0; at < 1_000; at++) store.of(`other ${at}`);
  expect(store.of('mine').list()).toEqual([]);
  expect(mine.list()).toEqual([]);
});

it('keeps the total size of all callers within the limit, dropping the oldest pages first', () => {
  const store = createRecentPageStore();
  const all = Array.from({ length: 30 }, () => store.open());
  for (const [at, recent] of all.entries()) recent.put(page(String(at), 'x'.repeat(2_000_000)));
  expect(all.map((recent) => recent.list().length)).toEqual([...Array(5).fill(0), ...Array(25).fill(1)]);
  all[29]!.clear();
  all[0]!.put(page('again', 'x'.repeat(2_000_000)));
  expect(all.map((recent) => recent.list().length)).toEqual([1, ...Array(4).fill(0), ...Array(24).fill(1), 0]);
});
