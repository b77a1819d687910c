/** Runs the suite of the accounts module on SQLite and, where available, on PostgreSQL. */
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
  /** A separate relay, so that other tests do not notice its outages. */
  let own: Service | undefined;
  afterAll(() => own?.close());
  accountsSuite('accounts', {
    canBeUnreadable: true,
    async fresh() {
      own ??= await startPostgres();
      const service = own!;
      return {
        databaseUrl: await freshDatabase(service.url),
        async away() {
          await service.kill();
          return () => service.start();
        },
      };
    },
  });
});

let databases = 0;

async function freshDatabase(url: string): Promise<string> {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: url });
  await client.connect();
  const name = `accounts_${++databases}`;
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return new URL(`/${name}`, url).href;
}
