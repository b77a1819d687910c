import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe } from 'vitest';
import { postgresUrl } from '../../../test/support/services.ts';
import { countersSuite } from './counters.suite.ts';
import { openSqlCounters } from './sql.ts';

const url = await postgresUrl();
const dir = mkdtempSync(path.join(os.tmpdir(), 'counters-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = path.join(dir, 'counters.db');

countersSuite('counters in SQLite', { open: (options) => openSqlCounters({ file }, options), runs: 100 });

describe.skipIf(!url)('shared', () => {
  countersSuite('counters in PostgreSQL', { open: (options) => openSqlCounters({ url, file }, options), runs: 25 });
});
