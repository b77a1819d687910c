/**
 * Records from earlier reads of whether the scripts of a site add content to the HTML that its server sends. Records
 * are stored for a week after the last comparison, under a hash of the host, the kind of path and the scripts of the
 * page; URLs are not stored.
 * A record that scripts add nothing applies only to pages with no more content than the pages that were compared.
 */
import { createHash } from 'node:crypto';
import { type Database, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import { MAX_ELEMENT_KINDS, type Template } from './engines/template.ts';

export interface SiteRecords {
  /**
   * Returns the known data about similar pages, and whether to render this page too, for a comparison. With `keep`, the
   * read counts toward the next comparison; without it, nothing is stored.
   */
  lookUp(url: string, template: Template, keep: boolean): SiteView;
  /** Records the result of a comparison; `unchanged` means that rendering made no difference. */
  recordComparison(url: string, template: Template, unchanged: boolean): void;
  close(): void;
}

export interface SiteView {
  readonly scripts: 'add nothing' | 'add' | 'unknown';
  readonly compare: boolean;
}

export interface SiteRecordsOptions {
  /** Path of the database, or `:memory:`. */
  readonly file: string;
  readonly maxSites?: number;
  readonly clock?: () => number;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/**
 * Number of comparisons without a difference after which scripts are considered irrelevant. One page may be unchanged
 * by chance, but rarely two. A site with an earlier difference needs more comparisons.
 */
const COMPARISONS = 2;
const COMPARISONS_AFTER_DIFFERENCE = 4;
/** Number of reads, and time, after which a site is compared again. */
const MAX_READS_BETWEEN = 20;
const MAX_AGE_MS = 24 * 60 * 60 * 1_000;
const RETENTION_MS = 7 * MAX_AGE_MS;
const SWEEP_EVERY = 500;

const MIGRATIONS = [
  `CREATE TABLE sites (
    key BLOB PRIMARY KEY,
    streak INTEGER NOT NULL,
    differed INTEGER NOT NULL,
    reads INTEGER NOT NULL,
    compared_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sites_by_age ON sites (compared_at);`,
  `DROP TABLE sites;
  CREATE TABLE sites (
    key BLOB PRIMARY KEY,
    streak INTEGER NOT NULL,
    differed INTEGER NOT NULL,
    reads INTEGER NOT NULL,
    compared_at INTEGER NOT NULL,
    kinds BLOB NOT NULL,
    words INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sites_by_age ON sites (compared_at);`,
];

interface Row {
  /** Number of consecutive comparisons without a difference. */
  readonly streak: number;
  readonly differed: number;
  /** Number of reads since the last comparison. */
  readonly reads: number;
  readonly compared_at: number;
  /** Kinds of elements on the compared pages, as 32-bit hashes. */
  readonly kinds: Uint8Array;
  /** Smallest word count of the main content among the compared pages. */
  readonly words: number;
}

const UNKNOWN: SiteView = { scripts: 'unknown', compare: true };

/** The records can be collected again, so a damaged file is replaced, and a store that fails returns `unknown`. */
export async function openSiteRecords({
  file,
  maxSites = 20_000,
  clock = Date.now,
  log,
}: SiteRecordsOptions): Promise<SiteRecords> {
  const database = await openDatabase(file, MIGRATIONS, { disposable: true, log });
  sweep(database, clock(), maxSites);
  let notes = 0;
  let closed = false;

  const safely = <Result>(work: () => Result, fallback: Result): Result => {
    // A comparison runs in parallel with its read, and may finish after the store was closed.
    if (closed) return fallback;
    try {
      return work();
    } catch (error) {
      log?.warn({ err: error }, 'site records could not be read or written');
      return fallback;
    }
  };

  return {
    lookUp: (url, template, keep) =>
      safely(() => {
        const key = keyOf(url, template);
        const row = find(database, key);
        if (!row || clock() - row.compared_at >= RETENTION_MS) return UNKNOWN;
        if (keep) countRead(database, key);
        return viewOf(row, template, clock());
      }, UNKNOWN),
    recordComparison: (url, template, unchanged) =>
      safely(() => {
        const key = keyOf(url, template);
        const before = unchanged ? find(database, key) : undefined;
        write(database, key, { ...(unchanged ? learn(before, template) : NOTHING), unchanged, now: clock() });
        if (++notes % SWEEP_EVERY === 0) sweep(database, clock(), maxSites);
      }, undefined),
    close() {
      closed = true;
      database.close();
    },
  };
}

function viewOf(row: Row, template: Template, now: number): SiteView {
  const { streak, differed, reads, compared_at } = row;
  const due = reads >= MAX_READS_BETWEEN || now - compared_at >= MAX_AGE_MS;
  if (streak === 0) return { scripts: 'add', compare: due };
  if (streak < (differed ? COMPARISONS_AFTER_DIFFERENCE : COMPARISONS) || due || !isLike(row, template)) return UNKNOWN;
  return { scripts: 'add nothing', compare: false };
}

/**
 * Minimum number of words, relative to the shortest compared page: a page with far fewer words may have the same
 * containers without their content.
 */
const MIN_WORD_SHARE = 0.5;

/** Whether a page contains only known kinds of elements, and about as many words as the compared pages. */
function isLike(row: Row, { kinds, words }: Template): boolean {
  const known = new Set(kindsIn(row));
  return words >= row.words * MIN_WORD_SHARE && kinds.every((kind) => known.has(kind));
}

const kindsIn = ({ kinds }: Pick<Row, 'kinds'>): Uint32Array => new Uint32Array(Uint8Array.from(kinds).buffer);

type Learned = Pick<Row, 'kinds' | 'words'>;
const NOTHING: Learned = { kinds: new Uint8Array(0), words: 0 };

/** Adds an unchanged page to the record; if there is a difference, resets the record. */
function learn(before: Row | undefined, { kinds, words }: Template): Learned {
  const known = before?.streak ? kindsIn(before) : new Uint32Array(0);
  const all = new Set([...kinds, ...known]);
  const most = Uint32Array.from([...all].slice(0, 2 * MAX_ELEMENT_KINDS));
  return { kinds: new Uint8Array(most.buffer), words: before?.streak ? Math.min(before.words, words) : words };
}

const find = (database: Database, key: Uint8Array) =>
  database.get<Row>('SELECT streak, differed, reads, compared_at, kinds, words FROM sites WHERE key = ?', key);

const countRead = (database: Database, key: Uint8Array) =>
  database.run('UPDATE sites SET reads = reads + 1 WHERE key = ?', key);

interface Comparison extends Learned {
  readonly unchanged: boolean;
  readonly now: number;
}

const write = (database: Database, key: Uint8Array, { unchanged, now, kinds, words }: Comparison) =>
  database.run(
    `INSERT INTO sites (key, streak, differed, reads, compared_at, kinds, words) VALUES (?, ?, ?, 0, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET
       streak = CASE WHEN excluded.streak = 0 THEN 0 ELSE min(streak + 1, 1000) END,
       differed = max(differed, excluded.differed), reads = 0, compared_at = excluded.compared_at,
       kinds = excluded.kinds, words = excluded.words`,
    key,
    unchanged ? 1 : 0,
    unchanged ? 0 : 1,
    now,
    kinds,
    words,
  );

function sweep(database: Database, now: number, maxSites: number): void {
  database.run('DELETE FROM sites WHERE compared_at <= ?', now - RETENTION_MS);
  database.run(
    'DELETE FROM sites WHERE key IN (SELECT key FROM sites ORDER BY compared_at DESC LIMIT -1 OFFSET ?)',
    maxSites,
  );
}

const keyOf = (url: string, { code }: Template): Uint8Array =>
  createHash('sha256').update(siteOf(url)).update('\0').update(code).digest().subarray(0, 16);

/**
 * Host and section of a URL. The section is the first folder of the path, `*` for a page outside any folder, or `#` for
 * a folder that is a number or an identifier.
 */
export function siteOf(url: string): string {
  const { host, pathname } = new URL(url);
  const [section, ...rest] = pathname.split('/').filter(Boolean);
  if (section === undefined) return `${host}/`;
  if (!rest.length && !pathname.endsWith('/')) return `${host}/*`;
  const isCode = section.length > 40 || /^[\d_.-]+$/.test(section) || /^(?=.*\d)[0-9a-f-]{8,}$/i.test(section);
  return `${host}/${isCode ? '#' : section.toLowerCase()}/`;
}
