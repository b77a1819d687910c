/** Runs all checks of `lectern doctor`. Needs no network, and removes everything that it creates. */
import type { Config } from '#config.ts';
import { findBrowser } from '#reader/index.ts';
import { broken, type Finding, runChecks } from './finding.ts';
import { machineChecks } from './machine.ts';
import { networkGuardChecks } from './network-guard.ts';
import { privacyChecks, watchConnections } from './privacy.ts';
import { remoteChecks } from './remote.ts';
import { storeChecks } from './stores.ts';
import { startTestServer } from './test-server.ts';
import { workChecks } from './work.ts';

export { type Finding, linesOf, reportOf, summaryOf } from './finding.ts';

/** Yields each finding as its check completes. Throws the reason of the signal when aborted. */
export async function* doctor(config: Config, version: string, signal: AbortSignal): AsyncGenerator<Finding> {
  yield* runChecks([...machineChecks(config), ...storeChecks(config), ...remoteChecks(config)], signal);
  const closers: (() => Promise<unknown>)[] = [];
  const watch = watchConnections();
  try {
    signal.throwIfAborted();
    const hasBrowser = findBrowser({ configured: config.browser, dataDir: config.dataDir }) !== null;
    // A configured browser that cannot be run has been reported. Everything else can be checked without it.
    const examined = hasBrowser ? config : { ...config, browser: 'none' };
    const server = await startTestServer(examined, version, closers);
    const engines = hasBrowser ? (['direct', 'browser'] as const) : (['direct'] as const);
    yield* runChecks(
      [
        ...networkGuardChecks(server, config.allowNetworks, engines),
        ...workChecks(server, hasBrowser),
        ...privacyChecks(watch),
      ],
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    const message = (error as Error).message;
    yield {
      group: 'Work',
      name: 'The server',
      ...broken(`does not start: ${message}`, 'Fix this first: `lectern serve` fails for the same reason'),
    };
  } finally {
    watch.close();
    for (const close of closers.toReversed()) await close().catch(() => {});
  }
}
