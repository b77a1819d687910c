/**
 * `lectern migrate` with either database: migrations are due, run, or already run; the schema is newer; the database is
 * unreachable.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '#cli/program.ts';
import { openStore } from '#storage/database/store.ts';
import { quietContext } from '../support/quiet-context.ts';
import { postgresUrl } from '../support/services.ts';

const LONG_MS = 240_000;
const databaseUrl = await postgresUrl();
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'migrate-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function migrate(args: readonly string[], environment: Record<string, string>) {
  const lines: string[] = [];
  const notes: string[] = [];
  const exit = await run(['migrate', '--json', ...args], {
    ...quietContext,
    environment,
    print: (line) => void lines.push(line),
    note: (line) => void notes.push(line),
  });
  return { exit, notes, modules: lines.length > 0 ? JSON.parse(lines.join('\n')) : undefined };
}

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  const test = it.skipIf(dialect === 'postgres' && !databaseUrl);
  const dataDir = () => path.join(dir, dialect);
  const environment = () => ({
    LECTERN_DATA_DIR: dataDir(),
    ...(dialect === 'postgres' && { LECTERN_DATABASE_URL: databaseUrl! }),
  });

  test('is shown, applied, and not applied twice', { timeout: LONG_MS }, async () => {
    const told = await migrate(['--dry-run'], environment());
    expect(told.exit).toBe('ok');
    const names = [
      'accounts',
      'batch',
      'classify',
      'crawl',
      'shared',
      ...(dialect === 'postgres' ? ['cache', 'index', 'kept files', 'shared files'] : []),
    ].sort();
    expect(told.modules.map(({ module }: { module: string }) => module).sort()).toEqual(names);
    for (const state of told.modules) {
      expect(state).toMatchObject({ seen: 0, done: false });
      expect(state.due).toHaveLength(state.known);
    }
    expect(await readdir(dataDir()).catch(() => [])).toEqual([]);
    expect((await migrate([], environment())).modules).toEqual(
      told.modules.map((state: object) => ({ ...state, done: true })),
    );
    for (const state of (await migrate(['--dry-run'], environment())).modules) {
      expect(state).toMatchObject({ seen: state.known, due: [] });
    }
    expect((await migrate([], environment())).exit).toBe('ok');
  });

  test('refuses tables of a later version', { timeout: LONG_MS }, async () => {
    const later = Array.from({ length: 90 }, (_, at) => ({ name: `later-${at}`, up: async () => {} }));
    const known = (await migrate(['--dry-run'], environment())).modules;
    const { seen } = known.find(({ module }: { module: string }) => module === 'crawl');
    const store = await openStore(
      { url: environment().LECTERN_DATABASE_URL, file: path.join(dataDir(), 'crawl', 'crawl.db') },
      { module: 'crawl', migrations: later, log: { warn() {} } },
    );
    await store.close();
    expect(seen).toBeLessThan(later.length);
    const refused = await migrate([], environment());
    expect(refused).toMatchObject({ exit: 'failed', modules: undefined });
    expect(refused.notes.join()).toContain('the tables of crawl have version 90');
  });
});

it('reports an unreachable database', { timeout: LONG_MS }, async () => {
  const away = { LECTERN_DATA_DIR: dir, LECTERN_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/nothing' };
  const { exit, notes } = await migrate([], away);
  expect(exit).toBe('unreachable');
  expect(notes.join()).not.toContain('secret');
});
