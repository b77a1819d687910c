// Full run only: opens databases.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IndexEmbedder } from '#search/index.ts';
import { createLog } from '#telemetry/log.ts';
import { type Collections, createCollections } from './collections.ts';

/** An embedder that returns the same vector for all texts, so that only words determine the search results. */
const embedder: IndexEmbedder = {
  id: 'none',
  dimensions: 64,
  spread: { mean: 0.8, deviation: 0.07 },
  weight: 1,
  embed: async (texts) => texts.map(() => new Float32Array(64)),
};
const signal = new AbortController().signal;

let dir: string;
let collections: Collections;
const create = (shared: 'all' | 'public' = 'public') =>
  createCollections({ dir, maxBytes: 1e9, shared, embedder, log: createLog('silent') });

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-collections-'));
  collections = create();
});
afterEach(async () => {
  await collections.close();
  await rm(dir, { recursive: true, force: true });
});

const entry = (id: string, content: string, url?: string) => ({ id, url, title: '', content });
const HARBOUR = 'The harbour opens at six in the morning.';
const LIBRARY = 'The library lends books for three weeks.';

describe('a collection', () => {
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

  it('is stored on disk, separately from others', async () => {
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

  it('is opened again after a failure', async () => {
    const obstacle = path.join(dir, 'late');
    await writeFile(obstacle, '');
    const late = collections.open('late');
    await expect(late.add([entry('a', HARBOUR)])).rejects.toThrow();
    await rm(obstacle);
    expect(await late.add([entry('a', HARBOUR)])).toEqual([true]);
  });
});
