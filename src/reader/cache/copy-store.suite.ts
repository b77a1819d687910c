/** What every store of cached copies does. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Log } from '#telemetry/log.ts';
import { page } from './cache.suite.ts';
import type { CopyQuery, CopyStore } from './copy-store.ts';
import type { Copy } from './rules.ts';

export interface StoreLimits {
  readonly maxBytes: number;
  readonly keepMs: number;
  readonly clock: () => number;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

export interface OpenStore {
  readonly store: CopyStore;
  /** Removes the content of every copy, but not the index. */
  loseContent(): Promise<void>;
  /** Names of the blobs that are stored. */
  blobs(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const SIZE = 20_000;
const HOUR_MS = 3_600_000;
const captured = { engine: 'auto', patience: 0 } as const;
const any: CopyQuery = { serves: () => true, maxAgeMs: Number.POSITIVE_INFINITY, pictures: true };

export function testCopyStore(open: (limits: StoreLimits) => Promise<OpenStore>): void {
  let now: number;
  let opened: OpenStore;
  let store: CopyStore;
  let warnings: string[];
  const log = {
    warn: (facts: { err?: unknown }, message: string) => void warnings.push(`${message}: ${String(facts.err)}`),
    info: () => {},
  } as unknown as Log;
  beforeEach(async () => {
    warnings = [];
    now = 1_800_000_000_000;
    opened = await open({ maxBytes: 12 * SIZE, keepMs: 24 * HOUR_MS, clock: () => now, log });
    store = opened.store;
  });
  afterEach(async () => {
    await opened.close();
    expect(warnings).toEqual([]);
  });

  /** A copy whose size is about `SIZE`, because its picture cannot be compressed. */
  const pictured = (words: string) => page(words, { screenshot: randomBytes(SIZE - 2_000) });
  const put = (key: string, words: string) => store.put(key, pictured(words), captured);
  const textOf = async (key: string, wanted = any) => (await store.find(key, wanted))?.text;
  /** Content that no copy refers to may be spared for a while. */
  const untilBlobs = (count: number) =>
    expect
      .poll(
        async () => {
          await store.sweep();
          return (await opened.blobs()).length;
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(count);
  const keys = Array.from({ length: 30 }, (_, n) => `key ${n}`);
  const present = async () => {
    const found = await Promise.all(keys.map(async (key) => ((await store.find(key, any)) ? [key] : [])));
    return found.flat();
  };

  it('returns a copy completely, with the time it was made', async () => {
    const made = pictured('tea \u{1f375} 茶');
    await store.put('key', made, captured);
    now += 5;
    const found = await store.find('key', any);
    expect(found).toEqual({ ...made, screenshot: expect.anything(), cachedAt: now - 5 });
    expect(Buffer.from(found!.screenshot!)).toEqual(Buffer.from(made.screenshot!));
    expect(await store.find('key', { ...any, pictures: false })).not.toHaveProperty('screenshot');
    expect(await store.find('other', any)).toBeUndefined();
  });

  it('replaces a copy that was captured the same way, and prefers the newest of others', async () => {
    await put('key', 'one');
    now += 1;
    await put('key', 'two');
    expect(await textOf('key')).toContain('two');
    now += 1;
    await store.put('key', page('three'), { engine: 'direct', patience: 0 });
    expect(await textOf('key')).toContain('three');
    expect(await textOf('key', { ...any, serves: ({ screenshot }: Copy) => screenshot })).toContain('two');
  });

  it('stores copies that are put at the same time, without those that are too large', async () => {
    await Promise.all([
      put('tea', 'the tea'),
      put('rain', 'the rain'),
      store.put('large', page('large', { screenshot: randomBytes(13 * SIZE) }), captured),
    ]);
    expect(await textOf('tea')).toContain('the tea');
    expect(await textOf('rain')).toContain('the rain');
    expect(await store.find('large', any)).toBeUndefined();
    await untilBlobs(4);
  });

  it('finds no copy beyond the given age, or older than it is kept', async () => {
    await put('key', 'tea');
    now += HOUR_MS;
    expect(await textOf('key', { ...any, maxAgeMs: HOUR_MS })).toBeDefined();
    expect(await textOf('key', { ...any, maxAgeMs: HOUR_MS - 1 })).toBeUndefined();
    now += 23 * HOUR_MS + 1;
    expect(await textOf('key')).toBeUndefined();
    await store.sweep();
    now -= 24 * HOUR_MS;
    expect(await textOf('key')).toBeUndefined();
  });

  it('removes the least recently used copies beyond its maximum size, and their content', async () => {
    for (const key of keys.slice(0, 8)) {
      now += 1;
      await put(key, key);
    }
    await store.sweep();
    expect(await present()).toEqual(keys.slice(0, 8));
    now += 1;
    await textOf(keys[0]!);
    for (const key of keys.slice(8, 16)) {
      now += 1;
      await put(key, key);
    }
    await store.sweep();
    const left = await present();
    expect(left).toContain(keys[0]);
    expect(left).toContain(keys[15]);
    expect(left).not.toContain(keys[1]);
    expect(left.length).toBeGreaterThanOrEqual(7);
    // A text and a picture for each copy.
    await untilBlobs(2 * left.length);
  });

  it('stores equal content once, and removes it with its last copy', async () => {
    const same = page('tea');
    await store.put('one', same, captured);
    now += HOUR_MS;
    await store.put('two', same, captured);
    expect(await opened.blobs()).toHaveLength(1);
    now += 23 * HOUR_MS + 1;
    await store.sweep();
    expect(await textOf('one')).toBeUndefined();
    expect(await textOf('two')).toBeDefined();
    now += HOUR_MS;
    await store.sweep();
    await untilBlobs(0);
    await store.put('two', same, captured);
    expect(await textOf('two')).toBeDefined();
  });

  it('does not store a copy that alone exceeds its maximum size', async () => {
    await store.put('key', page('tea', { screenshot: randomBytes(13 * SIZE) }), captured);
    expect(await store.find('key', any)).toBeUndefined();
    expect(await opened.blobs()).toEqual([]);
  });

  it('treats a copy without its content as missing, and stores the same content again', async () => {
    const made = pictured('tea');
    await store.put('key', made, captured);
    await opened.loseContent();
    expect(await textOf('key')).toBeUndefined();
    await store.put('key', made, captured);
    expect(await textOf('key')).toContain('tea');
  });

  it('keeps its copies consistent while they are written, read and removed at the same time', async () => {
    await Promise.all(
      Array.from({ length: 8 }, async (_, lane) => {
        for (let n = 0; n < 20; n++) {
          const key = keys[(lane * 7 + n * 3) % 10]!;
          // Few texts, so that the copies share their content.
          await store.put(key, page(`text ${(lane + n) % 4} of ${key}`), captured);
          const text = await textOf(key);
          if (text !== undefined) expect(text).toContain(`of ${key}`);
          if (n % 5 === 0) await store.sweep();
        }
      }),
    );
    expect(store.healthy).toBe(true);
    expect((await present()).length).toBeGreaterThan(0);
  });
}
