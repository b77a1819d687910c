import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../snapshot.ts';
import { type Bench, noFolder, options, startBench, words } from './browser.suite.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ rendererBytes: 700 * 1024 * 1024 });
  // Launched first, so that the time of the first page does not include the launch.
  await bench.pool.warm();
});
afterAll(() => bench.close());

/** Reads of hostile pages. They must end regardless of what the page does, and must not affect the next read. */
async function bounded(limitMs: number, ...paths: readonly string[]) {
  const pages = await Promise.all(paths.map((path) => bench.last(path, {}, limitMs).catch((error) => error)));
  expect(words((await bench.last('/rendered')).text)).toContain('first word');
  expect(bench.pool.status().pages).toBe(0);
  return pages;
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
      if (seen.length > 1 && page.text.includes('drop 5')) break;
    }
    expect(seen.at(-1)!.text).toContain('drop 5');
    expect(seen.every(({ settled }) => !settled)).toBe(true);
    expect(bench.pool.status().pages).toBe(0);
  });

  it('end at the deadline: without a response, without an end, or if they change or send requests for ever', async () => {
    const [silent, drip, restless, chatty] = await bounded(5_000, '/silent', '/drip', '/restless', '/chatty');
    expect(silent).toMatchObject({ name: 'AssertionFailureError' });
    expect(drip).toMatchObject({ settled: false, text: expect.stringContaining('The first drop.') });
    expect(restless).toMatchObject({ settled: false, text: expect.stringContaining('Never at rest.') });
    expect(chatty).toMatchObject({ settled: false, text: expect.stringContaining('Never silent.') });
  });

  it('are read after their endless scripts were stopped', async () => {
    const [hang, late] = await bounded(4_000, '/hang', '/hang-late');
    expect(hang).toMatchObject({ settled: false, text: expect.stringContaining('Before the hang.') });
    expect(late.text).toContain('Before the hang.');
  });
});

describe('pages that use too many resources', () => {
  it('are ended if they fill their heap or the memory', async () => {
    const [hog, buffers] = await bounded(12_000, '/hog', '/buffers');
    expect(hog.text).toContain('Before the hog.');
    expect(buffers.text).toContain('Before the buffers.');
  });

  it('are answered if they crash the renderer', async () => {
    const [page] = await bounded(10_000, '/deep-script');
    expect(page.text === undefined ? page.name : page.text).toMatch(/the bottom|AssertionFailureError|top/);
  });
});

describe('pages that expect a person', () => {
  it('get no answer to dialogs, no windows and no password', async () => {
    const [alert, popup, locked] = await bounded(8_000, '/alert', '/popup', '/protected');
    expect(alert.text).toContain('After false null');
    expect(popup).toMatchObject({
      text: expect.stringContaining('opened'),
      url: expect.stringMatching(/\/popup$/),
    });
    expect(locked).toMatchObject({ status: 401, text: expect.stringContaining('Say who you are.') });
  });

  it('are read if they navigate to an invalid URL or to a file', async () => {
    const paths = ['/to-nowhere', '/to-download'];
    for (const [at, page] of (await bounded(8_000, ...paths)).entries()) {
      expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Still here.') });
      expect(page.url).toBe(bench.site.origin + paths[at]);
    }
  });

  it('register no service worker', async () => {
    await bounded(5_000, '/worker-page');
    expect(bench.site.hits('/worker.js')).toBe(0);
  });
});
