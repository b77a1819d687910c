/** Pages that would take all there is, read by the browser of a real server: what they take is measured from outside. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { endlessPages } from '../site/pages/endless.ts';
import { type Site, startSite } from '../site/site.ts';
import { watchTree } from '../support/memory.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { shareBrowser } from '../support/server.ts';

// Pages run until they are ended, and the machine may be busy with others.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

/**
 * 512 MB for a page (`pageMemoryMb`), what reads it, and what a page adds between two checks on a busy machine. Without
 * limits these pages take from 1 to 3 GB.
 */
const MOST_BYTES = 1000 * 1024 ** 2;

let dataDir: string;
let site: Site;
let server: ServerProcess;

interface Read {
  readonly status: number;
  /** The warning of an answer, or what the error says. */
  readonly told: string;
  readonly text: string;
}

async function read(page: string, headers: Record<string, string> = {}): Promise<Read> {
  const answer = await fetch(`${server.place('reader')}/${site.origin}${page}`, {
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
  // The browser that is there before is not counted.
  expect((await read('/endless/small')).text).toContain('This is here before the rest.');
});
afterAll(async () => {
  await server?.stop();
  await site?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** What a read of the page says, when it has kept its bounds and the next read works. */
async function bounded(page: string, headers: Record<string, string> = {}): Promise<Read> {
  const watch = watchTree(server.child.pid!);
  const outcome = await read(page, headers);
  expect(watch.stop(), `${page} takes memory`).toBeLessThan(MOST_BYTES);
  expect((await read('/endless/small')).text, `after ${page}`).toContain('This is here before the rest.');
  return outcome;
}

const CRASHED = 'The page crashed or exceeded the memory limit of a page';

describe.runIf(process.platform === 'linux')('a page in the browser', () => {
  it('that does not end is cut off', async () => {
    const { status, told, text } = await bounded('/endless/comment');
    expect(told).toContain('The page was too large and was cut off; this is the part that arrived');
    expect(status).toBe(200);
    expect(text).toMatch(/The beginning|Shown|And so on/);
  });

  // On a busy machine the page may reach its memory limit before the browser is told to stop loading.
  it.each(['/endless/html', '/endless/gzip'])('that does not end is cut off or ended: %s', async (page) => {
    const { status, told } = await bounded(page);
    expect(told).toMatch(new RegExp(`The page was too large and was cut off|${CRASHED}`));
    expect([200, 422]).toContain(status);
  });

  it('that is text without end is refused as it is without the browser', async () => {
    expect((await bounded('/endless/text')).told).toContain('Text larger than 32 MiB cannot be read');
  });

  it.each(['/endless/fetch', '/endless/fetch-many', '/endless/xhr-sync', '/endless/style'])(
    'that loads without end is cut off from the network, and told of: %s',
    async (page) => {
      const { status, told, text } = await bounded(page);
      expect(status).toBe(200);
      expect(text).toMatch(/This is here before the (?:rest|script runs)/);
      expect(told).toContain('The page loaded more than the limit for one page; the rest was not loaded');
    },
  );

  it.each([
    '/endless/script',
    '/endless/iframe',
    '/endless/append-loop',
    '/endless/write',
    '/endless/buffers-loop',
    '/endless/workers',
    '/endless/title',
  ])('that grows without end is ended alone: %s', async (page) => {
    const { status, told, text } = await bounded(page);
    // On a busy machine the page may be answered before it has grown much.
    if (told === '') expect(text).toContain('This is here before the script runs');
    else expect(told).toMatch(new RegExp(`${CRASHED}|did not answer in time|were stopped`));
    expect([200, 422]).toContain(status);
  });

  it('that posts or prints what no string can hold does not end the server', async () => {
    for (const page of ['post-once?80000000', 'console-once?80000000', 'error-once?80000000', 'post', 'events']) {
      await read(`/endless/${page}`);
      expect(server.child.exitCode, page).toBe(null);
      expect((await read('/endless/small')).status, page).toBe(200);
    }
  });

  it('that is very tall is drawn as far as pictures go', async () => {
    const { status, told } = await bounded('/endless/tall', { 'x-respond-with': 'pageshot' });
    expect(status).toBe(200);
    expect(told).toMatch(/The screenshot of the page ends after \d+ pixels/);
  });

  it('leaves others alone', async () => {
    const [hostile, ordinary] = await Promise.all([read('/endless/buffers-loop'), read('/endless/small')]);
    expect(hostile.told).toContain(CRASHED);
    expect(ordinary).toMatchObject({ status: 200, told: '' });
  });
});
