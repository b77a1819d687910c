/**
 * The cache between reader and engines. It serves cached copies, lets identical concurrent reads share one live read,
 * stores the results that may be stored, and serves a stale copy if a page cannot be read
 * (docs/reference/wire/reader.md, Cache). A copy of a page that is now refused is never served.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createSingleFlight } from '#concurrency/single-flight.ts';
import { Problem, type ProblemName } from '#errors.ts';
import { RedirectRefusedError } from '#net/fetch/fetch.ts';
import type { CachedUrlCheck } from '#net/guard/cached-url-check.ts';
import { refusal } from '#net/guard/guard.ts';
import type { Log } from '#telemetry/log.ts';
import type { Options } from '../options/resolve.ts';
import type { ReadRequest } from '../read.ts';
import type { Snapshot } from '../snapshot.ts';
import type { CopyStore } from './copy-store.ts';
import { openLocalCopyStore } from './local-store.ts';
import {
  type Copy,
  capturedBy,
  copyKey,
  flightKey,
  fragmentOf,
  isWorthCaching,
  maxAgeMs,
  mayRead,
  mayWrite,
  serves,
  storageKey,
} from './rules.ts';
import { openSharedCopyStore, type SharedCopyStoreOptions } from './shared/shared-store.ts';

export type LiveRead = (request: ReadRequest) => AsyncGenerator<Snapshot>;

export interface SnapshotCache {
  /**
   * Yields the snapshots of a read: a cached copy (with `cachedAt`) if one may be served, else the snapshots of `live`.
   * The last snapshot is stored if allowed. Identical concurrent reads share one `live`, and its signal is aborted when
   * all of them are aborted. If `live` fails, the last snapshot is a stale copy with `stale` set. Throws the errors of
   * `live`, and SecurityCompromiseError if the URL of a copy is now refused.
   */
  getOrRead(request: ReadRequest, live: LiveRead): AsyncGenerator<Snapshot>;
  /** Whether the index of the copies answers. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

export interface CacheOptions {
  /** The folder of the copies. */
  readonly dir: string;
  /** Set if several servers share the copies. The folder is then not used. */
  readonly shared?: Pick<SharedCopyStoreOptions, 'databaseUrl' | 'blobs'> | undefined;
  /** Maximum size of all copies on disk, in bytes; 0 disables the cache and removes the folder. */
  readonly maxBytes: number;
  /** Maximum size of the recently used content that is kept in memory too, in bytes. Default: 0. */
  readonly recentBytes?: number;
  /** Maximum age of a served copy if the caller sets none, in milliseconds. */
  readonly freshMs: number;
  /** Copies are removed after this time, in milliseconds. */
  readonly keepMs: number;
  /** Whether to cache pages that forbid it (Cache-Control no-store or private). Default: false. */
  readonly keepsNoStore?: boolean;
  /** Checks the URLs of a copy before it is served. */
  readonly mayServeCached: CachedUrlCheck;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
  /** Called once for each read with the outcome of the lookup, and again if a stale copy is served. */
  readonly onRead?: ((outcome: CacheOutcome) => void) | undefined;
}

/**
 * `stale`: a stale copy for a page that could not be read; `off`: the options forbid caching, or the cache is disabled.
 */
export type CacheOutcome = 'hit' | 'miss' | 'stale' | 'off';

const SWEEP_INTERVAL_MS = 10 * 60 * 1000;
/** Maximum number of pages waiting to be written; further pages are not cached. */
const MAX_PENDING_WRITES = 32;

/** Opens the cache. Never fails: without a usable folder every read is live, and a warning is logged. */
export async function openCache(options: CacheOptions): Promise<SnapshotCache> {
  const {
    dir,
    shared,
    maxBytes,
    recentBytes,
    freshMs,
    keepMs,
    keepsNoStore = false,
    mayServeCached,
    clock = Date.now,
    log,
    onRead,
  } = options;
  if (maxBytes === 0) {
    await rm(dir, { recursive: true, force: true }).catch((error: unknown) =>
      log?.warn({ err: error }, 'the cached copies could not be removed'),
    );
    return {
      getOrRead(request, live) {
        report(request, 'off', onRead);
        return live(request);
      },
      healthy: true,
      close: async () => {},
    };
  }
  const limits = { maxBytes, recentBytes, keepMs, clock, log };
  const opening = shared ? openSharedCopyStore({ ...shared, ...limits }) : openLocalCopyStore({ dir, ...limits });
  const store = await opening.catch((error: unknown) => {
    log?.warn({ err: error }, 'pages cannot be cached');
    return undefined;
  });
  const timer = setInterval(() => void store?.sweep(), SWEEP_INTERVAL_MS);
  timer.unref();
  const cache = createCache(store, { freshMs, keepMs, keepsNoStore, mayServeCached }, onRead);
  return {
    getOrRead: cache.getOrRead,
    get healthy() {
      return store?.healthy ?? false;
    },
    async close() {
      clearInterval(timer);
      await cache.close();
      await store?.close();
    },
  };
}

/** Reports the outcome of a lookup to the metrics and the trace. */
function report({ trace }: ReadRequest, outcome: CacheOutcome, onRead: CacheOptions['onRead']): void {
  onRead?.(outcome);
  trace?.fact('cache', outcome);
}

type Rules = Required<Pick<CacheOptions, 'freshMs' | 'keepMs' | 'keepsNoStore' | 'mayServeCached'>>;

function createCache(
  store: CopyStore | undefined,
  { freshMs, keepMs, keepsNoStore, mayServeCached }: Rules,
  onRead: CacheOptions['onRead'],
) {
  const flights = createSingleFlight<Snapshot>();
  const writing = new Map<string, Promise<void>>();

  async function* getOrRead(request: ReadRequest, live: LiveRead): AsyncGenerator<Snapshot> {
    const { options, signal } = request;
    if (options.zeroDataRetention || !(mayRead(options) || mayWrite(options))) {
      report(request, 'off', onRead);
      return yield* live(request);
    }
    if (!mayRead(options)) {
      report(request, 'miss', onRead);
      return yield* readAndStore(request, live);
    }
    const endSpan = request.trace?.span('cache');
    const fresh = await find(request, maxAgeMs(request, freshMs));
    endSpan?.();
    report(request, fresh ? 'hit' : 'miss', onRead);
    if (fresh) return yield fresh;
    try {
      // Reads with `checkRedirect` are not shared, because the rule of one read does not apply to others.
      if (request.checkRedirect) yield* readAndStore(request, live);
      else
        yield* flights.join(flightKey(request), signal, (shared) => readForAll({ ...request, signal: shared }, live));
    } catch (error) {
      signal.throwIfAborted();
      const stale = isFailedRead(error) ? await find(request, keepMs) : undefined;
      if (!stale) throw error;
      report(request, 'stale', onRead);
      yield { ...stale, stale: true };
    }
  }

  /** A live read that other servers wait for, if they share the copies. */
  async function* readForAll(request: ReadRequest, live: LiveRead): AsyncGenerator<Snapshot> {
    if (!store?.claim || !mayWrite(request.options)) {
      yield* readAndStore(request, live);
      return;
    }
    const claim = await store.claim(flightName(request), request.signal);
    let storing: Storing | undefined;
    try {
      // Another server may have stored a copy since the lookup.
      const copy = await find(request, maxAgeMs(request, freshMs));
      if (copy) yield copy;
      else storing = yield* readAndStore(request, live);
    } finally {
      void Promise.resolve(storing?.done).then(claim.release);
    }
  }

  async function* readAndStore(request: ReadRequest, live: LiveRead): AsyncGenerator<Snapshot, Storing> {
    let last: Snapshot | undefined;
    for await (const snapshot of live(request)) {
      last = snapshot;
      yield snapshot;
    }
    return { done: last && !request.signal.aborted ? storeCopy(request, last) : undefined };
  }

  /** Stores a snapshot in the background; the next lookup of the page waits for it. */
  function storeCopy(request: ReadRequest, captured: Snapshot): Promise<void> | undefined {
    const { options } = request;
    const snapshot = keepsNoStore ? { ...captured, noStore: undefined } : captured;
    if (!store || writing.size >= MAX_PENDING_WRITES || !mayWrite(options) || !isWorthCaching(snapshot, options))
      return undefined;
    const key = storageKey(request, snapshot);
    const written = store.put(key, withoutAnchor(snapshot), capturedBy(request)).finally(() => {
      if (writing.get(key) === written) writing.delete(key);
    });
    writing.set(key, written);
    return written;
  }

  async function find(request: ReadRequest, maxAgeMs: number): Promise<Snapshot | undefined> {
    if (!store) return undefined;
    const { options, target, signal } = request;
    const tried = new Set<string>();
    // Only the copy tells whether its URL is that of a document, in which the fragment may select a page.
    for (const kind of fragmentOf(target.url) ? (['at fragment', ...KINDS] as const) : KINDS) {
      const key = copyKey(request, kind);
      if (tried.has(key)) continue;
      tried.add(key);
      await writing.get(key);
      const copy = await store.find(key, {
        serves: (found: Copy) => isOf(kind, found, request) && serves(found, request),
        maxAgeMs,
        pictures: wantsPictures(options),
      });
      if (!copy) continue;
      if (target.given || target.upload) return copy;
      if (!(await mayServeCached(target.url, signal))) throw refusal();
      // The URL after redirects may be refused by now.
      if (await mayServeCached(copy.url, signal)) return { ...copy, url: withAnchor(copy.url, target.url) };
    }
    return undefined;
  }

  return {
    getOrRead,
    async close() {
      await flights.close();
      await Promise.all(writing.values());
    },
  };
}

/** `done` is resolved once the last snapshot of a read is stored; `undefined` if it is not stored. */
interface Storing {
  readonly done: Promise<void> | undefined;
}

/** The key of the flight may contain secrets of the URL, and other servers see the name. */
const flightName = (request: ReadRequest): string => createHash('sha256').update(flightKey(request)).digest('hex');

const KINDS = ['document', 'page'] as const;

/** A copy of a whole document must not serve a read of one of its pages. */
const isOf = (kind: 'document' | 'page' | 'at fragment', { facts }: Copy, request: ReadRequest): boolean =>
  kind === 'document' || !facts.document || copyKey(request, 'document') === copyKey(request, 'page');

const wantsPictures = ({ formats }: Options): boolean => formats.has('screenshot') || formats.has('pageshot');

/** Copies are stored without the anchor and served with the anchor of the request. */
const withoutAnchor = (snapshot: Snapshot): Snapshot => {
  const at = snapshot.url.indexOf('#');
  return at < 0 || snapshot.url.startsWith('#/', at) ? snapshot : { ...snapshot, url: snapshot.url.slice(0, at) };
};
const withAnchor = (url: string, asked: string): string => {
  const at = asked.indexOf('#');
  return at < 0 || url.includes('#') ? url : url + asked.slice(at);
};

/** Failures of the page or the server, as opposed to refusals and invalid requests. */
const FAILURES: ReadonlySet<ProblemName> = new Set([
  'AssertionFailureError',
  'DataStreamBrokenError',
  'DownstreamServiceFailureError',
  'DownstreamServiceError',
  'ServiceNodeResourceDrainError',
  'InternalError',
]);

function isFailedRead(error: unknown): boolean {
  if (!(error instanceof Problem)) return !(error instanceof RedirectRefusedError);
  const { path } = error.facts;
  return FAILURES.has(error.name) && (path === undefined || path === 'url');
}
