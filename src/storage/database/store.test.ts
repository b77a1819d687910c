import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { type Generated, type Kysely, sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresUrl, type Service, startPausableProxy, startPostgres } from '../../../test/support/services.ts';
import { type Migration, NewerSchemaError } from './migrate.ts';
import { openDatabase } from './sqlite.ts';
import { openStore, type Store } from './store.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

interface Teas {
  tea: { id: Generated<number>; name: string; grams: number };
}

const MIGRATIONS: readonly Migration[] = [
  {
    name: 'tea',
    async up(db, dialect) {
      const id = dialect === 'sqlite' ? sql`INTEGER PRIMARY KEY` : sql`SERIAL PRIMARY KEY`;
      await sql`CREATE TABLE tea (id ${id}, name TEXT NOT NULL UNIQUE, grams BIGINT NOT NULL)`.execute(db);
    },
  },
];
const CUP: Migration = {
  name: 'cup',
  up: async (db) => void (await db.schema.createTable('cup').addColumn('size', 'integer').execute()),
};

const url = await postgresUrl();
/** Returns the error of a call as a value. */
const asValue = (error: unknown) => error;
const count = async (db: Kysely<Teas>) =>
  (
    await db
      .selectFrom('tea')
      .select((of) => of.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
  ).n;

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  describe.skipIf(dialect === 'postgres' && !url)('store', () => {
    let dir: string;
    let stores: Store<Teas>[];
    let place: { url?: string | undefined; file: string };
    beforeEach(async () => {
      stores = [];
      dir = mkdtempSync(path.join(os.tmpdir(), 'store-'));
      place = {
        url: dialect === 'postgres' ? await postgresUrl() : undefined,
        file: path.join(dir, 'modules', 'tea.db'),
      };
    });
    afterEach(async () => {
      for (const store of stores) await store.close();
      rmSync(dir, { recursive: true, force: true });
    });
    const open = async (migrations = MIGRATIONS, module = 'tea') => {
      const store = await openStore<Teas>(place, { module, migrations });
      stores.push(store);
      return store;
    };

    it('keeps rows over a restart', async () => {
      const first = await open();
      expect(first.dialect).toBe(dialect);
      const row = { name: 'assam', grams: 1_732_162_962_000 };
      expect(await first.db.insertInto('tea').values(row).returning('id').execute()).toMatchObject([{ id: 1 }]);
      await first.close();
      await first.close();
      const { db } = await open();
      expect(await db.selectFrom('tea').selectAll().execute()).toMatchObject([{ id: 1, ...row }]);
      const sums = db.selectFrom('tea').select((of) => of.fn.sum<number>('grams').as('grams'));
      expect(await sums.executeTakeFirst()).toMatchObject({ grams: 1_732_162_962_000 });
      const { numUpdatedRows } = await db.updateTable('tea').set({ grams: 2 }).executeTakeFirst();
      expect(numUpdatedRows).toBe(1n);
      expect((await sql`DELETE FROM tea WHERE grams = ${2}`.execute(db)).numAffectedRows).toBe(1n);
    });

    it('rejects integers that a number cannot represent', async () => {
      const { db } = await open();
      await sql`INSERT INTO tea (name, grams) VALUES ('much', 9007199254740993)`.execute(db);
      await expect(db.selectFrom('tea').selectAll().execute()).rejects.toThrow('too large');
      expect(await count(db)).toBe(1);
    });

    it('passes on errors of statements', async () => {
      const store = await open();
      const insert = () => store.db.insertInto('tea').values({ name: 'assam', grams: 1 }).execute();
      await insert();
      const failure = await insert().catch(asValue);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(DatabaseUnavailableError);
      expect(store.healthy).toBe(true);
    });

    it('runs transactions atomically and one after the other', async () => {
      const { db } = await open();
      const insert = (name: string, on: Kysely<Teas> = db) => on.insertInto('tea').values({ name, grams: 0 }).execute();
      await insert('assam');
      const failing = db.transaction().execute(async (transaction) => {
        await insert('darjeeling', transaction);
        throw new Error('spilt');
      });
      await expect(failing).rejects.toThrow('spilt');
      expect(await count(db)).toBe(1);
      const add = () =>
        db.transaction().execute(async (transaction) => {
          const of = transaction.selectFrom('tea').select('grams');
          const { grams } = await (dialect === 'postgres' ? of.forUpdate() : of).executeTakeFirstOrThrow();
          await new Promise((resolve) => setImmediate(resolve));
          await transaction
            .updateTable('tea')
            .set({ grams: grams + 1 })
            .execute();
        });
      await Promise.all(Array.from({ length: 50 }, add));
      expect(await db.selectFrom('tea').select('grams').execute()).toMatchObject([{ grams: 50 }]);
    });

    it('has savepoints', async () => {
      const { db } = await open();
      const transaction = await db.startTransaction().execute();
      await transaction.insertInto('tea').values({ name: 'assam', grams: 1 }).execute();
      const saved = await transaction.savepoint('after "assam"').execute();
      await saved.insertInto('tea').values({ name: 'darjeeling', grams: 1 }).execute();
      await (await saved.rollbackToSavepoint('after "assam"').execute()).commit().execute();
      expect(await count(db)).toBe(1);
    });

    it('runs each migration once, even with concurrent starts', async () => {
      let runs = 0;
      const counted: Migration[] = MIGRATIONS.map((migration) => ({
        ...migration,
        async up(...given) {
          runs += 1;
          await migration.up(...given);
        },
      }));
      await Promise.all(Array.from({ length: 4 }, () => open(counted)));
      expect(runs).toBe(1);
      const { db } = await open([...counted, CUP]);
      expect(runs).toBe(1);
      expect(await sql`SELECT room, number, name FROM migrations`.execute(db)).toMatchObject({
        rows: [
          { room: 'tea', number: 1, name: 'tea' },
          { room: 'tea', number: 2, name: 'cup' },
        ],
      });
    });

    it('numbers the migrations of each module separately', async () => {
      await open();
      const { db } = await open([CUP], 'cups');
      await sql`INSERT INTO cup (size) VALUES (1)`.execute(db);
      expect(await count(db)).toBe(0);
    });

    it('rolls back failed migrations', async () => {
      const broken: Migration = { name: 'broken', up: async (db) => void (await sql`NONSENSE`.execute(db)) };
      const failure = await open([...MIGRATIONS, CUP, broken]).catch(asValue);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(DatabaseUnavailableError);
      const { db } = await open([CUP]);
      await expect(count(db)).rejects.toThrow(/no such table|does not exist/);
    });

    it('rejects tables of a newer version', async () => {
      await open([...MIGRATIONS, CUP]);
      const failure = await open().catch(asValue);
      expect(failure).toBeInstanceOf(NewerSchemaError);
      expect((failure as Error).message).toContain('version 2, this program supports 1');
    });
  });
});

describe('a SQLite file', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'store-'));
    file = path.join(dir, 'modules', 'tea.db');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const open = () => openStore<Teas>({ file }, { module: 'tea', migrations: MIGRATIONS });

  it('is readable by its owner only, as are its log and index', async () => {
    const store = await open();
    const modes = ['', '-wal', '-shm'].map((suffix) => statSync(file + suffix).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    await store.close();
  });

  it('is unavailable while another connection locks it, and recovers afterwards', async () => {
    const store = await open();
    const other = await openDatabase(file, []);
    const insert = () => store.db.insertInto('tea').values({ name: 'assam', grams: 1 }).execute();
    const attempts: Promise<unknown>[] = [];
    other.execute('BEGIN IMMEDIATE');
    attempts.push(insert().catch(asValue), store.db.transaction().execute(insert).catch(asValue));
    // The event loop must not be blocked in the meantime.
    let ticks = 0;
    const others = setInterval(() => {
      ticks += 1;
    }, 1);
    for (const failure of await Promise.all(attempts)) expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    clearInterval(others);
    expect(ticks).toBeGreaterThan(10);
    expect(store.healthy).toBe(false);
    other.execute('COMMIT');
    await insert();
    expect(store.healthy).toBe(true);
    other.close();
    await store.close();
  });
});

describe.skipIf(!url)('a PostgreSQL server', () => {
  let service: Service;
  let store: Store<Teas> | undefined;
  beforeAll(async () => {
    service = (await startPostgres())!;
  });
  afterEach(async () => {
    await store?.close();
    store = undefined;
  });
  afterAll(() => service?.close());

  const open = async (serverUrl: string) => {
    store = await openAt(serverUrl);
    return store;
  };

  it('can stop and return at any time', async () => {
    const { db } = await open(service.url);
    // Several connections are idle, and one is in a transaction.
    await Promise.all(Array.from({ length: 5 }, () => sql`SELECT pg_sleep(0.05)`.execute(db)));
    const held = await db.startTransaction().execute();
    const running = sql`SELECT pg_sleep(60)`.execute(db).catch(asValue);
    await service.kill();
    expect(await running).toBeInstanceOf(DatabaseUnavailableError);
    expect(await count(held).catch(asValue)).toBeInstanceOf(DatabaseUnavailableError);
    await held.rollback().execute().catch(asValue);
    const failures = await Promise.all(Array.from({ length: 50 }, () => count(db).catch(asValue)));
    for (const failure of failures) expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    expect(store!.healthy).toBe(false);
    await service.start();
    await expect.poll(() => count(db).catch(asValue), { timeout: 20_000 }).toBe(0);
    expect(store!.healthy).toBe(true);
  });

  it('is reported as reachable again without a call', async () => {
    const { db } = await open(service.url);
    await service.kill();
    expect(await count(db).catch(asValue)).toBeInstanceOf(DatabaseUnavailableError);
    expect(store!.healthy).toBe(false);
    await service.start();
    await expect.poll(() => store!.healthy, { timeout: 30_000 }).toBe(true);
  });

  it('can be unreachable at the start', async () => {
    await service.stop();
    const warned: unknown[] = [];
    const log = { warn: (...entry: unknown[]) => warned.push(entry) } as never;
    store = await openStore<Teas>({ url: service.url, file: '' }, { module: 'later', migrations: [CUP], log });
    expect(warned).toHaveLength(1);
    const failure = await count(store.db).catch(asValue);
    expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    expect(inspect([failure, warned], { depth: 9, showHidden: true })).not.toContain(new URL(service.url).password);
    await service.start();
    expect((await sql`SELECT * FROM cup`.execute(store.db)).rows).toEqual([]);
  });

  it('rejects a wrong password, a missing database or an invalid URL at the start, without showing it', async () => {
    const wrong = new URL(service.url);
    wrong.password = 'earl-grey';
    const refused = [
      wrong.href,
      new URL('nowhere', service.url).href,
      service.url.replace('postgres:', 'mysql:'),
      'postgres://lectern:earl-gray@[::z]:99999/tea',
    ];
    for (const refusedUrl of refused) {
      const failure = await open(refusedUrl).catch(asValue);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(DatabaseUnavailableError);
      const shown = inspect(failure, { depth: 9, showHidden: true });
      expect(shown).not.toContain('earl-grey');
      expect(shown).not.toContain(new URL(service.url).password);
    }
  });

  /** Each case takes as long as the timeout. */
  it('counts as unavailable when it or a statement does not answer in time', async () => {
    await Promise.all([holdConnections(), runSlowStatement()]);
  });

  async function openAt(serverUrl: string): Promise<Store<Teas>> {
    return openStore<Teas>({ url: serverUrl, file: '' }, { module: 'tea', migrations: MIGRATIONS });
  }

  async function holdConnections(): Promise<void> {
    const relay = await startPausableProxy(service.url);
    const held = await openAt(relay.url);
    const { db } = held;
    expect(await count(db)).toBe(0);
    relay.pause();
    const calls = [
      count(db),
      db.transaction().execute((transaction) => count(transaction)),
      ...Array.from({ length: 30 }, () => count(db)),
    ];
    for (const failure of await Promise.all(calls.map((call) => call.catch(asValue)))) {
      expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    }
    relay.resume();
    await expect.poll(() => count(db).catch(asValue), { timeout: 20_000 }).toBe(0);
    relay.pause();
    await held.close();
    await relay.close();
  }

  async function runSlowStatement(): Promise<void> {
    const slow = await openAt(service.url);
    expect(await sql`SELECT pg_sleep(20)`.execute(slow.db).catch(asValue)).toBeInstanceOf(DatabaseUnavailableError);
    expect(await count(slow.db)).toBe(0);
    await slow.close();
  }
});
