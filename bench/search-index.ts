/**
 * The local index, compared with SQLite's plain FTS5 and with MiniSearch: speed of adding and searching, and size.
 * bench/search-quality.ts measures the quality.
 *
 *     tsx --conditions=source bench/search-index.ts [--passages 10000,100000] [--queries 300] [--postgres] [--only Lectern]
 *
 * The texts are synthetic. The frequency of each word is inversely proportional to its rank (Zipf), so that posting
 * lists have realistic lengths.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import MiniSearch from 'minisearch';
import pg from 'pg';
import type { IndexablePage, LocalIndex } from '#search/index/local-index.ts';
import { openLocalIndex } from '#search/index/open.ts';
import { parseQuery } from '#search/query.ts';
import { openDatabase } from '#storage/database/sqlite.ts';
import { startPostgres } from '../test/support/start-services.ts';
import { embedder, pagesOf, queriesOf } from './index-pages.ts';
import { namesOf, packageBaseline, report } from './report.ts';
import { machine, SMOKE, sized } from './support.ts';

const { values: given } = parseArgs({
  options: {
    passages: { type: 'string', default: sized('10000,100000', '200') },
    queries: { type: 'string', default: sized('300', '5') },
    postgres: { type: 'boolean', default: SMOKE },
    only: { type: 'string' },
  },
});
/** An index under test, to which pages are added and in which they are searched. */
interface Contender {
  fill(pages: readonly IndexablePage[]): Promise<void>;
  /** URLs, best first. */
  ask(query: string, count: number): Promise<string[]>;
  bytes(): number | undefined | Promise<number>;
  end(): Promise<void>;
}

const sizeOf = (file: string): number =>
  [file, `${file}-wal`].reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0);

async function lectern(dir: string): Promise<Contender> {
  const file = path.join(dir, 'index.db');
  const index = await openLocalIndex({ file, maxBytes: 1e12, embedder });
  return { ...overIndex(index), bytes: () => sizeOf(file), end: () => index.close() };
}

/** The same index in PostgreSQL, which needs no extension. */
async function lecternInPostgres(dir: string): Promise<Contender> {
  const postgres = await startPostgres();
  if (!postgres) throw new Error('--postgres needs PostgreSQL, which is not installed on this machine');
  const file = path.join(dir, 'unused.db');
  const index = await openLocalIndex({ file, url: postgres.url, maxBytes: 1e12, embedder });
  return {
    ...overIndex(index),
    async bytes() {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      const { rows } = await client.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
      await client.end();
      return Number(rows[0]!.bytes);
    },
    async end() {
      await index.close();
      await postgres.close();
    },
  };
}

function overIndex(index: LocalIndex): Pick<Contender, 'fill' | 'ask'> {
  return {
    async fill(pages) {
      // Adds as many pages at once as concurrent reads would add.
      for (let at = 0; at < pages.length; at += 64)
        await Promise.all(pages.slice(at, at + 64).map((page) => index.add(page)));
      await index.flush();
    },
    ask: async (query, count) => (await index.search(parseQuery(query, { count }))).map(({ url }) => url),
  };
}

const wordsOf = (query: string): string[] => query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** FTS5 as in its manual: default tokenizer, the whole text as one column, and a match if any of the words occurs. */
async function plainFts5(dir: string): Promise<Contender> {
  const file = path.join(dir, 'plain.db');
  const database = await openDatabase(file, ['CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, content)']);
  return {
    async fill(pages) {
      for (let at = 0; at < pages.length; at += 64) {
        database.transaction(() => {
          for (const { url, title, content } of pages.slice(at, at + 64))
            database.run('INSERT INTO pages VALUES (?, ?, ?)', url, title, content);
        });
      }
    },
    async ask(query, count) {
      const match = wordsOf(query)
        .map((word) => `"${word}"`)
        .join(' OR ');
      if (!match) return [];
      return database
        .all<{ url: string }>('SELECT url FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT ?', match, count)
        .map(({ url }) => url);
    },
    bytes: () => sizeOf(file),
    end: async () => database.close(),
  };
}

function miniSearch(): Contender {
  const search = new MiniSearch<IndexablePage>({ idField: 'url', fields: ['title', 'content'] });
  return {
    fill: async (pages) => search.addAll(pages),
    ask: async (query, count) =>
      search
        .search(query)
        .slice(0, count)
        .map(({ id }) => id as string),
    bytes: () => undefined,
    end: async () => {},
  };
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
const ms = (value: number): string => value.toFixed(1);

const CONTENDERS: readonly (readonly [string, (dir: string) => Contender | Promise<Contender>])[] = [
  ['Lectern', lectern],
  ...(given.postgres ? [['Lectern, PostgreSQL', lecternInPostgres] as const] : []),
  ['FTS5, plain', plainFts5],
  ['MiniSearch', miniSearch],
];

async function inFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-index-'));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function speed(passages: number, count: number): Promise<void> {
  const pages = pagesOf(passages);
  const queries = queriesOf(count);
  await inFolder(async (dir) => {
    const rows: string[][] = [];
    for (const [name, open] of CONTENDERS) {
      if (given.only && !name.startsWith(given.only)) continue;
      const contender = await open(dir);
      const from = performance.now();
      await contender.fill(pages);
      const fillMs = performance.now() - from;
      const answers = (query: string) =>
        contender.ask(query, 10).then(
          () => true,
          () => false,
        );
      for (const query of queries.slice(0, 20)) await answers(query);
      const times: number[] = [];
      let failed = 0;
      for (const query of queries) {
        const asked = performance.now();
        if (!(await answers(query))) failed++;
        times.push(performance.now() - asked);
      }
      const total = times.reduce((sum, time) => sum + time, 0);
      times.sort((a, b) => a - b);
      const bytes = await contender.bytes();
      rows.push([
        name,
        Math.round((pages.length * 1_000) / fillMs).toString(),
        Math.round((count * 1_000) / total).toString(),
        ms(percentile(times, 0.5)),
        ms(percentile(times, 0.99)),
        // PostgreSQL ends a statement after some seconds.
        String(failed),
        bytes === undefined ? 'in memory' : Math.round(bytes / passages).toString(),
      ]);
      await contender.end();
    }
    console.log(`\n${passages.toLocaleString('en-US')} passages in ${pages.length.toLocaleString('en-US')} pages\n`);
    report(
      `search-index.${passages}`,
      ['', 'pages/s', 'queries/s', 'p50 ms', 'p99 ms', 'failed', 'bytes a passage'],
      rows,
      {
        baselines: [
          { name: 'FTS5 of', version: namesOf([packageBaseline('@photostructure/sqlite')]) },
          packageBaseline('minisearch'),
        ],
      },
    );
  });
}

console.log(machine());
for (const passages of given.passages.split(',').map(Number).filter(Boolean))
  await speed(passages, Number(given.queries));
