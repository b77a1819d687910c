// Full run only: opens databases.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { type IndexEmbedder, openLocalIndex, parseQuery } from '#search/index.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import { createLog } from '#telemetry/log.ts';
import { postgresUrl, startPostgres } from '../../../test/support/services.ts';
import { type Collections, type CollectionsOptions, createCollections } from './collections.ts';
import { openDocumentIds } from './document-ids.ts';
import { collectionNames, placeOf } from './place.ts';

/** An embedder that returns the same vector for all texts, so that only words determine the search results. */
const embedder: IndexEmbedder = {
  id: 'none',
  dimensions: 64,
  spread: { mean: 0.8, deviation: 0.07 },
  weight: 1,
  embed: async (texts) => texts.map(() => new Float32Array(64)),
};
const signal = new AbortController().signal;

const hasPostgres = (await postgresUrl()) !== undefined;
const LONG_MS = 120_000;
let dir: string;
let databaseUrl: string | undefined;
let collections: Collections;
let warnings: unknown[];
const create = (shared: 'all' | 'public' = 'public', more: Partial<CollectionsOptions> = {}) =>
  createCollections({
    ...{ dir, databaseUrl, maxBytes: 1e9, shared, embedder, log: { ...createLog('silent'), warn } },
    ...more,
  });
const warn = (...said: unknown[]) => void warnings.push(said.at(-1));

async function prepare(dialect: 'files' | 'postgres'): Promise<void> {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-collections-'));
  databaseUrl = dialect === 'postgres' ? await postgresUrl() : undefined;
  warnings = [];
  collections = create();
}
afterEach(async () => {
  await collections.close();
  await rm(dir, { recursive: true, force: true });
}, LONG_MS);

const entry = (id: string, content: string, url?: string) => ({ id, url, title: '', content });
const HARBOUR = 'The harbour opens at six in the morning.';
const LIBRARY = 'The library lends books for three weeks.';

describe.each(['files', 'postgres'] as const)('a collection in %s', { timeout: LONG_MS }, (dialect) => {
  beforeEach(() => prepare(dialect), LONG_MS);
  const it = test.skipIf(dialect === 'postgres' && !hasPostgres);

  it('reports new documents, and finds them with id, URL and position', async () => {
    const documents = collections.open('documents');
    const entries = [entry('a', HARBOUR, 'https://a.example/harbour?utm_source=x#top'), entry('b', LIBRARY)];
    expect(await documents.add(entries)).toEqual([true, true]);
    expect(await documents.add(entries)).toEqual([false, false]);
    const [harbour] = await documents.search('harbour', { limit: 5, signal });
    expect(harbour).toMatchObject({ id: 'a', url: 'https://a.example/harbour', text: HARBOUR, start: 0, end: 40 });
    const [library] = await documents.search('library books', { limit: 5, signal });
    expect(library).toMatchObject({ id: 'b', title: '', text: LIBRARY });
    expect(library).not.toHaveProperty('url');
    expect(await documents.search('the', { limit: 1, signal })).toHaveLength(1);
  });

  it('finds a document with a secret URL by its id, and shows the URL only if everything is shared', async () => {
    const secret = 'https://a.example/harbour?X-Amz-Signature=abc';
    for (const [shared, url] of [
      ['public', undefined],
      ['all', secret],
      ['public', undefined],
    ] as const) {
      await collections.close();
      collections = create(shared);
      const documents = collections.open('documents');
      await documents.add([entry('a', `${HARBOUR} ${shared}`, secret)]);
      const found = await documents.search('harbour', { limit: 5, signal });
      expect(found.map(({ id, url }) => ({ id, url }))).toEqual([{ id: 'a', url }]);
    }
    const documents = collections.open('documents');
    expect(await documents.remove({ id: 'a', url: secret })).toBe(true);
    expect(await documents.search('harbour', { limit: 5, signal })).toEqual([]);
  });

  it('moves a document to a new URL, and replaces the document at a URL', async () => {
    const documents = collections.open('documents');
    await documents.add([entry('a', HARBOUR, 'https://a.example/1')]);
    await documents.add([entry('a', `${HARBOUR} It closes at ten.`, 'https://a.example/2')]);
    const found = await documents.search('harbour', { limit: 5, signal });
    expect(found.map(({ url }) => url)).toEqual(['https://a.example/2']);
    await documents.add([entry('b', LIBRARY, 'https://a.example/2')]);
    expect(await documents.search('harbour', { limit: 5, signal })).toEqual([]);
    expect(await documents.search('library', { limit: 5, signal })).toMatchObject([{ id: 'b' }]);
  });

  it('removes by id or URL, and only once', async () => {
    const documents = collections.open('documents');
    await documents.add([entry('a', HARBOUR, 'https://a.example/1'), entry('b', LIBRARY)]);
    expect(await documents.remove({ id: 'nobody', url: 'https://a.example/1' })).toBe(true);
    expect(await documents.remove({ id: 'b' })).toBe(true);
    expect(await documents.remove({ id: 'b' })).toBe(false);
    expect(await documents.search('harbour library', { limit: 5, signal })).toEqual([]);
  });

  it('outlives the server, and is separate from others', async () => {
    await collections.open('one').add([entry('a', HARBOUR)]);
    expect(await collections.open('two').search('harbour', { limit: 5, signal })).toEqual([]);
    await collections.close();
    collections = create();
    expect(await collections.open('one').search('harbour', { limit: 5, signal })).toMatchObject([{ id: 'a' }]);
  });

  it('is closed with its last user', async () => {
    const [first, second] = [collections.open('shared'), collections.open('shared')];
    await first.add([entry('a', HARBOUR)]);
    await first.close();
    await first.close();
    expect(await second.search('harbour', { limit: 5, signal })).toHaveLength(1);
    await second.close();
    await expect(second.search('harbour', { limit: 5, signal })).rejects.toThrow('closed');
    expect(await collections.open('shared').search('harbour', { limit: 5, signal })).toHaveLength(1);
  });

  it('takes many documents at once, of which the last with an id or URL counts', async () => {
    const documents = collections.open('many');
    const many = Array.from({ length: 1_200 }, (_, at) => entry(`d${at}`, `${HARBOUR} Number w${at}.`));
    const again = [
      entry('d7', 'The seventh one is new.', 'https://a.example/7'),
      entry('d8', 'The eighth one is newer.', 'https://a.example/7'),
    ];
    const added = await documents.add([...many, ...again]);
    expect(added).toHaveLength(1_202);
    expect(added.every(Boolean)).toBe(true);
    expect(await documents.search('w7', { limit: 5, signal })).toEqual([]);
    expect(await documents.search('seventh eighth', { limit: 5, signal })).toMatchObject([{ id: 'd8' }]);
    expect(await documents.search('w1199', { limit: 5, signal })).toMatchObject([{ id: 'd1199' }]);
  });
});

describe.each(['files', 'postgres'] as const)('a full collection in %s', { timeout: LONG_MS }, (dialect) => {
  beforeEach(() => prepare(dialect), LONG_MS);

  test.skipIf(dialect === 'postgres' && !hasPostgres)('forgets the ids of its oldest documents', async () => {
    await collections.close();
    collections = create('public', { maxBytes: 200_000, sweepAfter: 500 });
    const documents = collections.open('full');
    for (let from = 0; from < 2_000; from += 100)
      await documents.add(
        Array.from({ length: 100 }, (_, at) => entry(`d${from + at}`, `${HARBOUR} Number w${from + at}.`)),
      );
    expect(await documents.search('w3', { limit: 5, signal })).toEqual([]);
    for (const at of [1_990, 1_999])
      expect(await documents.search(`w${at}`, { limit: 1, signal })).toMatchObject([{ id: `d${at}` }]);
    await collections.close();
    const ids = await openDocumentIds(placeOf({ dir, databaseUrl }, 'full'));
    try {
      const left = await ids.after('', 5_000);
      expect(left.length).toBeLessThan(1_500);
      expect(left.map(({ id }) => id)).toContain('d1999');
      expect(left.map(({ id }) => id)).not.toContain('d3');
    } finally {
      await ids.close();
    }
    expect(warnings).toEqual([]);
  });
});

describe('a collection in files', () => {
  beforeEach(() => prepare('files'));

  it('is opened again after a failure', async () => {
    const obstacle = path.join(dir, 'late');
    await writeFile(obstacle, '');
    const late = collections.open('late');
    await expect(late.add([entry('a', HARBOUR)])).rejects.toThrow();
    await rm(obstacle);
    expect(await late.add([entry('a', HARBOUR)])).toEqual([true]);
  });
});

describe.skipIf(!hasPostgres)('collections in PostgreSQL', { timeout: LONG_MS }, () => {
  beforeEach(() => prepare('postgres'), LONG_MS);

  it('are shared by servers, apart from their index of pages', async () => {
    const other = create();
    const pages = await openLocalIndex({ file: '', url: databaseUrl, maxBytes: 1e9, embedder });
    try {
      await pages.add({ url: 'https://a.example/page', title: 'Page', content: HARBOUR });
      const [here, there] = [collections.open('Both-1'), other.open('Both-1')];
      expect(await here.add([entry('a', HARBOUR)])).toEqual([true]);
      expect(await there.search('harbour', { limit: 5, signal })).toMatchObject([{ id: 'a' }]);
      expect(await there.add([entry('a', HARBOUR), entry('b', LIBRARY)])).toEqual([false, true]);
      expect(await here.search('library', { limit: 5, signal })).toMatchObject([{ id: 'b' }]);
      expect(await here.remove({ id: 'a' })).toBe(true);
      expect(await there.search('harbour', { limit: 5, signal })).toEqual([]);
      expect((await pages.search(parseQuery('harbour', { count: 5 }))).map(({ url }) => url)).toEqual([
        'https://a.example/page',
      ]);
      expect(await pages.search(parseQuery('library', { count: 5 }))).toEqual([]);
    } finally {
      await pages.close();
      await other.close();
    }
  });

  it('take the same documents from two servers at the same time', async () => {
    const other = create();
    try {
      const both = [collections.open('race'), other.open('race')];
      const entriesOf = (server: number) =>
        Array.from({ length: 40 }, (_, at) =>
          entry(`d${at}`, `${HARBOUR} Number w${at}.`, `https://a.example/${at}${at % 2 ? `/${server}` : ''}`),
        );
      for (let round = 0; round < 5; round++)
        await Promise.all(both.map((documents, server) => documents.add(entriesOf(server))));
      await both[0]!.add(entriesOf(0));
      for (const at of [0, 1, 38, 39]) {
        const found = await both[1]!.search(`w${at}`, { limit: 5, signal });
        expect(found.map(({ id, url }) => [id, url])).toEqual([[`d${at}`, entriesOf(0)[at]!.url]]);
      }
    } finally {
      await other.close();
    }
  });

  it('refuse ids that the database cannot store', async () => {
    const documents = collections.open('odd');
    for (const id of ['a\0b', 'a\ud800']) {
      await expect(documents.add([entry(id, HARBOUR)])).rejects.toMatchObject({ name: 'ParamValidationError' });
      await expect(documents.remove({ id })).rejects.toThrow('id of a document');
    }
    expect(await documents.add([entry('a\ud83d\ude00', `${HARBOUR} \0`)])).toEqual([true]);
  });

  it('fail as unavailable while the database is away', async () => {
    const postgres = (await startPostgres())!;
    databaseUrl = postgres.url;
    const others = create();
    try {
      const documents = others.open('away');
      await documents.add([entry('a', HARBOUR)]);
      await postgres.kill();
      const work = [
        () => documents.search('harbour', { limit: 5, signal }),
        () => documents.add([entry('b', LIBRARY)]),
        () => documents.remove({ id: 'a' }),
      ];
      for (const call of [...work, ...work]) await expect(call()).rejects.toBeInstanceOf(DatabaseUnavailableError);
    } finally {
      await others.close();
      await postgres.close();
    }
  });

  it('are listed, and say which documents stay behind in the data folder', async () => {
    const url = databaseUrl;
    await collections.close();
    databaseUrl = undefined;
    collections = create();
    for (const name of ['left', 'other']) await collections.open(name).add([entry('a', HARBOUR)]);
    await collections.close();
    expect(await collectionNames({ dir })).toEqual(['left', 'other']);
    databaseUrl = url;
    collections = create();
    expect(await collections.open('left').search('harbour', { limit: 5, signal })).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('the data folder has documents of it')]);
    await collections.open('new').add([entry('a', HARBOUR)]);
    expect(warnings).toHaveLength(1);
    expect(await collectionNames({ dir, databaseUrl })).toEqual(['left', 'new']);
  });
});
