/** The process as a whole: its greeting, its key, its faults, and how it ends. */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { EXIT_CODES } from '#cli/exit-codes.ts';
import { pidsWith, startProcess } from '../support/process.ts';
import { shareBrowser } from '../support/server.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-process-'));
  shareBrowser(dataDir);
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

// Servers start here, and the machine may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

/** A site whose page comes when the test lets it come; at once unless it is to be held. */
async function openSite({ held = false } = {}) {
  const events = new EventEmitter();
  const asked = once(events, 'asked');
  const server = http.createServer((_, response) => {
    const answer = () =>
      response.setHeader('content-type', 'text/html').end('<title>Slow</title><p>This page took its time to come.');
    events.emit('asked');
    if (held) events.once('let', answer);
    else answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { host: `127.0.0.1:${port}`, asked, let: () => events.emit('let'), close: () => server.close() };
}

it('greets with every face, a curl line for each, and one key, once', async () => {
  const environment = { LECTERN_DATA_DIR: dataDir, LECTERN_BROWSER: 'none' };
  const first = await startProcess({ ...environment, LECTERN_RAEDER_PORT: '1' });
  const greeting = first.lines.join('\n');
  for (const label of ['reader', 'search host', 'model host', 'flow gateway']) {
    const url = first.urlOf(label);
    expect(greeting).toContain(`curl ${label === 'search host' ? "'" : ''}${url}`);
    expect((await fetch(`${url}${label === 'flow gateway' ? '/' : '/live'}`)).status).toBe(200);
  }
  expect(greeting).toContain('no browser');
  expect(greeting).toContain('LECTERN_RAEDER_PORT is not a known setting');
  const key = /API key, shown only this once: (lectern_\S+)/.exec(greeting)![1]!;
  const headers = { authorization: `Bearer ${key}` };
  expect(await (await fetch(first.urlOf('reader'), { headers })).text()).toContain('[Authenticated as]');
  expect(await first.stop()).toBe(0);

  const second = await startProcess(environment);
  expect(second.lines.join('\n')).not.toContain('API key');
  expect(await (await fetch(second.urlOf('reader'), { headers })).text()).toContain('[Authenticated as]');
  expect(await second.stop()).toBe(0);
});

it('finishes reads in flight when it is told to end, and takes no more', async () => {
  const site = await openSite({ held: true });
  const server = await startProcess({
    LECTERN_DATA_DIR: dataDir,
    LECTERN_BROWSER: 'none',
    LECTERN_ALLOW_NETWORKS: site.host,
  });
  const reader = server.urlOf('reader');
  const reading = fetch(`${reader}/http://${site.host}/`);
  await site.asked;
  const stopping = server.stop();
  const answers = () => fetch(`${reader}/live`).then(Boolean, () => false);
  await expect.poll(answers, { timeout: 20_000 }).toBe(false);
  site.let();
  expect(await (await reading).text()).toContain('This page took its time to come.');
  expect(await stopping).toBe(0);
  site.close();
});

it('leaves no browser behind', async () => {
  const site = await openSite();
  const server = await startProcess({ LECTERN_DATA_DIR: dataDir, LECTERN_ALLOW_NETWORKS: site.host });
  const answer = await fetch(`${server.urlOf('reader')}/http://${site.host}/`, { headers: { 'x-engine': 'browser' } });
  expect(await answer.text()).toContain('This page took its time to come.');
  const health = (await (await fetch(`${server.urlOf('reader')}/health`)).json()) as { browser: { version: string } };
  expect(health.browser.version).toMatch(/^\d+\./);
  expect(pidsWith(dataDir)).not.toEqual([]);
  expect(await server.stop()).toBe(0);
  expect(pidsWith(dataDir)).toEqual([]);
  site.close();
});

it.runIf(process.platform === 'linux')('ends the programs that a killed server has left', async () => {
  const folder = path.join(dataDir, 'tmp/999999-1-left/programs/999999-left');
  mkdirSync(folder, { recursive: true });
  const program = spawn('sleep', ['600'], { detached: true, stdio: 'ignore', cwd: folder });
  const gone = once(program, 'close');
  writeFileSync(path.join(folder, 'job.json'), JSON.stringify({ server: 999_999, serverStart: '1', pid: program.pid }));
  const server = await startProcess({ LECTERN_DATA_DIR: dataDir, LECTERN_BROWSER: 'none' });
  expect(await gone).toEqual([null, 'SIGKILL']);
  expect(existsSync(folder)).toBe(false);
  expect(await server.stop()).toBe(0);
});

it('says what is wrong with its settings, one line each, and ends', async () => {
  const file = path.join(dataDir, 'settings.yaml');
  writeFileSync(file, 'readerPort: many\nnothing: 1\n');
  const server = await startProcess({ LECTERN_DATA_DIR: dataDir, LECTERN_CONFIG: file, LECTERN_READER_PORT: '' });
  expect(await server.stop()).toBe(EXIT_CODES.usage.code);
  expect(server.lines.join('\n')).toMatch(/readerPort in .*settings\.yaml, line 1: .*\n.*line 2: unknown setting/);
});

it('says when a port is taken, and how to take another', async () => {
  const site = await openSite();
  const server = await startProcess({
    LECTERN_DATA_DIR: dataDir,
    LECTERN_BROWSER: 'none',
    LECTERN_READER_PORT: site.host.split(':')[1]!,
  });
  expect(await server.stop()).toBe(EXIT_CODES.usage.code);
  expect(server.lines.join('\n')).toMatch(/port \d+ is in use/);
  site.close();
});

it('refuses networks that it cannot understand', async () => {
  const server = await startProcess({
    LECTERN_DATA_DIR: dataDir,
    LECTERN_BROWSER: 'none',
    LECTERN_ALLOW_NETWORKS: '10.0.0.0/99',
  });
  expect(await server.stop()).toBe(1);
  expect(server.lines.join('\n')).toContain('10.0.0.0/99');
});

it('lists every setting by --help', async () => {
  const help = await startProcess({ LECTERN_DATA_DIR: dataDir }, '--help');
  expect(await help.stop()).toBe(0);
  expect(help.lines.join('\n')).toContain('--allow-networks');
});
