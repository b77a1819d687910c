/** What a killed server and its programs leave in folders for temporary files: the next start takes it away. */
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
import { shareBrowser } from '../support/server.ts';

// Servers and programs start here, and the machine may be busy with others.
vi.setConfig({ testTimeout: 240_000 });

let dataDir: string;
/** Where the system's temporary files are for the server and all that it starts. */
let temporary: string;
let site: http.Server;
let body: Buffer | string;
let environment: Record<string, string>;

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-left-'));
  temporary = mkdtempSync('/tmp/left-');
  shareBrowser(dataDir);
  site = http.createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
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

/** Begins a read, without an end. */
function read(server: ServerProcess, engine: string): void {
  const { port } = site.address() as AddressInfo;
  fetch(`${server.urlOf('reader')}/http://127.0.0.1:${port}/`, { headers: { 'x-engine': engine } }).catch(() => {});
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

/** The process under the server whose command line holds a text, when there is one. */
async function started(server: ServerProcess, text: string): Promise<number> {
  let found: number | undefined;
  const look = () => {
    found = treeOf(server.child.pid!).find((pid) => commandOf(pid).includes(text));
    return found !== undefined;
  };
  await vi.waitUntil(look, { timeout: 120_000, interval: 20 });
  return found!;
}

/** Kills the server as it stands, starts another, and tells what that one leaves when it has ended well. */
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
  // What the killed one had started ends by itself, or was ended.
  await expect.poll(() => tree.filter((pid) => commandOf(pid) !== ''), { timeout: 60_000 }).toEqual([]);
}

describe.runIf(process.platform === 'linux')('nothing is left of a server that is killed', () => {
  it('while its browser starts, and while it reads', async () => {
    body = '<title>Slow</title><p>Before.</p><script>setTimeout(() => { for (;;); }, 200)</script>';
    const starting = await startProcess(environment);
    read(starting, 'browser');
    await started(starting, '--user-data-dir');
    await killAndStartAgain(starting);
    const reading = await startProcess(environment);
    read(reading, 'browser');
    await started(reading, '--type=renderer');
    const [own] = readdirSync(temporary);
    expect(readdirSync(path.join(temporary, own!)).join()).toMatch(/playwright_chromiumdev_profile|org\.chromium/);
    await killAndStartAgain(reading);
  });

  it('while it reads a PDF', async () => {
    body = hostilePdfs['a tree of 300,000 pages']!();
    const server = await startProcess({ ...environment, LECTERN_BROWSER: 'none' });
    read(server, 'direct');
    await started(server, 'process-host');
    await killAndStartAgain(server);
  });

  it.skipIf(!existsSync('/usr/bin/soffice'))('while LibreOffice converts a file', async () => {
    const rtf = path.join(dataDir, 'letter.rtf');
    writeFileSync(rtf, `{\\rtf1\\ansi ${'Dear Ann, the kiln is hot.\\par '.repeat(2_000)}}`);
    const profile = `-env:UserInstallation=${pathToFileURL(path.join(dataDir, 'profile'))}`;
    const made = ['--headless', profile, '--convert-to', 'doc:MS Word 97', '--outdir', dataDir, rtf];
    execFileSync('soffice', made, { stdio: 'ignore', timeout: 120_000 });
    body = readFileSync(path.join(dataDir, 'letter.doc'));
    const server = await startProcess({ ...environment, LECTERN_BROWSER: 'none' });
    read(server, 'direct');
    const office = await started(server, 'soffice.bin');
    const folder = /-env:UserInstallation=file:\/\/(\S+)\/profile/.exec(commandOf(office))![1]!;
    const pipe = officePipe(folder)!;
    await vi.waitUntil(() => existsSync(pipe), { timeout: 60_000, interval: 10 });
    // It would end by itself, and clean up; one that hangs does not.
    process.kill(office, 'SIGSTOP');
    expect(existsSync(pipe)).toBe(true);
    await killAndStartAgain(server);
    expect(existsSync(pipe)).toBe(false);
  });
});
