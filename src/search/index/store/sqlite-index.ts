/** The index in a SQLite file: pages and passages in tables, terms in FTS5, vectors as bytes. */
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import type { IndexStore, PassageRow, StoredPage } from './index-store.ts';
import { conditionsOf } from './sqlite-conditions.ts';
import { SQLITE_MIGRATIONS } from './sqlite-migrations.ts';
import { createPages, idsOf, readStats } from './sqlite-pages.ts';
import { vectorQueries } from './sqlite-vectors.ts';
import { createWordSearch } from './sqlite-words.ts';

const PASSAGE_ROWS = `SELECT p.id, p.page, p.heading, p.text, p.start_at AS start, p.end_at AS "end", g.url, g.title,
  g.description, g.site_name AS siteName, g.language, g.published_at AS publishedAt
  FROM passages p JOIN pages g ON g.id = p.page`;

/** Throws if the folder cannot be used. A damaged file is renamed and replaced by a new one. */
export async function openSqliteIndex(file: string, log?: Pick<Log, 'warn'>): Promise<IndexStore> {
  if (file !== ':memory:') {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, 'a', 0o600)).close();
  }
  const database = await openDatabase(file, SQLITE_MIGRATIONS, { disposable: true, log });
  const pages = createPages(database);
  const words = createWordSearch(database);
  return {
    // SQLite has one writer at a time.
    overlap: 0,
    write: async (prepared) => database.transaction(() => prepared.map((page) => pages.write(page))),
    remove: async (url) =>
      database.transaction(() => {
        const found = idsOf(database, 'SELECT id FROM pages WHERE url = ?', [url]);
        for (const id of found) pages.removePage(id);
        return found.length > 0;
      }),
    byWords: async (slots, filters, limit) => words.byWords(slots, filters, limit),
    coverage: async (slots, ids) => words.coverage(slots, ids),
    async pagesOf(ids) {
      const found = database.all<{ id: number; page: number }>(
        'SELECT id, page FROM passages INDEXED BY passages_with_page WHERE id IN (SELECT value FROM json_each(?))',
        JSON.stringify(ids),
      );
      return new Map(found.map(({ id, page }) => [id, page]));
    },
    async filteredIds(filters) {
      const where = conditionsOf(filters);
      return idsOf(
        database,
        `SELECT p.id FROM passages p JOIN pages g ON g.id = p.page WHERE ${where.sql}`,
        where.values,
      );
    },
    async newest(filters, limit) {
      const where = conditionsOf(filters);
      const sql = `SELECT (SELECT min(p.id) FROM passages p WHERE p.page = g.id) AS id FROM pages g
        WHERE ${where.sql} ORDER BY g.indexed_at DESC, g.id DESC LIMIT ?`;
      return idsOf(database, sql, [...where.values, limit]);
    },
    rows: async (ids) =>
      database.all<PassageRow>(`${PASSAGE_ROWS} WHERE p.id IN (SELECT value FROM json_each(?))`, JSON.stringify(ids)),
    storedPages: async (after, limit) => {
      const columns = `id, key, owner, url, host, ext, title, description, site_name AS siteName, language,
        published_at AS publishedAt, indexed_at AS indexedAt, hash, bytes`;
      const found = database.all<Omit<StoredPage, 'passages'>>(
        `SELECT ${columns} FROM pages WHERE id > ? ORDER BY id LIMIT ?`,
        ...[after, limit],
      );
      return found.map((page) => ({
        ...page,
        passages: database.all<StoredPage['passages'][number]>(
          'SELECT heading, text, start_at AS start, end_at AS "end" FROM passages WHERE page = ? ORDER BY id',
          page.id,
        ),
      }));
    },
    textsOf: async (page) =>
      database
        .all<{ text: string }>('SELECT text FROM passages WHERE page = ? ORDER BY id', page)
        .map(({ text }) => text),
    ...vectorQueries(database),
    urlsAmong: async (urls) =>
      database
        .all<{ url: string }>(
          'SELECT DISTINCT url FROM pages WHERE url IN (SELECT value FROM json_each(?))',
          JSON.stringify(urls),
        )
        .map(({ url }) => url),
    stats: async (model) => readStats(database, model),
    async languages() {
      const found = database.all<{ language: string; count: number }>(
        'SELECT language, count(*) AS count FROM pages GROUP BY language ORDER BY count DESC, language',
      );
      return new Map(found.map(({ language, count }) => [language, count]));
    },
    bytes: async () => database.get<{ bytes: number }>('SELECT coalesce(sum(bytes), 0) AS bytes FROM pages')!.bytes,
    async prune(maxBytes) {
      let pruned = 0;
      for (let removed = 1; removed > 0; pruned += removed) {
        removed = database.transaction(() => pages.pruneSome(maxBytes));
        // Yields to the event loop between batches.
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (pruned > 0) database.checkpoint();
      return pruned;
    },
    async clear() {
      database.transaction(() => {
        database.run(`INSERT INTO terms (terms) VALUES ('delete-all')`);
        for (const table of ['vectors', 'passages', 'pages']) database.run(`DELETE FROM ${table}`);
      });
      database.execute('VACUUM');
      database.checkpoint();
    },
    close: async () => database.close(),
  };
}
