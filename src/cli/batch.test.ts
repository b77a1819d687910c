/** Files that `lectern batch get` leaves behind if it does not complete. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProgram, waitForExit } from '../../test/support/cli.ts';
import { quietContext } from '../../test/support/quiet-context.ts';
import { batchCommand } from './batch.ts';

const LONG_MS = 120_000;
const LINES = Array.from({ length: 2_000 }, (_, at) => `{"custom_id":"${at}","body":{"text":"${'x'.repeat(100)}"}}\n`);

let dir: string;
let server: http.Server;
let url: string;
/** Called when half of the output of `slow` has been written. */
let half: () => void;

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'batch-get-'));
  server = http.createServer((request, response) => {
    if (request.url === '/health') return response.end('{"status": "ok", "version": "0.1.0"}');
    const [, id] = /batch\/(\w+)\/output/.exec(request.url ?? '') ?? [];
    if (id === 'whole') return response.end(LINES.join(''));
    if (id !== 'slow') return response.writeHead(404).end('{}');
    response.write(LINES.slice(0, 1_000).join(''), () => half());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  url = `${address},models=${address}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});

const get = (id: string, file: string, signal = new AbortController().signal) =>
  batchCommand({ ...quietContext, environment: { LECTERN_URL: url, LECTERN_API_KEY: 'key' }, signal }).parseAsync(
    ['get', id, '-o', file],
    { from: 'user' },
  );

it('replaces an existing file with the complete output', async () => {
  const file = path.join(dir, 'whole.jsonl');
  await writeFile(file, 'before');
  await get('whole', file);
  expect(await readFile(file, 'utf8')).toBe(LINES.join(''));
  await expect(get('absent', file)).rejects.toThrow();
  expect(await readFile(file, 'utf8')).toBe(LINES.join(''));
  expect(await readdir(dir)).toEqual(['whole.jsonl']);
});

it('leaves an existing file unchanged when interrupted, and says so', async () => {
  const file = path.join(dir, 'whole.jsonl');
  await writeFile(file, 'before');
  const stop = new AbortController();
  half = () => stop.abort();
  await expect(get('slow', file, stop.signal)).rejects.toMatchObject({
    message: `stopped: ${file} is unchanged`,
  });
  expect(await readFile(file, 'utf8')).toBe('before');
  expect(await readdir(dir)).toEqual(['whole.jsonl']);
});

it.each([
  ['SIGINT', 130],
  ['SIGKILL', null],
] as const)('leaves no half of it to %s', { timeout: LONG_MS }, async (signal, code) => {
  const file = path.join(dir, `${signal}.jsonl`);
  const env = { LECTERN_URL: url, LECTERN_API_KEY: 'key' };
  const sent = new Promise<void>((resolve) => {
    half = resolve;
  });
  const child = startProgram(['batch', 'get', 'slow', '-o', file], { env });
  const end = waitForExit(child);
  await sent;
  const parts = async () => (await readdir(dir)).filter((name) => name.startsWith(`${signal}.jsonl`));
  while (!(await parts()).length) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill(signal);
  expect((await end).code).toBe(code);
  expect(await readdir(dir)).not.toContain(`${signal}.jsonl`);
  if (signal === 'SIGINT') expect(await parts()).toEqual([]);
});
