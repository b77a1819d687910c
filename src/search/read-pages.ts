/** Reads the pages of hits in parallel, within a timeout. */
import { setMaxListeners } from 'node:events';
import { asProblem, Problem } from '#errors.ts';
import type { DetailLevel, Options, Reader } from '#reader/index.ts';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import type { Hit } from './hit.ts';
import { isIndexedFile } from './merge-hits.ts';
import type { Entry } from './result.ts';

export interface PagesRequest {
  readonly options: Options;
  readonly pagesFreshMs: number;
  readonly keyed: boolean;
  readonly account?: string | undefined;
  /** Timeout for all pages together. */
  readonly budgetMs: number;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Hosts of this server. Their pages are not read, because that could cause a loop. */
  readonly ownHosts: readonly string[];
  /** Set if passages are selected, which have places in documents. */
  readonly passageTokens?: number | undefined;
  /** Details to return with each page. */
  readonly details?: DetailLevel | undefined;
  readonly trace?: Trace | undefined;
}

/** A read ends this long before the search does, so that the read's last snapshot can still be returned. */
const MARGIN_MS = 300;

/**
 * Yields all entries: first before any page is read, then after each change, and finally in their last state. Throws a
 * Problem that affects every page, such as an invalid option, or the signal's reason.
 */
export async function* readPages(
  hits: readonly Hit[],
  request: PagesRequest,
  reader: Pick<Reader, 'last'>,
): AsyncGenerator<readonly Entry[]> {
  const { signal, budgetMs, options } = request;
  const stop = new AbortController();
  // Each read adds a listener. There may be more listeners than the number at which Node warns.
  setMaxListeners(0, stop.signal);
  const timeUp = new Error('the search has reached its time limit');
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => stop.abort(timeUp), budgetMs);
  let entries: readonly Entry[] = hits.map((hit) => ({ hit, state: 'waiting' }));
  let wake = () => {};
  stop.signal.addEventListener('abort', () => wake(), { once: true });
  let changed = false;
  let fatal: unknown;
  let left = hits.length;
  const settle = (index: number, found: Pick<Entry, 'state' | 'rendition' | 'failure'>) => {
    entries = entries.with(index, { ...entries[index]!, ...found });
    changed = true;
    left--;
    wake();
  };
  // Rounded down to whole seconds, so that identical searches can share reads.
  const timeoutMs = Math.max(1_000, Math.floor((budgetMs - MARGIN_MS) / 1_000) * 1_000);
  const readOptions = Object.freeze({ ...options, timeoutMs });
  const read = async (hit: Hit, index: number) => {
    if (isIndexedFile(hit)) return settle(index, { state: 'indexed' });
    try {
      refuseOwn(hit.url, request.ownHosts);
      const trace = request.trace?.within({ result: index + 1 });
      const reading = {
        target: { url: hit.url },
        options: readOptions,
        signal: stop.signal,
        keyed: request.keyed,
        account: request.account,
        freshMs: request.pagesFreshMs,
        ...(request.passageTokens !== undefined && { blockPlaces: true }),
        details: request.details,
        trace,
      };
      const rendition = await traceStep('page', trace, () => reader.last(reading));
      settle(index, { state: 'read', rendition });
    } catch (error) {
      if (concernsEveryPage(error)) fatal ??= error;
      if (stop.signal.reason === timeUp) settle(index, { state: 'late' });
      else
        settle(index, {
          state: 'failed',
          failure: error instanceof OwnHostError ? undefined : asProblem(error).message,
        });
    }
  };
  try {
    yield entries;
    for (const [index, hit] of hits.entries()) void read(hit, index);
    while (left > 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (changed || stop.signal.aborted) resolve();
      });
      if (fatal) throw fatal;
      signal.throwIfAborted();
      if (stop.signal.aborted) {
        // Reads that are slow to end are not waited for.
        entries = entries.map((entry) => (entry.state === 'waiting' ? { ...entry, state: 'late' } : entry));
        break;
      }
      changed = false;
      if (left > 0) yield entries;
    }
    yield entries;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    stop.abort(timeUp);
  }
}

class OwnHostError extends Error {}

function refuseOwn(url: string, ownHosts: readonly string[]): void {
  if (ownHosts.includes(new URL(url).host)) throw new OwnHostError();
}

/** Whether every other page would fail in the same way, because of an invalid option or an unavailable model. */
function concernsEveryPage(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  const { path } = error.facts;
  const named = path !== undefined && path !== 'url';
  return named && (error.name === 'ParamValidationError' || error.name === 'DownstreamServiceFailureError');
}
