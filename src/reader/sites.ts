/**
 * What reads have shown of sites: whether scripts add anything to what their servers send. Kept by a hash of the host,
 * of the kind of path and of the scripts that its pages bring, for a week after the last look; no address is kept.
 *
 * That scripts add nothing is said only of a page that has no more for them to work with than the pages that showed it.
 */
import { createHash } from 'node:crypto';
import { type Database, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import { MOST_KINDS, type Template } from './engines/template.ts';

export interface Sites {
  /**
   * What is known of pages like this one at its site, and whether this read should be rendered and compared to know it
   * better. With `keep` the read counts towards the next comparison; without it nothing is written down.
   */
  look(url: string, template: Template, keep: boolean): SiteView;
  /** Notes a comparison: whether rendering made no difference. */
  note(url: string, template: Template, unchanged: boolean): void;
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
  /** Comparisons without a difference since the last one with. */
  readonly streak: number;
  readonly differed: number;
  /** Reads since the last comparison. */
  readonly reads: number;
  readonly compared_at: number;
  /** The kinds of elements of the pages that were compared without a difference, each as 32 bits. */
  readonly kinds: Uint8Array;
  /** The fewest words that the main content of one of them had. */
  readonly words: number;
}

const UNKNOWN: SiteView = { scripts: 'unknown', compare: true };

/** What is kept can be learned again: a damaged file is replaced, and a store that fails knows nothing. */
export async function openSites({ file, maxSites = 20_000, clock = Date.now, log }: SitesOptions): Promise<Sites> {
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
    look: (url, template, keep) =>
      safely(() => {
        const key = keyOf(url, template);
        const row = find(database, key);
        if (!row || clock() - row.compared_at >= KEEP_MS) return UNKNOWN;
        if (keep) countRead(database, key);
        return viewOf(row, template, clock());
      }, UNKNOWN),
    note: (url, template, unchanged) =>
      safely(() => {
        const key = keyOf(url, template);
        const before = unchanged ? find(database, key) : undefined;
        write(database, key, { ...(unchanged ? taught(before, template) : NOTHING), unchanged, now: clock() });
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
  const due = reads >= READS_BETWEEN || now - compared_at >= AGE_MS;
  if (streak === 0) return { scripts: 'add', compare: due };
  if (streak < (differed ? NEEDED_AFTER_DIFFERENCE : NEEDED) || due || !isLike(row, template)) return UNKNOWN;
  return { scripts: 'add nothing', compare: false };
}

/** With far fewer words the containers are the same and what they are for is missing. */
const LEAST_OF_WORDS = 0.5;

/** Whether a page has no kind of element that none of the compared pages had, and about as much to say. */
function isLike(row: Row, { kinds, words }: Template): boolean {
  const known = new Set(kindsIn(row));
  return words >= row.words * LEAST_OF_WORDS && kinds.every((kind) => known.has(kind));
}

const kindsIn = ({ kinds }: Pick<Row, 'kinds'>): Uint32Array => new Uint32Array(Uint8Array.from(kinds).buffer);

type Taught = Pick<Row, 'kinds' | 'words'>;
const NOTHING: Taught = { kinds: new Uint8Array(0), words: 0 };

/** What is known with one more page that rendering left as it was; a difference has ended what was known before. */
function taught(before: Row | undefined, { kinds, words }: Template): Taught {
  const known = before?.streak ? kindsIn(before) : new Uint32Array(0);
  const all = new Set([...kinds, ...known]);
  const most = Uint32Array.from([...all].slice(0, 2 * MOST_KINDS));
  return { kinds: new Uint8Array(most.buffer), words: before?.streak ? Math.min(before.words, words) : words };
}

const find = (database: Database, key: Uint8Array) =>
  database.get<Row>('SELECT streak, differed, reads, compared_at, kinds, words FROM sites WHERE key = ?', key);

const countRead = (database: Database, key: Uint8Array) =>
  database.run('UPDATE sites SET reads = reads + 1 WHERE key = ?', key);

interface Comparison extends Taught {
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
  database.run('DELETE FROM sites WHERE compared_at <= ?', now - KEEP_MS);
  database.run(
    'DELETE FROM sites WHERE key IN (SELECT key FROM sites ORDER BY compared_at DESC LIMIT -1 OFFSET ?)',
    maxSites,
  );
}

const keyOf = (url: string, { code }: Template): Uint8Array =>
  createHash('sha256').update(siteOf(url)).update('\0').update(code).digest().subarray(0, 16);

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
