/** The engine that renders: a page in Chromium, its scripts run, captured as it settles. */
import { problem } from '#errors.ts';
import { traceIteration, traceStep } from '#telemetry/trace.ts';
import { answerFacts, fromFetched, isHtml, type Snapshot } from '../../snapshot.ts';
import type { Engine, Visit } from '../engine.ts';
import { withPictures } from '../text-picture.ts';
import { FileTargetError, unreadable } from './failures.ts';
import type { Lease, Pool } from './pool.ts';
import { prepare } from './prepare.ts';
import { type VisitTools, visitPage } from './visit.ts';

export interface BrowserEngineConfig extends VisitTools {
  readonly pool: Pool;
  /** Reads what the browser finds to be a file. */
  readonly direct?: Engine | undefined;
}

/** What a visit may need after its browser ended, its time was up or its caller went, to give what it has. */
const GRACE_MS = 3_000;
/** A direct fetch may take so long (contract, section 9). */
const FILE_MS = 30_000;

/** Closing the engine closes its pool. */
export function createBrowserEngine({ pool, direct, ...tools }: BrowserEngineConfig): Engine {
  const engine: Engine = {
    name: 'browser',
    async *visit(visit) {
      const preparation = await prepare(visit, tools.guard);
      const { trace } = visit;
      const lease = await traceStep('queue', trace, () => pool.lease(visit.signal, visit.deadline - performance.now()));
      let file: FileTargetError;
      try {
        return yield* traceIteration(
          'render',
          trace,
          watched(visitPage(visit, preparation, lease, tools), visit, lease),
        );
      } catch (error) {
        if (!(error instanceof FileTargetError)) throw error;
        file = error;
      } finally {
        lease.release();
      }
      if (!direct) throw unreadable(file.mediaType);
      yield* readFile(file, visit, direct, engine);
    },
    close: () => pool.close(),
  };
  return engine;
}

/**
 * A file is fetched anew, with what the browser was given on the way to it, and with a fetch's own time. A page that
 * was to be saved comes back to the browser, and text for its picture.
 */
async function* readFile(
  { url, jar, storageState, reason }: FileTargetError,
  visit: Visit,
  direct: Engine,
  browser: Engine,
): AsyncGenerator<Snapshot> {
  const { html: _, answer: __, ...rest } = visit;
  const deadline =
    visit.options.timeoutMs === undefined ? Math.max(visit.deadline, performance.now() + FILE_MS) : visit.deadline;
  const way = { ...rest, url, cameFrom: visit.url, deadline, jar: jar ?? visit.jar };
  for await (const snapshot of direct.visit(way)) {
    if (isHtml(snapshot) && !snapshot.file) {
      const { url, text } = snapshot;
      const answer = answerFacts(snapshot);
      const page = { ...way, url, deadline: visit.deadline, html: text, answer };
      for await (const seen of browser.visit(page)) yield fromFetched(snapshot, seen);
      return;
    }
    const drawn = await withPictures(snapshot, { ...visit, deadline }, browser);
    yield { ...drawn, engineReason: reason, ...(storageState && { storageState }) };
  }
}

/**
 * The snapshots of a visit, for as long as they can be waited for. A call to a browser that has just died may never be
 * answered, so the end of the browser, of the time or of the caller's patience is an end here too. What was seen by
 * then is the answer; nothing seen is AssertionFailureError.
 */
async function* watched(snapshots: AsyncGenerator<Snapshot>, visit: Visit, lease: Lease): AsyncGenerator<Snapshot> {
  let seen = false;
  const { given, stop } = givenUp(visit, lease);
  try {
    for (;;) {
      const step = await Promise.race([snapshots.next(), given]);
      if (step === 'given up') {
        visit.signal.throwIfAborted();
        if (seen) return;
        throw problem('AssertionFailureError', { message: 'The page did not answer in time' });
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

function givenUp({ signal, deadline }: Visit, { browser }: Lease): { given: Promise<'given up'>; stop: () => void } {
  const timers: NodeJS.Timeout[] = [];
  let soon = () => {};
  const given = new Promise<'given up'>((resolve) => {
    const within = (ms: number) => timers.push(setTimeout(() => resolve('given up'), ms));
    soon = () => within(GRACE_MS);
    within(Math.max(deadline - performance.now(), 0) + GRACE_MS);
    browser.once('disconnected', soon);
    signal.addEventListener('abort', soon, { once: true });
    if (!browser.isConnected() || signal.aborted) soon();
  });
  return {
    given,
    stop: () => {
      for (const timer of timers) clearTimeout(timer);
      browser.off('disconnected', soon);
      signal.removeEventListener('abort', soon);
    },
  };
}
