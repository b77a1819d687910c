/**
 * Small files that grow without bound when they are parsed, sent to a real server. Its memory is measured from outside.
 */
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

// A file is processed until its process is killed, which takes a long time on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const MB = 1024 ** 2;
/** The smallest value that the setting allows. Without a limit, the files need 600 MB to 2 GB. */
const PROCESS_MB = 256;
/** The limit of a process, plus the memory that the server itself needs to read a file. */
const MAX_BYTES = 400 * MB;
/** Twice the limit for a small file under the default settings. */
const MAX_DEFAULT_BYTES = 650 * MB;

let dataDir: string;
let server: ServerProcess;
let site: http.Server;
let host: string;
let file: Buffer;
let count = 0;

const start = (name: string, settings: Record<string, string> = {}) =>
  startProcess({
    LECTERN_DATA_DIR: path.join(dataDir, name),
    LECTERN_ALLOW_NETWORKS: host,
    LECTERN_AUTH: 'off',
    LECTERN_BROWSER: 'none',
    ...settings,
  });

beforeAll(async () => {
  site = http.createServer((_, response) => response.end(file)).listen(0, '127.0.0.1');
  await once(site, 'listening');
  host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-bounds-'));
  server = await start('small', { LECTERN_DOCUMENT_MEMORY_MB: String(PROCESS_MB) });
});
afterAll(async () => {
  await server?.stop();
  site?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Reads a file within a memory limit; returns the status and the warning or error. */
async function bounded(
  bytes: Buffer,
  { by = server, maxBytes = MAX_BYTES } = {},
): Promise<{ status: number; told: string }> {
  file = bytes;
  // Idle connections may have been closed while the file was generated.
  const headers = { accept: 'application/json', connection: 'close' };
  const watch = watchTree(by.child.pid!);
  const answer = await fetch(`${by.urlOf('reader')}/http://${host}/${count++}`, { headers });
  const body = (await answer.json()) as { data?: { warning?: string } | null; readableMessage?: string };
  expect(watch.stop()).toBeLessThan(maxBytes);
  return { status: answer.status, told: body.data?.warning ?? body.readableMessage ?? '' };
}

const TOO_MUCH = 'The file needs more memory than the limit for one file';

describe.runIf(process.platform === 'linux')('a PDF', () => {
  it.each([
    'contents that unpack to 1 GB',
    'contents packed twice',
    'a hundred contents of 20 MB',
    'an object stream that unpacks to 1 GB',
    'a table of objects that unpacks to 1 GB',
    'a font that unpacks to 1 GB',
    'metadata that unpack to 1 GB',
    'a million annotations',
  ])('is refused when its process reaches the memory limit: %s', async (name) => {
    const { status, told } = await bounded(hostilePdfs[name]!());
    expect(status).toBe(422);
    expect(told).toContain(TOO_MUCH);
  });

  it('gets less memory than the default setting allows if it is small', async () => {
    const standard = await start('standard');
    const { status, told } = await bounded(hostilePdfs['contents that unpack to 1 GB']!(), {
      by: standard,
      maxBytes: MAX_DEFAULT_BYTES,
    });
    expect(status).toBe(422);
    expect(told).toContain(TOO_MUCH);
    await standard.stop();
  });

  it.each(['an image of 2 GB', 'a function of 400 million samples', 'a page of a billion points'])(
    'is read without the part that is too large: %s',
    async (name) => {
      expect((await bounded(hostilePdfs[name]!())).status).toBe(200);
    },
  );

  it('with too many pages is read in part, with a warning that says how far', async () => {
    const { status, told } = await bounded(hostilePdfs['a tree of 300,000 pages']!());
    expect(status).toBe(200);
    expect(told).toMatch(/Only the first \d+ pages of 300000 were read: the others take too long/);
  });

  it('with a page tree that contains itself is refused', async () => {
    expect((await bounded(hostilePdfs['a tree of pages that leads back']!())).status).toBe(422);
  });
});

describe.runIf(process.platform === 'linux')('a file of another kind', () => {
  it.each([
    ['a docx of 40 MB of paragraphs', 'too large when decompressed'],
    ['a docx of elements in elements', 'nested too deeply'],
    ['a docx of entities of entities', 'too large when decompressed'],
    ['an xlsx of a million different cells', TOO_MUCH],
    ['an epub of a long chapter, again and again', TOO_MUCH],
    ['an archive of 2 GB', 'cannot be read'],
    ['a PNG of 30,000 by 30,000', 'million pixels'],
    ['a GIF of 60,000 by 60,000', 'million pixels'],
    ['an XML of 40 MB of elements in elements', 'larger than 32 MiB'],
    ['an RTF of groups in groups', 'nested too deeply'],
  ])('is refused with a reason: %s', async (name, reason) => {
    const { status, told } = await bounded(hostileFiles[name]!());
    expect(status).toBe(422);
    expect(told).toContain(reason);
  });

  it('with many frames is read as its first frame', async () => {
    expect((await bounded(hostileFiles['a GIF of 100,000 frames']!())).status).toBe(200);
  });
});
