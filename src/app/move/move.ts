/**
 * Moves an installation between a data folder and PostgreSQL: accounts, keys, usage, jobs, crawls, classifiers, uploaded
 * files, shared state, the local index, the collections of flows and the page cache. The move can be stopped and continued,
 * and compares all tables. The source is not changed. Screenshots and results of tasks do not move: they live for hours.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { ACCOUNT_TABLES, openAccounts, readInstallationSecret, writeInstallationSecret } from '#accounts/index.ts';
import { moveCollection } from '#app/collections/move-collection.ts';
import { collectionNames, collectionsDirOf, MAX_NAME, placeOf } from '#app/collections/place.ts';
import { findRunningServers } from '#concurrency/programs.ts';
import { Problem } from '#errors.ts';
import { type CachePlace, moveCache } from '#reader/index.ts';
import { type MovedIndex, moveIndex } from '#search/index.ts';
import { type Blobs, BlobsUnavailableError } from '#storage/blobs/blobs.ts';
import { type Migration, migrate } from '#storage/database/migrate.ts';
import { countLecternConnections } from '#storage/database/postgres.ts';
import { openStore } from '#storage/database/store.ts';
import { type AnyStore, copyTable, type MovedStore, sumTable, type TableSum } from './copy-table.ts';
import { MOVED, type MovedModule, type MovedTable } from './tables.ts';

/** A data folder, or a PostgreSQL database. */
export interface MovePlace {
  readonly dataDir?: string | undefined;
  readonly url?: string | undefined;
  /** Opens the store of cached pages and large pieces beside a database. Without it, the page cache does not move. */
  readonly openBlobs?: (() => Promise<OpenBlobs>) | undefined;
}

export interface OpenBlobs {
  readonly blobs: Blobs;
  /** The bucket, if there is one. */
  readonly bucket: Blobs | undefined;
  close(): Promise<void>;
}

export interface MoveOptions {
  readonly from: MovePlace;
  readonly to: MovePlace;
  readonly onProgress?: ((table: string, rows: number) => void) | undefined;
}

export interface MovedRows extends TableSum {
  readonly table: string;
}

/** The move cannot start, or its result differs from its source. The message says what to do. */
export class MoveRefusedError extends Error {
  override readonly name = 'MoveRefusedError';
}

/** Progress is stored beside the tables of each module, because a data folder has a database for each. */
const PROGRESS: readonly Migration[] = [
  {
    name: 'progress of a move',
    async up(db: Kysely<unknown>) {
      await sql`CREATE TABLE moves (name TEXT PRIMARY KEY, last_key TEXT NOT NULL, copied BIGINT NOT NULL)`.execute(db);
    },
  },
];
/** Stands for the tables of the index, which differ between the databases. */
const INDEX = 'index pages';
const CACHE = 'cached pages';
const PROGRESS_MODULE = 'moves';
const CONNECTION_TRIES = 10;
const CONNECTION_PAUSE_MS = 200;
/** Name of the row that identifies the source. */
const SOURCE = ' source';

/** Throws MoveRefusedError, and DatabaseUnavailableError if a database cannot be reached. */
export async function moveInstallation({ from, to, onProgress }: MoveOptions): Promise<MovedRows[]> {
  refuseMissing(from);
  await refuseRunning(from, 'source');
  await refuseRunning(to, 'target');
  await settleUsage(from);
  const opened = await (from.openBlobs ?? to.openBlobs)?.();
  const moved: MovedRows[] = [];
  try {
    const continues = await moveTables({ from, to, onProgress }, opened, moved);
    const index = await moveIndexPages({ from, to, onProgress }, continues);
    if (index) moved.push(index);
    await moveCollections({ from, to, onProgress }, continues, moved);
    const cache = opened && (await moveCachedPages({ from, to, onProgress }, opened));
    if (cache) moved.push(cache);
  } finally {
    await opened?.close();
  }
  const secret = await readInstallationSecret(secretPlace(from));
  if (secret) await writeInstallationSecret(secretPlace(to), secret);
  await forgetProgress(to);
  return moved;
}

/** Adds the tables to `moved`. Returns whether the move continues an earlier one. */
async function moveTables(
  { from, to, onProgress }: MoveOptions,
  opened: OpenBlobs | undefined,
  moved: MovedRows[],
): Promise<boolean> {
  let continues = false;
  const bucketOf = ({ url }: MovePlace) => (url === undefined ? undefined : opened?.bucket);
  for (const module of MOVED) {
    const [source, target] = [await open(module, from), await openTarget(module, to)];
    const [sourceSide, targetSide] = [withBucket(source, bucketOf(from)), withBucket(target, bucketOf(to))];
    try {
      if (await isContinued(module, target, sourceName(from))) continues = true;
      for (const table of module.moved) {
        await copyTable(sourceSide, targetSide, table, (rows) => onProgress?.(table.name, rows));
        moved.push({ table: table.name, ...(await compare(sourceSide, targetSide, table)) });
      }
    } catch (error) {
      throw refusalOf(error);
    } finally {
      await Promise.all([source.close(), target.close()]);
    }
  }
  return continues;
}

const withBucket = ({ db, dialect }: AnyStore, bucket: Blobs | undefined): MovedStore => ({
  ...{ db, dialect },
  objects: bucket && { bucket, now: Date.now },
});

/** Failures of the bucket, and content that is missing there, whose message names the job. */
function refusalOf(error: unknown): unknown {
  if (error instanceof BlobsUnavailableError) {
    return new MoveRefusedError(`${error.message}: check --blobs or LECTERN_BLOBS_URL, and repeat the command`);
  }
  return error instanceof Problem ? new MoveRefusedError(error.message) : error;
}

const folderOf = ({ dataDir, url }: MovePlace): string => {
  if (dataDir !== undefined) return dataDir;
  if (url !== undefined) return '';
  throw new MoveRefusedError('a move needs a data folder or a database URL on each side');
};

const secretPlace = ({ url, dataDir }: MovePlace) => ({ databaseUrl: url, dataDir: dataDir ?? '' });

async function open({ tables }: MovedModule, place: MovePlace): Promise<AnyStore> {
  const at = { url: place.url, file: tables.fileIn(folderOf(place)) };
  if (place.dataDir !== undefined) await mkdir(path.dirname(at.file), { recursive: true, mode: 0o700 });
  // Migrates the tables, so that both sides have the same columns.
  // biome-ignore lint/suspicious/noExplicitAny: the tables of all modules
  return openStore<any>(at, tables);
}

async function openTarget(module: MovedModule, place: MovePlace): Promise<AnyStore> {
  const target = await open(module, place);
  await migrate(target.db, target.dialect, PROGRESS_MODULE, PROGRESS);
  return target;
}

/** Identifies the source of a move that continues. Contains no password. */
function sourceName({ dataDir, url }: MovePlace): string {
  if (url === undefined) return path.resolve(dataDir ?? '');
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

function refuseMissing({ dataDir }: MovePlace): void {
  if (dataDir === undefined || existsSync(ACCOUNT_TABLES.fileIn(dataDir))) return;
  throw new MoveRefusedError(`there is no installation in ${dataDir}`);
}

async function refuseRunning({ dataDir, url }: MovePlace, side: string): Promise<void> {
  if (dataDir !== undefined) {
    const [pid] = await findRunningServers(path.join(dataDir, 'tmp'));
    if (pid !== undefined) throw new MoveRefusedError(`a server uses the ${side} (process ${pid}): stop it first`);
  }
  if (url !== undefined) {
    let connections = await countLecternConnections(url);
    // The connections of a server that has just stopped end a moment later.
    for (let tries = 0; connections > 0 && tries < CONNECTION_TRIES; tries++) {
      await delay(CONNECTION_PAUSE_MS);
      connections = await countLecternConnections(url);
    }
    if (connections > 0) {
      throw new MoveRefusedError(`servers or workers use the ${side} (${connections} connections): stop them first`);
    }
  }
}

/**
 * Charges that a server could not write when it stopped, or when it was killed, are in files. Opening the accounts
 * writes them.
 */
async function settleUsage({ dataDir, url }: MovePlace): Promise<void> {
  if (dataDir === undefined) return;
  const folder = path.join(dataDir, 'accounts');
  const names = await readdir(folder).catch(() => []);
  if (!names.some((name) => /^(pending-usage|usage-journal)-/.test(name))) return;
  await (await openAccounts({ dataDir, databaseUrl: url })).close();
}

/**
 * Refuses a target with rows, unless an earlier move from the same source wrote them. Returns whether there was one.
 */
async function isContinued({ moved }: MovedModule, target: AnyStore, source: string): Promise<boolean> {
  const known = await target.db.selectFrom('moves').select('last_key').where('name', '=', SOURCE).executeTakeFirst();
  if (known && known.last_key !== source) {
    throw new MoveRefusedError(`the target has a part of another installation (${known.last_key}). Use an empty one`);
  }
  for (const { name } of moved) {
    const begun = await target.db.selectFrom('moves').select('name').where('name', '=', name).executeTakeFirst();
    if (begun) continue;
    const row = await target.db.selectFrom(name).select(sql`1`.as('there')).limit(1).executeTakeFirst();
    if (row) throw new MoveRefusedError(`the target is not empty: its table ${name} has rows. Use an empty one`);
  }
  if (!known) await target.db.insertInto('moves').values({ name: SOURCE, last_key: source, copied: 0 }).execute();
  return known !== undefined;
}

async function moveIndexPages(
  { from, to, onProgress }: MoveOptions,
  continues: boolean,
): Promise<MovedRows | undefined> {
  const place = ({ url, dataDir }: MovePlace) => ({ url, file: path.join(dataDir ?? '', 'index', 'index.db') });
  const report = (pages: number) => onProgress?.(INDEX, pages);
  const moved = await moveIndex({ from: place(from), to: place(to), continues, onProgress: report });
  return moved && rowsOf(INDEX, 'the index', moved);
}

/** `named` is the index in messages. */
function rowsOf(table: string, named: string, moved: MovedIndex | 'filled'): MovedRows {
  if (moved === 'filled') throw new MoveRefusedError(`the target is not empty: ${named} has pages. Use an empty one`);
  const { pages, before, after } = moved;
  if (before === after) return { table, rows: pages, checksum: after };
  throw new MoveRefusedError(`${named} differs after the move: was the source in use? Empty the target and move again`);
}

/** Adds the collections of flows to `moved`. */
async function moveCollections(
  { from, to, onProgress }: MoveOptions,
  continues: boolean,
  moved: MovedRows[],
): Promise<void> {
  const place = ({ url, dataDir }: MovePlace) => ({ dir: collectionsDirOf(dataDir ?? ''), databaseUrl: url });
  const [source, target] = [place(from), place(to)];
  for (const name of await collectionNames(source)) {
    if (name.length > MAX_NAME) {
      throw new MoveRefusedError(
        `the name of the collection ${name} is too long for PostgreSQL: rename or remove its folder in ${source.dir}`,
      );
    }
    const table = `collection ${name}`;
    const onPages = (pages: number) => onProgress?.(table, pages);
    const collection = await moveCollection(placeOf(source, name), placeOf(target, name), { continues, onPages });
    if (collection) moved.push(rowsOf(table, `the collection ${name}`, collection));
  }
}

async function moveCachedPages(
  { from, to, onProgress }: MoveOptions,
  { blobs }: OpenBlobs,
): Promise<MovedRows | undefined> {
  const placeOf = ({ dataDir, url }: MovePlace): CachePlace =>
    url === undefined ? { dir: path.join(dataDir ?? '', 'cache') } : { databaseUrl: url, blobs };
  const moved = await moveCache(placeOf(from), placeOf(to), (copies) => onProgress?.(CACHE, copies));
  // Each blob is verified by its name when it is read.
  return moved && { table: CACHE, rows: moved.copies, checksum: `${moved.leftBehind} left behind` };
}

async function compare(source: MovedStore, target: MovedStore, table: MovedTable): Promise<TableSum> {
  const [before, after] = [await sumTable(source, table), await sumTable(target, table)];
  if (before.rows === after.rows && before.checksum === after.checksum) return after;
  throw new MoveRefusedError(
    `the table ${table.name} differs after the move (${before.rows} rows, ${after.rows} at the target): ` +
      'was the source in use? Empty the target and move again',
  );
}

/** The target is complete, so that another move into it is refused. */
async function forgetProgress(to: MovePlace): Promise<void> {
  for (const module of MOVED) {
    const target = await openTarget(module, to);
    try {
      await target.db.deleteFrom('moves').execute();
    } finally {
      await target.close();
    }
  }
}
