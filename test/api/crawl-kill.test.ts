/** The server itself is killed while a crawl is on its way. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';

const PAGES = 300;
const KILLS = 2;

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely in tests
type Any = any;

it('a crawl survives kills of the server: nothing is lost, and nothing is given twice', {
  timeout: 600_000,
}, async () => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'crawl-'));
  const page = (at: number) =>
    `<title>Page ${at}</title><main><p>This is the page with the number ${at} of a site of many.</p></main>${[1, 2, 3]
      .map((link) => at * 3 + link)
      .filter((link) => link < PAGES)
      .map((link) => `<a href="/many/${link}">${link}</a>`)
      .join(' ')}`;
  const site: Site = await startSite(
    Object.fromEntries(Array.from({ length: PAGES }, (_, at) => [`/many/${at}`, page(at)])),
  );
  const start = () =>
    startProcess({
      LECTERN_DATA_DIR: path.join(dir, 'data'),
      LECTERN_BROWSER: 'none',
      LECTERN_CRAWL_DELAY_MS: '0',
      LECTERN_ALLOW_NETWORKS: site.allow.join(','),
    });
  let server: ServerProcess = await start();
  try {
    const key = server.lines.join('\n').match(/only this once: (\S+)/)![1]!;
    const ask = async (place: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${server.urlOf('reader')}${place}`, {
        ...init,
        headers: { authorization: `Bearer ${key}`, accept: 'application/json', 'content-type': 'application/json' },
      });
    const asked = { url: `${site.origin}/many/0`, limit: 1000, depth: 20, sitemap: false, concurrency: 2 };
    const body = JSON.stringify({ ...asked, options: { engine: 'direct', noCache: true } });
    const { crawl_id: id } = (await (await ask('/crawl', { method: 'POST', body })).json()) as Any;
    const look = async (): Promise<Any> => (await ask(`/crawl/${id}`)).json();
    const progressed = async (from: number): Promise<Any> => {
      for (;;) {
        const job = await look();
        if (job.stats.done > from || !['pending', 'processing'].includes(job.status)) return job;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };

    let done = 0;
    for (let kills = 0; kills < KILLS; kills++) {
      const job = await progressed(done + 20);
      expect(job.status).toBe('processing');
      done = job.stats.done;
      const ended = once(server.child, 'exit');
      server.child.kill('SIGKILL');
      await ended;
      server = await start();
      expect((await look()).stats.done).toBeGreaterThanOrEqual(done);
    }
    const job = await progressed(PAGES);
    expect(job).toMatchObject({ status: 'completed', stats: { found: PAGES, done: PAGES, failed: 0, skipped: 0 } });
    const lines = (await (await ask(`/crawl/${id}/pages`)).text()).trimEnd().split('\n');
    const outcomes = lines.map((line) => JSON.parse(line));
    expect(outcomes.map(({ seq }) => seq)).toEqual(outcomes.map((_, at) => at + 1));
    expect(new Set(outcomes.map(({ url }) => url)).size).toBe(PAGES);
    const hits = Array.from({ length: PAGES }, (_, at) => site.hits(`/many/${at}`));
    // At each kill two were in work.
    expect(hits.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(PAGES + 2 * KILLS);
  } finally {
    await server.stop();
    await site.close();
    await rm(dir, { recursive: true, force: true });
  }
});
