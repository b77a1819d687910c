/** Runs the suite of the accounts module on SQLite and, if available, on PostgreSQL. */
import path from 'node:path';
import { afterAll, describe } from 'vitest';
import { openDatabase } from '#storage/database/sqlite.ts';
import { postgresUrl, type Service, startPostgres } from '../../test/support/services.ts';
import { accountsSuite } from './accounts.suite.ts';

accountsSuite('SQLite', {
  canBeUnreadable: false,
  fresh: async () => ({
    async away(dataDir) {
      const { run, close } = await openDatabase(path.join(dataDir, 'accounts', 'accounts.db'), []);
      run('BEGIN EXCLUSIVE');
      return async () => {
        run('COMMIT');
        close();
      };
    },
  }),
});

describe.skipIf(!(await postgresUrl()))('PostgreSQL', () => {
  /** A separate server, so that its outages do not affect other tests. */
  let own: Service | undefined;
  afterAll(() => own?.close());
  accountsSuite('accounts', {
    canBeUnreadable: true,
    async fresh() {
      own ??= await startPostgres();
      const service = own!;
      return {
        databaseUrl: await empty(service.url),
        async away() {
          await service.kill();
          return () => service.start();
        },
      };
    },
  });
});

/** Removes all tables, which is faster than creating a database. */
async function empty(databaseUrl: string): Promise<string> {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.end();
  return databaseUrl;
}
