/**
 * What reads have shown of sites: whether scripts add anything to what their servers send. Kept by a hash of the host
 * and of the kind of path, for a week after the last look; no address is kept.
 */
import { createHash } from 'node:crypto';
import { type Database, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';

export interface Sites {
  /**
   * What is known of the site of an address, and whether this read should be rendered and compared to know it better.
   * With `keep` the read counts towards the next comparison; without it nothing is written down.
   */
  look(url: string, keep: boolean): SiteView;
  /** Notes a comparison: whether rendering made no difference. */
  note(url: string, unchanged: boolean): void;
  close(): void;
}

export interface SiteView {
  readonly scripts: 'add nothing' | 'add' | 'unknown';
  readonly compare: boolean;
}

export interface SitesOptions {
  /** A file, or `:memory:`. */
  readonly file: string;
  readonly maxSites?: number;
  readonly clock?: () => number;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** One read may be like its source by chance; two of different pages seldom are. A site that once differed owes more. */
const NEEDED = 2;
const NEEDED_AFTER_DIFFERENCE = 4;
/** A site is looked at again after so many reads, or so long. */
const READS_BETWEEN = 20;
const AGE_MS = 24 * 60 * 60 * 1_000;
const KEEP_MS = 7 * AGE_MS;
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
];

interface Row {
  /** Comparisons without a difference since the last one with. */
  readonly streak: number;
  readonly differed: number;
  /** Reads since the last comparison. */
  readonly reads: number;
  readonly compared_at: number;
}

const UNKNOWN: SiteView = { scripts: 'unknown', compare: true };

/** What is kept can be learned again: a damaged file is replaced, and a store that fails knows nothing. */
export async function openSites({ file, maxSites = 50_000, clock = Date.now, log }: SitesOptions): Promise<Sites> {
  const database = await openDatabase(file, MIGRATIONS, { disposable: true, log });
  sweep(database, clock(), maxSites);
  let notes = 0;
  let closed = false;

  const safely = <Result>(work: () => Result, otherwise: Result): Result => {
    // Comparisons go on beside reads, and may end after everything else has.
    if (closed) return otherwise;
    try {
      return work();
    } catch (error) {
      log?.warn({ err: error }, 'what is known of sites could not be read or written');
      return otherwise;
    }
  };

  return {
    look: (url, keep) =>
      safely(() => {
        const key = keyOf(url);
        const row = find(database, key);
        if (!row || clock() - row.compared_at >= KEEP_MS) return UNKNOWN;
        if (keep) countRead(database, key);
        return viewOf(row, clock());
      }, UNKNOWN),
    note: (url, unchanged) =>
      safely(() => {
        write(database, keyOf(url), unchanged, clock());
        if (++notes % SWEEP_EVERY === 0) sweep(database, clock(), maxSites);
      }, undefined),
    close() {
      closed = true;
      database.close();
    },
  };
}

function viewOf({ streak, differed, reads, compared_at }: Row, now: number): SiteView {
  const due = reads >= READS_BETWEEN || now - compared_at >= AGE_MS;
  if (streak === 0) return { scripts: 'add', compare: due };
  if (streak < (differed ? NEEDED_AFTER_DIFFERENCE : NEEDED) || due) return UNKNOWN;
  return { scripts: 'add nothing', compare: false };
}

const find = (database: Database, key: Uint8Array) =>
  database.get<Row>('SELECT streak, differed, reads, compared_at FROM sites WHERE key = ?', key);

const countRead = (database: Database, key: Uint8Array) =>
  database.run('UPDATE sites SET reads = reads + 1 WHERE key = ?', key);

const write = (database: Database, key: Uint8Array, unchanged: boolean, now: number) =>
  database.run(
    `INSERT INTO sites (key, streak, differed, reads, compared_at) VALUES (?, ?, ?, 0, ?)
     ON CONFLICT (key) DO UPDATE SET
       streak = CASE WHEN excluded.streak = 0 THEN 0 ELSE min(streak + 1, 1000) END,
       differed = max(differed, excluded.differed), reads = 0, compared_at = excluded.compared_at`,
    key,
    unchanged ? 1 : 0,
    unchanged ? 0 : 1,
    now,
  );

function sweep(database: Database, now: number, maxSites: number): void {
  database.run('DELETE FROM sites WHERE compared_at <= ?', now - KEEP_MS);
  database.run(
    'DELETE FROM sites WHERE key IN (SELECT key FROM sites ORDER BY compared_at DESC LIMIT -1 OFFSET ?)',
    maxSites,
  );
}

const keyOf = (url: string): Uint8Array => createHash('sha256').update(siteOf(url)).digest().subarray(0, 16);

/**
 * The host and the section of it that pages of one make stand in: the first folder of the path, `*` for a page that
 * stands in none, `#` for a folder that is a number or code of one thing.
 */
export function siteOf(url: string): string {
  const { host, pathname } = new URL(url);
  const [section, ...rest] = pathname.split('/').filter(Boolean);
  if (section === undefined) return `${host}/`;
  if (!rest.length && !pathname.endsWith('/')) return `${host}/*`;
  const isCode = section.length > 40 || /^[\d_.-]+$/.test(section) || /^(?=.*\d)[0-9a-f-]{8,}$/i.test(section);
  return `${host}/${isCode ? '#' : section.toLowerCase()}/`;
}
