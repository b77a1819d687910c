/** Servers that read pages through `lectern browser-worker` processes, which crash and are replaced. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { pidsWith } from '../support/process.ts';
import { programFile } from '../support/program.ts';
import { shareBrowser, startServer, type TestServer } from '../support/server.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PROGRAM = await programFile();
const TOKEN = 'token-of-the-browser-workers';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

let site: Site;
beforeEach(async () => {
  site = await startSite();
});
afterEach(() => site.close());

interface Worker {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  readonly child: ChildProcess;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

async function startWorker({ port = 0 } = {}): Promise<Worker> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-browser-worker-'));
  shareBrowser(dataDir);
  const child = spawn(process.execPath, [PROGRAM, 'browser-worker'], {
    cwd: ROOT,
    env: {
      ...process.env,
      LECTERN_DATA_DIR: dataDir,
      LECTERN_BROWSER_TOKEN: TOKEN,
      LECTERN_BROWSER_WORKER_HOST: '127.0.0.1',
      LECTERN_BROWSER_WORKER_PORT: String(port),
      LECTERN_BROWSER_WORKER_PROXIES: '127.0.0.1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout!.on('data', (chunk) => {
      text += chunk;
      const found = /browser for servers (http:\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
    void ended.then(() => reject(new Error(`The worker ended: ${text}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
    return child.exitCode;
  };
  onTestFinished(async () => void (await stop()));
  return { url, port: Number(new URL(url).port), dataDir, child, stop };
}

async function startReader(workers: readonly Worker[], settings: Record<string, unknown> = {}): Promise<TestServer> {
  const server = await startServer({
    allowNetworks: site.allow,
    browserUrl: workers.map(({ url }) => url),
    browserToken: TOKEN,
    egressProxyHost: '127.0.0.1',
    egressProxyPort: 0,
    ...settings,
  });
  onTestFinished(() => server.close());
  await vi.waitFor(() => expect(server.app.browser().remote?.connected).toBe(workers.length), 60_000);
  return server;
}

/** Reads a page whose text is written by a script. Returns the status and the text. */
async function read({ reader }: TestServer, at = '/rendered') {
  const headers = { 'x-engine': 'browser', 'x-no-cache': 'true' };
  const response = await fetch(`${reader}/${site.origin}${at}`, { headers });
  return { status: response.status, text: await response.text() };
}

it('reads pages, reports its health, and requires its token', async () => {
  const worker = await startWorker();
  const server = await startReader([worker]);
  expect(await read(server)).toMatchObject({ status: 200, text: expect.stringContaining('first word') });

  const health = await (await fetch(`${worker.url}/health`)).json();
  expect(health).toMatchObject({ status: 'ok', connections: 1, opened: expect.any(Number) });
  for (const place of ['/metrics', '/json/version']) expect((await fetch(worker.url + place)).status).toBe(401);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const metrics = await (await fetch(`${worker.url}/metrics`, { headers })).text();
  expect(metrics).toMatch(/^lectern_browser_servers 1$/m);
  expect(metrics).toMatch(/^lectern_browser_pages_total [1-9]/m);
  expect(await (await fetch(`${server.reader}/health`)).json()).toMatchObject({
    browser: { available: true, healthy: true, remote: { configured: 1, connected: 1 } },
  });
});

it('cannot be reached by pages, even in an allowed network', async () => {
  const worker = await startWorker();
  const server = await startReader([worker], { allowNetworks: ['127.0.0.0/8'] });
  for (const engine of ['direct', 'browser']) {
    const response = await fetch(`${server.reader}/${worker.url}/live`, { headers: { 'x-engine': engine } });
    expect(response.status, engine).toBe(451);
  }
});

it('starts its browser again after a crash', async () => {
  const worker = await startWorker();
  const server = await startReader([worker]);
  expect((await read(server)).status).toBe(200);
  const [root] = pidsWith('--remote-debugging-port=0').filter((pid) => isChildOf(pid, worker.child.pid!));
  process.kill(root!, 'SIGKILL');
  await vi.waitFor(async () => expect(await read(server)).toMatchObject({ status: 200 }), {
    timeout: 60_000,
    interval: 250,
  });
  expect(server.app.browser().remote).toMatchObject({ connected: 1 });
});

it('drains on SIGTERM: no read fails while all workers are replaced', async () => {
  const workers = [await startWorker(), await startWorker()];
  const server = await startReader(workers);
  let going = true;
  const statuses: number[] = [];
  const readers = [1, 2, 3].map(async () => {
    while (going) statuses.push((await read(server)).status);
  });
  for (const worker of workers) {
    await vi.waitUntil(() => statuses.length > 5, 60_000);
    expect(await worker.stop()).toBe(0);
    await startWorker({ port: worker.port });
    await vi.waitFor(() => expect(server.app.browser().remote?.connected).toBe(2), 60_000);
    const done = statuses.length;
    await vi.waitUntil(() => statuses.length > done + 5, 60_000);
  }
  going = false;
  await Promise.all(readers);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});

it('is refused as a setting without an address for the egress proxy', async () => {
  await expect(startServer({ browserUrl: ['http://127.0.0.1:1'] })).rejects.toThrow(
    'LECTERN_BROWSER_URL: requires LECTERN_EGRESS_PROXY_HOST',
  );
});

/** Whether a process was started by another one. */
function isChildOf(pid: number, parent: number): boolean {
  try {
    return new RegExp(`^PPid:\\s${parent}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
