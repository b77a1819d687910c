/** The same bytes and options give the same result in any thread or process, and in any order. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createRenderer } from '#reader/index.ts';
import { taskFor } from '#reader/render.suite.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const PAGES = path.join(ROOT, 'test/fixtures/pages');
const all = readdirSync(PAGES).sort();
/** About 24 files, spread over all kinds. */
const names = all.filter((_, at) => at % Math.floor(all.length / 24) === 0);
const FORMS = [{}, { respondWith: 'markdown', withLinksSummary: true, withImagesSummary: true }];
const never = new AbortController().signal;

const sourceOf = (name: string) => readFileSync(path.join(PAGES, name, 'source.html'), 'utf8');
const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** A digest of each result, including its explanation. The pages are rendered in this order in one thread. */
async function inThread(order: readonly string[]): Promise<Record<string, string>> {
  const renderer = createRenderer({ threads: 1, memoryMb: 512, timeoutMs: 60_000 });
  const digests: Record<string, string> = {};
  for (const name of order) {
    const renditions = [];
    for (const form of FORMS)
      renditions.push(await renderer.render(taskFor(sourceOf(name), { ...form, explain: true }), never));
    digests[name] = digest(renditions.map(({ page, body }) => [page, body]));
  }
  await renderer.close();
  return digests;
}

/** The same digests, computed in another process. */
async function inProcess(): Promise<Record<string, string>> {
  const program = path.join(ROOT, 'test/support/render-pages.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', program, PAGES, JSON.stringify(names), JSON.stringify(FORMS)],
    // The time zone and language of the machine must not affect the result.
    { cwd: ROOT, maxBuffer: 1 << 24, env: { ...process.env, TZ: 'Pacific/Auckland', LC_ALL: 'tr_TR.UTF-8' } },
  );
  return JSON.parse(stdout);
}

test('threads and processes agree', async () => {
  expect(names.length).toBeGreaterThanOrEqual(20);
  const first = await inThread(names);
  expect(new Set(Object.values(first)).size).toBe(names.length);
  expect(await inThread([...names].reverse())).toEqual(first);
  expect(await inProcess()).toEqual(first);
}, 240_000);
