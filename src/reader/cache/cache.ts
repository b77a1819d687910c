/**
 * Between the readers and the engines: a kept copy answers when it may, equal reads at the same time share one, what was
 * read is kept when it may be, and an old copy answers for a page that cannot be read (contract, section 13). A copy of
 * what may not be read any more answers nobody.
 */
import { rm } from 'node:fs/promises';
import { createSingleFlight } from '#concurrency/single-flight.ts';
import { Problem, type ProblemName } from '#errors.ts';
import { RedirectRefusedError } from '#net/fetch/fetch.ts';
import type { MayServeCached } from '#net/guard/cached-url-check.ts';
import { refusal } from '#net/guard/guard.ts';
import type { Log } from '#telemetry/log.ts';
import type { Options } from '../options/resolve.ts';
import type { ReadRequest } from '../read.ts';
import type { Snapshot } from '../snapshot.ts';
import {
  type Copy,
  capturedBy,
  flightOf,
  fragmentOf,
  maxAgeMs,
  mayRead,
  mayWrite,
  placeOf,
  placeToKeep,
  serves,
  worthKeeping,
} from './rules.ts';
import { type CopyStore, openCopyStore } from './store.ts';

export type Live = (request: ReadRequest) => AsyncGenerator<Snapshot>;

export interface SnapshotCache {
  /**
   * The snapshots of a read: a kept copy (`cachedAt` says so) when one may answer, else those of `live`, the last of
   * which is kept when it may be. Equal reads at the same time share one; its signal is aborted when the last of them is.
   * When the live read fails, an old copy is the last snapshot, and `stale`. Throws what `live` throws, and
   * SecurityCompromiseError where a copy would answer for a URL that is refused now.
   */
  through(request: ReadRequest, live: Live): AsyncGenerator<Snapshot>;
  close(): Promise<void>;
}

export interface CacheOptions {
  readonly dir: string;
  /** What copies may take on disk; with 0 there is no cache, and the folder is removed. */
  readonly maxBytes: number;
  /** How old a copy may be to answer when the caller does not say. */
  readonly freshMs: number;
  /** After this a copy is gone. */
  readonly keepMs: number;
  /** Whether pages that forbid copies (Cache-Control no-store or private) are kept like others; not by default. */
  readonly keepsNoStore?: boolean;
  /** Asked of the URLs of a copy before it answers. */
  readonly mayServeCached: MayServeCached;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  readonly log?: Pick<Log, 'warn'> | undefined;
  /** Told at each read what the cache gave to it. */
  readonly onRead?: ((outcome: CacheOutcome) => void) | undefined;
}

/** `stale`: an old copy for a page that could not be read; `off`: the options forbid copies, or there is no cache. */
export type CacheOutcome = 'hit' | 'miss' | 'stale' | 'off';

const SWEEP_MS = 10 * 60 * 1000;
/** Pages that wait to be written; beyond these, what was read is not kept. */
const MAX_WRITING = 32;

/** Never fails: where nothing can be kept, everything is read live, and the log says why. */
export async function openCache(options: CacheOptions): Promise<SnapshotCache> {
  const {
    dir,
    maxBytes,
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
      log?.warn({ err: error }, 'the kept copies could not be removed'),
    );
    return {
      through(request, live) {
        told(request, 'off', onRead);
        return live(request);
      },
      close: async () => {},
    };
  }
  const store = await openCopyStore({ dir, maxBytes, keepMs, clock, log }).catch((error: unknown) => {
    log?.warn({ err: error }, 'no copies of pages can be kept');
    return undefined;
  });
  const timer = setInterval(() => void store?.sweep(), SWEEP_MS);
  timer.unref();
  const cache = createCache(store, { freshMs, keepMs, keepsNoStore, mayServeCached }, onRead);
  return {
    through: cache.through,
    async close() {
      clearInterval(timer);
      await cache.close();
      await store?.close();
    },
  };
}

/** Says what a read was given, to who counts reads and to who follows this one. */
function told({ trace }: ReadRequest, outcome: CacheOutcome, onRead: CacheOptions['onRead']): void {
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

  async function* through(request: ReadRequest, live: Live): AsyncGenerator<Snapshot> {
    const { options, signal } = request;
    if (options.zeroDataRetention || !(mayRead(options) || mayWrite(options))) {
      told(request, 'off', onRead);
      return yield* live(request);
    }
    if (!mayRead(options)) {
      told(request, 'miss', onRead);
      return yield* keeping(request, live);
    }
    const endSpan = request.trace?.span('cache');
    const fresh = await find(request, maxAgeMs(request, freshMs));
    endSpan?.();
    told(request, fresh ? 'hit' : 'miss', onRead);
    if (fresh) return yield fresh;
    try {
      // Where one may not go others may.
      if (request.checkRedirect) yield* keeping(request, live);
      else yield* flights.join(flightOf(request), signal, (shared) => keeping({ ...request, signal: shared }, live));
    } catch (error) {
      signal.throwIfAborted();
      const stale = isFailedRead(error) ? await find(request, keepMs) : undefined;
      if (!stale) throw error;
      told(request, 'stale', onRead);
      yield { ...stale, stale: true };
    }
  }

  async function* keeping(request: ReadRequest, live: Live): AsyncGenerator<Snapshot> {
    let last: Snapshot | undefined;
    for await (const snapshot of live(request)) {
      last = snapshot;
      yield snapshot;
    }
    if (last && !request.signal.aborted) keep(request, last);
  }

  /** The answer does not wait for the disk; whoever looks for this page next does. */
  function keep(request: ReadRequest, seen: Snapshot): void {
    const { options } = request;
    const snapshot = keepsNoStore ? { ...seen, noStore: undefined } : seen;
    if (!store || writing.size >= MAX_WRITING || !mayWrite(options) || !worthKeeping(snapshot, options)) return;
    const place = placeToKeep(request, snapshot);
    const written = store.keep(place, withoutAnchor(snapshot), capturedBy(request)).finally(() => {
      if (writing.get(place) === written) writing.delete(place);
    });
    writing.set(place, written);
  }

  async function find(request: ReadRequest, maxAgeMs: number): Promise<Snapshot | undefined> {
    if (!store) return undefined;
    const { options, target, signal } = request;
    const seen = new Set<string>();
    // Whether the address is that of a document, of which a page may be named, only its copy tells.
    for (const kind of fragmentOf(target.url) ? (['at fragment', ...KINDS] as const) : KINDS) {
      const place = placeOf(request, kind);
      if (seen.has(place)) continue;
      seen.add(place);
      await writing.get(place);
      const copy = await store.find(place, {
        serves: (found: Copy) => isOf(kind, found, request) && serves(found, request),
        maxAgeMs,
        pictures: wantsPictures(options),
      });
      if (!copy) continue;
      if (target.given || target.upload) return copy;
      if (!(await mayServeCached(target.url, signal))) throw refusal();
      // Where it was redirected to may be refused now, while it leads elsewhere.
      if (await mayServeCached(copy.url, signal)) return { ...copy, url: withAnchor(copy.url, target.url) };
    }
    return undefined;
  }

  return {
    through,
    async close() {
      await flights.close();
      await Promise.all(writing.values());
    },
  };
}

const KINDS = ['document', 'page'] as const;

/** A copy of a whole document is no answer to a read of one of its pages. */
const isOf = (kind: 'document' | 'page' | 'at fragment', { facts }: Copy, request: ReadRequest): boolean =>
  kind === 'document' || !facts.document || placeOf(request, 'document') === placeOf(request, 'page');

const wantsPictures = ({ formats }: Options): boolean => formats.has('screenshot') || formats.has('pageshot');

/** A copy serves whatever part of the page is named, and shows the part that its caller named. */
const withoutAnchor = (snapshot: Snapshot): Snapshot => {
  const at = snapshot.url.indexOf('#');
  return at < 0 || snapshot.url.startsWith('#/', at) ? snapshot : { ...snapshot, url: snapshot.url.slice(0, at) };
};
const withAnchor = (url: string, asked: string): string => {
  const at = asked.indexOf('#');
  return at < 0 || url.includes('#') ? url : url + asked.slice(at);
};

/** Failures of the page or of ours, as against refusals and mistakes of the caller. */
const FAILED: ReadonlySet<ProblemName> = new Set([
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
  return FAILED.has(error.name) && (path === undefined || path === 'url');
}
