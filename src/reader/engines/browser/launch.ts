/** Starts one Chromium, confined to the egress proxy, and knows how to end it whatever state it is in. */
import type { Browser } from 'playwright-core';
import { childEnvironment } from '#concurrency/environment.ts';
import type { EgressProxy } from '#net/proxy/egress-proxy.ts';
import type { FoundBrowser } from './find.ts';
import { confinementFlags, isolationFlags, languageFlags, limitFlags } from './flags.ts';
import { makeHome } from './home.ts';
import { boundMessages, catchPipes, type Dropped } from './messages.ts';
import { commandOf, killGroup, removeProfile, traceLaunch } from './orphans.ts';

/** The egress proxy as the browser needs to know it. */
export type EgressAddress = Pick<EgressProxy, 'url' | 'username' | 'password' | 'route' | 'meter'>;

export interface LaunchConfig {
  readonly found: FoundBrowser;
  readonly egress: EgressAddress;
  readonly dataDir: string;
  readonly sandbox: boolean;
  readonly siteIsolation: boolean;
  /** Told of messages of the browser that were too long to be taken. */
  readonly onDropped?: ((dropped: Dropped) => void) | undefined;
}

export interface Launched {
  readonly browser: Browser;
  /** The root process; it leads the group of all that it starts. */
  readonly pid: number;
  readonly version: string;
  processes(): Promise<number[]>;
  /** Ends the browser: asks first, then kills the group; leaves no process and no profile. */
  end(): Promise<void>;
}

/** Where the helper of its sandbox is, on systems that have one instead of user namespaces. */
const SANDBOX_VARIABLE = 'CHROME_DEVEL_SANDBOX';
const LAUNCH_MS = 20_000;
const CLOSE_MS = 3_000;

export async function launchBrowser(config: LaunchConfig): Promise<Launched> {
  const { found, egress, dataDir, sandbox, siteIsolation, onDropped = () => {} } = config;
  const { chromium } = await import('playwright-core');
  const trace = traceLaunch(dataDir);
  const launch = () =>
    chromium.launch({
      executablePath: found.path,
      artifactsDir: trace.folder,
      chromiumSandbox: sandbox,
      env: childEnvironment({ home: makeHome(trace.folder), inherits: [SANDBOX_VARIABLE], more: found.env ?? {} }),
      proxy: { server: egress.url, username: egress.username, password: egress.password },
      args: [
        ...confinementFlags(new URL(egress.url).hostname),
        ...languageFlags(),
        ...limitFlags(),
        ...isolationFlags(siteIsolation),
      ],
      timeout: LAUNCH_MS,
      // Signals are the server's to handle: it drains first.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  const { result: browser, pipesOf } = await catchPipes(launch).catch((error: unknown) => {
    trace.forget();
    throw error;
  });
  const session = await browser.newBrowserCDPSession();
  const listed = async () => (await session.send('SystemInfo.getProcessInfo')).processInfo;
  const pid = (await listed()).find(({ type }) => type === 'browser')!.id;
  const profile = /--user-data-dir=(\S+)/.exec(await commandOf(pid))?.[1];
  trace.remember(pid, profile);
  const pipes = pipesOf(pid);
  if (!pipes) {
    await browser.close();
    throw new Error('The pipes of the browser were not found');
  }
  boundMessages(pipes.messages, pipes.commands, onDropped);
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
    end: () => (ending ??= end()),
  };
}
