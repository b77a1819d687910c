/** What commands say about mistakes: one sentence that names the file, the server or the setting. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../test/support/run-here.ts';
import { parseSource } from './sources.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'messages-'));
  await writeFile(path.join(dir, 'page.html'), '<h1>Tea</h1>');
});
afterAll(() => rm(dir, { recursive: true }));

const run = (args: readonly string[], more = {}) =>
  runHere(args, { env: { LECTERN_DATA_DIR: path.join(dir, 'data'), LECTERN_BROWSER: 'none', ...more } });

it.each([
  ['read', 'nofile.pdf'],
  ['read', 'folder/nofile.docx'],
  ['ocr', 'nothere.png'],
  ['read', 'notes.md'],
])('a file that does not exist: %s %s', async (command, name) => {
  const error = `lectern: no such file: ${name}. If it is a web page, write https://${name}\n`;
  expect(await run([command, name])).toEqual({ out: '', error, code: 2 });
});

it('a server that does not run: the same sentence for each command', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const refused = 'the connection was refused; is the server running?';
  const read = await run(['read', 'https://example.com', '--server', `http://127.0.0.1:${port}`]);
  expect([read.code, read.error]).toEqual([5, `lectern: no response from http://127.0.0.1:${port}/: ${refused}\n`]);
  for (const scheme of ['http', 'grpc']) {
    const ping = await run(['ping', 'flow', `${scheme}://127.0.0.1:${port}`, '--timeout', '25000']);
    expect([ping.code, ping.error]).toEqual([1, expect.stringContaining(`127.0.0.1:${port}: ${refused}\n`)]);
  }
  const top = await run(['top', '--once', '--metrics', `http://127.0.0.1:${port}`]);
  expect([top.code, top.error]).toEqual([1, expect.stringContaining(`/metrics: ${refused}\n`)]);
});

it.each([
  'example.com',
  'example.com/nofile.pdf',
  'localhost/a.pdf',
  'wiki:8080/a.pdf',
  'wiki',
  'example.com/a.md?x#y',
])('still a URL: %s', (name) => {
  expect(parseSource(name)).toEqual({ kind: 'url', name });
});

it.each([200, 404])('a server that is not Lectern and answers with %i', async (status) => {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const error = `lectern: ${url} is not a Lectern server: give the URL of its reader, such as http://localhost:3000\n`;
  for (const args of [
    ['read', 'https://example.com'],
    ['search', 'tea'],
    ['embed', 'tea'],
    ['models', 'served'],
  ])
    expect(await run([...args, '--server', url]), args[0]).toEqual({ out: '', error, code: 2 });
});

it('a folder that cannot be created', async () => {
  const file = path.join(dir, 'page.html');
  const data = await run(['read', file], { LECTERN_DATA_DIR: path.join(file, 'data') });
  expect(data.error).toBe(
    `lectern: cannot create the folder ${file}/data: a part of the path is a file, not a folder\n`,
  );
  const output = await run(['read', file, '-o', path.join(file, 'page.md')]);
  expect(output.error).toBe(`lectern: cannot create the folder ${file}: there is a file with this name\n`);
});

it('a file of a batch or a folder of MCP that does not exist', async () => {
  const batch = await run(['batch', 'submit', 'none.jsonl', '--model', 'lectern-static-v2']);
  expect(batch).toEqual({ out: '', error: 'lectern: no such file: none.jsonl\n', code: 2 });
  const { error, code } = await run(['mcp', '--allow-dir', 'none']);
  expect([error, code]).toEqual(['lectern: --allow-dir: cannot use none: there is no such file or folder\n', 2]);
});
