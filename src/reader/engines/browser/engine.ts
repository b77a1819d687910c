/**
 * The browser engine: renders a page in Chromium with its scripts, and captures it while it loads and when it stops
 * changing.
 */
import { problem } from '#errors.ts';
import { traceIteration, traceStep } from '#telemetry/trace.ts';
import { isHtml, responseFacts, type Snapshot, withFetchedNotes } from '../../snapshot.ts';
import type { Engine, Visit } from '../engine.ts';
import { withPictures } from '../text-screenshot.ts';
import { FileTargetError, LostBrowserError, StuckClockError, unreadable } from './failures.ts';
import { browserUnavailable } from './page-slots.ts';
import type { Lease, PagePool } from './pool.ts';
import { prepareVisit } from './prepare-visit.ts';
import { type VisitTools, visitPage } from './visit.ts';

export interface BrowserEngineConfig extends VisitTools {
  readonly pool: PagePool;
  /** The engine that reads targets that turn out to be files. */
  readonly direct?: Engine | undefined;
}

/** Time to deliver a last snapshot after the browser crashed, the deadline passed or the caller disconnected. */
const GRACE_MS = 3_000;
/** Browsers that are tried for one read, if the first ones open no context. */
const MAX_LEASES = 3;
/** Timeout for a file download (docs/reference/wire/reader.md, Timing). */
const FILE_MS = 30_000;

/** Closing the engine closes its pool. */
export function createBrowserEngine({ pool, direct, ...tools }: BrowserEngineConfig): Engine {
  const engine: Engine = {
    name: 'browser',
    async *visit(visit) {
      const preparation = await prepareVisit(visit, tools.guard);
      const { trace } = visit;
      let file: FileTargetError | undefined;
      let realTime = false;
      for (let leases = 1; !file; leases++) {
        const lease = await traceStep('queue', trace, () =>
          pool.lease(visit.signal, visit.deadline - performance.now()),
        );
        try {
          const snapshots = withEnd(visitPage(visit, { ...preparation, realTime }, lease, tools), visit, lease);
          return yield* traceIteration('render', trace, snapshots);
        } catch (error) {
          if (error instanceof FileTargetError) file = error;
          else if (error instanceof StuckClockError) realTime = true;
          else if (!(error instanceof LostBrowserError)) throw error;
          else if (leases === MAX_LEASES) throw browserUnavailable('No browser is available', {}, error);
        } finally {
          lease.release();
        }
      }
      if (!direct) throw unreadable(file.mediaType);
      yield* readFile(file, visit, direct, engine);
    },
    close: () => pool.close(),
  };
  return engine;
}

/**
 * Reads a file with the direct engine, with the cookies that the browser received and a fetch's timeout. If the
 * response is a page after all, the browser renders it. Screenshots of text are also made by the browser.
 */
async function* readFile(
  { url, jar, storageState, reason }: FileTargetError,
  visit: Visit,
  direct: Engine,
  browser: Engine,
): AsyncGenerator<Snapshot> {
  const { html: _, fetchedResponse: __, ...rest } = visit;
  const deadline =
    visit.options.timeoutMs === undefined ? Math.max(visit.deadline, performance.now() + FILE_MS) : visit.deadline;
  const next = { ...rest, url, referringUrl: visit.url, deadline, jar: jar ?? visit.jar };
  for await (const snapshot of direct.visit(next)) {
    if (isHtml(snapshot) && !snapshot.file) {
      const { url, text } = snapshot;
      const answer = responseFacts(snapshot);
      const page = { ...next, url, deadline: visit.deadline, html: text, fetchedResponse: answer };
      for await (const seen of browser.visit(page)) yield withFetchedNotes(snapshot, seen);
      return;
    }
    const drawn = await withPictures(snapshot, { ...visit, deadline }, browser);
    yield { ...drawn, engineReason: reason, ...(storageState && { storageState }) };
  }
}

/**
 * The snapshots of a visit. Always ends, although a call to a crashed browser may never return. After a crash, the
 * deadline or an abort, the last snapshot is the result; without one, throws AssertionFailureError.
 */
async function* withEnd(snapshots: AsyncGenerator<Snapshot>, visit: Visit, lease: Lease): AsyncGenerator<Snapshot> {
  let seen = false;
  const { gaveUp, stop } = giveUpSignal(visit, lease);
  try {
    for (;;) {
      const step = await Promise.race([snapshots.next(), gaveUp]);
      if (step === 'given up') {
        visit.signal.throwIfAborted();
        if (seen) return;
        throw problem('AssertionFailureError', { message: 'The page did not respond in time' });
      }
      if (step.done) return;
      seen = true;
      yield step.value;
    }
  } finally {
    stop();
    // Not awaited: it may hang on the same call.
    snapshots.return(undefined).catch(() => {});
  }
}

function giveUpSignal(
  { signal, deadline }: Visit,
  { browser }: Lease,
): { gaveUp: Promise<'given up'>; stop: () => void } {
  const timers: NodeJS.Timeout[] = [];
  let soon = () => {};
  const gaveUp = new Promise<'given up'>((resolve) => {
    const within = (ms: number) => timers.push(setTimeout(() => resolve('given up'), ms));
    soon = () => within(GRACE_MS);
    within(Math.max(deadline - performance.now(), 0) + GRACE_MS);
    browser.once('disconnected', soon);
    signal.addEventListener('abort', soon, { once: true });
    if (!browser.isConnected() || signal.aborted) soon();
  });
  return {
    gaveUp,
    stop: () => {
      for (const timer of timers) clearTimeout(timer);
      browser.off('disconnected', soon);
      signal.removeEventListener('abort', soon);
    },
  };
}
