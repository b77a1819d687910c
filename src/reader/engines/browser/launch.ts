/** Starts one Chromium, confined to the egress proxy, and knows how to end it whatever state it is in. */
import type { Browser } from 'playwright-core';
import type { Egress } from '#net/egress.ts';
import type { FoundBrowser } from './find.ts';
import { confinementFlags, isolationFlags, limitFlags } from './flags.ts';
import { commandOf, killGroup, removeProfile, traceLaunch } from './orphans.ts';

/** The egress proxy as the browser needs to know it. */
export type EgressAddress = Pick<Egress, 'url' | 'username' | 'password' | 'route'>;

export interface LaunchConfig {
  readonly found: FoundBrowser;
  readonly egress: EgressAddress;
  readonly dataDir: string;
  readonly sandbox: boolean;
  readonly siteIsolation: boolean;
}

export interface Launched {
  readonly browser: Browser;
  /** The root process; it leads the group of all that it starts. */
  readonly pid: number;
  readonly version: string;
  /** Process numbers of renderers. */
  renderers(): Promise<number[]>;
  processes(): Promise<number[]>;
  /** Ends the browser: asks first, then kills the group; leaves no process and no profile. */
  end(): Promise<void>;
}

const LAUNCH_MS = 20_000;
const CLOSE_MS = 3_000;

export async function launchBrowser(config: LaunchConfig): Promise<Launched> {
  const { found, egress, dataDir, sandbox, siteIsolation } = config;
  const { chromium } = await import('playwright-core');
  const trace = traceLaunch(dataDir);
  let browser: Browser;
  try {
    browser = await chromium.launch({
      executablePath: found.path,
      artifactsDir: trace.folder,
      chromiumSandbox: sandbox,
      env: { ...process.env, ...found.env },
      proxy: { server: egress.url, username: egress.username, password: egress.password },
      args: [...confinementFlags(new URL(egress.url).hostname), ...limitFlags(), ...isolationFlags(siteIsolation)],
      timeout: LAUNCH_MS,
      // Signals are the server's to handle: it drains first.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  } catch (error) {
    trace.forget();
    throw error;
  }
  const session = await browser.newBrowserCDPSession();
  const listed = async () => (await session.send('SystemInfo.getProcessInfo')).processInfo;
  const pid = (await listed()).find(({ type }) => type === 'browser')!.id;
  const profile = /--user-data-dir=(\S+)/.exec(await commandOf(pid))?.[1];
  trace.remember(pid, profile);
  let ending: Promise<void> | undefined;
  const end = async () => {
    const closed = browser.close().catch(() => {});
    const timer = setTimeout(() => killGroup(pid), CLOSE_MS);
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSE_MS + 500).unref())]);
    clearTimeout(timer);
    killGroup(pid);
    removeProfile(profile);
    trace.forget();
  };
  return {
    browser,
    pid,
    version: browser.version(),
    processes: async () => (await listed()).map(({ id }) => id),
    renderers: async () => (await listed()).filter(({ type }) => type === 'renderer').map(({ id }) => id),
    end: () => (ending ??= end()),
  };
}
