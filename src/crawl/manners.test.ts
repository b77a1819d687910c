import { expect, it } from 'vitest';
import { createManners } from './manners.ts';

function manners(pagesAtOnce = 10) {
  const clock = { now: 1_000 };
  return { clock, ...createManners(pagesAtOnce, () => clock.now) };
}
const ONE = { atOnce: 1 };

it('lets one page of a host be read at a time, and so many in all', () => {
  const { begin, end, readyAt } = manners(2);
  expect(readyAt('a', ONE)).toBe(0);
  expect(begin('a')).toBe(true);
  expect(readyAt('a', ONE)).toBe(Number.POSITIVE_INFINITY);
  expect(readyAt('a', { atOnce: 2 })).toBe(0);
  expect([begin('b'), begin('c')]).toEqual([true, false]);
  end('b', 0);
  expect(begin('c')).toBe(true);
});

it('leaves a host alone for a while after each page, and longer when it is busy', () => {
  const { begin, heard, end, readyAt } = manners();
  const after = (busy?: { waitMs: number | undefined }) => {
    begin('a');
    heard('a', { busy, reached: true });
    end('a', 100);
    return readyAt('a', ONE);
  };
  expect(after()).toBe(1_100);
  expect(after({ waitMs: undefined })).toBe(6_000);
  heard('a', {});
  expect(after({ waitMs: undefined })).toBe(11_000);
  expect(after({ waitMs: 30_000 })).toBe(31_000);
  expect(after({ waitMs: 3_600_000 })).toBe(601_000);
});

it('counts how often in a row a host was not reached, and tells of every end', () => {
  const { begin, heard, end, onChange } = manners();
  let changes = 0;
  const stop = onChange(() => changes++);
  const read = (reached: boolean | undefined) => {
    begin('a');
    const { unreached } = heard('a', { reached });
    end('a', 0);
    return unreached;
  };
  expect([read(false), read(false), read(undefined), read(true), read(false)]).toEqual([1, 2, 2, 0, 1]);
  expect(changes).toBe(5);
  stop();
  read(true);
  expect(changes).toBe(5);
});

it('forgets that a host was not reached', () => {
  const { clock, heard } = manners();
  const lost = () => heard('a', { reached: false }).unreached;
  expect([lost(), lost()]).toEqual([1, 2]);
  clock.now += 600_001;
  expect(lost()).toBe(1);
});
