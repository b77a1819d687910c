/** `lectern mcp` as clients start it: a separate process, used by the official client over its standard streams. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Site, startSite, type Visited } from '../site/site.ts';
import { programFile } from '../support/program.ts';
import { shareBrowser, startServer, type TestServer } from '../support/server.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PROGRAM = [await programFile(), 'mcp'];
/** Enough to start a program on a busy machine. */
const START_MS = 120_000;

let site: Site;
let dir: string;
const open = new Set<Visited>();

beforeAll(async () => {
  site = await startSite({
    '/tea': `<title>Tea</title><main><h1>Tea</h1><p>${'Green tea is drunk hot. '.repeat(20)}</p></main>`,
    '/menu': '<title>Menu</title><main><h1>Menu</h1><p><a href="/tea">Tea</a></p></main>',
    '/never': (visited) => {
      open.add(visited);
      visited.response.once('close', () => open.delete(visited));
    },
  });
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-mcp-'));
  await mkdir(path.join(dir, 'papers'));
  await writeFile(path.join(dir, 'papers/notes.md'), '# Notes\n\nBuy some tea.\n');
  await writeFile(path.join(dir, 'secret.md'), '# Secret\n');
  await symlink(path.join(dir, 'secret.md'), path.join(dir, 'papers/link.md'));
  shareBrowser(path.join(dir, 'data'));
});
afterAll(async () => {
  await site.close();
  await rm(dir, { recursive: true, force: true });
});

const environment = (more: Record<string, string> = {}): Record<string, string> => {
  const given = Object.entries(process.env).filter(([name]) => !/^(?:LECTERN_|NODE_OPTIONS|VITEST)/.test(name));
  return {
    ...(Object.fromEntries(given) as Record<string, string>),
    LECTERN_DATA_DIR: path.join(dir, 'data'),
    LECTERN_ALLOW_NETWORKS: site.allow.join(','),
    ...more,
  };
};

async function connect(args: string[] = [], more: Record<string, string> = {}, mode: 'auto' | 'legacy' = 'auto') {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...PROGRAM, ...args],
    cwd: ROOT,
    env: environment(more),
    stderr: 'pipe',
  });
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode, probe: { timeoutMs: START_MS } } },
  );
  await client.connect(transport, { timeout: START_MS });
  onTestFinished(() => client.close());
  return { client, pid: transport.pid! };
}

async function call(client: Client, name: string, args: object, options = {}) {
  const answer = await client.callTool({ name, arguments: { ...args } }, { timeout: START_MS, ...options });
  const content = answer.content as { text?: string }[];
  return { isError: answer.isError ?? false, text: content.map(({ text = '' }) => text).join('\n') };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('without a server', () => {
  it.each(['auto', 'legacy'] as const)(
    'reads, aborts cancelled calls, and ends with its client (%s)',
    async (mode) => {
      const { client, pid } = await connect([], {}, mode);
      expect((await client.listTools()).tools.length).toBeGreaterThan(5);
      const { isError, text } = await call(client, 'read_url', { url: `${site.origin}/tea` });
      expect([isError, text]).toEqual([false, expect.stringContaining('Green tea')]);
      const { resources } = await client.listResources();
      expect(resources.map(({ name }) => name)).toContain(`${site.origin}/tea`);
      // Without an allowed folder, no file can be read by path.
      const file = await call(client, 'read_document', { path: path.join(dir, 'papers/notes.md') });
      expect([file.isError, file.text]).toEqual([true, expect.stringContaining('"path"')]);

      const giveUp = new AbortController();
      const args = { url: `${site.origin}/never`, engine: 'direct', timeout: 170 };
      const given = expect(call(client, 'read_url', args, { signal: giveUp.signal })).rejects.toThrow();
      await vi.waitFor(() => expect(open.size).toBe(1), { timeout: 20_000 });
      giveUp.abort();
      await given;
      await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 20_000 });

      const left = call(client, 'read_url', args).catch(() => {});
      await vi.waitFor(() => expect(open.size).toBe(1), { timeout: 20_000 });
      await client.close();
      await left;
      await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 20_000 });
      await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 20_000 });
    },
    START_MS,
  );

  it(
    'crawls a site',
    async () => {
      const { client } = await connect();
      const { isError, text } = await call(client, 'crawl_site', { url: `${site.origin}/menu`, scope: 'host' });
      expect([isError, text]).toEqual([false, expect.stringContaining('2 pages read, 0 failed')]);
      expect(text).toContain('Green tea');
    },
    START_MS,
  );

  it(
    'reads files only within the allowed folders',
    async () => {
      const { client } = await connect(['--allow-dir', path.join(dir, 'papers')]);
      const { tools } = await client.listTools();
      const { inputSchema } = tools.find(({ name }) => name === 'read_document')!;
      expect(JSON.stringify(inputSchema.properties!.path)).toContain('papers');
      const read = (file: string) => call(client, 'read_document', { path: file });
      for (const file of ['notes.md', path.join(dir, 'papers/notes.md'), './x/../notes.md']) {
        expect(await read(file)).toEqual({ isError: false, text: expect.stringContaining('Buy some tea.') });
      }
      for (const file of [
        '../secret.md',
        'link.md',
        path.join(dir, 'secret.md'),
        '/etc/passwd',
        '.',
        'nothing.md',
        'a\0b',
      ]) {
        expect(await read(file)).toEqual({
          isError: true,
          text: expect.stringMatching(/^path: .* is not a file within/),
        });
      }
    },
    START_MS,
  );

  it(
    'writes only the protocol, also with --verbose, and ends when its client is killed',
    async () => {
      const child = spawn(process.execPath, [...PROGRAM, '--verbose'], { cwd: ROOT, env: environment() });
      onTestFinished(() => void child.kill('SIGKILL'));
      const said = linesOf(child);
      const send = (message: object) => child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const clientInfo = { name: 'test', version: '1' };
      send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
      send({ method: 'notifications/initialized' });
      child.stdin!.write('this is no message\n');
      const args = { url: `${site.origin}/tea` };
      send({ id: 2, method: 'tools/call', params: { name: 'read_url', arguments: args } });
      await vi.waitFor(() => expect(said.length).toBeGreaterThanOrEqual(2), { timeout: START_MS });
      for (const line of said) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
      const never = { url: `${site.origin}/never`, engine: 'direct', timeout: 170 };
      send({ id: 3, method: 'tools/call', params: { name: 'read_url', arguments: never } });
      await vi.waitFor(() => expect(open.size).toBe(1), { timeout: 20_000 });
      const ended = once(child, 'exit');
      // Simulates a kill of the process at the other end: both pipes break at once.
      child.stdout!.destroy();
      child.stdin!.destroy();
      await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 20_000 });
      await ended;
    },
    START_MS,
  );
});

describe('for a server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ browser: 'none', allowNetworks: site.allow.join(',') });
  });
  afterAll(() => server.close());

  it(
    'sends it the key',
    async () => {
      const { reader, search, model } = server.urls;
      expect([reader, search, model].every(Boolean)).toBe(true);
      const { client } = await connect([], { LECTERN_URL: reader!, LECTERN_API_KEY: server.app.firstKey! });
      const before = site.hits('/tea');
      expect(await call(client, 'read_url', { url: `${site.origin}/tea`, noCache: true })).toMatchObject({
        isError: false,
      });
      expect(site.hits('/tea')).toBe(before + 1);
    },
    START_MS,
  );

  it(
    'reports a wrong key and an unreachable server',
    async () => {
      const wrong = await connect(['--server', server.reader, '--key', 'lectern_wrong']);
      const refused = await call(wrong.client, 'read_url', { url: `${site.origin}/tea` });
      expect(refused).toEqual({ isError: true, text: expect.stringMatching(/is unknown.*LECTERN_API_KEY/) });
      const away = await connect(['--server', 'http://127.0.0.1:9']);
      const nobody = await call(away.client, 'read_url', { url: `${site.origin}/tea` });
      expect(nobody).toEqual({ isError: true, text: expect.stringMatching(/127\.0\.0\.1:9.*must start it/) });
    },
    START_MS,
  );
});

function linesOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  let rest = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
  });
  return lines;
}
