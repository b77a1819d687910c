import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '#storage/database/sqlite.ts';
import { parseQuery } from '../../query.ts';
import { createEngine } from '../engine.ts';
import { indexSuite, page } from '../index.suite.ts';
import { localIndexOver } from '../open.ts';
import { visibleOwners } from '../owners.ts';
import { openSqliteIndex } from './sqlite-index.ts';
import { SQLITE_MIGRATIONS } from './sqlite-migrations.ts';

indexSuite('the local index in SQLite', { open: () => openSqliteIndex(':memory:') });

it('shares only the operator’s pages of a file without owners, until pages are read again', async () => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-old-index-'));
  const file = path.join(dir, 'index.db');
  const old = await openDatabase(file, SQLITE_MIGRATIONS.slice(0, 1));
  for (const [id, url] of ['https://a.test/share', 'file:///docs/tea.md'].entries()) {
    old.run(
      `INSERT INTO pages (id, url, host, path, ext, title, description, site_name, language, indexed_at, hash, bytes)
       VALUES (?, ?, 'test.a.', '/', '', 'Tea', '', '', 'en', 1, ?, 100)`,
      id + 1,
      url,
      `hash ${id}`,
    );
    old.run(`INSERT INTO passages VALUES (?, ?, '', 'Green tea.', 0, 10)`, id + 1, id + 1);
    old.run(`INSERT INTO terms (rowid, body) VALUES (?, 'green tea')`, id + 1);
  }
  old.close();
  const index = localIndexOver(createEngine({ store: await openSqliteIndex(file), maxBytes: 1e9 }));
  const found = async (owners?: readonly string[]) =>
    (await index.search(parseQuery('green tea'), { owners })).map(({ url }) => url).sort();
  expect(await found(visibleOwners('public', 'a'))).toEqual(['file:///docs/tea.md']);
  expect(await found(visibleOwners('none', 'a'))).toEqual(['file:///docs/tea.md']);
  expect(await found(visibleOwners('all', undefined))).toEqual(['file:///docs/tea.md', 'https://a.test/share']);
  expect((await index.stats()).onlyAll).toBe(1);
  await index.add(page('https://a.test/share', 'Green tea.', { title: 'Tea' }));
  expect(await found(visibleOwners('public', undefined))).toEqual(['file:///docs/tea.md', 'https://a.test/share']);
  expect(await index.stats()).toMatchObject({ pages: 2, onlyAll: 0 });
  await index.close();
  await rm(dir, { recursive: true });
});
