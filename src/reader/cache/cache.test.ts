import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { RedirectRefusedError } from '#net/fetch/fetch.ts';
import { bytesOnDisk } from '#storage/blobs/files.ts';
import type { GivenOptions } from '../options/options.ts';
import type { ReadRequest } from '../read.ts';
import type { Snapshot } from '../snapshot.ts';
import { file, last, page, request, TEA_URL } from './cache.suite.ts';
import { type LiveRead, openCache, type SnapshotCache } from './cache.ts';

const HOUR_MS = 3_600_000;
const MB = 1_000_000;

let root: string;
let dir: string;
let now: number;
let cache: SnapshotCache;
let warnings: string[];
/** URLs that the guard currently refuses, and URLs that it has checked. */
let refused: string[];
let checked: string[];

const mayServeCached = async (url: string) => {
  checked.push(url);
  return !refused.includes(url);
};
const log = { warn: (_facts: unknown, message: string) => void warnings.push(message) } as never;
const open = (more: { maxBytes?: number; keepMs?: number; keepsNoStore?: boolean } = {}) =>
  openCache({
    dir,
    maxBytes: 100 * MB,
    freshMs: HOUR_MS,
    keepMs: 24 * HOUR_MS,
    mayServeCached,
    clock: () => now,
    log,
    ...more,
  });
const reopen = async (more?: Parameters<typeof open>[0]) => {
  await cache.close();
  cache = await open(more);
};

beforeEach(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), 'cache-'));
  dir = path.join(root, 'cache');
  now = 1_800_000_000_000;
  warnings = [];
  refused = [];
  checked = [];
  cache = await open();
});
afterEach(async () => {
  await cache.close();
  rmSync(root, { recursive: true, force: true });
});

/** A live read that counts its calls. */
function countedRead(make: (words: string) => Snapshot = page) {
  let times = 0;
  const live: LiveRead = async function* () {
    times++;
    yield make(`read ${times}`);
  };
  return {
    live,
    get times() {
      return times;
    },
  };
}

const read = (live: LiveRead, given: GivenOptions = {}, target?: ReadRequest['target'] | string) =>
  last(cache.getOrRead(request(given, target), live));
const files = (): string[] =>
  existsSync(root)
    ? readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? [path.join(entry.parentPath, entry.name)] : [],
      )
    : [];
const blobs = () => files().filter((name) => name.includes(`${path.sep}blobs${path.sep}`));

describe('a copy', () => {
  it('serves the next read completely, with the time it was made', async () => {
    const png = randomBytes(5_000);
    const made = page('tea \u{1f375} 茶', {
      engine: 'browser',
      engineReason: 'asked for',
      lastModified: 'Sat, 21 Nov 2026 00:00:00 GMT',
      screenshot: png,
      hiddenFrames: true,
    });
    const { live, ...done } = countedRead(() => made);
    expect(await read(live, { respondWith: 'screenshot' })).toEqual(made);
    now += 1000;
    const copy = await read(live, { respondWith: 'screenshot' });
    expect(copy).toEqual({ ...made, screenshot: expect.anything(), cachedAt: now - 1000 });
    expect(Buffer.from(copy.screenshot!).equals(png)).toBe(true);
    const { screenshot: _, ...without } = made;
    expect(await read(live)).toEqual({ ...without, cachedAt: now - 1000 });
    expect(done.times).toBe(0);
  });

  it('is served while it is fresh, or as old as the caller tolerates', async () => {
    const reads = countedRead();
    await read(reads.live);
    now += HOUR_MS;
    await read(reads.live);
    expect(reads.times).toBe(1);
    now += 1;
    await read(reads.live, { cacheTolerance: 7200 });
    expect(reads.times).toBe(1);
    await read(reads.live);
    expect(reads.times).toBe(2);
    now += 11_000;
    await read(reads.live, { cacheTolerance: 11 });
    expect(reads.times).toBe(2);
    await read(reads.live, { cacheTolerance: 10 });
    expect(reads.times).toBe(3);
  });

  it('is replaced by a read that bypasses the cache', async () => {
    const reads = countedRead();
    await read(reads.live);
    await read(reads.live, { noCache: true });
    await read(reads.live, { cacheTolerance: 0 });
    expect((await read(reads.live)).text).toContain('read 3');
    expect(blobs()).toHaveLength(1);
  });

  it('of an upload is served at any age', async () => {
    const reads = countedRead((words) => file(words, { url: 'blob:77', engine: 'given' }));
    const upload = { url: 'blob:77', upload: { bytes: new Uint8Array(3), mediaType: 'application/pdf' } };
    await read(reads.live, {}, upload);
    now += 23 * HOUR_MS;
    await read(reads.live, { cacheTolerance: 1 }, upload);
    expect(reads.times).toBe(1);
    await read(reads.live, { cacheTolerance: 0 }, upload);
    expect(reads.times).toBe(2);
  });

  it('is served with the anchor of the request', async () => {
    const reads = countedRead((words) => page(words, { url: `${TEA_URL}#one` }));
    await read(reads.live, {}, `${TEA_URL}#one`);
    expect((await read(reads.live, {}, `${TEA_URL}#two`)).url).toBe(`${TEA_URL}#two`);
    expect((await read(reads.live)).url).toBe(TEA_URL);
    expect(reads.times).toBe(1);
  });

  it('rendered for a fragment serves only that fragment', async () => {
    const rendered = countedRead((words) => page(`<h2 id="leaves">Leaves</h2>${words}`, { engine: 'browser' }));
    const by = (fragment: string) => read(rendered.live, { engine: 'browser' }, `${TEA_URL}${fragment}`);
    await by('#not-a-part');
    await by('');
    expect(rendered.times).toBe(2);
    expect((await by('#not-a-part')).text).toContain('read 1');
    expect((await by('')).text).toContain('read 2');
    // A copy without a fragment serves the anchors of the page.
    expect((await by('#leaves')).text).toContain('read 2');
    expect(rendered.times).toBe(2);
  });

  it.each([
    ['#9xQe7Lk2mVb4RtYs8WpZc3', '<p id="9xQe7Lk2mVb4RtYs8WpZc3">'],
    ['#access_token=leaf', '<p id="access_token=leaf">'],
    ['#!leaf', ''],
    ['#/leaf?x', ''],
    ['#leaf', ''],
  ])(
    'rendered for the secret fragment %s never serves other fragments, during the read or later',
    async (key, part) => {
      let go = () => {};
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      const live = (words: string): LiveRead =>
        async function* () {
          await gate;
          yield page(`${part}${words}`, { engine: 'browser' });
        };
      const first = read(live('the secret'), { engine: 'browser' }, TEA_URL + key);
      const others = ['', '#other', '#leaves'].map((fragment) =>
        read(live('nothing'), { engine: 'browser' }, TEA_URL + fragment),
      );
      go();
      expect((await first).text).toContain('the secret');
      for (const other of await Promise.all(others)) expect(other.text).toContain('nothing');
      for (const fragment of ['', '#other', '#leaves']) {
        const later = await read(live('nothing'), { engine: 'browser' }, TEA_URL + fragment);
        expect([fragment, later.text.includes('the secret')]).toEqual([fragment, false]);
      }
      expect((await read(live('nothing'), { engine: 'browser' }, TEA_URL + key)).text).toContain('the secret');
    },
  );

  it('does not serve the URL that it was redirected to', async () => {
    const reads = countedRead((words) => page(words, { url: 'https://tea.example/share?token=leaf' }));
    await read(reads.live);
    await read(reads.live, {}, 'https://tea.example/share?token=leaf');
    await read(reads.live, {}, 'https://tea.example/share');
    expect(reads.times).toBe(3);
  });

  it('survives a restart', async () => {
    const reads = countedRead();
    await read(reads.live);
    await reopen();
    await read(reads.live);
    expect(reads.times).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('is not made from an intermediate snapshot, or from a read that failed or was abandoned', async () => {
    const reads: string[] = [];
    const live = (name: string, end?: Error): LiveRead =>
      async function* () {
        reads.push(name);
        yield page('first');
        if (end) throw end;
        yield page('second', { settled: false });
      };
    await read(live('unsettled'));
    await expect(read(live('failed', new Error('broke')))).rejects.toThrow('broke');
    for await (const _ of cache.getOrRead(request({ noCache: true }), countedRead().live)) break;
    await read(live('again'));
    expect(reads).toEqual(['unsettled', 'failed', 'again']);
    expect(blobs()).toEqual([]);
  });

  it('is not made of a document whose URL has a query', async () => {
    const documents = countedRead((words) => file(words, { url: `${TEA_URL}&f=a.pdf` }));
    await read(documents.live);
    await read(documents.live);
    expect(documents.times).toBe(2);
  });

  it('stores equal content once', async () => {
    const live: LiveRead = async function* ({ target }) {
      yield page('the same', { url: target.url });
    };
    for (let n = 0; n < 5; n++) await read(live, {}, `https://tea.example/${n}`);
    await reopen();
    expect(blobs()).toHaveLength(1);
    for (let n = 0; n < 5; n++) {
      expect(await read(countedRead().live, {}, `https://tea.example/${n}`)).toMatchObject({
        url: `https://tea.example/${n}`,
        text: expect.stringContaining('the same'),
      });
    }
  });

  it('may be large', async () => {
    const words = randomBytes(4 * MB).toString('base64');
    const reads = countedRead(() => page(words));
    await read(reads.live);
    expect((await read(reads.live)).text).toContain(words);
    expect(reads.times).toBe(1);
  });
});

describe('a URL that is refused now', () => {
  const FINAL = 'https://leaves.example/';
  const reads = () => countedRead((words) => page(words, { url: FINAL }));
  const broken: LiveRead = async function* () {
    yield* [];
    throw problem('AssertionFailureError');
  };

  it('is not served from a copy, fresh or stale', async () => {
    await read(reads().live);
    refused = [TEA_URL];
    await expect(read(reads().live)).rejects.toMatchObject({ name: 'SecurityCompromiseError' });
    now += 2 * HOUR_MS;
    await expect(read(broken)).rejects.toMatchObject({ name: 'SecurityCompromiseError' });
  });

  it('is not served as the end of a redirect: the page is read again', async () => {
    const first = reads();
    await read(first.live);
    refused = [FINAL];
    expect((await read(first.live)).text).toContain('read 2');
    now += 2 * HOUR_MS;
    await expect(read(broken)).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  it('does not affect uploads, and is not checked if there is no copy', async () => {
    await read(reads().live, { noCache: true });
    await read(reads().live, {}, 'https://other.example/');
    expect(checked).toEqual([]);
    const url = 'https://tea.example/leaves.pdf';
    const target = { url, upload: { bytes: new Uint8Array(3), mediaType: 'application/pdf' } };
    const uploads = countedRead((words) => file(words, { engine: 'given' }));
    await read(uploads.live, {}, target);
    refused = [url];
    await read(uploads.live, {}, target);
    expect(uploads.times).toBe(1);
  });
});

describe('a page that cannot be read', () => {
  const failing = (error: unknown, ...first: Snapshot[]): LiveRead =>
    async function* () {
      yield* first;
      throw error;
    };

  it('is not one whose redirect was refused; other failures of such a read count', async () => {
    await read(countedRead().live);
    now += 2 * HOUR_MS;
    const ends = (error: Error) =>
      last(cache.getOrRead(request({}, TEA_URL, { checkRedirect: async () => {} }), failing(error)));
    await expect(ends(new RedirectRefusedError())).rejects.toThrow(RedirectRefusedError);
    expect((await ends(problem('AssertionFailureError'))).stale).toBe(true);
  });

  it('is served from a stale copy until that is removed', async () => {
    await read(countedRead().live);
    now += 23 * HOUR_MS;
    const broken = failing(problem('AssertionFailureError'));
    const old = { cachedAt: now - 23 * HOUR_MS, stale: true };
    expect(await read(broken)).toMatchObject(old);
    expect(await read(broken, { cacheTolerance: 5 })).toMatchObject(old);
    expect(await read(failing(new TypeError('a slip'), page('half', { settled: false })))).toMatchObject(old);
    expect(await read(broken, { cacheTolerance: 48 * 3_600 })).not.toHaveProperty('stale');
    now += 2 * HOUR_MS;
    await expect(read(broken)).rejects.toThrow('could not be read');
  });

  it.each([
    problem('SecurityCompromiseError'),
    problem('ParamValidationError', { path: 'url' }),
    problem('AbuseAlleviationError'),
    problem('ResourcePolicyDenyError'),
    problem('OperationNotAllowedError'),
    problem('HarmfulContentError'),
    problem('AssertionFailureError', { path: 'proxy' }),
  ])('is not served from a stale copy after $name: %#', async (error) => {
    await read(countedRead().live);
    now += 2 * HOUR_MS;
    await expect(read(failing(error))).rejects.toBe(error);
  });

  it('is not served from a stale copy if the caller bypasses the cache or needs another copy', async () => {
    await read(countedRead().live);
    const error = problem('AssertionFailureError');
    await expect(read(failing(error), { noCache: true })).rejects.toBe(error);
    await expect(read(failing(error), { cacheTolerance: 0 })).rejects.toBe(error);
    await expect(read(failing(error), { withIframe: true })).rejects.toBe(error);
    await expect(read(failing(error), {}, 'https://other.example/')).rejects.toBe(error);
  });

  it('is not served from a stale copy to a caller that disconnected', async () => {
    await read(countedRead().live);
    now += 2 * HOUR_MS;
    const controller = new AbortController();
    const live: LiveRead = async function* ({ signal }) {
      controller.abort(new Error('aborted'));
      signal.throwIfAborted();
      yield page('never');
    };
    await expect(last(cache.getOrRead(request({}, TEA_URL, { signal: controller.signal }), live))).rejects.toThrow(
      'aborted',
    );
  });
});

describe('equal concurrent reads', () => {
  const slow = () => {
    let times = 0;
    let aborted = 0;
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const live: LiveRead = async function* ({ signal }) {
      times++;
      signal.addEventListener('abort', () => aborted++, { once: true });
      yield page('early', { settled: false });
      await Promise.race([
        gate,
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ]);
      yield page('late');
    };
    return { live, release, counts: () => ({ times, aborted }) };
  };
  const hasRead = async (times: () => number, least: number) => {
    await expect.poll(times).toBeGreaterThanOrEqual(least);
    await tick();
  };

  it('share one live read, whatever their format', async () => {
    const { live, release, counts } = slow();
    const formats = ['content', 'html', 'text', 'markdown+html'];
    const reads = formats.map((respondWith) => last(cache.getOrRead(request({ respondWith, engine: 'direct' }), live)));
    await hasRead(() => counts().times, 1);
    release();
    expect((await Promise.all(reads)).map(({ text }) => text)).toEqual(formats.map(() => page('late').text));
    expect(counts()).toEqual({ times: 1, aborted: 0 });
  });

  it('continue when one is aborted, and end with the last', async () => {
    const { live, counts } = slow();
    const controllers = [new AbortController(), new AbortController()];
    const outcomes = controllers.map(({ signal }) =>
      last(cache.getOrRead(request({}, TEA_URL, { signal }), live)).catch((error: Error) => error.message),
    );
    await hasRead(() => counts().times, 1);
    controllers[0]!.abort(new Error('first aborted'));
    expect(await outcomes[0]).toBe('first aborted');
    expect(counts().aborted).toBe(0);
    controllers[1]!.abort(new Error('second aborted'));
    expect(await outcomes[1]).toBe('second aborted');
    expect(counts()).toEqual({ times: 1, aborted: 1 });
  });

  it('are not shared if an option bypasses the cache or forbids storing', async () => {
    const { live, release, counts } = slow();
    const reads = [
      {},
      { noCache: true },
      { zeroDataRetention: true },
      { setCookies: ['a=b'] },
      { doNotTrack: true },
    ].map((given) => read(live, given));
    await hasRead(() => counts().times, 5);
    release();
    await Promise.all(reads);
    expect(counts().times).toBe(5);
  });

  it('are not shared if one checks redirects', async () => {
    const { live, release, counts } = slow();
    const checkRedirect = async () => {};
    const reads = [{}, { checkRedirect }].map((more) => last(cache.getOrRead(request({}, TEA_URL, more), live)));
    await hasRead(() => counts().times, 2);
    release();
    await Promise.all(reads);
  });

  it('are followed by reads from the copy', async () => {
    const reads = countedRead();
    await Promise.all([read(reads.live), read(reads.live)]);
    await Promise.all([read(reads.live), read(reads.live, { respondWith: 'html' })]);
    expect(reads.times).toBe(1);
  });
});

describe('no copy is left', () => {
  const filesWith = (marker: string) =>
    files().filter((name) => name.includes(marker) || readFileSync(name).includes(marker));

  it.each<[string, GivenOptions]>([
    ['zeroDataRetention', { zeroDataRetention: true }],
    ['DNT', { doNotTrack: true }],
    ['cookies', { setCookies: ['a=b'] }],
    ['headers', { customHeader: { authorization: 'Bearer 1' } }],
  ])('of a read with %s', async (_, given) => {
    const marker = randomUUID();
    const target = `https://tea.example/${marker}`;
    // Images are stored uncompressed, so the marker would be found in the file of an image.
    const live: LiveRead = async function* () {
      yield page(marker, { url: target, screenshot: Buffer.from(marker) });
    };
    const before = blobs().length;
    await read(live, given, target);
    await reopen();
    expect(filesWith(marker)).toEqual([]);
    expect(blobs()).toHaveLength(before);
    // Without the option, the marker is found on disk.
    await read(live, {}, target);
    await reopen();
    expect(filesWith(marker).length).toBeGreaterThan(1);
  });

  it('of a page that forbids copies, unless the caller or the operator overrides that', async () => {
    const reads = countedRead((words) => page(words, { noStore: true }));
    await read(reads.live);
    await read(reads.live);
    expect([reads.times, blobs()]).toEqual([2, []]);
    await read(reads.live, { cacheTolerance: 60 });
    await read(reads.live, { cacheTolerance: 60 });
    await read(reads.live);
    expect(reads.times).toBe(4);
    await reopen({ keepsNoStore: true });
    await read(reads.live);
    await read(reads.live);
    expect(reads.times).toBe(5);
  });

  it('of a page that is too old', async () => {
    const marker = randomUUID();
    await read(async function* () {
      yield page('tea', { url: `https://tea.example/${marker}`, screenshot: Buffer.from(marker) });
    });
    await reopen();
    expect(filesWith(marker).length).toBeGreaterThan(1);
    now += 25 * HOUR_MS;
    await reopen();
    await expect.poll(() => filesWith(marker), { timeout: 20_000 }).toEqual([]);
    expect(blobs()).toEqual([]);
  });

  it('when the cache is disabled', async () => {
    const reads = countedRead();
    await read(reads.live);
    await reopen({ maxBytes: 0 });
    await read(reads.live);
    await read(reads.live);
    expect(reads.times).toBe(3);
    expect(existsSync(dir)).toBe(false);
  });
});

describe('the maximum size', () => {
  const SIZE = 100_000;
  const live: LiveRead = async function* ({ target }) {
    yield page('tea', { url: target.url, engine: 'browser', screenshot: randomBytes(SIZE) });
  };
  const at = (n: number) => `https://tea.example/${n}`;
  const pictured = { respondWith: 'screenshot' };
  const isCached = async (n: number) => {
    const probe: LiveRead = async function* () {
      yield page('anew', { settled: false });
    };
    return (await read(probe, pictured, at(n))).cachedAt !== undefined;
  };

  it('is kept by evicting the least recently used copies', async () => {
    const limits = { maxBytes: 3.5 * bytesOnDisk(SIZE) };
    await reopen(limits);
    for (const n of [1, 2, 3]) {
      now++;
      await read(live, pictured, at(n));
    }
    now++;
    expect(await isCached(1)).toBe(true);
    now++;
    await read(live, pictured, at(4));
    await reopen(limits);
    expect(await Promise.all([1, 2, 3, 4].map(isCached))).toEqual([true, false, true, true]);
    const total = files().reduce((sum, name) => sum + statSync(name).size, 0);
    expect(total).toBeLessThan(4 * bytesOnDisk(SIZE));
  });

  it('may be lower at the next start', async () => {
    for (const n of [1, 2, 3]) {
      now++;
      await read(live, pictured, at(n));
    }
    await reopen({ maxBytes: 2.5 * bytesOnDisk(SIZE) });
    await expect.poll(() => blobs().length, { timeout: 20_000 }).toBe(3);
    expect(await Promise.all([1, 2, 3].map(isCached))).toEqual([false, true, true]);
  });

  it('excludes a copy that alone exceeds it', async () => {
    await reopen({ maxBytes: 2 * bytesOnDisk(SIZE) });
    await read(live, pictured, at(1));
    await read(async function* () {
      yield page('tea', { engine: 'browser', screenshot: randomBytes(3 * SIZE) });
    }, pictured);
    expect(await isCached(1)).toBe(true);
    expect(blobs()).toHaveLength(2);
  });
});

describe('failures', () => {
  it('of the folder: pages are read without a cache', async () => {
    await cache.close();
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'a file where the folder must be');
    cache = await open();
    const reads = countedRead();
    await read(reads.live);
    await read(reads.live);
    expect(reads.times).toBe(2);
    expect(warnings).toEqual(['pages cannot be cached']);
  });

  it('of writes: pages are read without a cache', async () => {
    await reopen();
    writeFileSync(path.join(dir, 'blobs'), 'a file where the folder must be');
    const reads = countedRead();
    await read(reads.live);
    await read(reads.live);
    expect(reads.times).toBe(2);
    await reopen();
    expect(warnings).toEqual(['cached copies cannot be read or written']);
  });

  it('of a missing or damaged blob: the page is read and cached again', async () => {
    for (const damage of [(name: string) => rmSync(name), (name: string) => writeFileSync(name, 'damaged')]) {
      const reads = countedRead();
      await read(reads.live, { noCache: true });
      await reopen();
      for (const name of blobs()) damage(name);
      expect((await read(reads.live)).text).toContain('read 2');
      expect((await read(reads.live)).text).toContain('read 2');
      expect(reads.times).toBe(2);
    }
    expect(blobs()).toHaveLength(1);
  });

  it('of an index that is damaged at the start: it is created again', async () => {
    const reads = countedRead();
    await read(reads.live);
    await cache.close();
    writeFileSync(path.join(dir, 'index.db'), 'not a database '.repeat(1_000));
    cache = await open();
    await read(reads.live);
    await read(reads.live);
    expect(reads.times).toBe(2);
    expect(warnings).toEqual(['the database is damaged or too new; creating a new one (its contents can be rebuilt)']);
    await reopen();
    await expect.poll(() => blobs().length, { timeout: 20_000 }).toBe(1);
  });

  it('of an index that is damaged below its first page: nothing is cached until the next start', async () => {
    const reads = countedRead((words) => page(words.repeat(200)));
    for (let n = 0; n < 60; n++) await read(reads.live, {}, `https://tea.example/${n}`);
    await cache.close();
    const index = path.join(dir, 'index.db');
    const bytes = readFileSync(index);
    // The schema is on the first page of the database file, so this damages every table.
    writeFileSync(index, bytes.fill(0xee, 4096));
    cache = await open();
    await read(reads.live);
    await read(reads.live);
    expect(reads.times).toBe(62);
    await expect.poll(() => warnings.at(-1), { timeout: 20_000 }).toContain('until the next start');
    await reopen();
    await read(reads.live);
    await read(reads.live);
    expect(reads.times).toBe(63);
  });
});
