/** Connects to a browser on another machine, and checks that it is a Chromium that this version can control. */
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import type { DroppedMessage } from '../messages.ts';
import type { RemoteAddress } from './address.ts';
import { openDevtools } from './devtools-connection.ts';

export interface RemoteBrowser {
  readonly browser: Browser;
  readonly version: string;
}

/** The reason why a browser is not used, in words for the operator. */
export class RemoteBrowserError extends Error {}

const CONNECT_MS = 15_000;
/** Older versions lack commands that we send, such as those for storage access. */
const MIN_CHROMIUM = 120;

export interface ConnectOptions {
  readonly token: string | undefined;
  /** Called for each DevTools message that exceeded the size limit. */
  readonly onDropped: (dropped: DroppedMessage) => void;
}

/** Throws RemoteBrowserError. */
export async function connectRemote(
  address: RemoteAddress,
  { token, onDropped }: ConnectOptions,
): Promise<RemoteBrowser> {
  const { chromium } = await import('playwright-core');
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let browser: Browser;
  try {
    browser =
      address.protocol === 'cdp'
        ? await chromium.connectOverCDP(
            await openDevtools(address.url, { headers, timeoutMs: CONNECT_MS, onDropped }),
            { timeout: CONNECT_MS },
          )
        : await chromium.connect(address.url, { headers, timeout: CONNECT_MS });
  } catch (error) {
    throw new RemoteBrowserError(connectFailure(error));
  }
  const version = browser.version();
  const major = Number.parseInt(version, 10);
  if (browser.browserType().name() === 'chromium' && major >= MIN_CHROMIUM) return { browser, version };
  await browser.close().catch(() => {});
  const found = `${browser.browserType().name()} ${version}`;
  throw new RemoteBrowserError(`it is ${found}: Chromium ${MIN_CHROMIUM} or newer is needed`);
}

/** Playwright's message contains the URL and a log. */
function connectFailure(error: unknown): string {
  const { message, code: systemCode } = error as NodeJS.ErrnoException;
  const server = /server version: v([\d.]+)/.exec(message)?.[1];
  if (server !== undefined) {
    const own = playwrightVersion();
    return `its Playwright server has version ${server}, but this server needs ${own.split('.', 2).join('.')} (playwright-core ${own})`;
  }
  const status = /(?:Unexpected status|Unexpected server response:) (\d{3})/.exec(message)?.[1];
  if (status === '401' || status === '403') return 'it refuses the token: check LECTERN_BROWSER_TOKEN';
  if (status !== undefined) return `it responds with status ${status}: is this the URL of a browser?`;
  if (/timeout|timed out|aborted/i.test(message)) return `it does not respond within ${CONNECT_MS / 1_000} s`;
  const code = /^E[A-Z]+$/.exec(systemCode ?? '')?.[0] ?? /\b(E[A-Z]{4,})\b/.exec(message)?.[1];
  return code === undefined ? 'it does not speak the expected protocol' : `it cannot be reached (${code})`;
}

const playwrightVersion = (): string =>
  (createRequire(import.meta.url)('playwright-core/package.json') as { readonly version: string }).version;
