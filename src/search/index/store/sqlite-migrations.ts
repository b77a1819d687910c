/** Tables of the index in SQLite. */
import { ONLY_ALL, OPERATOR } from '../owners.ts';
import { FIELDS } from './fields.ts';

/**
 * The `ascii` tokenizer does not change terms: they consist of letters and digits, and it treats non-ASCII characters
 * as letters.
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
  // The URLs under which existing pages were read are unknown. Files were added by the operator.
  `
  ALTER TABLE pages RENAME COLUMN url TO key;
  ALTER TABLE pages ADD COLUMN url TEXT NOT NULL DEFAULT '';
  ALTER TABLE pages ADD COLUMN owner TEXT NOT NULL DEFAULT '${ONLY_ALL}';
  UPDATE pages SET url = key, owner = iif(key LIKE 'file:%', '${OPERATOR}', '${ONLY_ALL}');
  CREATE INDEX pages_by_url ON pages (url);
  CREATE INDEX pages_by_owner ON pages (owner);
  `,
  // A passage or page takes much more space than these columns, which are looked up for each match of a query.
  `
  CREATE INDEX passages_with_page ON passages (id, page);
  CREATE INDEX pages_with_owner ON pages (id, owner);
  `,
];
