/** Tables of a module in a schema of their own, without `search_path`. */
import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { postgresUrl } from '../../../test/support/services.ts';
import type { Migration } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import type { Store } from './store.ts';

interface Teas {
  tea: { name: string };
  cup: { contains: string };
}

const MIGRATIONS: readonly Migration[] = [
  {
    name: 'tea',
    async up(db) {
      await sql`CREATE TABLE tea (name TEXT PRIMARY KEY)`.execute(db);
      await sql`CREATE TABLE cup (contains TEXT NOT NULL REFERENCES tea (name) ON DELETE CASCADE)`.execute(db);
      await sql`CREATE INDEX cup_by_content ON cup (contains)`.execute(db);
    },
  },
];
const LONG = { timeout: 120_000 };
const url = await postgresUrl();

async function within(work: (open: (schema?: string) => Promise<Store<Teas>>) => Promise<void>): Promise<void> {
  const stores: Store<Teas>[] = [];
  try {
    await work(async (schema) => {
      const store = await openPostgres<Teas>(url!, {
        module: 'tea',
        migrations: MIGRATIONS,
        schema: schema === undefined ? undefined : { name: schema, tables: ['tea', 'cup'] },
      });
      stores.push(store);
      return store;
    });
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

const namesOf = async (db: Kysely<Teas>) =>
  (await db.selectFrom('tea').select('name').execute()).map(({ name }) => name);

describe.skipIf(!url)('a schema', LONG, () => {
  it('has its own tables and migrations, in built queries and in SQL text', LONG, async () => {
    await within(async (open) => {
      const [plain, one, other] = [await open(), await open('One-1'), await open('other')];
      await plain.db.insertInto('tea').values({ name: 'sencha' }).execute();
      await sql`INSERT INTO tea (name) VALUES (${'tea'}), (${'cup'})`.execute(one.db);
      await one.db.transaction().execute((transaction) => sql`INSERT INTO cup VALUES (${'tea'})`.execute(transaction));
      const joined = await sql<{ name: string; size: string }>`
        WITH full_cup AS (SELECT cup.contains FROM cup)
        SELECT t.name, pg_table_size('cup'::regclass) > 0 AS size
        FROM tea t JOIN cup ON cup.contains = t.name WHERE t.name IN (SELECT contains FROM full_cup)`.execute(one.db);
      expect(joined.rows).toEqual([{ name: 'tea', size: true }]);
      expect([await namesOf(plain.db), await namesOf(one.db), await namesOf(other.db)]).toEqual([
        ['sencha'],
        ['tea', 'cup'],
        [],
      ]);
      // Opened again, it is complete.
      expect(await namesOf((await open('One-1')).db)).toEqual(['tea', 'cup']);
    });
  });

  it('is created once by servers that start at the same time', LONG, async () => {
    await within(async (open) => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => open('together')));
      await stores[0]!.db.insertInto('tea').values({ name: 'hojicha' }).execute();
      for (const { db } of stores) expect(await namesOf(db)).toEqual(['hojicha']);
    });
  });

  it('has a plain name', LONG, async () => {
    await within(async (open) => {
      await expect(open('a"b')).rejects.toThrow('not a name of a schema');
    });
  });
});
