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
const neverAborted = () => new AbortController().signal;
const items = (caller: string, tokens: readonly number[]): Item[] =>
  tokens.map((count, index) => ({ tokens: count, name: `${caller}${index}` }));

/** A queue whose batches run until `next` is called, plus a record of each batch's content. */
function createPausedQueue(options: Partial<QueueOptions<Item, Lane, string>> = {}) {
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
  /** Ends the running batch that started first. */
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
  it('return the results of each request in order, within the limits, and never mix lanes', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.integer({ min: 1, max: 3 }), async (given, parallel) => {
        const { queue, batches, drain } = createPausedQueue({ parallel });
        const named = given.map(({ caller, lane, tokens }, index) => ({
          work: { items: items(`${index}.`, tokens), lane: { key: lane }, caller, signal: neverAborted() },
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

  it('contain the first request and the requests of similar length that fill them best', () => {
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

  it('cannot be filled better by other adjacent lengths', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 120 }), { minLength: 1, maxLength: 25 }), (lengths) => {
        const entries = lengths.map((tokens) => ({ tokens, job: { lane: LANE } }));
        const sum = (batch: readonly { tokens: number }[]) => batch.reduce((total, { tokens }) => total + tokens, 0);
        const picked = pickBatch(entries, { tokens: 100, inputs: 8 });
        expect(picked).toContain(entries[0]);
        const sorted = [...entries].sort((a, b) => a.tokens - b.tokens);
        const index = sorted.indexOf(entries[0]!);
        for (let from = 0; from <= index; from++) {
          for (let to = index; to < sorted.length; to++) {
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
  it('share the queue: a flood delays others only by the batches already drawn', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 200, maxLength: 400 }),
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 }),
        async (flood, few) => {
          const { queue, batches, drain, next } = createPausedQueue();
          const flooding = queue.run({ items: items('flood', flood), lane: LANE, caller: 'a', signal: neverAborted() });
          flooding.catch(() => {});
          await next();
          const before = batches.length;
          await drain(queue.run({ items: items('few', few), lane: LANE, caller: 'b', signal: neverAborted() }));
          const tokens = batches.slice(before).flatMap((batch) => batch.tokens);
          // Four batches are drawn in advance; each caller gets half of the batches drawn after that.
          const ahead = 4 * 100 + 100;
          const own = few.reduce((sum, count) => sum + count, 0);
          expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(ahead + 2 * own + 4 * 100 + 200);
          queue.close();
        },
      ),
      { seed: 6, numRuns: 40 },
    );
  });

  it('get equal shares if all flood the queue', async () => {
    const { queue, batches, next } = createPausedQueue();
    for (const caller of ['a', 'b', 'c', 'd']) {
      queue
        .run({ items: items(caller, new Array(200).fill(10)), lane: LANE, caller, signal: neverAborted() })
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

describe('an aborted request', () => {
  it('rejects with its reason, and its remaining items never run', async () => {
    const { queue, batches, next, drain } = createPausedQueue();
    const controller = new AbortController();
    const aborted = queue.run({
      items: items('aborted', new Array(50).fill(20)),
      lane: LANE,
      caller: 'a',
      signal: controller.signal,
    });
    await expect.poll(() => batches.length).toBe(1);
    const kept = queue.run({ items: items('kept', [7]), lane: LANE, caller: 'a', signal: neverAborted() });
    controller.abort(problem('DataStreamBrokenError'));
    await expect(aborted).rejects.toMatchObject({ name: 'DataStreamBrokenError' });
    expect(queue.waiting).toEqual({ inputs: 1, tokens: 7 });
    expect(batches[0]!.signal.aborted).toBe(true);
    await next();
    await drain(kept);
    expect(batches.slice(1).map(({ names }) => names)).toEqual([['kept0']]);
  });

  it('does not abort a batch that it shares', async () => {
    const { queue, batches, next } = createPausedQueue();
    const controller = new AbortController();
    const aborted = queue.run({ items: items('aborted', [9]), lane: LANE, caller: 'a', signal: controller.signal });
    const kept = queue.run({ items: items('kept', [9]), lane: LANE, caller: 'b', signal: neverAborted() });
    await expect.poll(() => batches.length).toBe(1);
    controller.abort(new Error('aborted'));
    await expect(aborted).rejects.toThrow('aborted');
    expect(batches[0]!.signal.aborted).toBe(false);
    await next();
    expect(await kept).toEqual(['KEPT0']);
  });

  it('never runs if it was aborted before', async () => {
    const { queue, batches } = createPausedQueue();
    const work = { items: items('a', [1]), lane: LANE, caller: 'a', signal: AbortSignal.abort(new Error('early')) };
    await expect(queue.run(work)).rejects.toThrow('early');
    expect(batches).toEqual([]);
  });
});

describe('limits', () => {
  const ask = (queue: ReturnType<typeof createPausedQueue>['queue'], tokens: readonly number[]) =>
    queue.run({ items: items('x', tokens), lane: LANE, caller: 'a', signal: neverAborted() });

  it('refuse a request that exceeds them, with the estimated waiting time', async () => {
    let clock = 0;
    const { queue, next } = createPausedQueue({ maxInputs: 10, maxTokens: 2_000, now: () => clock });
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

  it('admit one request of any size while the queue is empty', async () => {
    const { queue, drain } = createPausedQueue({ maxInputs: 10 });
    expect(await drain(ask(queue, new Array(500).fill(1)))).toHaveLength(500);
  });
});

describe('failures', () => {
  it('of one request do not affect others: each is retried alone', async () => {
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
    const ask = (name: string) =>
      queue.run({ items: items(name, [5]), lane: LANE, caller: name, signal: neverAborted() });
    const [good, bad] = await Promise.allSettled([ask('good'), ask('bad')]);
    expect(good).toEqual({ status: 'fulfilled', value: ['good0'] });
    expect(bad).toMatchObject({ status: 'rejected', reason: { name: 'DownstreamServiceFailureError' } });
  });

  it('that are temporary reject the whole batch, and the next batch runs', async () => {
    const { queue, batches, next, drain } = createPausedQueue();
    const results = ['a', 'b'].map((name) =>
      queue.run({ items: items(name, [5]), lane: LANE, caller: name, signal: neverAborted() }),
    );
    await next(problem('ServiceNodeResourceDrainError', { retryAfter: 1 }));
    const settled = await Promise.allSettled(results);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(batches).toHaveLength(1);
    expect(await drain(queue.run({ items: items('c', [5]), lane: LANE, caller: 'c', signal: neverAborted() }))).toEqual(
      ['C0'],
    );
  });

  it('reject all requests when the queue is closed', async () => {
    const { queue, batches } = createPausedQueue();
    const results = [items('a', [5]), items('b', new Array(30).fill(90))].map((list) =>
      queue.run({ items: list, lane: LANE, caller: 'a', signal: neverAborted() }),
    );
    await expect.poll(() => batches.length).toBe(1);
    queue.close();
    for (const one of results) await expect(one).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError' });
    expect(batches[0]!.signal.aborted).toBe(true);
    await expect(
      queue.run({ items: items('c', [1]), lane: LANE, caller: 'c', signal: neverAborted() }),
    ).rejects.toMatchObject({
      name: 'ServiceNodeResourceDrainError',
    });
  });
});

describe('background work', () => {
  it('yields to interactive requests from the next batch on', async () => {
    const { queue, batches, next, drain } = createPausedQueue({ batch: { tokens: 100, inputs: 2 } });
    const run = (caller: string, tokens: readonly number[], isBackground: boolean) =>
      queue.run({ items: items(caller, tokens), lane: LANE, caller, background: isBackground, signal: neverAborted() });
    const late = run('late', [10, 10, 10, 10, 10, 10], true);
    await expect.poll(() => batches.length).toBe(1);
    const live = Promise.all([run('a', [10, 10], false), run('b', [10, 10], false)]);
    await next();
    await drain(Promise.all([late, live]));
    const kinds = batches.map(({ names }) => [...new Set(names.map((name) => name.startsWith('late')))]);
    expect(kinds).toEqual([[true], [false], [false], [true], [true]]);
    expect(queue.waiting).toEqual({ inputs: 0, tokens: 0 });
  });

  it('is removed when it is aborted or the queue is closed', async () => {
    const { queue, next } = createPausedQueue();
    const controller = new AbortController();
    const first = queue.run({
      items: items('x', [50]),
      lane: LANE,
      caller: 'x',
      background: true,
      signal: neverAborted(),
    });
    const cancelled = queue.run({
      items: items('y', [5]),
      lane: LANE,
      caller: 'y',
      background: true,
      signal: controller.signal,
    });
    const closed = queue.run({
      items: items('z', [100]),
      lane: LANE,
      caller: 'z',
      background: true,
      signal: neverAborted(),
    });
    controller.abort(new Error('cancelled'));
    await expect(cancelled).rejects.toThrow('cancelled');
    await next();
    expect(await first).toHaveLength(1);
    queue.close();
    await expect(closed).rejects.toThrow('shutting down');
    expect(queue.waiting).toEqual({ inputs: 0, tokens: 0 });
  });
});
