import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../snapshot.ts';
import { type Bench, noFolder, options, startBench, words } from './browser.suite.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ rendererBytes: 700 * 1024 * 1024 });
  // So that the launch does not count towards the time of the first page.
  await bench.pool.warm();
});
afterAll(() => bench.close());

/** A read that must end whatever the page does, and must not affect the next one. */
async function bounded(path: string, limitMs = 3_000, given: Record<string, unknown> = {}) {
  try {
    return await bench.last(path, given, limitMs);
  } finally {
    expect(words((await bench.last('/rendered')).text)).toContain('first word');
    expect(bench.pool.status().pages).toBe(0);
  }
}

describe('endless pages', () => {
  it('are returned as far as received: each snapshot of an endless document has more', async () => {
    const seen: Snapshot[] = [];
    const limits = {
      keyed: true,
      folder: noFolder,
      deadline: performance.now() + 25_000,
      signal: new AbortController().signal,
    };
    for await (const page of bench.engine.visit({ url: `${bench.site.origin}/drip`, options: options(), ...limits })) {
      seen.push(page);
      if (page.text.includes('drop 20')) break;
    }
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)!.text).toContain('drop 20');
    expect(seen.every(({ settled }) => !settled)).toBe(true);
    expect(bench.pool.status().pages).toBe(0);
    const page = await bounded('/drip');
    expect(page).toMatchObject({ settled: false, text: expect.stringContaining('The first drop.') });
  });

  it('fail if the server sends nothing', async () => {
    await expect(bounded('/silent')).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  it('are returned as they are if they change or send requests for ever', async () => {
    for (const path of ['/restless', '/chatty']) {
      const page = await bounded(path, 2_500);
      expect(page.settled, path).toBe(false);
      expect(page.text).toMatch(/Never (at rest|silent)\./);
    }
  });

  it('are read after their endless scripts were stopped', async () => {
    const page = await bounded('/hang');
    expect(page.text).toContain('Before the hang.');
    expect(page.settled).toBe(false);
    expect((await bounded('/hang-late')).text).toContain('Before the hang.');
  });

  it('fail if they redirect for ever', async () => {
    await expect(bounded('/loop')).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: expect.stringContaining('redirects'),
    });
    for (const path of ['/meta-loop', '/script-loop']) {
      const page = await bounded(path).catch((error) => error);
      expect(page.text === undefined ? page.name : page.text, path).toMatch(/Round and round|AssertionFailureError/);
    }
  });
});

describe('pages that use too many resources', () => {
  it('are ended if they fill their heap or the memory', async () => {
    expect((await bounded('/hog', 12_000)).text).toContain('Before the hog.');
    expect((await bounded('/buffers', 12_000)).text).toContain('Before the buffers.');
  });

  it('are answered if they crash the renderer', async () => {
    const page = await bounded('/deep-script', 10_000).catch((error) => error);
    expect(page.text === undefined ? page.name : page.text).toMatch(/the bottom|AssertionFailureError|top/);
  });

  it.each(['/many-requests', '/many-domains'])(
    'are refused if they send too many requests: %s',
    { timeout: 120_000 },
    async (path) => {
      const refused = { name: 'SecurityCompromiseError', status: 45102 };
      await expect(bounded(path, 90_000)).rejects.toMatchObject(refused);
    },
  );
});

describe('pages that expect a person', () => {
  it('dismisses dialogs', async () => {
    expect((await bounded('/alert', 8_000)).text).toContain('After false null');
  });

  it('opens no windows', async () => {
    const page = await bounded('/popup', 8_000);
    expect(page.text).toContain('opened');
    expect(page.url).toMatch(/\/popup$/);
  });

  it('reads pages that navigate to an invalid URL or to a file', async () => {
    for (const path of ['/to-nowhere', '/to-download']) {
      const page = await bounded(path, 8_000);
      expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Still here.') });
      expect(page.url).toBe(bench.site.origin + path);
    }
  });

  it('reads the page sent with a password prompt', async () => {
    expect(await bounded('/protected', 8_000)).toMatchObject({
      status: 401,
      text: expect.stringContaining('Say who you are.'),
    });
  });

  it('registers no service worker', async () => {
    await bounded('/worker-page', 5_000);
    expect(bench.site.hits('/worker.js')).toBe(0);
  });
});
