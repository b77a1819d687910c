/** The server process: its startup message, its first key, its errors, and how it exits. */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { EXIT_CODES } from '#cli/exit-codes.ts';
import { pidsWith, startProcess } from '../support/process.ts';
import { shareBrowser } from '../support/share-browser.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-process-'));
  shareBrowser(dataDir);
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

// Enough to start servers on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/** A site that responds immediately until `hold` is called. Then it responds when `release` is called. */
async function openSite() {
  const events = new EventEmitter();
  let held = false;
  const server = http.createServer((_, response) => {
    const answer = () =>
      response.setHeader('content-type', 'text/html').end('<title>Slow</title><p>This page took its time to come.');
    events.emit('asked');
    if (held) events.once('release', answer);
    else answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    host: `127.0.0.1:${port}`,
    /** Resolves at the next request. */
    hold() {
      held = true;
      return once(events, 'asked');
    },
    release: () => events.emit('release'),
    close: () => server.close(),
  };
}

/** A child process that a killed server left running, with its folder. */
function leaveProgram() {
  const folder = path.join(dataDir, 'tmp/999999-1-left/programs/999999-left');
  mkdirSync(folder, { recursive: true });
  const program = spawn('sleep', ['600'], { detached: true, stdio: 'ignore', cwd: folder });
  const closed = once(program, 'close');
  writeFileSync(path.join(folder, 'job.json'), JSON.stringify({ server: 999_999, serverStart: '1', pid: program.pid }));
  return { folder, program, closed };
}

it('prints every face with a curl line, and the first key once, and ends programs of a killed server', async () => {
  const environment = { LECTERN_DATA_DIR: dataDir, LECTERN_BROWSER: 'none' };
  const left = process.platform === 'linux' ? leaveProgram() : undefined;
  onTestFinished(() => void left?.program.kill('SIGKILL'));
  const first = await startProcess({ ...environment, LECTERN_RAEDER_PORT: '1' });
  if (left) {
    expect(await left.closed).toEqual([null, 'SIGKILL']);
    expect(existsSync(left.folder)).toBe(false);
  }
  const greeting = first.lines.join('\n');
  for (const label of ['reader', 'search host', 'model host', 'flow gateway']) {
    const url = first.urlOf(label);
    expect(greeting).toContain(`curl ${label === 'search host' ? "'" : ''}${url}`);
    expect((await fetch(`${url}${label === 'flow gateway' ? '/' : '/live'}`)).status).toBe(200);
  }
  expect(greeting).toContain('no browser');
  expect(greeting).toContain(
    'LECTERN_RAEDER_PORT is not a known setting and has no effect: did you mean LECTERN_READER_PORT?',
  );
  const key = /API key, shown only this once: (lectern_\S+)/.exec(greeting)![1]!;
  const headers = { authorization: `Bearer ${key}` };
  expect(await (await fetch(first.urlOf('reader'), { headers })).text()).toContain('[Authenticated as]');
  expect(await first.stop()).toBe(0);

  const second = await startProcess(environment);
  expect(second.lines.join('\n')).not.toContain('API key');
  expect(await (await fetch(second.urlOf('reader'), { headers })).text()).toContain('[Authenticated as]');
  expect(await second.stop()).toBe(0);
});

it('finishes reads in flight on SIGTERM, accepts no more, and leaves no browser behind', async () => {
  const site = await openSite();
  const server = await startProcess({
    LECTERN_DATA_DIR: dataDir,
    LECTERN_ALLOW_NETWORKS: site.host,
    LECTERN_DRAIN_MS: '60000',
  });
  const reader = server.urlOf('reader');
  const rendered = await fetch(`${reader}/http://${site.host}/`, { headers: { 'x-engine': 'browser' } });
  expect(await rendered.text()).toContain('This page took its time to come.');
  const health = (await (await fetch(`${reader}/health`)).json()) as { browser: { version: string } };
  expect(health.browser.version).toMatch(/^\d+\./);
  expect(pidsWith(dataDir)).not.toEqual([]);

  const asked = site.hold();
  const reading = fetch(`${reader}/http://${site.host}/held`, { headers: { 'x-engine': 'direct' } });
  await asked;
  const stopping = server.stop();
  const answers = () => fetch(`${reader}/live`).then(Boolean, () => false);
  await expect.poll(answers, { timeout: 20_000 }).toBe(false);
  site.release();
  expect(await (await reading).text()).toContain('This page took its time to come.');
  expect(await stopping).toBe(0);
  await expect.poll(() => pidsWith(dataDir), { timeout: 20_000 }).toEqual([]);
  site.close();
});

it('reports each wrong setting in a line, and ends', async () => {
  const file = path.join(dataDir, 'settings.yaml');
  writeFileSync(file, 'readerPort: many\nnothing: 1\n');
  const server = await startProcess({ LECTERN_DATA_DIR: dataDir, LECTERN_CONFIG: file, LECTERN_READER_PORT: '' });
  expect(await server.stop()).toBe(EXIT_CODES.usage.code);
  expect(server.lines.join('\n')).toMatch(/readerPort in .*settings\.yaml, line 1: .*\n.*line 2: unknown setting/);
});

it('reports a port that is in use, and shows the first key at the next start', async () => {
  const site = await openSite();
  const environment = { LECTERN_DATA_DIR: path.join(dataDir, 'new'), LECTERN_BROWSER: 'none' };
  const refused = await startProcess({ ...environment, LECTERN_READER_PORT: site.host.split(':')[1]! });
  expect(await refused.stop()).toBe(EXIT_CODES.usage.code);
  expect(refused.lines.join('\n')).toMatch(/port \d+ is in use/);
  expect(refused.lines.join('\n')).not.toContain('API key');
  site.close();
  const server = await startProcess(environment);
  expect(await server.stop()).toBe(0);
  expect(server.lines.join('\n')).toMatch(/API key, shown only this once: lectern_\S+/);
});

it('rejects invalid networks', async () => {
  const server = await startProcess({
    LECTERN_DATA_DIR: dataDir,
    LECTERN_BROWSER: 'none',
    LECTERN_ALLOW_NETWORKS: '10.0.0.0/99',
  });
  expect(await server.stop()).toBe(1);
  expect(server.lines.join('\n')).toContain('10.0.0.0/99');
});

it('lists the settings with --help', async () => {
  const help = await startProcess({ LECTERN_DATA_DIR: dataDir }, '--help');
  expect(await help.stop()).toBe(0);
  expect(help.lines.join('\n')).toContain('--allow-networks');
});
