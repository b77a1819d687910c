/** `npm run bench:documents` on files that it makes itself, and on a folder of which nothing can be converted. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const bench = (...args: string[]) =>
  promisify(execFile)('npm', ['run', '-s', 'bench:documents', '--', ...args], { cwd: ROOT, encoding: 'utf8' });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'bench-documents-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('measures words and speed of each format, and names the peers that are absent', { timeout: 240_000 }, async () => {
  const { stdout } = await bench('--smoke', '--peers', folder);
  const number = '[\\d.]*\\d[\\d.]*';
  for (const format of ['pdf', 'docx'])
    expect(stdout).toMatch(
      new RegExp(
        `\\| ${format} +\\| lectern +\\| +1 +\\| +0 +\\| +1\\.000 +\\| +1\\.000 +\\| +${number} +\\| +1\\.00 +\\|`,
      ),
    );
  expect(stdout).toContain('Not measured: liteparse (@llamaindex/liteparse is not in the folder of peers)');
  expect(stdout).toContain('Not measured: mammoth');
});

it('measures a peer, and takes the columns of a scorer', { timeout: 240_000 }, async () => {
  const peer = path.join(folder, 'node_modules', 'mammoth');
  await mkdir(peer, { recursive: true });
  await writeFile(path.join(peer, 'package.json'), '{"name":"mammoth","version":"9.9.9","main":"index.js"}');
  await writeFile(
    path.join(peer, 'index.js'),
    'exports.convertToMarkdown = async () => ({ value: "Tea is at four" });',
  );
  const scorer = path.join(folder, 'scorer.mjs');
  await writeFile(
    scorer,
    `#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
const of = (name) => process.argv[process.argv.indexOf(name) + 1];
const text = readFileSync(of('--outputs') + '/docx/packed/table.docx.md', 'utf8');
writeFileSync(of('--json'), JSON.stringify({ summary: { docx: { teds: text.includes('Harbour') ? 0.75 : 0.25 } } }));
`,
  );
  await chmod(scorer, 0o755);
  const { stdout } = await bench('--smoke', '--peers', folder, '--scorer', scorer, '--format', 'docx');
  expect(stdout).toContain('mammoth 9.9.9');
  expect(stdout).toMatch(/\| docx +\| lectern .*\| 0\.750 \|/);
  expect(stdout).toMatch(/\| docx +\| mammoth .*\| 0\.250 \|/);
});

it('fails if nothing is converted', { timeout: 240_000 }, async () => {
  await mkdir(path.join(folder, 'truth', 'pdf', 'x'), { recursive: true });
  await mkdir(path.join(folder, 'pdf', 'x'), { recursive: true });
  await writeFile(path.join(folder, 'manifest.json'), '{"files":[{"file":"pdf/x/a.pdf"}]}');
  await writeFile(path.join(folder, 'truth', 'pdf', 'x', 'a.pdf.json'), '{"text":"Tea"}');
  await writeFile(path.join(folder, 'pdf', 'x', 'a.pdf'), '%PDF-1.7\nnothing');
  await expect(bench(folder)).rejects.toThrow('Nothing was converted: pdf');
  await expect(bench(folder, '--format', 'docx')).rejects.toThrow('no files to convert');
});
