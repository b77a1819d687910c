import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileNameFor, writeFileAtomically } from './output.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'out-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe('names of files', () => {
  it.each([
    'https://a.test/../../etc/passwd',
    '../../x',
    '..\\..\\x',
    'C:\\con',
    'https://a.test/.ssh/',
    `https://a.test/${'é'.repeat(5_000)}${'/x'.repeat(5_000)}`,
    'con',
    '...',
    '日本語',
    'a\0b\n',
  ])('are safe for %j', (source) => {
    const name = fileNameFor(source, 'md');
    expect(name).toMatch(/^[a-zA-Z0-9_][a-zA-Z0-9._-]*-[0-9a-f]{8}\.md$/);
    expect(name).not.toContain('..');
    expect(name.length).toBeLessThanOrEqual(120);
  });

  it('are safe and stable for any source', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (source) => {
        const name = fileNameFor(source, 'md');
        expect(name).toMatch(/^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,120}$/);
        expect(name).toBe(fileNameFor(source, 'md'));
      }),
      { seed: 10, numRuns: 500 },
    );
  });

  it('differ for different URLs, also on case-insensitive file systems', () => {
    const names = ['https://a.test/X', 'https://a.test/x', 'https://a.test/x/', 'https://a.test/x?', 'a.test/x'];
    expect(new Set(names.map((name) => fileNameFor(name, 'md').toLowerCase())).size).toBe(names.length);
  });
});

describe('writing', () => {
  it('creates the folder and leaves no temporary file', async () => {
    const file = path.join(dir, 'new/folder/a.md');
    await writeFileAtomically(file, 'text');
    await writeFileAtomically(file, 'other');
    expect(await readFile(file, 'utf8')).toBe('other');
    expect(await readdir(path.dirname(file))).toEqual(['a.md']);
  });

  it('follows a symbolic link', async () => {
    await writeFile(path.join(dir, 'target.md'), 'before');
    await symlink('target.md', path.join(dir, 'link.md'));
    await writeFileAtomically(path.join(dir, 'link.md'), 'after');
    expect(await readFile(path.join(dir, 'target.md'), 'utf8')).toBe('after');
  });

  it.skipIf(process.platform === 'win32')('writes into a pipe without replacing it', async () => {
    const pipe = path.join(dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [read] = await Promise.all([readFile(pipe, 'utf8'), writeFileAtomically(pipe, 'through')]);
    expect(read).toBe('through');
  });
});
