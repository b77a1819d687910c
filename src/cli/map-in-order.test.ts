import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mapInOrder } from './map-in-order.ts';

const numbers = (many: number) => Array.from({ length: many }, (_, at) => at);

it('yields results in input order and respects the concurrency limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 60 }), fc.integer({ min: 1, max: 8 }), async (turns, many) => {
      let now = 0;
      let most = 0;
      const given: number[] = [];
      const results = mapInOrder(
        turns,
        async (wait, at) => {
          most = Math.max(most, ++now);
          for (let one = 0; one < wait; one++) await turn();
          now--;
          return at;
        },
        many,
      );
      for await (const result of results) given.push(result);
      expect(given).toEqual(numbers(turns.length));
      expect(most).toBeLessThanOrEqual(many);
    }),
    { seed: 10, numRuns: 100 },
  );
});

it('yields finished results while waiting for the source', async () => {
  let go = () => {};
  const more = new Promise<void>((resolve) => {
    go = resolve;
  });
  async function* source() {
    yield 'first';
    await more;
    yield 'second';
  }
  const results = mapInOrder(source(), async (thing) => thing, 4);
  expect(await results.next()).toEqual({ done: false, value: 'first' });
  go();
  expect(await results.next()).toEqual({ done: false, value: 'second' });
  expect(await results.next()).toEqual({ done: true, value: undefined });
});

it('reads no further than the window while the first item is unfinished', async () => {
  let taken = 0;
  function* source() {
    for (;;) yield taken++;
  }
  let go = () => {};
  const first = new Promise<void>((resolve) => {
    go = resolve;
  });
  const work = async (thing: number) => {
    if (thing === 0) await first;
    return thing;
  };
  const results = mapInOrder(source(), work, 2);
  const next = results.next();
  for (let one = 0; one < 200; one++) await turn();
  expect(taken).toBe(8);
  go();
  expect((await next).value).toBe(0);
  await results.return(undefined);
});

it('rejects when the source fails', async () => {
  async function* source() {
    yield 1;
    throw new Error('no list');
  }
  const results = mapInOrder(source(), async (thing) => thing, 2);
  await expect(
    (async () => {
      for await (const _ of results);
    })(),
  ).rejects.toThrow('no list');
});
