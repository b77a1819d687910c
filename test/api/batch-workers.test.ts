/** `lectern worker` next to a server that accepts jobs but runs none. Both use the same data folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startSite } from '../site/site.ts';
import { startProcess } from '../support/process.ts';
import { programFile } from '../support/program.ts';
import { redisUrl } from '../support/services.ts';

const LONG_MS = 180_000;
const ROOT = path.resolve(import.meta.dirname, '../..');
const redis = await redisUrl();

it.skipIf(!redis)('runs the jobs that a server announces through Redis', { timeout: LONG_MS }, async () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-workers-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const environment = {
    LECTERN_DATA_DIR: dataDir,
    LECTERN_BROWSER: 'none',
    LECTERN_AUTH: 'off',
    LECTERN_LOG_LEVEL: 'warn',
    LECTERN_REDIS_URL: redis!,
  };
  const server = await startProcess({ ...environment, LECTERN_BATCH_JOBS: '0' });
  onTestFinished(async () => void (await server.stop()));
  const worker = spawn(process.execPath, [await programFile(), 'worker'], {
    cwd: ROOT,
    env: { ...process.env, ...environment, LECTERN_METRICS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(worker, 'exit');
  let printed = '';
  worker.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  try {
    const host = server.urlOf('model host');
    const ask = async (place: string, body?: object) => {
      const answer = await fetch(host + place, body && { method: 'POST', body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(await answer.text());
      return (await answer.json()) as { batch_id: string; status: string; stats: object };
    };
    const input = Array.from({ length: 50 }, (_, at) => ({ custom_id: `line ${at}`, body: { input: `tea ${at}` } }));
    for (let at = 0; at < 3; at++) {
      const { batch_id: id } = await ask('/v1/batch/embeddings', { model: 'lectern-static-v2', input });
      const job = () => ask(`/v1/batch/${id}`);
      await expect.poll(async () => (await job()).status, { timeout: LONG_MS }).toBe('completed');
      expect((await job()).stats).toMatchObject({ total: 50, completed: 50, failed: 0 });
    }
    await expect.poll(() => printed).toContain('live and ready');
    const own = /live and ready (\S+)/.exec(printed)![1]!;
    for (const place of ['/live', '/ready']) expect((await fetch(own + place)).status).toBe(200);
    const metrics = await (await fetch(`${own}/metrics`)).text();
    expect(metrics).toMatch(/^lectern_batch_jobs\{state="completed"\} 3$/m);
    expect(metrics).toMatch(/^lectern_job_runs_total\{kind="batch",outcome="done"\} [1-9]/m);
    expect(metrics).toMatch(/^lectern_job_run_duration_seconds_count\{kind="batch"\} [1-9]/m);
    expect(server.lines.join('\n')).not.toContain('"level":"warn"');
  } finally {
    worker.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
});

it('runs the crawls of a server that runs none itself', { timeout: LONG_MS }, async () => {
  const page = (text: string) =>
    `<title>${text}</title><main><h1>${text}</h1><p>${'Words of a page. '.repeat(20)}</main>`;
  const site = await startSite({
    '/docs/': `${page('Index')}<a href="/docs/one">one</a> <a href="/docs/two">two</a>`,
    '/docs/one': page('One'),
    '/docs/two': page('Two'),
  });
  onTestFinished(() => site.close());
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-workers-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const environment = {
    LECTERN_DATA_DIR: dataDir,
    LECTERN_BROWSER: 'none',
    LECTERN_AUTH: 'off',
    LECTERN_ALLOW_NETWORKS: site.allow.join(','),
  };
  const server = await startProcess({ ...environment, LECTERN_CRAWL_JOBS: '0' });
  onTestFinished(async () => void (await server.stop()));
  const worker = spawn(process.execPath, [await programFile(), 'worker', '--work', 'crawl'], {
    cwd: ROOT,
    env: { ...process.env, ...environment, LECTERN_CRAWL_DELAY_MS: '0' },
    stdio: 'ignore',
  });
  const ended = once(worker, 'exit');
  try {
    const ask = async (place: string, body?: object) => {
      const init = body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      };
      const answer = await fetch(server.urlOf('reader') + place, init);
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
      const { data = JSON.parse(text) } = JSON.parse(text);
      return data as { crawl_id: string; status: string; pages: object };
    };
    const options = { engine: 'direct' };
    const { crawl_id: id } = await ask('/crawl', { url: `${site.origin}/docs/`, sitemap: false, delayMs: 0, options });
    await expect.poll(async () => (await ask(`/crawl/${id}`)).status, { timeout: LONG_MS }).toBe('completed');
    expect(site.hits('/docs/two')).toBe(1);
  } finally {
    worker.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
});
