/** Small files that would become more than a machine has, read by a real server: what they take is measured from outside. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hostileFiles, hostilePdfs } from '../support/hostile-files.ts';
import { watchTree } from '../support/memory.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';

// Files are worked on until they are ended, and the machine may be busy with others.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const MB = 1024 ** 2;
/** 512 MB for the process of a small file, and what else the server needs for it: without bounds it is up to 2.2 GB. */
const MOST_BYTES = 650 * MB;

let dataDir: string;
let server: ServerProcess;
let site: http.Server;
let host: string;
let file: Buffer;
let count = 0;

beforeAll(async () => {
  site = http.createServer((_, response) => response.end(file)).listen(0, '127.0.0.1');
  await once(site, 'listening');
  host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-bounds-'));
  server = await startProcess({
    LECTERN_DATA_DIR: dataDir,
    LECTERN_ALLOW_NETWORKS: host,
    LECTERN_AUTH: 'off',
    LECTERN_BROWSER: 'none',
  });
});
afterAll(async () => {
  await server?.stop();
  site?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The status and the warning or error of a read that has kept its bounds. */
async function bounded(bytes: Buffer): Promise<{ status: number; told: string }> {
  file = bytes;
  // Making the file took a while, in which kept connections may have been closed.
  const headers = { accept: 'application/json', connection: 'close' };
  const watch = watchTree(server.child.pid!);
  const answer = await fetch(`${server.urlOf('reader')}/http://${host}/${count++}`, { headers });
  const body = (await answer.json()) as { data?: { warning?: string } | null; readableMessage?: string };
  expect(watch.stop()).toBeLessThan(MOST_BYTES);
  return { status: answer.status, told: body.data?.warning ?? body.readableMessage ?? '' };
}

const TOO_MUCH = 'The file needs more memory than the limit for one file';

describe.runIf(process.platform === 'linux')('a PDF', () => {
  it.each([
    'contents that unpack to 2 GB',
    'contents packed twice',
    'a hundred contents of 100 MB',
    'an object stream that unpacks to 2 GB',
    'a table of objects that unpacks to 2 GB',
    'a font that unpacks to 2 GB',
    'metadata that unpack to 2 GB',
    'ten million annotations',
  ])('ends with its process: %s', async (name) => {
    const { status, told } = await bounded(hostilePdfs[name]!());
    expect(status).toBe(422);
    expect(told).toContain(TOO_MUCH);
  });

  it.each(['an image of 2 GB', 'a function of 400 million samples', 'a page of a billion points'])(
    'is read without what is too large: %s',
    async (name) => {
      expect((await bounded(hostilePdfs[name]!())).status).toBe(200);
    },
  );

  it('of very many pages is read for a while, and says how far', async () => {
    const { status, told } = await bounded(hostilePdfs['a tree of 300,000 pages']!());
    expect(status).toBe(200);
    expect(told).toMatch(/Only the first \d+ pages of 300000 were read: the others take too long/);
  });

  it('whose pages lead back to themselves is refused', async () => {
    expect((await bounded(hostilePdfs['a tree of pages that leads back']!())).status).toBe(422);
  });
});

describe.runIf(process.platform === 'linux')('a file of another kind', () => {
  it.each([
    'a docx of 200 MB of paragraphs',
    'a docx of elements in elements',
    'a docx of entities of entities',
    'an xlsx of 4 million different cells',
    'an epub of a long chapter, again and again',
    'an archive of 20 GB',
    'a PNG of 30,000 by 30,000',
    'a GIF of 60,000 by 60,000',
    'an XML of 60 MB of elements in elements',
    'an RTF of groups in groups',
  ])('is refused with a reason: %s', async (name) => {
    const { status, told } = await bounded(hostileFiles[name]!());
    expect(status).toBe(422);
    expect(told).toMatch(
      /more memory|too large when decompressed|nested too deeply|cannot be read|million pixels|larger than 32 MiB/,
    );
  });

  it('of many frames is read as its first', async () => {
    expect((await bounded(hostileFiles['a GIF of 100,000 frames']!())).status).toBe(200);
  });
});
