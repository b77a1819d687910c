import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryValues } from '#storage/shared/memory.ts';
import { openSqlValues } from '#storage/shared/sql.ts';
import type { Template } from './engines/template.ts';
import { createSiteRecords, siteOf } from './site-records.ts';

const DAY = 24 * 60 * 60 * 1_000;

const template = (more: Partial<Template> = {}): Template => ({
  code: 'aa',
  kinds: Uint32Array.of(1, 2, 0xffff_ffff),
  words: 100,
  ...more,
});
const like = template();

function memory(settings: { maxSites?: number } = {}) {
  const time = { now: Date.parse('2026-03-01') };
  const sites = createSiteRecords({
    store: createMemoryValues({ clock: () => time.now }),
    clock: () => time.now,
    ...settings,
  });
  return { time, sites, view: (url: string, keep = true) => sites.lookUp(url, like, keep) };
}

const page = (n: number) => `https://a.example/blog/page-${n}`;
const settled = { scripts: 'add nothing', compare: false };
const unknown = { scripts: 'unknown', compare: true };

describe('the record of a site', () => {
  it('needs two reads without a difference, and is reset by one with a difference', async () => {
    const { sites, view } = memory();
    expect(await view(page(1))).toEqual(unknown);
    await sites.recordComparison(page(1), like, true);
    expect(await view(page(2))).toEqual(unknown);
    await sites.recordComparison(page(2), like, true);
    expect(await view(page(3))).toEqual(settled);
    await sites.recordComparison(page(3), like, false);
    expect(await view(page(4))).toEqual({ scripts: 'add', compare: false });
  });

  it('needs more comparisons after a difference', async () => {
    const { sites, view } = memory();
    await sites.recordComparison(page(1), like, false);
    for (let at = 0; at < 3; at++) {
      await sites.recordComparison(page(1), like, true);
      expect(await view(page(1))).toEqual(unknown);
    }
    await sites.recordComparison(page(1), like, true);
    expect(await view(page(1))).toEqual(settled);
  });

  it('is checked again after 20 reads or a day', async () => {
    const { time, sites, view } = memory();
    for (const unchanged of [true, true]) await sites.recordComparison(page(1), like, unchanged);
    for (let at = 0; at < 20; at++) expect(await view(page(at)), `${at}`).toEqual(settled);
    expect(await view(page(20))).toEqual(unknown);
    await sites.recordComparison(page(20), like, true);
    expect(await view(page(20))).toEqual(settled);
    time.now += DAY;
    expect(await view(page(20))).toEqual(unknown);
    await sites.recordComparison(page(20), like, false);
    time.now += DAY;
    expect(await view(page(20))).toEqual({ scripts: 'add', compare: true });
  });

  it('ignores reads that must not be stored', async () => {
    const { sites, view } = memory();
    for (const unchanged of [true, true]) await sites.recordComparison(page(1), like, unchanged);
    for (let at = 0; at < 50; at++) expect(await view(page(at), false)).toEqual(settled);
  });

  it('is removed after a week, and when there are too many', async () => {
    const { time, sites, view } = memory({ maxSites: 100 });
    for (const unchanged of [true, true]) await sites.recordComparison(page(1), like, unchanged);
    time.now += 7 * DAY;
    expect(await view(page(1))).toEqual(unknown);
    for (let at = 0; at < 1_000; at++) {
      time.now += 1;
      await sites.recordComparison(`https://host-${at}.example/`, like, false);
    }
    const seen = await Promise.all(Array.from({ length: 1_000 }, (_, at) => view(`https://host-${at}.example/`)));
    const known = seen.map(({ scripts }) => scripts === 'add');
    expect(known.indexOf(true)).toBeGreaterThan(0);
    expect(known.slice(known.indexOf(true)).every(Boolean)).toBe(true);
    expect(known.filter(Boolean).length).toBeLessThanOrEqual(600);
  });

  it('holds only for pages that are no richer than the compared ones', async () => {
    const { sites } = memory();
    const seen = (more: Partial<Template>) => sites.lookUp(page(9), template(more), false);
    for (const unchanged of [true, true]) await sites.recordComparison(page(1), like, unchanged);
    expect(await seen({})).toEqual(settled);
    expect(await seen({ kinds: Uint32Array.of(2) })).toEqual(settled);
    expect(await seen({ words: 50 })).toEqual(settled);
    expect(await seen({ words: 49 })).toEqual(unknown);
    expect(await seen({ kinds: Uint32Array.of(1, 3) })).toEqual(unknown);
    expect(await seen({ code: 'bb' })).toEqual(unknown);
    await sites.recordComparison(page(2), template({ kinds: Uint32Array.of(3), words: 20 }), true);
    expect(await seen({ kinds: Uint32Array.of(1, 3), words: 10 })).toEqual(settled);
    await sites.recordComparison(page(3), like, false);
    for (let at = 0; at < 4; at++) await sites.recordComparison(page(4), template({ kinds: Uint32Array.of(1) }), true);
    expect(await seen({ kinds: Uint32Array.of(1) })).toEqual(settled);
    expect(await seen({ kinds: Uint32Array.of(3) })).toEqual(unknown);
  });

  it('never states that scripts add nothing right after a difference', async () => {
    const { sites, view } = memory();
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 12 }), async (outcomes) => {
        const url = `https://site-${n++}.example/`;
        for (const unchanged of outcomes) await sites.recordComparison(url, like, unchanged);
        const streak = outcomes.length - 1 - outcomes.lastIndexOf(false);
        const needed = outcomes.includes(false) ? 4 : 2;
        expect((await view(url)).scripts === 'add nothing').toBe(streak >= needed);
      }),
      { seed: 7 },
    );
  });
});

describe('a site', () => {
  it.each([
    ['https://a.example/', 'a.example/'],
    ['https://a.example', 'a.example/'],
    ['https://a.example/about', 'a.example/*'],
    ['https://a.example/contact?x=1', 'a.example/*'],
    ['https://a.example/Blog/one', 'a.example/blog/'],
    ['https://a.example/blog/', 'a.example/blog/'],
    ['https://a.example:8080/blog/2026/x', 'a.example:8080/blog/'],
    ['https://a.example/2026/03/x', 'a.example/#/'],
    ['https://a.example/0f3a9c44-aa/x', 'a.example/#/'],
  ])('of %s is %s', (url, site) => expect(siteOf(url)).toBe(site));
});

describe('the database', () => {
  it('keeps the records, without hosts and URLs', async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-sites-'));
    const file = path.join(dir, 'shared.db');
    try {
      const first = await openSqlValues({ file });
      const before = createSiteRecords({ store: first });
      for (const unchanged of [true, true])
        await before.recordComparison('https://secret-host.example/secret-page/x', like, unchanged);
      await first.close();
      for (const name of await readdir(dir))
        expect(await readFile(path.join(dir, name), 'latin1')).not.toMatch(/secret/);
      const second = await openSqlValues({ file });
      const after = createSiteRecords({ store: second });
      expect(await after.lookUp('https://secret-host.example/secret-page/y', like, true)).toEqual(settled);
      await second.close();
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it('is created again when it is damaged', async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-sites-'));
    const file = path.join(dir, 'shared.db');
    try {
      await writeFile(file, 'this is no database, but long enough to look like the beginning of one'.repeat(20));
      const store = await openSqlValues({ file });
      const sites = createSiteRecords({ store });
      await sites.recordComparison(page(1), like, false);
      expect((await sites.lookUp(page(1), like, true)).scripts).toBe('add');
      await store.close();
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
