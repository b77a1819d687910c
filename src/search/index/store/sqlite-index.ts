/** The index in a SQLite file: pages and passages in tables, terms in FTS5, vectors as bytes. */
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { type Database, openDatabase, type SqlValue } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import { ONLY_ALL, OPERATOR } from '../owners.ts';
import { type Filters, isUnfiltered } from '../query/filters.ts';
import type { Slot } from '../text/terms.ts';
import type { Field, PreparedPage } from '../write/prepare-page.ts';
import type { CodeRow, IndexStore, PassageRow, UnembeddedRow } from './index-store.ts';
import { conditionsOf, marks, matchOf } from './sqlite-conditions.ts';

/** Weight of a term in each field, in the order of the columns of the FTS5 table. */
const FIELD_WEIGHTS: Readonly<Record<Field, number>> = {
  title: 3,
  heading: 2,
  body: 1,
  also: 0.7,
  address: 0.5,
};
const FIELDS = Object.keys(FIELD_WEIGHTS) as Field[];

/**
 * The `ascii` tokenizer keeps terms as they are: they consist of letters and digits, and it keeps non-ASCII characters.
 */
export const SQLITE_MIGRATIONS = [
  `
  CREATE TABLE pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, path TEXT NOT NULL,
    ext TEXT NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL, site_name TEXT NOT NULL, language TEXT NOT NULL,
    published_at INTEGER, indexed_at INTEGER NOT NULL, hash TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL
  );
  CREATE INDEX pages_by_host ON pages (host);
  CREATE INDEX pages_by_age ON pages (indexed_at, bytes);
  CREATE INDEX pages_by_language ON pages (language);
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, page INTEGER NOT NULL REFERENCES pages (id), heading TEXT NOT NULL,
    text TEXT NOT NULL, start_at INTEGER NOT NULL, end_at INTEGER NOT NULL
  );
  CREATE INDEX passages_by_page ON passages (page);
  CREATE VIRTUAL TABLE terms USING fts5 (
    ${FIELDS.join(', ')}, content='', contentless_delete=1, tokenize='ascii'
  );
  CREATE VIRTUAL TABLE term_counts USING fts5vocab (terms, row);
  CREATE TABLE vectors (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, passage INTEGER NOT NULL UNIQUE, model TEXT NOT NULL, code BLOB NOT NULL
  );
  `,
  // The URLs by which earlier pages were read are unknown; files were added by the operator.
  `
  ALTER TABLE pages RENAME COLUMN url TO key;
  ALTER TABLE pages ADD COLUMN url TEXT NOT NULL DEFAULT '';
  ALTER TABLE pages ADD COLUMN owner TEXT NOT NULL DEFAULT '${ONLY_ALL}';
  UPDATE pages SET url = key, owner = iif(key LIKE 'file:%', '${OPERATOR}', '${ONLY_ALL}');
  CREATE INDEX pages_by_url ON pages (url);
  CREATE INDEX pages_by_owner ON pages (owner);
  `,
];

const BM25 = `bm25(terms, ${Object.values(FIELD_WEIGHTS).join(', ')})`;
const PRUNED_AT_ONCE = 50;
/** A word is frequent if more than this share of all passages have it, and at least this many. */
const FREQUENT_SHARE = 1 / 8;
const FREQUENT_AT_LEAST = 2_000;

/** Throws if the folder cannot be used. A damaged file is moved aside and replaced by a new one. */
export async function openSqliteIndex(file: string, log?: Pick<Log, 'warn'>): Promise<IndexStore> {
  if (file !== ':memory:') {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, 'a', 0o600)).close();
  }
  const database = await openDatabase(file, SQLITE_MIGRATIONS, { disposable: true, log });
  const rows = createRows(database);
  return {
    write: async (pages) => database.transaction(() => pages.map((page) => rows.write(page))),
    remove: async (url) =>
      database.transaction(() => {
        const found = idsOf(database, 'SELECT id FROM pages WHERE url = ?', [url]);
        for (const id of found) rows.removePage(id);
        return found.length > 0;
      }),
    byWords: async (slots, filters, limit) => rows.byWords(slots, filters, limit),
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
    textsOf: async (page) =>
      database
        .all<{ text: string }>('SELECT text FROM passages WHERE page = ? ORDER BY id', page)
        .map(({ text }) => text),
    withoutVector: async (model, after, limit) =>
      database.all<UnembeddedRow>(
        `SELECT p.id, g.title, p.heading, p.text FROM passages p JOIN pages g ON g.id = p.page
         WHERE p.id > ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage = p.id AND v.model = ?)
         ORDER BY p.id LIMIT ?`,
        after,
        model,
        limit,
      ),
    async writeCodes(model, codes) {
      database.transaction(() => {
        for (const { id, code } of codes) {
          database.run(
            `INSERT OR REPLACE INTO vectors (passage, model, code)
             SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM passages WHERE id = ?)`,
            id,
            model,
            code,
            id,
          );
        }
      });
    },
    codesFrom: async (model, seq, limit) =>
      database.all<CodeRow>(
        `SELECT v.seq, v.passage AS id, v.code, g.owner
         FROM vectors v JOIN passages p ON p.id = v.passage JOIN pages g ON g.id = p.page
         WHERE v.seq >= ? AND v.model = ? ORDER BY v.seq LIMIT ?`,
        seq,
        model,
        limit,
      ),
    async codes(model, ids) {
      const found = database.all<{ id: number; code: Uint8Array }>(
        'SELECT passage AS id, code FROM vectors WHERE model = ? AND passage IN (SELECT value FROM json_each(?))',
        model,
        JSON.stringify(ids),
      );
      return new Map(found.map(({ id, code }) => [id, code]));
    },
    stats: async (model) => rows.stats(model),
    async prune(maxBytes) {
      let pruned = 0;
      for (let removed = 1; removed > 0; pruned += removed) {
        removed = database.transaction(() => rows.pruneSome(maxBytes));
        // Yields to the event loop between two batches.
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

const PASSAGE_ROWS = `SELECT p.id, p.page, p.heading, p.text, p.start_at AS start, p.end_at AS "end", g.url, g.title,
  g.description, g.site_name AS siteName, g.language, g.published_at AS publishedAt
  FROM passages p JOIN pages g ON g.id = p.page`;

const idsOf = (database: Database, sql: string, values: readonly SqlValue[]): number[] =>
  database.all<{ id: number }>(sql, ...values).map(({ id }) => id);

function createRows(database: Database) {
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

  /** The number of passages with the terms of a slot, summed over the terms. */
  function frequencyOf({ terms, prefix }: Slot): number {
    if (prefix) return 0;
    return database.get<{ sum: number }>(
      'SELECT coalesce(sum(doc), 0) AS sum FROM term_counts WHERE term IN (SELECT value FROM json_each(?))',
      JSON.stringify(terms),
    )!.sum;
  }

  /** Leaves out frequent words if there are rarer ones: scoring takes time for each passage that has a word. */
  function dropFrequent(slots: readonly Slot[]): readonly Slot[] {
    const { last } = database.get<{ last: number }>('SELECT coalesce(max(id), 0) AS last FROM passages')!;
    const bound = Math.max(FREQUENT_AT_LEAST, last * FREQUENT_SHARE);
    const rare = slots.filter((slot) => frequencyOf(slot) <= bound);
    return rare.some((slot) => slot.prefix || frequencyOf(slot) > 0) ? rare : slots;
  }

  function byWords(slots: readonly Slot[], filters: Filters, limit: number): number[] {
    if (slots.length === 0) return [];
    const match = dropFrequent(slots).map(matchOf).join(' OR ');
    if (isUnfiltered(filters)) {
      const { owners } = filters;
      // A lookup for each match, since most pages match any owner.
      const owned = owners
        ? `AND (SELECT g.owner FROM passages p JOIN pages g ON g.id = p.page WHERE p.id = terms.rowid) IN (${marks(owners)})`
        : '';
      const sql = `SELECT rowid AS id FROM terms WHERE terms MATCH ? ${owned} ORDER BY ${BM25} LIMIT ?`;
      return idsOf(database, sql, [match, ...(owners ?? []), limit]);
    }
    const where = conditionsOf(filters);
    // The unary plus makes SQLite look up the words once, not for each passage that matches the filters.
    const sql = `SELECT rowid AS id FROM terms WHERE terms MATCH ? AND +rowid IN (
      SELECT p.id FROM passages p JOIN pages g ON g.id = p.page WHERE ${where.sql}) ORDER BY ${BM25} LIMIT ?`;
    return idsOf(database, sql, [match, ...where.values, limit]);
  }

  function stats(model: string | undefined) {
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

  return { write, removePage, byWords, stats, pruneSome };
}
