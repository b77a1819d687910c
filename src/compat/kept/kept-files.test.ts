import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe } from 'vitest';
import { postgresUrl } from '../../../test/support/services.ts';
import { keptFilesSuite } from './kept-files.suite.ts';
import { createKeptFiles } from './kept-files.ts';
import { openSqlKeptFiles } from './sql-kept-files.ts';

const url = await postgresUrl();
const dir = mkdtempSync(path.join(os.tmpdir(), 'kept-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
let count = 0;
const place = () => path.join(dir, `place-${count++}`);

keptFilesSuite('results in files', async (limits) => createKeptFiles({ dir: place(), ...limits }));
keptFilesSuite('results in SQLite', (limits) => openSqlKeptFiles({ file: path.join(place(), 'kept.db') }, limits));

describe.skipIf(!url)('shared', () => {
  keptFilesSuite('results in PostgreSQL', (limits) => openSqlKeptFiles({ url, file: '' }, limits));
});
