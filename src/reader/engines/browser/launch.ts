/** Launches a Chromium that is confined to the egress proxy, and can end it whatever its state. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { childEnvironment } from '#concurrency/environment.ts';
import type { EgressProxy, RemoteEgress } from '#net/proxy/egress-proxy.ts';
import type { FoundBrowser } from './find.ts';
import { confinementFlags, isolationFlags, languageFlags, limitFlags } from './flags.ts';
import { createHomeFolder } from './home-folder.ts';
import { capturePipes, type DroppedMessage, limitMessages } from './messages.ts';
import { commandOf, killProcessGroup, recordLaunch, removeProfile } from './orphans.ts';

/** The egress proxy as the browser that this server launches needs it. */
export type LocalEgress = Pick<EgressProxy, 'url' | 'username' | 'password' | 'route' | 'meter'>;
/** The egress proxy as a read needs it. With `grant`, each read has credentials of its own. */
export type EgressAddress = Pick<EgressProxy, 'url' | 'route' | 'meter'> &
  (Pick<EgressProxy, 'password'> | Pick<RemoteEgress, 'grant'>);

export interface LaunchConfig {
  readonly found: FoundBrowser;
  readonly egress: LocalEgress;
  readonly dataDir: string;
  readonly sandbox: boolean;
  readonly siteIsolation: boolean;
  /** For `lectern browser-worker`: opens a DevTools port on loopback, and which other proxies may be used. */
  readonly forServers?: ForServers | undefined;
  /** Called for each browser message that exceeded the size limit. */
  readonly onDropped?: ((dropped: DroppedMessage) => void) | undefined;
}

export interface ForServers {
  /** Hosts of the servers' egress proxies, or patterns; `undefined` if they are not known. */
  readonly proxyHosts: readonly string[] | undefined;
}

export interface Launched {
  readonly browser: Browser;
  /** The proxy that it uses. */
  readonly egress: LocalEgress;
  /** PID of the main process, which leads the process group. */
  readonly pid: number;
  readonly version: string;
  /** WebSocket URL of the DevTools port; `undefined` unless `forServers`. */
  readonly devtoolsUrl: string | undefined;
  processes(): Promise<number[]>;
  /** Closes the browser, then kills its process group. Leaves neither a process nor a profile. */
  end(): Promise<void>;
}

/** Path of the sandbox helper, on systems without user namespaces. */
const SANDBOX_VARIABLE = 'CHROME_DEVEL_SANDBOX';
const LAUNCH_MS = 20_000;
const CLOSE_MS = 3_000;

export async function launchBrowser(config: LaunchConfig): Promise<Launched> {
  const { found, egress, dataDir, sandbox, siteIsolation, forServers, onDropped = () => {} } = config;
  const { chromium } = await import('playwright-core');
  const trace = recordLaunch(dataDir);
  const launch = () =>
    chromium.launch({
      executablePath: found.path,
      artifactsDir: trace.folder,
      chromiumSandbox: sandbox,
      env: childEnvironment({
        home: createHomeFolder(trace.folder),
        inherits: [SANDBOX_VARIABLE],
        more: found.env ?? {},
      }),
      proxy: { server: egress.url, username: egress.username, password: egress.password },
      args: [
        ...confinementFlags(proxyHostsOf(config)),
        ...(forServers ? ['--remote-debugging-port=0'] : []),
        ...languageFlags(),
        ...limitFlags(),
        ...isolationFlags(siteIsolation),
      ],
      timeout: LAUNCH_MS,
      // The server handles signals, because it drains requests first.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  const { result: browser, pipesOf } = await capturePipes(launch).catch((error: unknown) => {
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
  limitMessages(pipes.messages, pipes.commands, onDropped);
  let ending: Promise<void> | undefined;
  const end = async () => {
    const closed = browser.close().catch(() => {});
    const timer = setTimeout(() => killProcessGroup(pid), CLOSE_MS);
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSE_MS + 500).unref())]);
    clearTimeout(timer);
    killProcessGroup(pid);
    removeProfile(profile);
    trace.forget();
  };
  return {
    browser,
    egress,
    pid,
    version: browser.version(),
    devtoolsUrl: forServers && profile ? await devtoolsUrlOf(profile) : undefined,
    processes: async () => (await listed()).map(({ id }) => id),
    end: () => (ending ??= end()),
  };
}

/** The browser's own proxy, and those of servers. */
function proxyHostsOf({ egress, forServers }: LaunchConfig): readonly string[] | undefined {
  const own = new URL(egress.url).hostname;
  if (!forServers) return [own];
  return forServers.proxyHosts && [own, ...forServers.proxyHosts];
}

/** Chromium writes the port and the path into a file of its profile once the port is open. */
async function devtoolsUrlOf(profile: string): Promise<string> {
  const file = path.join(profile, 'DevToolsActivePort');
  const deadline = performance.now() + LAUNCH_MS;
  for (;;) {
    const [port, place] = await readFile(file, 'utf8').then(
      (text) => text.trim().split('\n'),
      () => [],
    );
    if (port && place) return `ws://127.0.0.1:${port}${place}`;
    if (performance.now() > deadline) throw new Error('The browser opens no DevTools port');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
