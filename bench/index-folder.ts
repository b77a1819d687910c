/**
 * `lectern index` of a folder of HTML files: pages/s of the whole run, start included.
 *
 *     tsx --conditions=source bench/index-folder.ts [<folder>] [--pages 5000]
 *
 * Without a folder, the pages are synthetic: about 260 words in two sections. The baseline reads the same files one after
 * the other in one thread, with Readability on linkedom and Turndown, into a table of FTS5.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { escapeText } from '#html/serialize.ts';
import { openDatabase } from '#storage/database/sqlite.ts';
import { BASELINE } from './contenders.ts';
import { pagesOf } from './index-pages.ts';
import { packageBaseline, report } from './report.ts';
import { build, machine, sized } from './support.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../dist/main.js');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { pages: { type: 'string', default: sized('5000', '20') } },
});

build();
const work = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
try {
  const folder = positionals[0] ?? drawPages(Number(values.pages));
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.html'))
    .map((name) => path.join(folder, name));
  if (files.length === 0) throw new Error(`${folder} has no HTML files`);

  const ours = await timed(async () => {
    const env = { ...process.env, LECTERN_BROWSER: 'none', LECTERN_DATA_DIR: path.join(work, 'data') };
    const most = String(files.length);
    execFileSync(process.execPath, [PROGRAM, 'index', folder, '--max-pages', most], { env, stdio: 'ignore' });
  });
  const baseline = await timed(() => byBaseline(files));

  const perSecond = (ms: number) => Math.round((files.length * 1_000) / ms);
  const row = (name: string, ms: number) => [
    name,
    files.length,
    (ms / 1_000).toFixed(1),
    perSecond(ms),
    (baseline / ms).toFixed(2),
  ];
  console.log(machine());
  report(
    'index-folder',
    ['', 'pages', 's', 'pages/s', 'ratio'],
    [row('`lectern index`', ours), row('Readability and FTS5', baseline)],
    {
      ratios: ['ratio'],
      baselines: ['@mozilla/readability', 'linkedom', 'turndown', '@photostructure/sqlite'].map((name) =>
        packageBaseline(name),
      ),
    },
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}

function drawPages(count: number): string {
  const folder = path.join(work, 'pages');
  mkdirSync(folder);
  // Each page has five sections, of which two are used.
  for (const [at, { title, content }] of pagesOf(count * 5).entries()) {
    const [first = '', second = ''] = content.split(/\n\n(?=## )/);
    const html = [first, second].map((section) => {
      const [heading = '', text = ''] = section.slice(3).split('\n\n');
      return `<h2>${escapeText(heading)}</h2><p>${escapeText(text)}</p>`;
    });
    const page = `<!doctype html><html lang="en"><head><title>${escapeText(title)}</title></head><body><article><h1>${escapeText(title)}</h1>${html.join('')}</article></body></html>`;
    writeFileSync(path.join(folder, `${at}.html`), page);
  }
  return folder;
}

/** Milliseconds that the work takes. */
async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function byBaseline(files: readonly string[]): Promise<void> {
  const database = await openDatabase(path.join(work, 'plain.db'), [
    'CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, content)',
  ]);
  for (let at = 0; at < files.length; at += 256) {
    const rows: (readonly [string, string])[] = [];
    for (const file of files.slice(at, at + 256)) {
      const url = `https://example.org/${path.basename(file)}`;
      rows.push([url, await BASELINE.read(readFileSync(file, 'utf8'), url)]);
    }
    database.transaction(() => {
      for (const [url, content] of rows) database.run('INSERT INTO pages VALUES (?, ?)', url, content);
    });
  }
  database.close();
}
