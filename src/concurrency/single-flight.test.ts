import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { createSingleFlight } from './single-flight.ts';

const flights = createSingleFlight<number>();
afterEach(() => flights.close());

/** Work whose values and completion are controlled by the test. */
function controlled() {
  const steps: ((step: number | Error | undefined) => void)[] = [];
  let started = 0;
  let signal: AbortSignal | undefined;
  let cleaned = 0;
  async function* work(given: AbortSignal): AsyncGenerator<number> {
    started++;
    signal = given;
    try {
      for (;;) {
        const step = await new Promise<number | Error | undefined>((resolve, reject) => {
          steps.push(resolve);
          given.addEventListener('abort', () => reject(given.reason), { once: true });
        });
        if (step === undefined) return;
        if (step instanceof Error) throw step;
        yield step;
      }
    } finally {
      cleaned++;
    }
  }
  const give = async (step: number | Error | undefined) => {
    await expect.poll(() => steps.length).toBeGreaterThan(0);
    steps.shift()!(step);
    for (let n = 0; n < 5; n++) await tick();
  };
  return {
    work,
    give,
    get started() {
      return started;
    },
    get aborted() {
      return signal?.aborted;
    },
    get cleaned() {
      return cleaned;
    },
  };
}

const live = () => new AbortController().signal;
async function all(values: AsyncIterable<number>): Promise<number[]> {
  const got: number[] = [];
  for await (const value of values) got.push(value);
  return got;
}

it('does equal work once and gives each value to all readers', async () => {
  const control = controlled();
  const { work, give } = control;
  const readers = [1, 2, 3].map(() => all(flights.join('a', live(), work)));
  await give(1);
  await give(2);
  const late = all(flights.join('a', live(), work));
  await tick();
  await give(3);
  await give(undefined);
  expect(await Promise.all(readers)).toEqual(Array(3).fill([1, 2, 3]));
  expect(await late).toEqual([2, 3]);
  expect(control.started).toBe(1);
});

it('keeps different work apart, and repeats work that has ended', async () => {
  const counts: string[] = [];
  const work = (name: string) =>
    async function* () {
      counts.push(name);
      yield counts.length;
    };
  await Promise.all([all(flights.join('a', live(), work('a'))), all(flights.join('b', live(), work('b')))]);
  await all(flights.join('a', live(), work('a')));
  expect(counts).toEqual(['a', 'b', 'a']);
});

it('passes a failure to all readers', async () => {
  const control = controlled();
  const readers = [1, 2].map(() => all(flights.join('a', live(), control.work)));
  const outcomes = Promise.allSettled(readers);
  await control.give(1);
  await control.give(new Error('it broke'));
  expect(await outcomes).toEqual(Array(2).fill({ status: 'rejected', reason: new Error('it broke') }));
});

it('continues when a reader is aborted, and stops with the last one', async () => {
  const control = controlled();
  const aborts = [new AbortController(), new AbortController()];
  const readers = aborts.map(({ signal }) => all(flights.join('a', signal, control.work)));
  const outcomes = readers.map((reader) => reader.catch((error: unknown) => error));
  await control.give(1);
  aborts[0]!.abort(new Error('gone'));
  expect(await outcomes[0]).toEqual(new Error('gone'));
  expect(control.aborted).toBe(false);
  await control.give(2);
  aborts[1]!.abort(new Error('gone too'));
  expect(await outcomes[1]).toEqual(new Error('gone too'));
  expect(control.aborted).toBe(true);
  await expect.poll(() => control.cleaned).toBe(1);
});

it('stops the work when its only reader stops', async () => {
  const control = controlled();
  const reader = flights.join('a', live(), control.work);
  const first = reader.next();
  await control.give(7);
  expect(await first).toEqual({ value: 7, done: false });
  await reader.return(undefined);
  expect(control.aborted).toBe(true);
});

it('does not join work that is being stopped', async () => {
  const first = controlled();
  const abort = new AbortController();
  const left = all(flights.join('a', abort.signal, first.work)).catch(() => {});
  await first.give(1);
  abort.abort();
  await left;
  const second = controlled();
  const reader = all(flights.join('a', live(), second.work));
  await second.give(5);
  await second.give(undefined);
  expect(await reader).toEqual([5]);
  expect(first.started + second.started).toBe(2);
});

it('starts nothing for a reader that is already aborted', async () => {
  const control = controlled();
  await expect(all(flights.join('a', AbortSignal.abort(new Error('gone')), control.work))).rejects.toThrow('gone');
  expect(control.started).toBe(0);
});

it('ends when the work that it started has ended', async () => {
  const own = createSingleFlight<number>();
  const control = controlled();
  const reader = all(own.join('a', live(), control.work)).catch((error: unknown) => error);
  await control.give(1);
  await own.close();
  expect(control.cleaned).toBe(1);
  expect(await reader).toBeInstanceOf(Error);
});

const VALUES = 5;

it('gives the last value to every remaining reader, whenever others join or leave', async () => {
  const plan = fc.record({ joins: fc.nat(VALUES - 1), leaves: fc.option(fc.nat(VALUES - 1)) });
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { maxLength: 6 }), async (plans) => {
      const own = createSingleFlight<number>();
      const control = controlled();
      // One reader that stays from beginning to end, so that there is only one run of the work and it completes.
      const readers = [{ joins: 0, leaves: null }, ...plans].map((made) => ({ ...made, abort: new AbortController() }));
      const outcomes: Promise<void>[] = [];
      for (let step = 0; step < VALUES; step++) {
        for (const { joins, leaves, abort } of readers) {
          if (joins === step) {
            const got = all(own.join('a', abort.signal, control.work)).catch(() => 'left');
            const stays = leaves === null || leaves <= joins;
            outcomes.push(
              got.then((values) => expect(values === 'left' ? values : values.at(-1)).toBe(stays ? VALUES : 'left')),
            );
          } else if (leaves === step && leaves > joins) abort.abort();
        }
        await control.give(step + 1);
      }
      await control.give(undefined);
      await Promise.all(outcomes);
      expect([control.started, control.aborted, control.cleaned]).toEqual([1, false, 1]);
    }),
    { seed: 7, numRuns: 100 },
  );
});
