import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openPostgres } from '#storage/database/postgres.ts';
import { postgresUrl } from '../../../../test/support/services.ts';
import { parseQuery } from '../../query.ts';
import { createEngine } from '../engine.ts';
import { indexSuite, page } from '../index.suite.ts';
import { localIndexOver } from '../open.ts';
import { visibleOwners } from '../owners.ts';
import { filtersOf } from '../query/filters.ts';
import { querySlots } from '../text/terms.ts';
import { preparePage } from '../write/prepare-page.ts';
import { openPostgresIndex } from './postgres-index.ts';
import { POSTGRES_MIGRATIONS } from './postgres-migrations.ts';
import { openSqliteIndex } from './sqlite-index.ts';

const url = await postgresUrl();
const oldUrl = await postgresUrl();

describe.skipIf(!url)('shared', () => {
  indexSuite('the local index in PostgreSQL', {
    async open() {
      const store = await openPostgresIndex(url!);
      await store.clear();
      return store;
    },
  });

  it('ranks a selection of the passages with frequent words: rare words, several words and titles come first', async () => {
    const store = await openPostgresIndex(url!, undefined, { maxCandidates: 4 });
    await store.clear();
    const index = localIndexOver(createEngine({ store, maxBytes: 1e9 }));
    const filler = Array.from({ length: 40 }, (_, at) => page(`https://a.test/${at}`, `Green ${at}.`));
    const others = Array.from({ length: 40 }, (_, at) => page(`https://b.test/${at}`, `Tea ${at}.`));
    await Promise.all(
      [
        ...filler,
        ...others,
        page('https://c.test/both', 'Green leaves, and tea.'),
        page('https://c.test/title', 'Something else.', { title: 'Tea', owner: 'account:me' }),
        page('https://c.test/rare', 'Green gunpowder.'),
      ].map((one) => index.add(one)),
    );
    const found = async (text: string, owners?: readonly string[]) =>
      (await index.search(parseQuery(text, { count: 50 }), { owners })).map((hit) => hit.url);
    expect((await found('gunpowder tea')).slice(0, 1)).toEqual(['https://c.test/rare']);
    const both = await found('green tea');
    expect(both.slice(0, 2).sort()).toEqual(['https://c.test/both', 'https://c.test/title']);
    expect(both.length).toBeLessThan(10);
    expect(await found('green tea', ['public'])).not.toContain('https://c.test/title');
    expect((await found('tea'))[0]).toBe('https://c.test/title');
    // Filters apply before passages are selected.
    expect(await found('tea site:c.test')).toEqual(['https://c.test/title', 'https://c.test/both']);
    await index.close();
  });

  it('ranks passages by BM25 like the index in SQLite', async () => {
    const stores = [await openPostgresIndex(url!), await openSqliteIndex(':memory:')];
    const pages = Array.from({ length: 40 }, (_, at) => {
      const text = `${'tea '.repeat(at % 5)}${'green leaves '.repeat((at * 7) % 23)}in cup ${at}.`;
      return preparePage(
        page(`https://a.test/${at}`, text, { title: at % 11 === 0 ? `Tea ${at}` : `Page ${at}` }),
        0,
        0,
      )!;
    });
    const slots = querySlots('tea', ['en'], 10);
    const [postgres, sqlite] = await Promise.all(
      stores.map(async (store) => {
        await store.clear();
        await store.write(pages);
        const { matches } = await store.byWords(slots, filtersOf(parseQuery('tea'), [], undefined), 100);
        const rows = new Map((await store.rows(matches.map(({ id }) => id))).map((row) => [row.id, row.url]));
        await store.close();
        return new Map(matches.map(({ id, score }) => [rows.get(id)!, score]));
      }),
    );
    expect(postgres!.size).toBe(33);
    expect([...postgres!.keys()].sort()).toEqual([...sqlite!.keys()].sort());
    // The two weigh a word of a query differently, which is a factor of all scores.
    const factors = [...postgres!].map(([address, score]) => score / sqlite!.get(address)!);
    expect(Math.max(...factors) / Math.min(...factors)).toBeCloseTo(1, 6);
  });

  it('shares only the operator’s pages of tables without owners, until pages are read again', async () => {
    const old = await openPostgres(oldUrl!, { module: 'index', migrations: POSTGRES_MIGRATIONS.slice(0, 1) });
    for (const [id, address] of ['https://a.test/share', 'file:///docs/tea.md'].entries()) {
      await sql`INSERT INTO index_pages (url, host, path, ext, title, description, site_name, language, indexed_at, hash, bytes)
        VALUES (${address}, 'test.a.', '/', '', 'Tea', '', '', 'en', 1, ${`hash ${id}`}, 100)`.execute(old.db);
      await sql`INSERT INTO index_passages (page, heading, text, start_at, end_at, terms)
        SELECT id, '', 'Green tea.', 0, 10, '''green'':1C ''tea'':2C'::tsvector FROM index_pages WHERE url = ${address}`.execute(
        old.db,
      );
    }
    await old.close();
    const index = localIndexOver(createEngine({ store: await openPostgresIndex(oldUrl!), maxBytes: 1e9 }));
    const found = async (owners?: readonly string[]) =>
      (await index.search(parseQuery('green tea'), { owners })).map((hit) => hit.url).sort();
    expect(await found(visibleOwners('public', 'a'))).toEqual(['file:///docs/tea.md']);
    expect(await found(visibleOwners('all', undefined))).toEqual(['file:///docs/tea.md', 'https://a.test/share']);
    await index.add(page('https://a.test/share', 'Green tea.', { title: 'Tea' }));
    expect(await found(visibleOwners('public', undefined))).toEqual(['file:///docs/tea.md', 'https://a.test/share']);
    expect(await index.stats()).toMatchObject({ pages: 2, onlyAll: 0 });
    await index.close();
  });
});
