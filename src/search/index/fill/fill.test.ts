import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlockedKind } from '#reader/index.ts';
import { exclusionOf, toIndexablePage } from './indexable.ts';
import { openJournal } from './journal.ts';

describe('the journal', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'journal-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('returns the entries of earlier runs, without an incomplete last line', async () => {
    const file = path.join(dir, 'below/journal.jsonl');
    const first = await openJournal(file);
    expect(first.before).toEqual([]);
    await Promise.all([first.write({ url: 'a' }), first.write({ url: 'b', found: ['c'] })]);
    await writeFile(file, `${await readFile(file, 'utf8')}{"url": "cut`);
    const second = await openJournal(file);
    expect(second.before).toEqual([{ url: 'a' }, { url: 'b', found: ['c'] }]);
    await second.write({ url: 'd' });
    expect((await openJournal(file)).before.map(({ url }) => url)).toEqual(['a', 'b', 'd']);
    await second.remove();
    expect((await openJournal(file)).before).toEqual([]);
  });
});

it('a page of the reader can be indexed if it has Markdown', () => {
  const page = {
    title: 'T',
    description: 'D',
    url: 'https://a.test/',
    content: 'Words.',
    publishedTime: '2026-01-02T03:04:05Z',
    metadata: { 'lectern:canonicalUrl': 'https://a.test/c', 'lectern:language': 'de', 'lectern:siteName': 'A' },
    usage: { tokens: 1 },
  };
  expect(toIndexablePage(page)).toEqual({
    url: 'https://a.test/',
    canonicalUrl: 'https://a.test/c',
    title: 'T',
    description: 'D',
    content: 'Words.',
    language: 'de',
    siteName: 'A',
    publishedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  });
  expect(toIndexablePage({ ...page, content: '' })).toBeUndefined();
  expect(toIndexablePage({ ...page, url: 'blob:abc' })).toBeUndefined();
  expect(toIndexablePage({ ...page, publishedTime: 'yesterday' })).not.toHaveProperty('publishedAt');
});

it('a page that is not the content is left out, and removed if the content is gone', () => {
  const of = (kind: BlockedKind) => {
    const blocked = { kind, by: 'generic' };
    const page = { title: '', url: 'https://a.test/', description: '', content: 'x', blocked, usage: { tokens: 0 } };
    return exclusionOf({ page, body: '', tokens: 0, status: 200 }, false);
  };
  expect(of('challenge')).toEqual({ isPermanent: false, reason: 'is not the content: challenge' });
  expect(of('not-found')?.isPermanent).toBe(true);
});

it('only the page itself and its status exclude it', () => {
  const hindered = (robots: string, status = 200, noStore = false, robotsTag?: string) =>
    exclusionOf(
      {
        page: {
          title: '',
          url: 'https://a.test/',
          description: '',
          content: 'x',
          metadata: { robots },
          usage: { tokens: 0 },
        },
        body: '',
        tokens: 0,
        status,
        noStore,
        robotsTag,
      },
      false,
    );
  for (const robots of ['', 'index, follow', 'max-image-preview:none', 'max-snippet:-1, max-image-preview: none'])
    expect([robots, hindered(robots)]).toEqual([robots, undefined]);
  for (const robots of ['noindex', 'NOINDEX,nofollow', 'noindex nofollow', 'follow, none', 'noarchive'])
    expect([robots, hindered(robots)?.isPermanent]).toEqual([robots, true]);
  expect(hindered('', 200, false, 'noindex, nofollow')?.isPermanent).toBe(true);
  expect(hindered('', 200, false, 'somebot: noindex')).toBeUndefined();
  expect(hindered('', 410)?.isPermanent).toBe(true);
  expect(hindered('', 503)?.isPermanent).toBe(false);
  expect(hindered('', 200, true)?.reason).toBe('forbids copies');
});
