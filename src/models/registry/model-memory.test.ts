import { describe, expect, it } from 'vitest';
import { type FakeOptions, fakeEmbedder, fakeRow } from '../embed/embed.suite.ts';
import { createModelMemory } from './model-memory.ts';

const model = (memoryBytes: number, options: FakeOptions = {}) =>
  fakeEmbedder(fakeRow('any'), { memoryBytes, ...options });
const patient = () => new AbortController().signal;

describe('models in memory', () => {
  it('are loaded once for all who come at a time', async () => {
    let loads = 0;
    const one = model(10, { onLoad: () => void loads++ });
    const memory = createModelMemory({ maxBytes: 100 });
    const holds = await Promise.all([1, 2, 3].map(() => memory.hold(one, patient())));
    expect([loads, memory.bytes, memory.loadState(one)]).toEqual([1, 10, 'loaded']);
    for (const release of holds) release();
    expect(one.loaded).toBe(true);
  });

  it('make room in the order of their last use', async () => {
    const [a, b, c] = [model(40), model(40), model(40)];
    const memory = createModelMemory({ maxBytes: 100 });
    for (const one of [a, b, a]) (await memory.hold(one!, patient()))();
    (await memory.hold(c!, patient()))();
    expect([a!.loaded, b!.loaded, c!.loaded]).toEqual([true, false, true]);
    expect(memory.loadState(b!)).toBe('asleep');
  });

  it('stay while they are used, and the newcomer waits', async () => {
    const [a, b] = [model(60), model(60)];
    const memory = createModelMemory({ maxBytes: 100 });
    const release = await memory.hold(a!, patient());
    let loaded = false;
    const second = memory.hold(b!, patient()).then((end) => {
      loaded = true;
      return end;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([loaded, a!.loaded]).toEqual([false, true]);
    // One more who wants the first does not keep the other out.
    const third = memory.hold(a!, patient());
    release();
    (await second)();
    expect(b!.loaded).toBe(true);
    (await third)();
    expect([a!.loaded, b!.loaded]).toEqual([true, false]);
  });

  it('stay when their going would make no room', async () => {
    const [elsewhere, a, b] = [model(0), model(60), model(60)];
    const memory = createModelMemory({ maxBytes: 100 });
    for (const one of [elsewhere, a, b]) (await memory.hold(one!, patient()))();
    expect([elsewhere!.loaded, a!.loaded, b!.loaded]).toEqual([true, false, true]);
  });

  it('may be larger than the bound, alone', async () => {
    const [small, large] = [model(10), model(500)];
    const memory = createModelMemory({ maxBytes: 100 });
    (await memory.hold(small!, patient()))();
    (await memory.hold(large!, patient()))();
    expect([small!.loaded, large!.loaded]).toEqual([false, true]);
  });

  it('never take more than the bound, whoever wants which', async () => {
    const models = Array.from({ length: 6 }, (_, index) => model(10 + index * 8));
    const memory = createModelMemory({ maxBytes: 100 });
    let most = 0;
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const release = await memory.hold(models[(index * 7) % 6]!, patient());
        most = Math.max(most, memory.bytes);
        await new Promise((resolve) => setImmediate(resolve));
        release();
      }),
    );
    expect(most).toBeGreaterThan(50);
    expect(most).toBeLessThanOrEqual(100);
  });

  it('that fail to load are tried again by the next', async () => {
    let broken = true;
    const one = model(10, {
      onLoad() {
        if (broken) throw new Error('broken file');
      },
    });
    const memory = createModelMemory({ maxBytes: 100 });
    await expect(memory.hold(one, patient())).rejects.toThrow('broken file');
    expect(memory.loadState(one)).toBe('failed');
    broken = false;
    (await memory.hold(one, patient()))();
    expect(memory.loadState(one)).toBe('loaded');
  });

  it('that are damaged are not tried anew at once, unless their files change', async () => {
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
    const tried = async () => {
      const messages = await Promise.all(
        [1, 2].map(() => memory.hold(one, patient()).then(String, ({ message }: Error) => message)),
      );
      return [...new Set(messages)];
    };
    let number = 0;
    for (const pauseMs of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      expect(await tried()).toEqual([`damaged ${++number}`]);
      clock += pauseMs - 1;
      expect(await tried()).toEqual([`damaged ${number}`]);
      expect([loads, memory.loadState(one)]).toEqual([number, 'failed']);
      clock++;
    }
    expect(failures).toEqual(Array.from({ length: 7 }, (_, at) => [true, `damaged ${at + 1}`]));
    expect(await tried()).toEqual(['damaged 8']);
    stamp = 'other';
    expect(await tried()).toEqual(['other 9']);
    clock += 2_000;
    expect(await tried()).toEqual(['other 10']);
    stamp = 'good';
    (await memory.hold(one, patient()))();
    expect([loads, memory.loadState(one)]).toEqual([11, 'loaded']);
  });

  it('do not wait for the files of another', async () => {
    let arrive = () => {};
    const files = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    let loads = 0;
    const [far, near] = [model(10, { onFetch: () => files, onLoad: () => void loads++ }), model(10)];
    const memory = createModelMemory({ maxBytes: 100 });
    const waits = memory.hold(far, patient());
    (await memory.hold(near, patient()))();
    expect([loads, memory.loadState(far), memory.loadState(near)]).toEqual([0, 'loading', 'loaded']);
    arrive();
    (await waits)();
    expect([loads, memory.loadState(far)]).toEqual([1, 'loaded']);
  });

  it('are not waited for by who has left', async () => {
    let open = () => {};
    const one = model(10, {
      onLoad: () =>
        new Promise<void>((resolve) => {
          open = resolve;
        }),
    });
    const memory = createModelMemory({ maxBytes: 100 });
    const leaving = new AbortController();
    const gone = memory.hold(one, leaving.signal);
    const stays = memory.hold(one, patient());
    leaving.abort(new Error('left'));
    await expect(gone).rejects.toThrow('left');
    expect(memory.loadState(one)).toBe('loading');
    open();
    (await stays)();
  });
});
