import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isDamaged, openDatabase } from './sqlite.ts';

const MIGRATIONS = ['CREATE TABLE tea (name TEXT PRIMARY KEY, grams INTEGER, leaf BLOB)'];

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'sqlite-'));
  file = path.join(dir, 'tea.db');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('keeps rows over a restart', async () => {
  const first = await openDatabase(file, MIGRATIONS);
  expect(first.run('INSERT INTO tea VALUES (?, ?, ?)', 'assam', 1_732_162_962_000, new Uint8Array([1, 2]))).toBe(1);
  first.close();
  first.close();
  const again = await openDatabase(file, MIGRATIONS);
  expect({ ...again.get('SELECT * FROM tea') }).toEqual({
    name: 'assam',
    grams: 1_732_162_962_000,
    leaf: new Uint8Array([1, 2]),
  });
  expect(again.get('SELECT * FROM tea WHERE name = ?', 'none')).toBeUndefined();
  expect(again.all('SELECT * FROM tea')).toHaveLength(1);
  again.close();
});

it('runs each migration once, and only the new ones later', async () => {
  (await openDatabase(file, MIGRATIONS)).close();
  const later = [...MIGRATIONS, 'CREATE TABLE cup (id INTEGER); INSERT INTO cup VALUES (1)'];
  (await openDatabase(file, later)).close();
  const database = await openDatabase(file, later);
  expect(database.all('SELECT * FROM cup')).toHaveLength(1);
  database.close();
});

it('rolls back a failed migration', async () => {
  await expect(openDatabase(file, ['CREATE TABLE a (x)', 'CREATE TABLE b (y); NONSENSE'])).rejects.toThrow('NONSENSE');
  const database = await openDatabase(file, MIGRATIONS);
  expect(database.all("SELECT name FROM sqlite_schema WHERE type = 'table'")).toHaveLength(1);
  database.close();
});

it('rejects a file of a newer version, or replaces it if it is disposable', async () => {
  (await openDatabase(file, [...MIGRATIONS, 'CREATE TABLE cup (id)'])).close();
  await expect(openDatabase(file, MIGRATIONS)).rejects.toThrow('version 2');
  const replaced = await openDatabase(file, MIGRATIONS, { disposable: true });
  expect(() => replaced.all('SELECT * FROM cup')).toThrow('no such table');
  replaced.close();
});

it('runs a transaction atomically', async () => {
  const database = await openDatabase(':memory:', MIGRATIONS);
  const insert = (name: string) => database.run('INSERT INTO tea (name) VALUES (?)', name);
  const count = () => database.get<{ n: number }>('SELECT count(*) AS n FROM tea')!.n;
  expect(() =>
    database.transaction(() => {
      insert('assam');
      database.transaction(() => insert('darjeeling'));
      insert('assam');
    }),
  ).toThrow('UNIQUE');
  expect(count()).toBe(0);
  expect(database.transaction(() => insert('assam'))).toBe(1);
  expect(count()).toBe(1);
  database.close();
});

it('replaces a damaged file if it is disposable, else throws', async () => {
  const warned: unknown[] = [];
  const log = { warn: (...entry: unknown[]) => warned.push(entry) } as never;
  (await openDatabase(file, MIGRATIONS)).close();
  for (const damaged of [Buffer.from('not a database '.repeat(1000)), withDamage(readFileSync(file))]) {
    writeFileSync(file, damaged);
    const failure = await openDatabase(file, MIGRATIONS).catch((error: unknown) => error);
    expect(isDamaged(failure)).toBe(true);
    const replaced = await openDatabase(file, MIGRATIONS, { disposable: true, log });
    expect(replaced.all('SELECT * FROM tea')).toEqual([]);
    replaced.close();
    expect(readFileSync(`${file}.damaged`)).toEqual(damaged);
  }
  expect(warned).toHaveLength(2);
  (await openDatabase(file, MIGRATIONS, { disposable: true })).close();
  expect(existsSync(`${file}.damaged`)).toBe(false);
});

/** Leaves the header intact and damages the schema after it. */
const withDamage = (database: Buffer): Buffer => database.fill(0xee, 100);

it('does not report a missing folder as damage', async () => {
  const failure = await openDatabase(path.join(file, 'below.db'), MIGRATIONS, { disposable: true }).catch((e) => e);
  expect(failure).toBeInstanceOf(Error);
  expect(isDamaged(failure)).toBe(false);
});

it('leaves no deleted data readable on disk', async () => {
  const database = await openDatabase(file, MIGRATIONS);
  const secret = 'lapsang-souchong-of-1897';
  database.run('INSERT INTO tea (name) VALUES (?)', secret);
  const onDisk = () =>
    [file, `${file}-wal`].some((name) => existsSync(name) && readFileSync(name).includes(Buffer.from(secret)));
  expect(onDisk()).toBe(true);
  database.run('DELETE FROM tea');
  database.checkpoint();
  expect(onDisk()).toBe(false);
  database.close();
});

it('hides only the warning about experimental SQLite', () => {
  const script = `
    const { openDatabase } = await import(${JSON.stringify(path.resolve(import.meta.dirname, 'sqlite.ts'))});
    const database = await openDatabase(':memory:', []);
    console.log(database.get('SELECT 6 * 7 AS answer').answer);
    process.emitWarning('the kettle boils');`;
  const source = path.join(dir, 'warn.mts');
  writeFileSync(source, script);
  const out = execFileSync(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', '-e', `import(${JSON.stringify(source)})`],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: `--redirect-warnings=${path.join(dir, 'warnings')}` },
    },
  );
  expect(out.trim()).toBe('42');
  const warnings = readFileSync(path.join(dir, 'warnings'), 'utf8');
  expect(warnings).toContain('the kettle boils');
  expect(warnings).not.toContain('SQLite');
});
