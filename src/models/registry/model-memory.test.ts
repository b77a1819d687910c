import { describe, expect, it } from 'vitest';
import { type FakeOptions, fakeEmbedder, fakeRow } from '../embed/embed.suite.ts';
import { createModelMemory } from './model-memory.ts';

const model = (memoryBytes: number, options: FakeOptions = {}) =>
  fakeEmbedder(fakeRow('any'), { memoryBytes, ...options });
const neverAborted = () => new AbortController().signal;

describe('models in memory', () => {
  it('are loaded once for concurrent requests', async () => {
    let loads = 0;
    const one = model(10, { onLoad: () => void loads++ });
    const memory = createModelMemory({ maxBytes: 100 });
    const holds = await Promise.all([1, 2, 3].map(() => memory.hold(one, neverAborted())));
    expect([loads, memory.bytes, memory.loadState(one)]).toEqual([1, 10, 'loaded']);
    for (const release of holds) release();
    expect(one.loaded).toBe(true);
  });

  it('are evicted in the order of their last use', async () => {
    const [a, b, c] = [model(40), model(40), model(40)];
    const memory = createModelMemory({ maxBytes: 100 });
    for (const one of [a, b, a]) (await memory.hold(one!, neverAborted()))();
    (await memory.hold(c!, neverAborted()))();
    expect([a!.loaded, b!.loaded, c!.loaded]).toEqual([true, false, true]);
    expect(memory.loadState(b!)).toBe('asleep');
  });

  it('stay loaded while in use, and another model waits', async () => {
    const [a, b] = [model(60), model(60)];
    const memory = createModelMemory({ maxBytes: 100 });
    const release = await memory.hold(a!, neverAborted());
    let loaded = false;
    const second = memory.hold(b!, neverAborted()).then((end) => {
      loaded = true;
      return end;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([loaded, a!.loaded]).toEqual([false, true]);
    // Another request for the first model does not delay the second one.
    const third = memory.hold(a!, neverAborted());
    release();
    (await second)();
    expect(b!.loaded).toBe(true);
    (await third)();
    expect([a!.loaded, b!.loaded]).toEqual([true, false]);
  });

  it('are not evicted if that would free no memory', async () => {
    const [elsewhere, a, b] = [model(0), model(60), model(60)];
    const memory = createModelMemory({ maxBytes: 100 });
    for (const one of [elsewhere, a, b]) (await memory.hold(one!, neverAborted()))();
    expect([elsewhere!.loaded, a!.loaded, b!.loaded]).toEqual([true, false, true]);
  });

  it('may exceed the limit, alone', async () => {
    const [small, large] = [model(10), model(500)];
    const memory = createModelMemory({ maxBytes: 100 });
    (await memory.hold(small!, neverAborted()))();
    (await memory.hold(large!, neverAborted()))();
    expect([small!.loaded, large!.loaded]).toEqual([false, true]);
  });

  it('never exceed the limit together', async () => {
    const models = Array.from({ length: 6 }, (_, index) => model(10 + index * 8));
    const memory = createModelMemory({ maxBytes: 100 });
    let peak = 0;
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const release = await memory.hold(models[(index * 7) % 6]!, neverAborted());
        peak = Math.max(peak, memory.bytes);
        await new Promise((resolve) => setImmediate(resolve));
        release();
      }),
    );
    expect(peak).toBeGreaterThan(50);
    expect(peak).toBeLessThanOrEqual(100);
  });

  it('that failed to load are tried again for the next request', async () => {
    let broken = true;
    const one = model(10, {
      onLoad() {
        if (broken) throw new Error('broken file');
      },
    });
    const memory = createModelMemory({ maxBytes: 100 });
    await expect(memory.hold(one, neverAborted())).rejects.toThrow('broken file');
    expect(memory.loadState(one)).toBe('failed');
    broken = false;
    (await memory.hold(one, neverAborted()))();
    expect(memory.loadState(one)).toBe('loaded');
  });

  it('that are damaged are retried with back-off, or when their files change', async () => {
    let clock = 0;
    let stamp = 'damaged';
    let loads = 0;
    const failures: unknown[] = [];
    const one = model(10, {
      stamp: () => stamp,
      onLoad() {
        loads++;
        if (stamp !== 'good') throw new Error(`${stamp} ${loads}`);
      },
    });
    const memory = createModelMemory({
      maxBytes: 100,
      now: () => clock,
      onFailed: (backend, error) => failures.push([backend === one, (error as Error).message]),
    });
    const attempt = async () => {
      const messages = await Promise.all(
        [1, 2].map(() => memory.hold(one, neverAborted()).then(String, ({ message }: Error) => message)),
      );
      return [...new Set(messages)];
    };
    let number = 0;
    for (const pauseMs of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      expect(await attempt()).toEqual([`damaged ${++number}`]);
      clock += pauseMs - 1;
      expect(await attempt()).toEqual([`damaged ${number}`]);
      expect([loads, memory.loadState(one)]).toEqual([number, 'failed']);
      clock++;
    }
    expect(failures).toEqual(Array.from({ length: 7 }, (_, at) => [true, `damaged ${at + 1}`]));
    expect(await attempt()).toEqual(['damaged 8']);
    stamp = 'other';
    expect(await attempt()).toEqual(['other 9']);
    clock += 2_000;
    expect(await attempt()).toEqual(['other 10']);
    stamp = 'good';
    (await memory.hold(one, neverAborted()))();
    expect([loads, memory.loadState(one)]).toEqual([11, 'loaded']);
  });

  it('do not wait for the download of another model', async () => {
    let arrive = () => {};
    const files = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    let loads = 0;
    const [far, near] = [model(10, { onFetch: () => files, onLoad: () => void loads++ }), model(10)];
    const memory = createModelMemory({ maxBytes: 100 });
    const waits = memory.hold(far, neverAborted());
    (await memory.hold(near, neverAborted()))();
    expect([loads, memory.loadState(far), memory.loadState(near)]).toEqual([0, 'loading', 'loaded']);
    arrive();
    (await waits)();
    expect([loads, memory.loadState(far)]).toEqual([1, 'loaded']);
  });

  it('are not awaited by aborted requests', async () => {
    let open = () => {};
    const one = model(10, {
      onLoad: () =>
        new Promise<void>((resolve) => {
          open = resolve;
        }),
    });
    const memory = createModelMemory({ maxBytes: 100 });
    const controller = new AbortController();
    const aborted = memory.hold(one, controller.signal);
    const kept = memory.hold(one, neverAborted());
    controller.abort(new Error('cancelled'));
    await expect(aborted).rejects.toThrow('cancelled');
    expect(memory.loadState(one)).toBe('loading');
    open();
    (await kept)();
  });
});
