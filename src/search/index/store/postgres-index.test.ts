import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openPostgres } from '#storage/database/postgres.ts';
import { postgresUrl } from '../../../../test/support/services.ts';
import { parseQuery } from '../../query.ts';
import { createEngine } from '../engine.ts';
import { indexSuite, page } from '../index.suite.ts';
import { localIndexOver } from '../open.ts';
import { visibleOwners } from '../owners.ts';
import { openPostgresIndex } from './postgres-index.ts';
import { POSTGRES_MIGRATIONS } from './postgres-migrations.ts';

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
