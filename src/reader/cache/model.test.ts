/** Compares the cache with a model: any sequence of commands has the same results in both, with every store of copies. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { openSharedBlobs } from '#storage/blobs/open.ts';
import { postgresUrl } from '../../../test/support/services.ts';
import type { GivenOptions } from '../options/options.ts';
import { last, page, request } from './cache.suite.ts';
import { type CacheOptions, type LiveRead, openCache, type SnapshotCache } from './cache.ts';

const FRESH_MS = 1_000;
const KEEP_MS = 10_000;

/** A copy, reduced to what the commands below can observe. */
interface ModelCopy {
  readonly version: number;
  readonly madeAt: number;
  readonly direct: boolean;
}

/**
 * Copies by URL and locale. Copies made by engine `direct` and copies made by other engines do not replace each other.
 */
interface Model {
  now: number;
  versions: number;
  readonly copies: Map<string, ModelCopy>;
}

interface Real {
  cache: SnapshotCache;
  readonly clock: { now: number };
  readonly open: () => Promise<SnapshotCache>;
}

interface Asked {
  readonly address: number;
  readonly locale: boolean;
  readonly direct: boolean;
  readonly fails: boolean;
  readonly noCache: boolean;
  readonly doNotTrack: boolean;
  readonly setCookies: boolean;
  readonly tolerance: number | undefined;
  readonly format: string;
}

class Read implements fc.AsyncCommand<Model, Real> {
  readonly asked: Asked;
  constructor(asked: Asked) {
    this.asked = asked;
  }
  check = () => true;

  async run(model: Model, { cache }: Real): Promise<void> {
    const { address, locale, direct, fails, noCache, doNotTrack, setCookies, tolerance, format } = this.asked;
    const given: GivenOptions = {
      respondWith: format,
      ...(locale && { locale: 'de' }),
      ...(direct && { engine: 'direct' }),
      ...(noCache && { noCache }),
      ...(doNotTrack && { doNotTrack }),
      ...(setCookies && { setCookies: ['a=b'] }),
      ...(tolerance !== undefined && { cacheTolerance: tolerance }),
    };
    const version = ++model.versions;
    const live: LiveRead = async function* () {
      if (fails) throw problem('AssertionFailureError');
      // Engine `auto` finds that the browser is needed.
      yield page(`version ${version}`, { engine: direct ? 'direct' : 'browser' });
    };
    const expected = expectedOf(model, this.asked, version);
    const read = last(cache.getOrRead(request(given, `https://tea.example/${address}`, { keyed: true }), live));
    const seen = await read.then(
      ({ text, cachedAt }) => ({ version: Number(/version (\d+)/.exec(text)![1]), cachedAt }),
      () => 'failed',
    );
    expect(seen).toEqual(expected);
  }

  toString = () => `read ${JSON.stringify(this.asked)}`;
}

function expectedOf(model: Model, asked: Asked, version: number) {
  const { address, locale, direct, fails, noCache, doNotTrack, setCookies, tolerance } = asked;
  const place = `${address} ${locale} ${direct}`;
  const mayRead = !noCache && !setCookies && tolerance !== 0;
  const copy = model.copies.get(place);
  const ageMs = copy ? model.now - copy.madeAt : Number.POSITIVE_INFINITY;
  if (copy && mayRead && ageMs <= KEEP_MS && ageMs <= (tolerance === undefined ? FRESH_MS : tolerance * 1000)) {
    return { version: copy.version, cachedAt: copy.madeAt };
  }
  if (!fails) {
    if (!doNotTrack && !setCookies) model.copies.set(place, { version, madeAt: model.now, direct });
    return { version, cachedAt: undefined };
  }
  return copy && mayRead && ageMs <= KEEP_MS ? { version: copy.version, cachedAt: copy.madeAt } : 'failed';
}

class Wait implements fc.AsyncCommand<Model, Real> {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
  check = () => true;
  async run(model: Model, { clock }: Real): Promise<void> {
    model.now += this.ms;
    clock.now += this.ms;
  }
  toString = () => `wait ${this.ms}`;
}

class Restart implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  async run(_: Model, real: Real): Promise<void> {
    await real.cache.close();
    real.cache = await real.open();
  }
  toString = () => 'restart';
}

const rarely = fc.integer({ min: 0, max: 7 }).map((n) => n === 0);
const commands = fc.commands(
  [
    fc
      .record({
        address: fc.nat(2),
        locale: rarely,
        direct: rarely,
        fails: fc.boolean(),
        noCache: rarely,
        doNotTrack: rarely,
        setCookies: rarely,
        tolerance: fc.option(fc.nat(11), { nil: undefined }),
        format: fc.constantFrom('content', 'markdown', 'html', 'text'),
      })
      .map((asked) => new Read(asked)),
    fc.oneof(fc.nat(1_200), fc.nat(11_000)).map((ms) => new Wait(ms)),
    fc.constant(new Restart()),
  ],
  { maxCommands: 60 },
);

interface Place {
  readonly shared?: CacheOptions['shared'];
  remove(): Promise<void>;
}

async function check(numRuns: number, openPlace: () => Promise<Place>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(commands, async (list) => {
      const dir = mkdtempSync(path.join(os.tmpdir(), 'cache-model-'));
      const { shared, remove } = await openPlace();
      const clock = { now: 1_000_000 };
      const open = () =>
        openCache({
          dir,
          shared,
          maxBytes: 1e8,
          freshMs: FRESH_MS,
          keepMs: KEEP_MS,
          mayServeCached: async () => true,
          clock: () => clock.now,
        });
      const real: Real = { cache: await open(), clock, open };
      try {
        await fc.asyncModelRun(() => ({ model: { now: clock.now, versions: 0, copies: new Map() }, real }), list);
      } finally {
        await real.cache.close();
        await remove();
        rmSync(dir, { recursive: true, force: true });
      }
    }),
    { seed: 13, numRuns },
  );
}

it('behaves as its model', () => check(60, async () => ({ remove: async () => {} })), 120_000);

it.skipIf((await postgresUrl()) === undefined)(
  'behaves as its model in PostgreSQL',
  () =>
    check(15, async () => {
      const databaseUrl = (await postgresUrl())!;
      const files = await openSharedBlobs({ databaseUrl });
      return { shared: { databaseUrl, blobs: files.blobs }, remove: () => files.close() };
    }),
  120_000,
);
