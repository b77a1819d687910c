// Full run only: generates many batches.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { pickBatch } from './backlog.ts';
import { createQueue, type Lane, type QueueOptions } from './queue.ts';

interface Item {
  readonly tokens: number;
  readonly name: string;
}

const LANE: Lane = { key: 'one' };
const patient = () => new AbortController().signal;
const items = (caller: string, tokens: readonly number[]): Item[] =>
  tokens.map((count, index) => ({ tokens: count, name: `${caller}${index}` }));

/** A queue whose batches wait for `next`, and what each of them held. */
function held(options: Partial<QueueOptions<Item, Lane, string>> = {}) {
  const batches: { names: string[]; tokens: number[]; lane: string; signal: AbortSignal }[] = [];
  const open: ((outcome?: unknown) => void)[] = [];
  const queue = createQueue<Item, Lane, string>({
    parallel: 1,
    batch: { tokens: 100, inputs: 8 },
    maxInputs: 1_000,
    maxTokens: 100_000,
    run: (batch, lane, signal) => {
      batches.push({
        names: batch.map(({ name }) => name),
        tokens: batch.map(({ tokens }) => tokens),
        lane: lane.key,
        signal,
      });
      return new Promise((resolve, reject) => {
        open.push((outcome) => (outcome ? reject(outcome) : resolve(batch.map(({ name }) => name.toUpperCase()))));
      });
    },
    ...options,
  });
  /** Ends the oldest batch that runs. */
  const next = async (outcome?: unknown) => {
    await expect.poll(() => open.length).toBeGreaterThan(0);
    open.shift()!(outcome);
  };
  const drain = async (until: Promise<unknown>) => {
    let over = false;
    const end = until.finally(() => {
      over = true;
    });
    end.catch(() => {});
    while (!over) {
      open.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return end;
  };
  return { queue, batches, next, drain };
}

const requests = fc.array(
  fc.record({
    caller: fc.constantFrom('a', 'b', 'c'),
    lane: fc.constantFrom('x', 'y'),
    tokens: fc.array(fc.integer({ min: 0, max: 180 }), { minLength: 1, maxLength: 30 }),
  }),
  { minLength: 1, maxLength: 12 },
);

describe('batches', () => {
  it('give every request its results in its order, within the bounds, lanes apart', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.integer({ min: 1, max: 3 }), async (given, parallel) => {
        const { queue, batches, drain } = held({ parallel });
        const named = given.map(({ caller, lane, tokens }, index) => ({
          work: { items: items(`${index}.`, tokens), lane: { key: lane }, caller, signal: patient() },
        }));
        const done = Promise.all(named.map(({ work }) => queue.run(work)));
        const results = (await drain(done)) as string[][];
        expect(results).toEqual(named.map(({ work }) => work.items.map(({ name }) => name.toUpperCase())));
        expect(queue.waiting).toEqual({ inputs: 0, tokens: 0 });
        for (const { tokens, names, lane } of batches) {
          expect(names.length).toBeLessThanOrEqual(8);
          if (names.length > 1) expect(Math.max(...tokens) * tokens.length).toBeLessThanOrEqual(100);
          expect(new Set(names.map((name) => given[Number.parseInt(name, 10)]!.lane))).toEqual(new Set([lane]));
        }
        expect(batches.flatMap(({ names }) => names)).toHaveLength(given.flatMap(({ tokens }) => tokens).length);
      }),
      { seed: 6, numRuns: 150 },
    );
  });

  it('hold the first that was drawn, and the neighbours by length that fill them best', () => {
    const entry = (tokens: number, key = 'one') => ({ tokens, job: { lane: { key } } });
    const tokensOf = (batch: readonly { tokens: number }[]) => batch.map(({ tokens }) => tokens);
    const limits = { tokens: 100, inputs: 4 };
    expect(tokensOf(pickBatch([entry(30), entry(90), entry(31), entry(5), entry(33)], limits))).toEqual([30, 31, 33]);
    expect(tokensOf(pickBatch([entry(500), entry(1)], limits))).toEqual([500]);
    expect(tokensOf(pickBatch([entry(10), entry(10, 'two'), entry(10)], limits))).toEqual([10, 10]);
    expect(
      tokensOf(
        pickBatch(
          [1, 1, 1, 1, 1, 1].map((tokens) => entry(tokens)),
          limits,
        ),
      ),
    ).toEqual([1, 1, 1, 1]);
    expect(pickBatch([], limits)).toEqual([]);
  });

  it('are never better in any other run of neighbours', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 120 }), { minLength: 1, maxLength: 25 }), (lengths) => {
        const entries = lengths.map((tokens) => ({ tokens, job: { lane: LANE } }));
        const sum = (batch: readonly { tokens: number }[]) => batch.reduce((total, { tokens }) => total + tokens, 0);
        const picked = pickBatch(entries, { tokens: 100, inputs: 8 });
        expect(picked).toContain(entries[0]);
        const sorted = [...entries].sort((a, b) => a.tokens - b.tokens);
        const place = sorted.indexOf(entries[0]!);
        for (let from = 0; from <= place; from++) {
          for (let to = place; to < sorted.length; to++) {
            const run = sorted.slice(from, to + 1);
            const fits = run.length <= 8 && sorted[to]!.tokens * run.length <= 100;
            if (fits) expect(sum(picked)).toBeGreaterThanOrEqual(sum(run));
          }
        }
      }),
      { seed: 6, numRuns: 300 },
    );
  });
});

describe('callers', () => {
  it('take turns: one that floods holds nobody up for longer than what is drawn ahead', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 200, maxLength: 400 }),
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 }),
        async (flood, few) => {
          const { queue, batches, drain, next } = held();
          const flooding = queue.run({ items: items('flood', flood), lane: LANE, caller: 'a', signal: patient() });
          flooding.catch(() => {});
          await next();
          const before = batches.length;
          await drain(queue.run({ items: items('few', few), lane: LANE, caller: 'b', signal: patient() }));
          const tokens = batches.slice(before).flatMap((batch) => batch.tokens);
          // Four batches are drawn ahead, and each of the two has half of what is drawn after that.
          const ahead = 4 * 100 + 100;
          const own = few.reduce((sum, count) => sum + count, 0);
          expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(ahead + 2 * own + 4 * 100 + 200);
          queue.close();
        },
      ),
      { seed: 6, numRuns: 40 },
    );
  });

  it('share evenly when all flood', async () => {
    const { queue, batches, next } = held();
    for (const caller of ['a', 'b', 'c', 'd']) {
      queue
        .run({ items: items(caller, new Array(200).fill(10)), lane: LANE, caller, signal: patient() })
        .catch(() => {});
    }
    for (let count = 0; count < 40; count++) await next();
    const served = new Map<string, number>();
    for (const name of batches.flatMap(({ names }) => names)) served.set(name[0]!, (served.get(name[0]!) ?? 0) + 1);
    const counts = [...served.values()];
    expect(counts).toHaveLength(4);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(20);
    queue.close();
  });
});

describe('a request that leaves', () => {
  it('fails with its reason, and what has not run never does', async () => {
    const { queue, batches, next, drain } = held();
    const leaving = new AbortController();
    const gone = queue.run({
      items: items('gone', new Array(50).fill(20)),
      lane: LANE,
      caller: 'a',
      signal: leaving.signal,
    });
    await expect.poll(() => batches.length).toBe(1);
    const stays = queue.run({ items: items('stays', [7]), lane: LANE, caller: 'a', signal: patient() });
    leaving.abort(problem('DataStreamBrokenError'));
    await expect(gone).rejects.toMatchObject({ name: 'DataStreamBrokenError' });
    expect(queue.waiting).toEqual({ inputs: 1, tokens: 7 });
    expect(batches[0]!.signal.aborted).toBe(true);
    await next();
    await drain(stays);
    expect(batches.slice(1).map(({ names }) => names)).toEqual([['stays0']]);
  });

  it('leaves alone the batch that it shares', async () => {
    const { queue, batches, next } = held();
    const leaving = new AbortController();
    const gone = queue.run({ items: items('gone', [9]), lane: LANE, caller: 'a', signal: leaving.signal });
    const stays = queue.run({ items: items('stays', [9]), lane: LANE, caller: 'b', signal: patient() });
    await expect.poll(() => batches.length).toBe(1);
    leaving.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    expect(batches[0]!.signal.aborted).toBe(false);
    await next();
    expect(await stays).toEqual(['STAYS0']);
  });

  it('never runs when it had left before', async () => {
    const { queue, batches } = held();
    const work = { items: items('a', [1]), lane: LANE, caller: 'a', signal: AbortSignal.abort(new Error('early')) };
    await expect(queue.run(work)).rejects.toThrow('early');
    expect(batches).toEqual([]);
  });
});

describe('bounds', () => {
  const ask = (queue: ReturnType<typeof held>['queue'], tokens: readonly number[]) =>
    queue.run({ items: items('x', tokens), lane: LANE, caller: 'a', signal: patient() });

  it('refuse what is too much, with the time that the rest will take', async () => {
    let clock = 0;
    const { queue, next } = held({ maxInputs: 10, maxTokens: 2_000, now: () => clock });
    const first = ask(queue, [90]);
    await expect.poll(() => queue.waiting.inputs).toBe(0);
    clock = 900;
    await next();
    await first;
    const second = ask(queue, [1_000]);
    await expect.poll(() => queue.waiting.inputs).toBe(0);
    const third = ask(queue, [1_500]);
    await expect(ask(queue, [501])).rejects.toMatchObject({
      name: 'ServiceNodeResourceDrainError',
      facts: { retryAfter: 15 },
    });
    await expect(ask(queue, new Array(10).fill(1))).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError' });
    const fourth = ask(queue, [500]);
    for (let count = 0; count < 3; count++) await next();
    expect(await Promise.all([second, third, fourth])).toEqual([['X0'], ['X0'], ['X0']]);
  });

  it('take one request of any size when nothing waits', async () => {
    const { queue, drain } = held({ maxInputs: 10 });
    expect(await drain(ask(queue, new Array(500).fill(1)))).toHaveLength(500);
  });
});

describe('failures', () => {
  it('of one request are not those of others: each is tried alone', async () => {
    const queue = createQueue<Item, Lane, string>({
      parallel: 1,
      batch: { tokens: 100, inputs: 8 },
      maxInputs: 100,
      maxTokens: 1_000,
      run: async (batch) => {
        if (batch.some(({ name }) => name === 'bad0')) throw problem('DownstreamServiceFailureError');
        return batch.map(({ name }) => name);
      },
    });
    const ask = (name: string) => queue.run({ items: items(name, [5]), lane: LANE, caller: name, signal: patient() });
    const [good, bad] = await Promise.allSettled([ask('good'), ask('bad')]);
    expect(good).toEqual({ status: 'fulfilled', value: ['good0'] });
    expect(bad).toMatchObject({ status: 'rejected', reason: { name: 'DownstreamServiceFailureError' } });
  });

  it('that may pass are those of all in the batch, and the next one runs', async () => {
    const { queue, batches, next, drain } = held();
    const asked = ['a', 'b'].map((name) =>
      queue.run({ items: items(name, [5]), lane: LANE, caller: name, signal: patient() }),
    );
    await next(problem('ServiceNodeResourceDrainError', { retryAfter: 1 }));
    const settled = await Promise.allSettled(asked);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(batches).toHaveLength(1);
    expect(await drain(queue.run({ items: items('c', [5]), lane: LANE, caller: 'c', signal: patient() }))).toEqual([
      'C0',
    ]);
  });

  it('reach everybody when the queue is closed', async () => {
    const { queue, batches } = held();
    const asked = [items('a', [5]), items('b', new Array(30).fill(90))].map((list) =>
      queue.run({ items: list, lane: LANE, caller: 'a', signal: patient() }),
    );
    await expect.poll(() => batches.length).toBe(1);
    queue.close();
    for (const one of asked) await expect(one).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError' });
    expect(batches[0]!.signal.aborted).toBe(true);
    await expect(
      queue.run({ items: items('c', [1]), lane: LANE, caller: 'c', signal: patient() }),
    ).rejects.toMatchObject({
      name: 'ServiceNodeResourceDrainError',
    });
  });
});

describe('patient work', () => {
  it('gives way to everybody who is not, from the next batch on', async () => {
    const { queue, batches, next, drain } = held({ batch: { tokens: 100, inputs: 2 } });
    const run = (caller: string, tokens: readonly number[], isPatient: boolean) =>
      queue.run({ items: items(caller, tokens), lane: LANE, caller, background: isPatient, signal: patient() });
    const late = run('late', [10, 10, 10, 10, 10, 10], true);
    await expect.poll(() => batches.length).toBe(1);
    const live = Promise.all([run('a', [10, 10], false), run('b', [10, 10], false)]);
    await next();
    await drain(Promise.all([late, live]));
    const kinds = batches.map(({ names }) => [...new Set(names.map((name) => name.startsWith('late')))]);
    expect(kinds).toEqual([[true], [false], [false], [true], [true]]);
    expect(queue.waiting).toEqual({ inputs: 0, tokens: 0 });
  });

  it('leaves nothing behind when it is called off or the queue is closed', async () => {
    const { queue, next } = held();
    const gone = new AbortController();
    const first = queue.run({ items: items('x', [50]), lane: LANE, caller: 'x', background: true, signal: patient() });
    const off = queue.run({ items: items('y', [5]), lane: LANE, caller: 'y', background: true, signal: gone.signal });
    const closed = queue.run({
      items: items('z', [100]),
      lane: LANE,
      caller: 'z',
      background: true,
      signal: patient(),
    });
    gone.abort(new Error('called off'));
    await expect(off).rejects.toThrow('called off');
    await next();
    expect(await first).toHaveLength(1);
    queue.close();
    await expect(closed).rejects.toThrow('shutting down');
    expect(queue.waiting).toEqual({ inputs: 0, tokens: 0 });
  });
});
