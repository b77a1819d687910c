/**
 * Stores cached copies for several servers: the index in PostgreSQL, the content in a store of blobs. A read never
 * waits long for either. If one fails or is too slow, a circuit breaker lets reads go on without the cache until it
 * answers again.
 */
import { sql } from 'kysely';
import { createBreaker } from '#concurrency/breaker.ts';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { isDiskFull } from '#errors.ts';
import { type Blobs, BlobsUnavailableError } from '#storage/blobs/blobs.ts';
import { withRecentBlobs } from '#storage/blobs/recent.ts';
import { openStore } from '#storage/database/store.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import type { Log } from '#telemetry/log.ts';
import type { Snapshot } from '../../snapshot.ts';
import { readContent } from '../content.ts';
import { copyOf, packCopy, type RowFacts } from '../copy-row.ts';
import type { CopyQuery, CopyStore } from '../copy-store.ts';
import { type Captured, isFresh } from '../rules.ts';
import { waitForRead } from './claims.ts';
import { createLeases } from './leases.ts';
import { maintain } from './maintenance.ts';
import { addCopy, announceBlobs, copiesOf, removeDamaged, setUsedAt } from './rows.ts';
import { CACHE_MODULE, SHARED_MIGRATIONS, type SharedCacheTables } from './tables.ts';

export interface SharedCopyStoreOptions {
  /** `postgres://` URL of the index. */
  readonly databaseUrl: string;
  readonly blobs: Blobs;
  /** Maximum size of all copies, in bytes. */
  readonly maxBytes: number;
  /** Maximum size of the recently used content in memory, in bytes. Default: 0. */
  readonly recentBytes?: number | undefined;
  /** Copies are removed after this time, in milliseconds. */
  readonly keepMs: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** How long the content of a removed copy is spared, in milliseconds. Default: five minutes. */
  readonly unusedMs?: number | undefined;
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
}

/** How long a read waits for the index, in milliseconds. */
const INDEX_MS = 1_500;
/** How long a read waits for the content of a copy, in milliseconds. The S3 store has a shorter limit of its own. */
const CONTENT_MS = 2_500;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
/** Minimum time between two warnings about other failures, in milliseconds. */
const WARNING_INTERVAL_MS = 60_000;
/** The same for a full disk. Some small copies still fit, so whether it is full cannot be told from one write. */
const FULL_WARNING_INTERVAL_MS = 600_000;
const UNUSED_MS = 5 * 60_000;
/** How often the times of use are written, in milliseconds. */
const USES_INTERVAL_MS = 60_000;
/** While the index is unreachable, an idle process tests it in this interval, in milliseconds. */
const PROBE_MS = 5_000;
const MAX_NOTED_USES = 1_000;
/** The share of the maximum size that a server may write before it looks for copies to remove. */
const SWEEP_SHARE = 0.02;

/** Continues without the index if it cannot be reached. Throws if the database denies access. */
export async function openSharedCopyStore(options: SharedCopyStoreOptions): Promise<CopyStore> {
  const { maxBytes, keepMs, clock, log, unusedMs = UNUSED_MS } = options;
  const blobs = withRecentBlobs(options.blobs, options.recentBytes);
  const store = await openStore<SharedCacheTables>(
    { url: options.databaseUrl, file: '' },
    { module: CACHE_MODULE, migrations: SHARED_MIGRATIONS, log },
  );
  const { db } = store;
  const leases = createLeases(db);
  const circuit = createCircuit(log);
  const uses = new Map<string, number>();
  let writtenBytes = 0;
  let sweeping = Promise.resolve();

  async function find(key: string, { serves, maxAgeMs, pictures }: CopyQuery): Promise<Snapshot | undefined> {
    const now = clock();
    for (const { id, madeAt, facts, hashes } of await within(INDEX_MS, copiesOf(db, key))) {
      // If the clock was set back, copies may have dates in the future, so the absolute age is used.
      if (!isFresh(Math.abs(now - madeAt), { maxAgeMs, keepMs })) continue;
      const row = JSON.parse(facts) as RowFacts;
      if (!serves(copyOf(row, hashes))) continue;
      const content = await within(CONTENT_MS, readContent(blobs, { hashes, textBytes: row.textBytes }, pictures));
      if (content) {
        uses.set(id, now);
        if (uses.size > MAX_NOTED_USES) void circuit.run(writeUses);
        return { ...row.snapshot, ...content, cachedAt: madeAt };
      }
      for (const hash of new Set(hashes.values())) if (!(await blobs.get(hash))) await removeDamaged(db, hash);
    }
    return undefined;
  }

  async function put(key: string, snapshot: Snapshot, captured: Captured, madeAt: number): Promise<void> {
    const packed = await packCopy(key, snapshot, captured);
    if (!packed) return;
    const { id, json, parts, rowBytes } = packed;
    const contents = new Map(parts.map(({ hash, bytes }) => [hash, bytes]));
    const size = [...contents.values()].reduce((sum, bytes) => sum + bytes.length, rowBytes);
    if (size > maxBytes || [...contents.values()].some((bytes) => bytes.length > blobs.maxBytes)) return;
    // In the order of their names, in which all servers lock them.
    const announced = [...contents].sort(([one], [other]) => (one < other ? -1 : 1));
    const missing = await announceBlobs(
      db,
      announced.map(([hash, bytes]) => ({ hash, bytes: bytes.length })),
    );
    if (!missing) return;
    await Promise.all([...missing].map((hash) => blobs.put(hash, contents.get(hash)!)));
    await addCopy(db, { id, key, madeAt, facts: json, bytes: rowBytes, parts });
    writtenBytes += size;
    if (writtenBytes > maxBytes * SWEEP_SHARE) void sweep();
  }

  /** Does not call `circuit.run` without uses: it would take that for an answer of the database. */
  const noteUses = async (): Promise<void> => {
    if (uses.size > 0) await circuit.run(writeUses);
  };

  async function writeUses(): Promise<void> {
    const noted = new Map(uses);
    uses.clear();
    await setUsedAt(db, noted);
  }

  async function sweepOnce(): Promise<void> {
    writtenBytes = 0;
    await noteUses();
    await circuit.run(() => maintain({ db, blobs, leases, maxBytes, keepMs, unusedMs, clock }));
  }

  /** Runs after a sweep in progress, because that one may have missed the latest copies. */
  async function sweep(): Promise<void> {
    const run = sweeping.then(sweepOnce);
    sweeping = run;
    await run;
  }

  const timer = setInterval(() => void noteUses(), USES_INTERVAL_MS);
  timer.unref();
  /** Without reads, the cache would be reported as away for ever. */
  const probing = setInterval(() => {
    if (!circuit.closed) void circuit.run(() => within(INDEX_MS, sql`SELECT 1`.execute(db)));
  }, PROBE_MS);
  probing.unref();
  void sweep();

  return {
    find: (key, wanted) => circuit.run(() => find(key, wanted)),
    put(key, snapshot, captured) {
      const madeAt = clock();
      return circuit.run(() => put(key, snapshot, captured, madeAt));
    },
    async claim(name, signal) {
      const isFree = await circuit.run(() => within(INDEX_MS, leases.take(name)));
      const isHeld = isFree === false ? await circuit.run(() => waitForRead(leases, name, signal), signal) : isFree;
      return { release: async () => (isHeld ? circuit.run(() => leases.give(name)) : undefined) };
    },
    sweep,
    get healthy() {
      return circuit.closed && store.healthy;
    },
    async close() {
      clearInterval(timer);
      clearInterval(probing);
      await sweeping;
      await noteUses();
      leases.close();
      await store.close();
    },
  };
}

const isAway = (error: unknown): boolean =>
  error instanceof DatabaseUnavailableError || error instanceof DeadlineExceededError;

/** Runs work on the index, and skips it while the index is away. */
function createCircuit(log: SharedCopyStoreOptions['log']) {
  let closed = true;
  let lastError: unknown;
  const breaker = createBreaker({
    failures: 1,
    firstMs: FIRST_PAUSE_MS,
    longestMs: LONGEST_PAUSE_MS,
    now: () => performance.now(),
    refusal: () => new DatabaseUnavailableError(lastError),
    onChange(state) {
      closed = state === 'closed';
      if (closed) log?.info({}, 'the page cache is used again');
      else
        log?.warn({ err: lastError }, 'the page cache cannot be reached: pages are read without it until it answers');
    },
  });
  let warnedAt = Number.NEGATIVE_INFINITY;
  let warnedFullAt = Number.NEGATIVE_INFINITY;
  const warn = (error: unknown) => {
    if (performance.now() - warnedAt < WARNING_INTERVAL_MS) return;
    warnedAt = performance.now();
    log?.warn({ err: error }, 'cached copies cannot be read or written');
  };
  const warnFull = (error: unknown) => {
    if (performance.now() - warnedFullAt < FULL_WARNING_INTERVAL_MS) return;
    warnedFullAt = performance.now();
    log?.warn({ err: error }, 'the disk of the database is full: pages are not cached');
  };
  return {
    get closed() {
      return closed;
    },
    /** The result of `work`; undefined if it failed or was skipped. Throws only the reason of the signal. */
    async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result | undefined> {
      let ticket: ReturnType<typeof breaker.enter>;
      try {
        ticket = breaker.enter();
      } catch {
        return undefined;
      }
      try {
        const result = await work();
        ticket.succeeded();
        return result;
      } catch (error) {
        if (signal?.aborted) {
          ticket.abandoned();
          throw signal.reason;
        }
        lastError = error;
        if (isDiskFull(error)) {
          // The database answers, so copies can be read.
          ticket.succeeded();
          warnFull(error);
        } else if (isAway(error)) ticket.failed();
        else {
          ticket.abandoned();
          // The store of blobs reports its own failures.
          if (!(error instanceof BlobsUnavailableError)) warn(error);
        }
        return undefined;
      }
    },
  };
}
