/** One visit of one page: opens a context, watches the page, and always closes everything. */
import type { BrowserContext } from 'playwright-core';
import { Problem, problem } from '#errors.ts';
import type { Snapshot } from '../../snapshot.ts';
import type { Visit } from '../engine.ts';
import { identify } from '../user-agent.ts';
import { closeContext, openContext } from './context.ts';
import { readCookieJar, setCallersCookies, setEarlierCookies } from './cookies.ts';
import { openEgressSession } from './egress-session.ts';
import { FileTargetError, isBrowserFault, LostBrowserError, StuckClockError } from './failures.ts';
import { fetchScripts } from './inject.ts';
import { type PageTools, PageVisit } from './page-visit.ts';
import type { Lease } from './pool.ts';
import { isWebUrl, type Preparation } from './prepare-visit.ts';
import type { RefusalLog } from './refusals.ts';
import { readStorageState } from './storage-state.ts';

export interface VisitTools extends PageTools {
  /** Fetches a script from a URL that the caller specified. */
  readonly fetchScript: (url: string, signal: AbortSignal) => Promise<string>;
  readonly refusals: RefusalLog;
  /** User agent for reads that set none, instead of the browser's own. */
  readonly userAgent?: string | undefined;
  readonly version?: string | undefined;
}

const STATE_MS = 1_000;
const PASSED_ON = [Problem, FileTargetError, LostBrowserError, StuckClockError];

/**
 * Throws FileTargetError if the target is a file, LostBrowserError if the browser opens no context, and StuckClockError if
 * the page must be read in real time.
 */
export async function* visitPage(
  visit: Visit,
  preparation: Preparation,
  lease: Lease,
  tools: VisitTools,
): AsyncGenerator<Snapshot> {
  const { options, signal } = visit;
  const scripts = {
    page: await fetchScripts(options.injectPageScript, tools.fetchScript, signal),
    frame: await fetchScripts(options.injectFrameScript, tools.fetchScript, signal),
  };
  const identity = identify({
    userAgent: options.userAgent ?? tools.userAgent,
    host: isWebUrl(visit.url) ? new URL(visit.url).hostname : '',
    chromiumMajor: lease.chromiumMajor,
    version: tools.version,
  });
  const { cookies, proxy, storageState } = preparation;
  const { egress } = lease;
  const acceptInvalidCertificates = options.skipCertVerification === true;
  const session = openEgressSession({ egress, refusals: tools.refusals, proxy, acceptInvalidCertificates });
  let context: BrowserContext | undefined;
  const stop = () => void (context && closeContext(context));
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { userAgent } = identity;
    const { credentials } = session;
    context = await openContext(lease, options, { userAgent, credentials, storageState }).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!lease.discard || !isBrowserFault(lease.browser, error)) throw error;
      lease.discard(error);
      throw new LostBrowserError('The browser opens no context', { cause: error });
    });
    signal.throwIfAborted();
    await setCallersCookies(context, cookies);
    // Set last, because cookies from an earlier engine are newer.
    if (visit.jar) await setEarlierCookies(context, visit.jar);
    const page = await context.newPage();
    yield* new PageVisit({ visit, preparation, tools, context, page, session }).run(scripts, identity);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FileTargetError && context) await attachState(error, context, visit);
    if (PASSED_ON.some((type) => error instanceof type)) throw error;
    throw problem('AssertionFailureError', { message: 'The page could not be read' }, error);
  } finally {
    signal.removeEventListener('abort', stop);
    session.close();
    if (context) await closeContext(context);
  }
}

/** Collects the cookies and storage state with which the direct engine continues. */
async function attachState(file: FileTargetError, context: BrowserContext, { options }: Visit): Promise<void> {
  file.jar = await readCookieJar(context).catch(() => undefined);
  if (!options.exportStorageState) return;
  const taken = await readStorageState(context, STATE_MS).catch(() => undefined);
  file.storageState = taken?.state;
}
