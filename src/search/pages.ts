/** Reading the pages of hits: all at once through the reader, as far as the time goes. */
import { setMaxListeners } from 'node:events';
import { asProblem, Problem } from '#errors.ts';
import type { Options, Reader } from '#reader/index.ts';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import type { Hit } from './hit.ts';
import { isIndexedFile } from './merge-hits.ts';
import type { Entry } from './result.ts';

export interface PagesRequest {
  readonly options: Options;
  readonly pagesFreshMs: number;
  readonly keyed: boolean;
  readonly account?: string | undefined;
  /** How long reading may take. */
  readonly budgetMs: number;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  /** Hosts under which this server is asked: its own pages would be read in circles. */
  readonly ownHosts: readonly string[];
  readonly trace?: Trace | undefined;
}

/** What a read is given less than the search, so that what it has seen by then is still answered. */
const MARGIN_MS = 300;

/**
 * The entries each time one of them has changed; unread ones first, the last ones final. Throws what is wrong with an
 * option for every page alike, or the signal's reason.
 */
export async function* readPages(
  hits: readonly Hit[],
  request: PagesRequest,
  reader: Pick<Reader, 'last'>,
): AsyncGenerator<readonly Entry[]> {
  const { signal, budgetMs, options } = request;
  const stop = new AbortController();
  // Each page's read listens, and there may be more of them than Node thinks right.
  setMaxListeners(0, stop.signal);
  const timeUp = new Error('the time of the search is up');
  const leave = () => stop.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
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
  // Whole seconds, so that equal searches share their reads.
  const timeoutMs = Math.max(1_000, Math.floor((budgetMs - MARGIN_MS) / 1_000) * 1_000);
  const each = Object.freeze({ ...options, timeoutMs });
  const read = async (hit: Hit, index: number) => {
    if (isIndexedFile(hit)) return settle(index, { state: 'indexed' });
    try {
      refuseOwn(hit.url, request.ownHosts);
      const trace = request.trace?.within({ result: index + 1 });
      const reading = {
        target: { url: hit.url },
        options: each,
        signal: stop.signal,
        keyed: request.keyed,
        account: request.account,
        freshMs: request.pagesFreshMs,
        trace,
      };
      const rendition = await traceStep('page', trace, () => reader.last(reading));
      settle(index, { state: 'read', rendition });
    } catch (error) {
      if (isOfEveryPage(error)) fatal ??= error;
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
        // A read that is slow to end is not waited for.
        entries = entries.map((entry) => (entry.state === 'waiting' ? { ...entry, state: 'late' } : entry));
        break;
      }
      changed = false;
      if (left > 0) yield entries;
    }
    yield entries;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    stop.abort(timeUp);
  }
}

class OwnHostError extends Error {}

function refuseOwn(url: string, ownHosts: readonly string[]): void {
  if (ownHosts.includes(new URL(url).host)) throw new OwnHostError();
}

/** What no other page would do better with: an option that cannot be, or a model that is not there. */
function isOfEveryPage(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  const { path } = error.facts;
  const named = path !== undefined && path !== 'url';
  return named && (error.name === 'ParamValidationError' || error.name === 'DownstreamServiceFailureError');
}
