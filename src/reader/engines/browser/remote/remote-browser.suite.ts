/** Starts browsers as an operator would on another machine, and a bench that reads through them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Bench, type BenchSetting, foundBrowser, startBench } from '../browser.suite.ts';
import { confinementFlags } from '../flags.ts';
import { parseRemoteAddress } from './address.ts';
import { createRemotePool, type RemotePoolConfig } from './remote-pool.ts';

export interface StartedBrowser {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  close(): Promise<void>;
}

/** Chromium with an open DevTools port. */
export async function startChromium({
  port = 0,
  flags = confinementFlags(['127.0.0.1']),
} = {}): Promise<StartedBrowser> {
  const found = foundBrowser();
  const profile = await mkdtemp(path.join(os.tmpdir(), 'lectern-remote-'));
  const args = ['--headless', '--no-sandbox', `--remote-debugging-port=${port}`, `--user-data-dir=${profile}`];
  const child = spawn(found.path, [...args, '--no-first-run', ...flags, 'about:blank'], {
    env: { ...process.env, ...found.env },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const opened = await new Promise<number>((resolve, reject) => {
    let text = '';
    child.stderr!.on('data', (chunk) => {
      text += chunk;
      const found = /DevTools listening on ws:\/\/[^:]+:(\d+)\//.exec(text)?.[1];
      if (found) resolve(Number(found));
    });
    child.once('exit', () => reject(new Error(`Chromium did not start: ${text}`)));
  });
  return {
    url: `http://127.0.0.1:${opened}`,
    port: opened,
    process: child,
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        process.kill(-child.pid!, 'SIGKILL');
        await exited;
      }
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export interface RemoteSetting extends BenchSetting {
  readonly pool?: Partial<RemotePoolConfig>;
}

/** A bench whose pages are opened in the browsers at these URLs. */
export const startRemoteBench = (urls: readonly string[], { pool, ...setting }: RemoteSetting = {}): Promise<Bench> =>
  startBench({
    remote: { host: '127.0.0.1', port: 0 },
    openPool: ({ route, meter, remote }) =>
      createRemotePool({
        addresses: urls.map(parseRemoteAddress),
        token: undefined,
        egress: { route, meter, ...remote! },
        maxPages: 4,
        maxWaiting: 20,
        ...pool,
      }),
    ...setting,
  });
