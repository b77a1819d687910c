/**
 * The local index at scale: time to add passages, time of queries by how common their words are, and size, in SQLite
 * and PostgreSQL.
 *
 *     tsx --conditions=source bench/index-scale.ts [--passages 10000,100000,1000000] [--queries 200] \
 *       [--only PostgreSQL] [--words] [--pgvector]
 *
 * The texts are synthetic. The frequency of each word is inversely proportional to its rank (Zipf). A tenth of the
 * pages belongs to one of ten accounts, and the pages are spread over 200 sites. `--words` leaves out the embedding
 * model, so that adding a million passages takes minutes. A query that fails, for example because PostgreSQL ended its
 * statement after three seconds, is counted and its time is included. `--pgvector` adds PostgreSQL with pgvector as
 * WebAssembly, which has one session and is slower than a native one.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import type { LocalIndex } from '#search/index/local-index.ts';
import { openLocalIndex } from '#search/index/open.ts';
import { visibleOwners } from '#search/index/owners.ts';
import { parseQuery } from '#search/query.ts';
import { type Service, startPgvector, startPostgres } from '../test/support/start-services.ts';
import { embedder, kindsOfQueries, pagesOf } from './index-pages.ts';
import { report } from './report.ts';
import { machine, SMOKE, sized } from './support.ts';

const { values: given } = parseArgs({
  options: {
    passages: { type: 'string', default: sized('10000,100000,1000000', '200') },
    queries: { type: 'string', default: sized('200', '2') },
    only: { type: 'string' },
    words: { type: 'boolean', default: false },
    pgvector: { type: 'boolean', default: SMOKE },
  },
});
const PAGES_AT_ONCE = 64;
/** Pages are made in such batches, because a million passages would not fit in memory. */
const PASSAGES_PER_BATCH = 20_000;
/** Accounts that own a tenth of the pages. */
const ACCOUNTS = 10;
const OWNED_SHARE = 10;

interface Place {
  readonly index: LocalIndex;
  bytes(): Promise<number>;
  /** Brings what the database does in the background to an end, so that every run measures the same state. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const options = { maxBytes: 1e12, embedder: given.words ? undefined : embedder };

async function inSqlite(dir: string): Promise<Place> {
  const file = path.join(dir, 'index.db');
  const index = await openLocalIndex({ ...options, file });
  const sizeOf = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  return {
    index,
    bytes: async () => sizeOf(file) + sizeOf(`${file}-wal`),
    settle: async () => {},
    close: () => index.close(),
  };
}

const inPostgres = async (dir: string): Promise<Place> => inDatabase(dir, await startPostgres());
const inPgvector = async (dir: string): Promise<Place> => inDatabase(dir, await startPgvector());

async function inDatabase(dir: string, postgres: Service | undefined): Promise<Place> {
  if (!postgres) throw new Error('PostgreSQL or PgBouncer is not installed on this machine');
  const index = await openLocalIndex({ ...options, file: path.join(dir, 'unused.db'), url: postgres.url });
  const ask = async (statement: string) => {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    index,
    bytes: async () => Number((await ask('SELECT pg_database_size(current_database()) AS bytes'))[0].bytes),
    settle: async () => void (await ask('VACUUM ANALYZE')),
    async close() {
      await index.close();
      await postgres.close();
    },
  };
}

async function fill(index: LocalIndex, passages: number): Promise<number> {
  let ms = 0;
  for (let made = 0; made < passages; made += PASSAGES_PER_BATCH) {
    const some = Math.min(PASSAGES_PER_BATCH, passages - made);
    const pages = pagesOf(some, made / 5).map((page, at) =>
      at % OWNED_SHARE === 0 ? { ...page, owner: `account:${(at / OWNED_SHARE) % ACCOUNTS}` } : page,
    );
    const from = performance.now();
    for (let at = 0; at < pages.length; at += PAGES_AT_ONCE)
      await Promise.all(pages.slice(at, at + PAGES_AT_ONCE).map((page) => index.add(page)));
    await index.flush();
    ms += performance.now() - from;
    if (passages > PASSAGES_PER_BATCH) console.error(`${made + some} passages in ${(ms / 1_000).toFixed(0)} s`);
  }
  return ms;
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

async function ask(index: LocalIndex, queries: readonly string[], owners: readonly string[]) {
  const times: number[] = [];
  let failed = 0;
  for (const query of queries) {
    const from = performance.now();
    await index.search(parseQuery(query, { count: 10 }), { owners }).catch(() => failed++);
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), failed };
}

async function measure(name: string, open: (dir: string) => Promise<Place>, passages: number) {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-index-scale-'));
  const place = await open(dir);
  try {
    const addMs = await fill(place.index, passages);
    await place.settle();
    const size = await place.bytes();
    const added = Math.round((passages * 1_000) / addMs).toLocaleString('en-US');
    const rows: string[][] = [];
    for (const [kind, queries] of kindsOfQueries(Number(given.queries))) {
      const { p50, p99, failed } = await ask(place.index, queries, visibleOwners('public', '3'));
      rows.push([name, added, Math.round(size / passages).toString(), kind, ms(p50), ms(p99), String(failed)]);
    }
    return rows;
  } finally {
    await place.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

console.log(machine());
const PLACES: readonly (readonly [string, typeof inSqlite])[] = [
  ['SQLite', inSqlite],
  ['PostgreSQL', inPostgres],
  ...(given.pgvector ? ([['PostgreSQL with pgvector', inPgvector]] as const) : []),
];
for (const passages of given.passages.split(',').map(Number).filter(Boolean)) {
  const rows: string[][] = [];
  for (const [name, open] of PLACES)
    if (!given.only || name === given.only) rows.push(...(await measure(name, open, passages)));
  console.log(`\n${passages.toLocaleString('en-US')} passages, ${given.words ? 'words only' : 'words and meaning'}\n`);
  const size = `${passages}${given.words ? '.words' : ''}`;
  report(
    `index-scale.${size}`,
    ['', 'passages/s added', 'bytes a passage', 'query', 'p50 ms', 'p99 ms', 'failed'],
    rows,
  );
}
if (SMOKE) console.log('figures of a smoke run mean nothing');
