// Own process: it draws an SVG with sharp, which servers forbid in their process.
/** Servers that send documents and text recognition to workers. All of them are separate processes. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { expect, it, onTestFinished } from 'vitest';
import { remoteChecks } from '#app/doctor/remote.ts';
import { readConfig } from '#config.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { redisUrl, startRedis } from '../support/services.ts';
import { startWorker, type WorkerProcess } from '../support/worker-process.ts';

const LONG_MS = 300_000;
const redis = await redisUrl();
const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/office/${name}`, import.meta.url)).toString('base64');

/** Other tests may keep the machine busy. */
const SOON = { timeout: 30_000 };
const SHARED = { LECTERN_BROWSER: 'none', LECTERN_AUTH: 'off', LECTERN_KEYLESS_RPM: 'none', LECTERN_LOG_LEVEL: 'info' };

async function serve(url: string, environment: Record<string, string> = {}): Promise<ServerProcess> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-remote-work-'));
  const server = await startProcess({
    ...SHARED,
    LECTERN_DATA_DIR: dataDir,
    LECTERN_REDIS_URL: url,
    LECTERN_REMOTE_WORK: 'documents,ocr',
    LECTERN_METRICS_PORT: '0',
    ...environment,
  });
  onTestFinished(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return server;
}

async function work(url: string): Promise<WorkerProcess> {
  const worker = await startWorker({ ...SHARED, LECTERN_REDIS_URL: url, LECTERN_WORK: 'documents,ocr' });
  onTestFinished(async () => void (await worker.stop()));
  return worker;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

async function read(server: ServerProcess, body: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> {
  const answer = await fetch(server.urlOf('reader'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', dnt: '1' },
    body: JSON.stringify(body),
    signal,
  });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() };
}

const LETTER = { file: fixture('locked-agile.docx'), filePassword: 'clay' };
const WORDS = 'The kiln is fired on Monday at dawn.';
const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text();

it.skipIf(!redis)(
  'answers 503 at once without a worker, and like a server that does all itself with one',
  {
    timeout: LONG_MS,
  },
  async () => {
    const [server, alone] = await Promise.all([serve(redis!), serve(redis!, { LECTERN_REMOTE_WORK: '' })]);
    const refused = await read(server, LETTER);
    expect([refused.status, refused.retryAfter]).toEqual([503, '5']);
    expect(refused.text).toContain('No worker for work of the kind documents is running; try again later');
    const config = readConfig({ environment: {}, flags: { redisUrl: redis, remoteWork: 'documents,ocr' } });
    const checkWorkers = async () =>
      remoteChecks(config)
        .find(({ name }) => name === 'Workers')!
        .run();
    expect(await checkWorkers()).toMatchObject({
      ...{ state: 'broken', found: 'no worker is running for documents, ocr' },
      advice: expect.stringContaining('lectern worker --work documents,ocr'),
    });

    const worker = await work(redis!);
    expect(await checkWorkers()).toMatchObject({ state: 'ok', found: 'documents: 1, ocr: 1' });
    const { data: _, ...missing } = JSON.parse((await read(server, { file: LETTER.file })).text);
    expect(missing).toMatchObject({ code: 422, path: 'filePassword', reason: 'encrypted' });
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="200"><rect width="900" height="200" fill="#fff"/><text x="40" y="120" font-family="DejaVu Sans" font-size="60">The kiln is hot</text></svg>';
    const picture = (await sharp(Buffer.from(svg)).png().toBuffer()).toString('base64');
    for (const body of [LETTER, { ...LETTER, annotations: 'footnotes' }, { file: picture }]) {
      const [here, there] = await Promise.all([read(alone, body), read(server, body)]);
      const content = (answer: Answer) => (JSON.parse(answer.text) as { data: { content: string } }).data;
      expect(content(there)).toEqual(content(here));
      expect(there.status).toBe(200);
    }
    const own = await metricsOf(server.urlOf('metrics'));
    expect(own).toMatch(/^lectern_remote_workers\{kind="documents"\} 1$/m);
    expect(own).toMatch(/^lectern_remote_requests_total\{kind="documents",outcome="refused"\} 1$/m);
    expect(own).toMatch(/^lectern_remote_requests_total\{kind="documents",outcome="done"\} [3-9]/m);
    const theirs = await metricsOf(worker.url);
    expect(theirs).toMatch(/^lectern_remote_served_total\{kind="documents",outcome="done"\} [3-9]/m);
    expect(theirs).toMatch(/^lectern_remote_served_total\{kind="ocr",outcome="done"\} 1$/m);
    expect(theirs).toMatch(/^lectern_remote_waiting\{kind="ocr"\} 0$/m);
    expect(server.lines.join('\n') + worker.printed()).not.toContain('clay');
  },
);

it.skipIf(!redis)(
  'fails no request while the workers of two servers are restarted one after another, or killed',
  {
    timeout: LONG_MS,
  },
  async () => {
    const servers = await Promise.all([serve(redis!), serve(redis!)]);
    const workers = [await work(redis!), await work(redis!)];
    let isOver = false;
    let done = 0;
    const failures: string[] = [];
    const clients = [0, 1, 2, 3].map(async (at) => {
      while (!isOver) {
        const { status, text } = await read(servers[at % 2]!, LETTER);
        if (status === 200 && text.includes(WORDS)) done++;
        else failures.push(`${status} ${text.slice(0, 300)}`);
      }
    });
    const waitForMore = async () => {
      const before = done;
      await expect.poll(() => done - before, { timeout: 60_000 }).toBeGreaterThan(8);
    };
    try {
      await waitForMore();
      for (const at of [0, 1]) {
        expect(await workers[at]!.stop()).toBe(0);
        workers[at] = await work(redis!);
        await waitForMore();
      }
      await workers[0]!.stop('SIGKILL');
      await waitForMore();
    } finally {
      isOver = true;
    }
    await Promise.all(clients);
    expect(failures).toEqual([]);
  },
);

it.skipIf(!redis)(
  'refuses at once what does not fit into the queue, and removes the request of a caller who left',
  { timeout: LONG_MS },
  async () => {
    const server = await serve(redis!, { LECTERN_REMOTE_WORK_QUEUE: '1' });
    const worker = await work(redis!);
    const waiting = async () =>
      Number(/^lectern_remote_waiting\{kind="documents"\} (\d+)$/m.exec(await metricsOf(server.urlOf('metrics')))?.[1]);
    // A suspended worker counts as running for some seconds, but takes nothing.
    worker.child.kill('SIGSTOP');
    const leave = new AbortController();
    const left = read(server, LETTER, leave.signal).catch(() => 'left');
    await expect.poll(waiting, SOON).toBe(1);
    const refused = await read(server, LETTER);
    expect([refused.status, refused.retryAfter]).toEqual([503, '5']);
    expect(refused.text).toContain('The queue of work of the kind documents is full; try again later');
    leave.abort();
    expect(await left).toBe('left');
    await expect.poll(waiting, SOON).toBe(0);
    worker.child.kill('SIGCONT');
    await expect.poll(async () => (await read(server, LETTER)).status, { timeout: 60_000 }).toBe(200);
  },
);

it('answers 503 while Redis is away, says so in /health, and recovers', { timeout: LONG_MS }, async ({ skip }) => {
  const service = await startRedis();
  if (!service) return skip();
  onTestFinished(() => service.close());
  // Limits are counted in memory, so that only the queue is affected.
  const server = await serve(service.url, { LECTERN_LIMIT_STORE: 'memory' });
  await work(service.url);
  expect((await read(server, LETTER)).status).toBe(200);
  await service.kill();
  const away = await read(server, LETTER);
  expect([away.status, away.retryAfter]).toEqual([503, '2']);
  const health = async () => {
    const answer = await fetch(`${server.urlOf('reader')}/health`);
    return ((await answer.json()) as { stores: Record<string, string> }).stores;
  };
  await expect.poll(health, SOON).toMatchObject({ remoteWork: 'away' });
  await service.start();
  await expect.poll(async () => (await read(server, LETTER)).status, { timeout: 60_000 }).toBe(200);
  await expect.poll(health, SOON).toMatchObject({ remoteWork: 'ok' });
});

it('refuses to start without Redis, with the name of the setting', { timeout: LONG_MS }, async () => {
  const worker = await startWorker({ ...SHARED, LECTERN_WORK: 'documents' });
  expect(await worker.stop()).not.toBe(0);
  expect(worker.printed()).toContain('work: `documents`, `ocr` and `embed` need redisUrl');
});
