/**
 * `lectern migrate --to` and `--from`: an installation moves from a data folder to PostgreSQL and back, continues after
 * a kill, and is refused where it would mix or lose something.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccounts } from '#accounts/index.ts';
import { createCollections } from '#app/collections/collections.ts';
import { type CollectionsPlace, collectionsDirOf } from '#app/collections/place.ts';
import { moveInstallation } from '#app/move/move.ts';
import { MOVED, UNMOVED } from '#app/move/tables.ts';
import { openTestBucket } from '#batch/bucket.suite.ts';
import { BATCH_TABLES } from '#batch/index.ts';
import { run } from '#cli/program.ts';
import { openLocalIndex, parseQuery } from '#search/index.ts';
import { openStore } from '#storage/database/store.ts';
import { openSqlValues, SHARED_TABLES } from '#storage/shared/sql.ts';
import { createLog } from '#telemetry/log.ts';
import { sendHtml, startSite } from '../site/site.ts';
import { quietContext } from '../support/quiet-context.ts';
import { startServer } from '../support/server.ts';
import { postgresUrl, s3Bucket } from '../support/services.ts';

const LONG_MS = 240_000;
/** With the first key of the server. */
const KEYS = 451;
const PAGES = 60;
const urls = await Promise.all([postgresUrl(), postgresUrl(), postgresUrl(), postgresUrl()]);
const none = urls.includes(undefined);
let dir: string;
let dataDir: string;
let keys: string[];

async function migrate(args: readonly string[], environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const notes: string[] = [];
  const exit = await run(['migrate', '--json', ...args], {
    ...quietContext,
    environment: { LECTERN_DATA_DIR: dataDir, ...environment },
    print: (line) => void lines.push(line),
    note: (line) => void notes.push(line),
  });
  const rows = lines.length
    ? (JSON.parse(lines.join('\n')) as { table: string; rows: number; checksum: string }[])
    : [];
  return { exit, notes: notes.join('\n'), tables: Object.fromEntries(rows.map((row) => [row.table, row])) };
}

const collectionsIn = (place: CollectionsPlace) =>
  createCollections({ ...place, maxBytes: 1e9, shared: 'public', embedder: undefined, log: createLog('silent') });

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'move-'));
  if (none) return;
  // A server that was used and stopped.
  const site = await startSite({
    '/tea': ({ response }) =>
      void sendHtml(response, `<title>Tea</title><p>${'Green tea is drunk hot. '.repeat(50)}</p>`),
  });
  const server = await startServer({
    browser: 'none',
    indexMaxBytes: 0,
    allowNetworks: site.allow.join(','),
    dataDir: path.join(dir, 'data'),
  });
  dataDir = path.join(dir, 'data');
  const { accounts } = server.app.accounts;
  const account = await accounts.createAccount({ name: 'moves "ñ"', plan: 'paid', balance: 1_000 });
  keys = [];
  for (let at = 1; at < KEYS; at++) keys.push((await accounts.mintKey({ accountId: account.id, name: `${at}` })).key);
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([Buffer.alloc(600_000, 'line\n')]), 'lines.jsonl');
  const headers = { authorization: `Bearer ${keys[0]}` };
  const uploaded = await fetch(`${server.urls.compat}/v1/files`, { method: 'POST', headers, body: form });
  expect(uploaded.status).toBe(200);
  const crawl = await fetch(`${server.reader}/crawl`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'http://127.0.0.1:9/', limit: 1 }),
  });
  await crawl.text();
  // Something in the page cache.
  const read = { url: `${site.origin}/tea`, engine: 'direct' };
  const page = await fetch(server.reader, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(read),
  });
  expect(page.status).toBe(200);
  await server.app.close();
  await site.close();
  const index = await openLocalIndex({ file: path.join(dataDir, 'index', 'index.db'), maxBytes: 1e9 });
  for (let at = 0; at < PAGES; at++) {
    const content = `# Tea ${at}\n\nGreen tea number ${at} is drunk \u0000 hot.`;
    await index.add({ url: `https://a.test/${at}`, title: `Tea ${at}`, content });
  }
  await index.flush();
  await index.close();
  const collections = collectionsIn({ dir: collectionsDirOf(dataDir) });
  const documents = Array.from({ length: PAGES }, (_, at) => ({
    id: `d${at}`,
    url: at % 2 ? `https://a.test/${at}` : undefined,
    title: '',
    content: `Black tea number ${at} is drunk with milk.`,
  }));
  await collections.open('Teas').add(documents);
  await collections.close();
  const shared = await openSqlValues({ file: SHARED_TABLES.fileIn(dataDir) });
  await shared.space({ name: 'sites', maxValues: 10 }).set('a', '{"tea":"ñ"}', 3_600_000);
  await shared.close();
}, LONG_MS);
afterAll(() => rm(dir, { recursive: true, force: true }));

describe.skipIf(none)('a move', { timeout: LONG_MS }, () => {
  it('takes everything to PostgreSQL and back, so that keys still work', async () => {
    const url = urls[0]!;
    const there = await migrate(['--to', url]);
    expect([there.exit, there.notes]).toEqual(['ok', '']);
    expect(there.tables.api_keys!.rows).toBe(KEYS);
    expect(there.tables.batch_file_pieces!.rows).toBe(3);
    expect(there.tables.shared_values!.rows).toBeGreaterThan(0);
    expect(there.tables['index pages']!.rows).toBe(PAGES);
    expect(there.tables['collection Teas']!.rows).toBe(PAGES);
    const collections = collectionsIn({ dir: '', databaseUrl: url });
    const { signal } = new AbortController();
    for (const at of [16, 17])
      expect(await collections.open('Teas').search(`tea number ${at}`, { limit: 1, signal })).toMatchObject([
        { id: `d${at}` },
      ]);
    await collections.close();
    expect(there.tables['cached pages']).toMatchObject({ rows: 1, checksum: '0 left behind' });
    const index = await openLocalIndex({ file: '', url, maxBytes: 1e9 });
    expect((await index.search(parseQuery('tea number 17'), { by: ['words'] }))[0]!.url).toBe('https://a.test/17');
    await index.close();
    const moved = await openAccounts({ dataDir: path.join(dir, 'other'), databaseUrl: url });
    for (const key of [keys[0]!, keys.at(-1)!]) expect(await moved.accounts.identify(key)).toBeDefined();
    await moved.close();

    const back = await migrate(['--from', url, '--to', path.join(dir, 'back')]);
    expect([back.exit, back.tables]).toEqual(['ok', there.tables]);
    const returned = await openAccounts({ dataDir: path.join(dir, 'back') });
    expect(await returned.accounts.identify(keys[7]!)).toBeDefined();
    await returned.close();

    const again = await migrate(['--to', url]);
    expect([again.exit, again.notes]).toEqual(['failed', expect.stringContaining('not empty')]);
  });

  it('continues where it was stopped', async () => {
    const url = urls[1]!;
    const steps: [string, number][] = [];
    const stopping = moveInstallation({
      from: { dataDir },
      to: { url },
      onProgress: (table, rows) => {
        steps.push([table, rows]);
        if (table === 'api_keys') throw new Error('killed');
      },
    });
    await expect(stopping).rejects.toThrow('killed');
    const rest: [string, number][] = [];
    await moveInstallation({
      from: { dataDir },
      to: { url },
      onProgress: (table, rows) => void rest.push([table, rows]),
    });
    expect(steps.at(-1)).toEqual(['api_keys', 200]);
    expect(rest.filter(([table]) => table === 'api_keys')).toEqual([
      ['api_keys', 400],
      ['api_keys', KEYS],
    ]);
    expect(rest.map(([table]) => table)).not.toContain('accounts');
  });

  it('is refused while a server uses the source, and from two folders into one database', async () => {
    const url = urls[2]!;
    const server = await startServer({ browser: 'none', dataDir: path.join(dir, 'used') });
    const used = await migrate(['--from', path.join(dir, 'used'), '--to', url]);
    expect([used.exit, used.notes]).toEqual(['failed', expect.stringContaining('stop it first')]);
    await server.app.close();
    const begun = moveInstallation({
      from: { dataDir },
      to: { url },
      onProgress: () => {
        throw new Error('killed');
      },
    });
    await expect(begun).rejects.toThrow('killed');
    const mixed = await migrate(['--from', path.join(dir, 'used'), '--to', url]);
    expect([mixed.exit, mixed.notes]).toEqual(['failed', expect.stringContaining('another installation')]);
    const missing = await migrate(['--from', path.join(dir, 'none'), '--to', urls[3]!]);
    expect([missing.exit, missing.notes]).toEqual(['failed', expect.stringContaining('no installation')]);
    for (const args of [
      ['--to', path.join(dir, 'x')],
      ['--from', url, '--to', url],
    ])
      expect((await migrate(args)).exit).toBe('usage');
  });

  it('names a collection whose name is too long', async () => {
    const from = path.join(dir, 'long');
    const name = 'n'.repeat(64);
    await (await openAccounts({ dataDir: from })).close();
    const collections = collectionsIn({ dir: collectionsDirOf(from) });
    await collections.open(name).add([{ id: 'a', title: '', content: 'Tea.' }]);
    await collections.close();
    const refused = await migrate(['--from', from, '--to', (await postgresUrl())!]);
    expect([refused.exit, refused.notes]).toEqual(['failed', expect.stringContaining(`${name} is too long`)]);
  });

  it('finds a row that differs', async () => {
    const url = urls[3]!;
    const change = async () => {
      const [accounts] = MOVED;
      // biome-ignore lint/suspicious/noExplicitAny: a test changes any table
      const store = await openStore<any>({ url, file: '' }, accounts!.tables);
      await store.db.updateTable('api_keys').set({ name: 'changed' }).where('name', '=', '3').execute();
      await store.close();
    };
    const begun = moveInstallation({
      from: { dataDir },
      to: { url },
      onProgress: (_, rows) => {
        if (rows === KEYS) throw new Error('killed');
      },
    });
    await expect(begun).rejects.toThrow('killed');
    await change();
    const differs = await migrate(['--to', url]);
    expect([differs.exit, differs.notes]).toEqual(['failed', expect.stringContaining('api_keys differs')]);
  });

  it('takes large pieces into a bucket and back', async (context) => {
    const bucketOptions = await s3Bucket();
    const url = (await postgresUrl())!;
    if (!bucketOptions) return context.skip();
    const settings = {
      LECTERN_BLOBS_ENDPOINT: bucketOptions.endpoint!,
      LECTERN_BLOBS_ACCESS_KEY: bucketOptions.credentials!.accessKeyId,
      LECTERN_BLOBS_SECRET_KEY: bucketOptions.credentials!.secretAccessKey,
    };
    const withBucket = { ...settings, LECTERN_BLOBS_URL: bucketOptions.url };
    // A move is refused while others use the database.
    const look = async () => {
      const opened = await openTestBucket(bucketOptions, url);
      try {
        return { names: await opened.names(), referred: await opened.referred(), listed: await opened.listed() };
      } finally {
        await opened.close();
      }
    };
    const there = await migrate(['--to', url, '--blobs', bucketOptions.url], settings);
    expect([there.exit, there.notes]).toEqual(['ok', '']);
    const { names, referred, listed } = await look();
    // Cached pages are in the bucket, too.
    expect(names).toEqual(expect.arrayContaining(referred));
    expect([referred.length, listed]).toEqual([3, []]);

    const without = await migrate(['--from', url, '--to', path.join(dir, 'without')]);
    expect([without.exit, without.notes]).toEqual(['failed', expect.stringContaining('--blobs')]);
    const back = await migrate(['--from', url, '--to', path.join(dir, 'from bucket')], withBucket);
    expect([back.exit, back.tables]).toEqual(['ok', there.tables]);
    const rowsIn = async (folder: string) => {
      // biome-ignore lint/suspicious/noExplicitAny: a test reads any table
      const store = await openStore<any>({ file: BATCH_TABLES.fileIn(folder) }, BATCH_TABLES);
      const rows = await store.db.selectFrom('batch_file_pieces').selectAll().orderBy('start').execute();
      await store.close();
      return rows;
    };
    expect(await rowsIn(path.join(dir, 'from bucket'))).toEqual(await rowsIn(dataDir));

    const opened = await openTestBucket(bucketOptions, url);
    await opened.remove(referred[0]!);
    await opened.close();
    const damaged = await migrate(['--from', url, '--to', path.join(dir, 'damaged')], withBucket);
    expect([damaged.exit, damaged.notes]).toEqual(['failed', expect.stringMatching(/file file-\w+ is incomplete/)]);
  });

  it('knows all tables', async () => {
    for (const { tables, moved } of MOVED) {
      const store = await openStore({ file: tables.fileIn(dataDir) }, tables);
      const there = (await store.db.introspection.getTables()).map(({ name }) => name);
      await store.close();
      const known = [...moved.map(({ name }) => name), ...UNMOVED];
      expect([tables.module, there.filter((name) => !known.includes(name))]).toEqual([tables.module, []]);
    }
  });
});
