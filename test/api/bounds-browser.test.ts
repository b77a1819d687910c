/** Endless pages, read by the browser of a real server. The test measures the memory of the server's process tree. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { endlessPages } from '../site/pages/endless.ts';
import { type Site, startSite } from '../site/site.ts';
import { watchTree } from '../support/memory.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { shareBrowser } from '../support/server.ts';

// Pages run until the server stops them, which takes longer on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

/**
 * 512 MB for a page (`pageMemoryMb`), plus the memory of the server, plus the growth of a page between two checks on a
 * busy machine. Without limits, these pages use 1 to 3 GB.
 */
const MOST_BYTES = 1000 * 1024 ** 2;
/**
 * Each character takes six bytes in JSON, so the message exceeds the 8 MiB limit of an event. A unit test sends a
 * message that exceeds the maximum length of a string.
 */
const MESSAGE_CHARACTERS = 4_000_000;

let dataDir: string;
let site: Site;
let server: ServerProcess;

interface Read {
  readonly status: number;
  /** The warning of the response, or the error message. */
  readonly told: string;
  readonly text: string;
}

async function read(page: string, headers: Record<string, string> = {}): Promise<Read> {
  const answer = await fetch(`${server.urlOf('reader')}/${site.origin}${page}`, {
    headers: { accept: 'application/json', 'x-engine': 'browser', 'x-no-cache': 'true', ...headers },
  });
  const body = (await answer.json()) as {
    data?: { content: string; warning?: string } | null;
    readableMessage?: string;
  };
  const told = body.data?.warning ?? body.readableMessage ?? '';
  return { status: answer.status, told, text: body.data?.content ?? '' };
}

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-bounds-'));
  shareBrowser(dataDir);
  site = await startSite(endlessPages);
  server = await startProcess({
    LECTERN_DATA_DIR: dataDir,
    LECTERN_ALLOW_NETWORKS: site.allow.join(','),
    LECTERN_AUTH: 'off',
  });
  // Starts the browser first, so that its memory is not counted.
  expect((await read('/endless/small')).text).toContain('This is here before the rest.');
});
afterAll(async () => {
  await server?.stop();
  await site?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/**
 * Reads a page and checks how much memory the read uses. The read of the next page shows that the server still works.
 */
async function bounded(page: string, headers: Record<string, string> = {}): Promise<Read> {
  const watch = watchTree(server.child.pid!);
  const outcome = await read(page, headers);
  expect(watch.stop(), `${page} takes memory`).toBeLessThan(MOST_BYTES);
  return outcome;
}

const STILL_LOADING = 'This page maybe not yet fully loaded, consider explicitly specify a timeout.';
const CRASHED = 'The page crashed or exceeded the memory limit of a page';

describe.runIf(process.platform === 'linux')('the browser', () => {
  it('cuts off an endless document', async () => {
    const { status, told, text } = await bounded('/endless/comment');
    expect(told).toContain('The page was too large and was cut off; this is the part that arrived');
    expect(status).toBe(200);
    expect(text).toMatch(/The beginning|Shown|And so on/);
  });

  // On a busy machine, the page may reach its memory limit before the browser receives the command to stop loading.
  it('cuts off or ends a document that is 4 GB when decompressed', async () => {
    const { status, told } = await bounded('/endless/gzip');
    expect(told).toMatch(new RegExp(`The page was too large and was cut off|${CRASHED}`));
    expect([200, 422]).toContain(status);
  });

  // The direct engine does the same. On a busy machine, loading may be stopped before 32 MiB have arrived.
  it('refuses or cuts off endless text', async () => {
    const told = /Text larger than 32 MiB cannot be read|The page was too large and was cut off/;
    expect((await bounded('/endless/text')).told).toMatch(told);
  });

  it.each(['/endless/fetch-many', '/endless/xhr-sync'])(
    'stops loading, with a warning, when resources exceed the limit of a page: %s',
    async (page) => {
      const { status, told, text } = await bounded(page);
      expect(status).toBe(200);
      expect(text).toMatch(/This is here before the (?:rest|script runs)/);
      expect(told).toContain('The page loaded more than the limit for one page; the rest was not loaded');
    },
  );

  it.each(['/endless/iframe', '/endless/append-loop', '/endless/workers', '/endless/title'])(
    'ends a page that grows without limit: %s',
    async (page) => {
      const { status, told, text } = await bounded(page);
      // On a busy machine, the response may be sent before the page has grown much.
      if (told === '' || told === STILL_LOADING) expect(text).toContain('This is here before the script runs');
      else expect(told).toMatch(new RegExp(`${CRASHED}|did not respond in time|were stopped`));
      expect([200, 422]).toContain(status);
    },
  );

  it('drops messages that are too long about requests, console lines and errors of a page', async () => {
    const pages = ['post-once', 'console-once', 'error-once'].map((page) => `/endless/${page}?${MESSAGE_CHARACTERS}`);
    await Promise.all(pages.map((page) => read(page)));
    const log = () => server.lines.join('\n');
    await expect.poll(log, { timeout: 20_000 }).toContain('dropped a browser message that was too large');
    expect(server.child.exitCode).toBe(null);
  });

  it('stops the picture of a very tall page at the limit', async () => {
    const { status, told } = await bounded('/endless/tall', { 'x-respond-with': 'pageshot' });
    expect(status).toBe(200);
    expect(told).toMatch(/The screenshot of the page ends after \d+ pixels/);
  });

  it('ends only the page that exceeds its memory limit', async () => {
    const [hostile, ordinary] = await Promise.all([bounded('/endless/buffers-loop'), read('/endless/small')]);
    expect(hostile.told).toContain(CRASHED);
    expect(ordinary).toMatchObject({ status: 200, told: '' });
    expect((await read('/endless/small')).text).toContain('This is here before the rest.');
  });
});
