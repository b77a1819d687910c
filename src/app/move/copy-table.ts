/**
 * Copies one table in steps. Each step writes its rows and its progress in one transaction, so that a move that was
 * killed continues where it stopped.
 */
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { type MovedPiece, type PieceObjects, storeContents, withContents } from '#batch/index.ts';
import type { Store } from '#storage/database/store.ts';
import type { MovedTable } from './tables.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tables of all modules
export type AnyStore = Store<any>;
type Row = Readonly<Record<string, unknown>>;

/** The database of a module, and its bucket if it has one. */
export type MovedStore = Pick<AnyStore, 'db' | 'dialect'> & { readonly objects?: PieceObjects | undefined };

/** Rows read at once. Rows with bytes have at most 256 KiB each. */
const STEP_ROWS = 200;
/** Rows written in one statement, below the limit of parameters of both databases. */
const STATEMENT_ROWS = 50;

export interface TableSum {
  readonly rows: number;
  /** The same for the same rows, whatever their order and database. */
  readonly checksum: string;
}

/** Copies the rows after those that were copied already. Calls `onStep` with their number so far. */
export async function copyTable(
  source: MovedStore,
  target: MovedStore,
  table: MovedTable,
  onStep: (rows: number) => void,
): Promise<void> {
  const progress = await target.db.selectFrom('moves').selectAll().where('name', '=', table.name).executeTakeFirst();
  let after = progress ? (JSON.parse(progress.last_key) as unknown[]) : undefined;
  let copied = Number(progress?.copied ?? 0);
  for (;;) {
    const rows = await readStep(source, table, after);
    if (!rows.length) return;
    const last = rows.at(-1)!;
    after = table.key.map((column) => last[column]);
    copied += rows.length;
    const state = { name: table.name, last_key: JSON.stringify(after), copied };
    const write = (written: readonly Row[], claim?: (transaction: AnyStore['db']) => Promise<void>) =>
      target.db.transaction().execute(async (transaction) => {
        for (let at = 0; at < written.length; at += STATEMENT_ROWS) {
          await transaction
            .insertInto(table.name)
            .values(written.slice(at, at + STATEMENT_ROWS).map(toWritable))
            .execute();
        }
        await claim?.(transaction);
        await transaction
          .insertInto('moves')
          .values(state)
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ last_key: state.last_key, copied }))
          .execute();
      });
    if (table.hasPieces) await storeContents(target, asPieces(rows), (stored, claim) => write(asRows(stored), claim));
    else await write(rows);
    onStep(copied);
  }
}

const asPieces = (rows: readonly Row[]) => rows as unknown as readonly MovedPiece[];
const asRows = (pieces: readonly MovedPiece[]) => pieces as unknown as readonly Row[];

/** Counts the rows of a table, and sums their hashes. Content in a bucket counts as if it were in its row. */
export async function sumTable(store: MovedStore, table: MovedTable): Promise<TableSum> {
  let rows = 0;
  let sum = 0n;
  let after: unknown[] | undefined;
  for (;;) {
    const step = await readStep(store, table, after);
    if (!step.length) return { rows, checksum: sum.toString(16).padStart(16, '0') };
    for (const row of step) sum = BigInt.asUintN(64, sum + hashOf(row));
    rows += step.length;
    after = table.key.map((column) => step.at(-1)![column]);
  }
}

/** The rows after a key, in the order of the database, with their contents. */
async function readStep(
  store: MovedStore,
  { name, key, hasPieces }: MovedTable,
  after: unknown[] | undefined,
): Promise<readonly Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const condition: RawBuilder<unknown> = after
    ? sql`WHERE (${columns}) > (${sql.join(after.map((value) => sql.val(value)))})`
    : sql``;
  const { rows } = await sql<Row>`
    SELECT * FROM ${sql.table(name)} ${condition} ORDER BY ${columns} LIMIT ${sql.lit(STEP_ROWS)}
  `.execute(store.db);
  return hasPieces ? asRows(await withContents(store, asPieces(rows))) : rows;
}

const toWritable = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value) : value]),
  );

function hashOf(row: Row): bigint {
  const hash = createHash('sha256');
  for (const name of Object.keys(row).sort()) {
    const value = row[name];
    hash.update(JSON.stringify(name));
    if (value instanceof Uint8Array) hash.update(`b${value.length}:`).update(value);
    else if (value === null) hash.update('n');
    else hash.update(JSON.stringify(typeof value === 'string' ? ['s', value] : ['v', Number(value)]));
  }
  return hash.digest().readBigUInt64BE();
}
