/** When a server is killed, the next start removes the temporary files of that server and of its child processes. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { officePipe } from '#concurrency/office-pipe.ts';
import { hostilePdfs } from '../support/hostile-files.ts';
import { treeOf } from '../support/memory.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { shareBrowser } from '../support/share-browser.ts';

// Enough to start servers and programs on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

let dataDir: string;
/** Folder for temporary files of the server and the programs that it starts. */
let temporary: string;
let site: http.Server;
/** Response bodies, keyed by path. */
let bodies: Record<string, Buffer | string>;
let environment: Record<string, string>;

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-left-'));
  temporary = mkdtempSync('/tmp/left-');
  shareBrowser(dataDir);
  site = http.createServer((request, response) => response.end(bodies[request.url!])).listen(0, '127.0.0.1');
  await once(site, 'listening');
  environment = {
    LECTERN_DATA_DIR: dataDir,
    LECTERN_AUTH: 'off',
    LECTERN_ALLOW_NETWORKS: `127.0.0.1:${(site.address() as AddressInfo).port}`,
    TMPDIR: temporary,
  };
});
afterEach(() => {
  site.close();
  rmSync(dataDir, { recursive: true, force: true });
  rmSync(temporary, { recursive: true, force: true });
});

/** Starts a read that does not complete. */
function read(server: ServerProcess, page: string, engine: string): void {
  const { port } = site.address() as AddressInfo;
  fetch(`${server.urlOf('reader')}/http://127.0.0.1:${port}${page}`, { headers: { 'x-engine': engine } }).catch(
    () => {},
  );
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

/** Waits for a descendant process of the server whose command line contains a text. */
async function started(server: ServerProcess, text: string): Promise<number> {
  let found: number | undefined;
  const look = () => {
    found = treeOf(server.child.pid!).find((pid) => commandOf(pid).includes(text));
    return found !== undefined;
  };
  await vi.waitUntil(look, { timeout: 120_000, interval: 20 });
  return found!;
}

/** Kills the server and starts another one. Expects that no files are left once the second one has exited. */
async function killAndStartAgain(server: ServerProcess): Promise<void> {
  const tree = treeOf(server.child.pid!);
  const ended = once(server.child, 'exit');
  server.child.kill('SIGKILL');
  await ended;
  expect(readdirSync(temporary)).not.toEqual([]);
  const next = await startProcess(environment);
  expect(readdirSync(temporary)).toHaveLength(1);
  expect(readdirSync(path.join(dataDir, 'tmp'))).toHaveLength(1);
  expect(await next.stop()).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(path.join(dataDir, 'tmp'))).toEqual([]);
  // The child processes of the killed server have exited or were killed.
  await expect.poll(() => tree.filter((pid) => commandOf(pid) !== ''), { timeout: 60_000 }).toEqual([]);
}

const SLOW = '<title>Slow</title><p>Before.</p><script>setTimeout(() => { for (;;); }, 200)</script>';
const hasOffice = existsSync('/usr/bin/soffice');

/** A file that LibreOffice needs a while to convert. */
function makeLetter(): Buffer {
  const rtf = path.join(dataDir, 'letter.rtf');
  writeFileSync(rtf, `{\\rtf1\\ansi ${'Dear Ann, the kiln is hot.\\par '.repeat(2_000)}}`);
  const profile = `-env:UserInstallation=${pathToFileURL(path.join(dataDir, 'profile'))}`;
  const made = ['--headless', profile, '--convert-to', 'doc:MS Word 97', '--outdir', dataDir, rtf];
  execFileSync('soffice', made, { stdio: 'ignore', timeout: 120_000 });
  return readFileSync(path.join(dataDir, 'letter.doc'));
}

/**
 * Suspends LibreOffice during the conversion, because it would clean up if it exited by itself. Returns the path of its
 * socket.
 */
async function stopOffice(server: ServerProcess): Promise<string> {
  const office = await started(server, 'soffice.bin');
  const folder = /-env:UserInstallation=file:\/\/(\S+)\/profile/.exec(commandOf(office))![1]!;
  const pipe = officePipe(folder)!;
  await vi.waitUntil(() => existsSync(pipe), { timeout: 60_000, interval: 10 });
  process.kill(office, 'SIGSTOP');
  expect(existsSync(pipe)).toBe(true);
  return pipe;
}

describe.runIf(process.platform === 'linux')('nothing is left of a server that is killed', () => {
  it('while its browser starts', async () => {
    bodies = { '/slow': SLOW };
    const server = await startProcess(environment);
    read(server, '/slow', 'browser');
    await started(server, '--user-data-dir');
    await killAndStartAgain(server);
  });

  it('while a browser, a PDF reader and LibreOffice work', async () => {
    bodies = {
      '/slow': SLOW,
      '/pdf': hostilePdfs['a tree of 300,000 pages']!(),
      ...(hasOffice && { '/letter': makeLetter() }),
    };
    const server = await startProcess(environment);
    for (const page of Object.keys(bodies)) read(server, page, page === '/slow' ? 'browser' : 'direct');
    const pipe = hasOffice ? await stopOffice(server) : undefined;
    await started(server, '--type=renderer');
    await started(server, 'process-host');
    const folders = readdirSync(temporary).flatMap((own) => readdirSync(path.join(temporary, own)));
    expect(folders.join()).toMatch(/playwright_chromiumdev_profile|org\.chromium/);
    await killAndStartAgain(server);
    if (pipe) expect(existsSync(pipe)).toBe(false);
  });
});
