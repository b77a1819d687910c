/** Writes, removes and counts the pages of the index in SQLite. */
import type { Database, SqlValue } from '#storage/database/sqlite.ts';
import { ONLY_ALL } from '../owners.ts';
import type { PreparedPage } from '../write/prepare-page.ts';
import { FIELDS } from './fields.ts';

const PRUNED_AT_ONCE = 50;

export const idsOf = (database: Database, sql: string, values: readonly SqlValue[]): number[] =>
  database.all<{ id: number }>(sql, ...values).map(({ id }) => id);

export function createPages(database: Database) {
  function removePage(page: number): void {
    for (const { id } of database.all<{ id: number }>('SELECT id FROM passages WHERE page = ?', page)) {
      database.run('DELETE FROM terms WHERE rowid = ?', id);
      database.run('DELETE FROM vectors WHERE passage = ?', id);
    }
    database.run('DELETE FROM passages WHERE page = ?', page);
    database.run('DELETE FROM pages WHERE id = ?', page);
  }

  function write(page: PreparedPage): boolean {
    const same = database.get<{ id: number; key: string }>('SELECT id, key FROM pages WHERE hash = ?', page.hash);
    if (same) {
      database.run('UPDATE pages SET indexed_at = max(indexed_at, ?) WHERE id = ?', page.indexedAt, same.id);
      if (same.key === page.key) return false;
    }
    const before = 'SELECT id FROM pages WHERE key = ? OR (url = ? AND owner = ?)';
    for (const id of idsOf(database, before, [page.key, page.url, ONLY_ALL])) removePage(id);
    if (!same) insert(page);
    return !same;
  }

  function insert(page: PreparedPage): void {
    const { key, owner, url, host, ext, title, description, siteName, language, publishedAt, indexedAt, hash, bytes } =
      page;
    const { id } = database.get<{ id: number }>(
      `INSERT INTO pages (key, owner, url, host, path, ext, title, description, site_name, language, published_at,
         indexed_at, hash, bytes)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      key,
      owner,
      url,
      host,
      new URL(url).pathname.toLowerCase(),
      ext,
      title,
      description,
      siteName,
      language,
      publishedAt,
      indexedAt,
      hash,
      bytes,
    )!;
    for (const { heading, text, start, end, terms } of page.passages) {
      const passage = database.get<{ id: number }>(
        'INSERT INTO passages (page, heading, text, start_at, end_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
        id,
        heading,
        text,
        start,
        end,
      )!;
      database.run(
        `INSERT INTO terms (rowid, ${FIELDS.join(', ')}) VALUES (?${', ?'.repeat(FIELDS.length)})`,
        passage.id,
        ...FIELDS.map((field) => terms[field]),
      );
    }
  }

  function pruneSome(maxBytes: number): number {
    let { bytes } = database.get<{ bytes: number }>('SELECT coalesce(sum(bytes), 0) AS bytes FROM pages')!;
    if (bytes <= maxBytes) return 0;
    let removed = 0;
    const oldest = database.all<{ id: number; bytes: number }>(
      'SELECT id, bytes FROM pages ORDER BY indexed_at, id LIMIT ?',
      PRUNED_AT_ONCE,
    );
    for (const page of oldest) {
      if (bytes <= maxBytes) break;
      removePage(page.id);
      bytes -= page.bytes;
      removed += 1;
    }
    return removed;
  }

  return { write, removePage, pruneSome };
}

export function readStats(database: Database, model: string | undefined) {
  const sums = database.get<{ pages: number; bytes: number; onlyAll: number; oldestAt: number | null }>(
    `SELECT count(*) AS pages, coalesce(sum(bytes), 0) AS bytes, count(*) FILTER (WHERE owner = ?) AS onlyAll,
       min(indexed_at) AS oldestAt FROM pages`,
    ONLY_ALL,
  )!;
  const { passages } = database.get<{ passages: number }>('SELECT count(*) AS passages FROM passages')!;
  const { vectors } = database.get<{ vectors: number }>(
    'SELECT count(*) AS vectors FROM vectors WHERE ?1 IS NULL OR model = ?1',
    model ?? null,
  )!;
  const languages = database.all<{ language: string; count: number }>(
    `SELECT language, count(*) AS count FROM pages WHERE language <> '' GROUP BY language ORDER BY count DESC, language`,
  );
  return {
    ...sums,
    passages,
    vectors,
    languages: Object.fromEntries(languages.map(({ language, count }) => [language, count])),
    oldestAt: sums.oldestAt ?? undefined,
  };
}
