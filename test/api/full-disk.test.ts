/** A server whose disk is full: the whole program, on a small file system of its own. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { drawPdf, page, write } from '../../src/documents/pdf/drawn.suite.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';

// The tests start a server, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const SIZE = 48 * 1024 ** 2;

/** A private file system needs user namespaces, which not every machine allows. */
function tryMount(): boolean {
  const { status } = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=1m tmpfs /mnt'], {
    stdio: 'ignore',
  });
  return status === 0;
}
const canMount = process.platform === 'linux' && tryMount();
if (!canMount) console.warn('full-disk.test.ts is skipped: a private filesystem cannot be mounted here (unshare -rm)');

let mount: string;
let server: ServerProcess;
let site: http.Server;
let host: string;
let pdf: Buffer;
let pageRequests = 0;

/** A path on the server's file system, as seen from this process. */
const inside = (name = '') => path.join(`/proc/${server.child.pid}/root`, mount, name);

beforeAll(async () => {
  if (!canMount) return;
  mount = mkdtempSync(path.join(os.tmpdir(), 'full-'));
  // Larger than the space that may remain free on a full disk.
  const ballast = `<< /Length 2000000 >>\nstream\n${'more'.repeat(500_000)}\nendstream`;
  pdf = Buffer.from(drawPdf({ ...page(write(60, 700, ['Words of page 1'])), objects: [ballast] }));
  site = http.createServer((request, response) => {
    pageRequests++;
    if (request.url?.endsWith('.pdf')) return void response.setHeader('content-type', 'application/pdf').end(pdf);
    response
      .setHeader('content-type', 'text/html')
      .end(`<title>Page</title><p>Page ${request.url}, in words of its own.`);
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  server = await startProcess(
    {
      LECTERN_DATA_DIR: path.join(mount, 'data'),
      TMPDIR: path.join(mount, 't'),
      LECTERN_ALLOW_NETWORKS: host,
      LECTERN_BROWSER: 'none',
      LECTERN_AUTH: 'off',
      LECTERN_LOG_LEVEL: 'info',
      LECTERN_DISK_MIN_FREE_BYTES: '1000000',
    },
    { onto: mount, bytes: SIZE },
  );
});
afterAll(async () => {
  if (!canMount) return;
  await server.stop();
  site.close();
  rmSync(mount, { recursive: true, force: true });
});

const BALLAST = 'ballast';

/** Writes until the file system is full. */
function fill(): void {
  const file = openSync(inside(BALLAST), 'a');
  try {
    for (const size of [1024 ** 2, 64 * 1024, 4_096, 1])
      for (;;) {
        try {
          writeSync(file, Buffer.alloc(size, 1));
        } catch (error) {
          expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
          break;
        }
      }
  } finally {
    closeSync(file);
  }
  expect(statfsSync(inside()).bavail).toBe(0);
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function answerOf(response: Promise<Response>): Promise<Answer> {
  const answer = await response;
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const JSON_HEADERS = { accept: 'application/json' };
const read = (target: string) =>
  answerOf(fetch(`${server.urlOf('reader')}/http://${host}/${target}`, { headers: JSON_HEADERS }));
const ready = () => answerOf(fetch(`${server.urlOf('reader')}/ready`));
function upload(): Promise<Answer> {
  const form = new FormData();
  form.append('file', new Blob([pdf]), 'report.pdf');
  return answerOf(fetch(`${server.urlOf('reader')}/`, { method: 'POST', body: form, headers: JSON_HEADERS }));
}
const batch = (lines: number) =>
  answerOf(
    fetch(`${server.urlOf('model host')}/v1/batch/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'lectern-static-v2',
        input: Array.from({ length: lines }, (_, at) => ({ text: `Line ${at} ${'more words '.repeat(30)}` })),
      }),
    }),
  );

const FULL = {
  code: 503,
  name: 'ServiceNodeResourceDrainError',
  message: "The server's disk is full",
};
const contentOf = ({ body }: Answer) => (body.data as { content: string }).content;
/** Temporary files that the server must not leave in its folders. */
const leftovers = () =>
  readdirSync(inside(), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.part$|\.new$|probe-|doctor-/.test(name),
  );
const temporaryFiles = () =>
  readdirSync(inside('data/tmp'), { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));

describe.skipIf(!canMount)('a full disk', () => {
  it('is reported, refuses only what must write, and recovers once space is free', async () => {
    expect((await ready()).status).toBe(200);
    expect(contentOf(await read('first'))).toContain('Page /first');
    expect(contentOf(await read('a.pdf'))).toContain('Words of page 1');
    expect((await batch(3)).status).toBe(200);

    fill();
    await expect.poll(ready).toEqual({
      status: 503,
      body: { status: 'disk full', full: ['data folder', 'temporary folder'] },
    });
    expect(await answerOf(fetch(`${server.urlOf('model host')}/ready`))).toMatchObject({
      status: 503,
      body: { status: 'not_ready', reason: 'the disk is full' },
    });
    // Pages can still be read, and cached pages are still returned.
    expect(contentOf(await read('second'))).toContain('Page /second');
    const before = pageRequests;
    expect(contentOf(await read('first'))).toContain('Page /first');
    expect(pageRequests).toBe(before);
    // Files and jobs are refused, and the response gives the reason.
    for (const ask of [() => read('b.pdf'), upload, () => batch(200)]) {
      const refused = await ask();
      expect(refused.status).toBe(503);
      expect(JSON.stringify(refused.body)).toContain(FULL.message);
    }
    expect(await read('b.pdf')).toMatchObject({ body: FULL });
    expect(server.child.exitCode).toBe(null);
    await expect.poll(() => server.lines.join('\n')).toContain('the disk is full: pages are not cached');
    // The cache is written after the response was sent.
    await expect.poll(leftovers).toEqual([]);
    await expect.poll(temporaryFiles).toEqual([]);

    rmSync(inside(BALLAST));
    await expect.poll(async () => (await ready()).status).toBe(200);
    expect(contentOf(await read('third'))).toContain('Page /third');
    const after = pageRequests;
    expect(contentOf(await read('third'))).toContain('Page /third');
    expect(pageRequests).toBe(after);
    expect(contentOf(await read('c.pdf'))).toContain('Words of page 1');
    expect(contentOf(await upload())).toContain('Words of page 1');
    expect((await batch(200)).status).toBe(200);
    await expect.poll(leftovers).toEqual([]);
  });

  it('is found by the doctor', async () => {
    fill();
    const program = server.child.spawnargs.find((argument) => argument.endsWith('main.js'))!;
    const examined = spawnSync(
      'nsenter',
      [
        '-t',
        String(server.child.pid),
        '-m',
        '-U',
        '--preserve-credentials',
        process.execPath,
        program,
        'doctor',
        '--json',
      ],
      {
        encoding: 'utf8',
        env: {
          ...process.env,
          LECTERN_DATA_DIR: path.join(mount, 'data'),
          TMPDIR: path.join(mount, 't'),
          LECTERN_BROWSER: 'none',
        },
      },
    );
    rmSync(inside(BALLAST));
    const { ok, findings } = JSON.parse(examined.stdout) as {
      ok: boolean;
      findings: { name: string; state: string }[];
    };
    expect(ok).toBe(false);
    for (const name of ['Disk', 'Temporary folder'])
      expect(
        findings.find((finding) => finding.name === name),
        name,
      ).toMatchObject({ state: 'broken' });
    expect(leftovers()).toEqual([]);
  });
});
