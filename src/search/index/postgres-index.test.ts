import { describe } from 'vitest';
import { postgresUrl } from '../../../test/support/services.ts';
import { indexSuite } from './index.suite.ts';
import { openPostgresIndex } from './postgres-index.ts';

const url = await postgresUrl();

describe.skipIf(!url)('shared', () => {
  indexSuite('the local index in PostgreSQL', {
    async open() {
      const store = await openPostgresIndex(url!);
      await store.clear();
      return store;
    },
  });
});
