// Full run only: starts worker threads.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseQuery } from '../query.ts';
import { page, toyEmbedder } from './index.suite.ts';
import { openLocalIndex } from './open.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'index-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const file = () => path.join(dir, 'index/index.db');
const open = (maxBytes = 1e9) => openLocalIndex({ file: file(), maxBytes, embedder: toyEmbedder });

it('keeps pages over a restart, for their owner only', async () => {
  const first = await open();
  expect(await first.add(page('https://a.test/', 'A puppy is kept.'))).toBe(true);
  // Killing the thread would also work, because `add` has resolved.
  await first.close();
  await first.close();
  await expect(first.add(page('https://a.test/', 'Late.'))).rejects.toThrow('closed');
  expect(statSync(file()).mode & 0o077).toBe(0);
  const second = await open();
  expect((await second.search(parseQuery('puppy'))).map(({ url }) => url)).toEqual(['https://a.test/']);
  expect(await second.search(parseQuery('kitten'))).toHaveLength(1);
  await second.close();
}, 60_000);

it('can be opened twice at the same time', async () => {
  const [one, two] = await Promise.all([open(), open()]);
  await one.add(page('https://a.test/1', 'A puppy of the one.'));
  await two.add(page('https://a.test/2', 'A puppy of the two.'));
  await Promise.all([one.flush(), two.flush()]);
  for (const index of [one, two]) {
    expect(await index.search(parseQuery('puppy'), { by: ['words'] })).toHaveLength(2);
    expect(await index.search(parseQuery('kitten'), { by: ['meaning'] })).toHaveLength(2);
  }
  await Promise.all([one.close(), two.close()]);
}, 60_000);

it('stays within its size limit', async () => {
  const index = await open(200_000);
  for (let at = 0; at < 40; at++)
    await index.add(page(`https://a.test/${at}`, `Page ${at}. ${`word${at} `.repeat(1_500)}`));
  const { bytes, pages } = await index.stats();
  expect(bytes).toBeLessThanOrEqual(200_000);
  expect(pages).toBeGreaterThan(3);
  expect(await index.search(parseQuery('word39'))).toHaveLength(1);
  expect(await index.search(parseQuery('word0'), { by: ['words'] })).toEqual([]);
  await index.close();
}, 60_000);

it('replaces a damaged file', async () => {
  const first = await open();
  await first.close();
  writeFileSync(file(), 'no database at all, but of some length'.repeat(100));
  const second = await open();
  await second.add(page('https://a.test/', 'A puppy again.'));
  expect(await second.search(parseQuery('puppy'))).toHaveLength(1);
  await second.close();
}, 60_000);

it('replaces a file that turns out to be damaged in use', async () => {
  const first = await open();
  for (let at = 0; at < 40; at++) await first.add(page(`https://a.test/${at}`, `A puppy. ${`word${at} `.repeat(500)}`));
  await first.close();
  const bytes = readFileSync(file());
  // The first page of the file contains the header and the tables, so the file can still be opened.
  writeFileSync(file(), bytes.fill(0xa5, 16_384));
  const second = await open();
  await expect(second.search(parseQuery('puppy'))).rejects.toThrow();
  await second.add(page('https://a.test/', 'A puppy again.'));
  expect((await second.search(parseQuery('puppy'))).map(({ url }) => url)).toEqual(['https://a.test/']);
  await second.close();
}, 60_000);

it('rejects if the folder cannot be used', async () => {
  writeFileSync(path.join(dir, 'index'), 'a file');
  await expect(open()).rejects.toThrow();
}, 60_000);
