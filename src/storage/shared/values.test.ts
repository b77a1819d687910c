import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe } from 'vitest';
import { postgresUrl, redisUrl } from '../../../test/support/services.ts';
import { createMemoryValues } from './memory.ts';
import { openRedisValues } from './redis.ts';
import { openSqlValues } from './sql.ts';
import { valuesSuite } from './values.suite.ts';

const [postgres, redis] = await Promise.all([postgresUrl(), redisUrl()]);
const dir = mkdtempSync(path.join(os.tmpdir(), 'values-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = path.join(dir, 'shared.db');

valuesSuite('values in memory', { open: async () => createMemoryValues(), isShared: false });
valuesSuite('values in SQLite', { open: () => openSqlValues({ file }), isShared: true });

describe.skipIf(!postgres)('shared', () => {
  valuesSuite('values in PostgreSQL', { open: () => openSqlValues({ url: postgres, file }), isShared: true });
});

describe.skipIf(!redis)('shared', () => {
  valuesSuite('values in Redis', { open: () => openRedisValues(redis!), isShared: true });
});
