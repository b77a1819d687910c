/** Every benchmark of package.json runs, with the smallest amount of work, and prints figures. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renewTables, tablesIn } from '../bench/readme-tables.ts';
import packageFile from '../package.json' with { type: 'json' };

const ROOT = path.resolve(import.meta.dirname, '..');
const PAGE = `<!doctype html><html lang="en"><head><title>Green tea</title></head><body><main><h1>Green tea</h1><p>${'It is drunk hot in the morning. '.repeat(20)}</p></main></body></html>`;

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'benchmarks-'));
  const put = (name: string, content: string | Uint8Array) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
  for (let at = 0; at < 5; at++) put(`pages/${at}.html`, PAGE.replaceAll('Green', `Green ${at}`));
  put('titles/one/gold.json', JSON.stringify({ tea: { url: 'https://example.org/tea', title: 'Green tea' } }));
  put('titles/one/html/tea.html.gz', gzipSync(PAGE));
  const texts = ['Green tea is drunk hot in the morning.', 'The ferry leaves the harbour at noon.', 'Bees make honey.'];
  put(
    'sets/small/corpus.jsonl',
    texts.map((text, at) => JSON.stringify({ _id: `d${at}`, title: '', text })).join('\n'),
  );
  put('sets/small/queries.jsonl', JSON.stringify({ _id: 'q0', text: 'When does the ferry leave?' }));
  put('sets/small/qrels.tsv', 'q0\td1\t1');
  const pdf = await PDFDocument.create();
  pdf.addPage().drawText('Green tea', { x: 50, y: 700, font: await pdf.embedFont(StandardFonts.Helvetica) });
  put('pdfs/tea.pdf', await pdf.save());
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The arguments of each benchmark besides `--smoke`. `undefined`: another test runs it. */
const BENCHMARKS: Readonly<Record<string, (() => string[]) | undefined>> = {
  // bench:start and bench:read, one after the other.
  bench: undefined,
  // Below.
  'bench:all': undefined,
  'bench:search': () => [path.join(folder, 'sets')],
  'bench:index': () => [],
  'bench:search-index': () => [],
  'bench:index-scale': () => [],
  'bench:flow': () => ['--only', 'bare,rest,ws,grpc'],
  'bench:start': () => [],
  'bench:read': () => [],
  'bench:gate': () => [],
  'bench:limits': () => [],
  'bench:compat': () => [],
  'bench:batch': () => [],
  'bench:cache': () => [],
  'bench:memory': () => [],
  'bench:pdf': () => [path.join(folder, 'pdfs')],
  // test/bench-documents.test.ts
  'bench:documents': undefined,
  'bench:office': () => [],
  'bench:extraction': () => [path.join(folder, 'pages'), '--baseline'],
  'bench:markdown': () => [],
  // test/micro-bench.test.ts
  'bench:micro': undefined,
  'bench:metadata': () => [path.join(folder, 'titles')],
  'bench:models': () => [],
  'bench:models-pages': () => [],
  'bench:models-http': () => [],
  'bench:models-onnx': () => [],
  'bench:ocr': () => [],
  'bench:ocr-numbers': () => [],
  'bench:parse': () => [path.join(folder, 'pages')],
  // test/bench-blocked.test.ts
  'bench:blocked': undefined,
  'bench:hostile': () => [],
  'bench:capacity': () => [],
  'bench:scale': () => [],
  'bench:soak': () => [],
  'bench:growth': () => ['--out', path.join(folder, 'growth')],
};

it('has a run for every benchmark', () => {
  expect(Object.keys(BENCHMARKS).sort()).toEqual(
    Object.keys(packageFile.scripts)
      .filter((name) => /^bench(:|$)/.test(name))
      .sort(),
  );
});

const runs = Object.entries(BENCHMARKS).filter(([, args]) => args !== undefined);

it.each(runs)('%s', { timeout: 300_000 }, async (name, args) => {
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', name, '--', ...args!(), '--smoke'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const figures = stdout.match(/(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])/g) ?? [];
  expect(figures.filter((figure) => /[1-9]/.test(figure)).length, stdout).toBeGreaterThan(1);
  expect(stdout).not.toMatch(/NaN|Infinity|undefined|null/);
});

const README = path.join(ROOT, 'bench/README.md');

it('runs benchmarks in sequence, and renews the tables', { timeout: 300_000 }, async () => {
  const [out, readme] = [path.join(folder, 'results'), path.join(folder, 'README.md')];
  copyFileSync(README, readme);
  const pages = path.join(folder, 'pages');
  const only = ['--only', 'hostile,capacity,parse,blocked', '--pages', pages];
  const args = [...only, '--out', out, '--readme', readme, '--smoke'];
  const env = { ...process.env, LECTERN_BENCH_DATA: '' };
  const runAll = (given: string[]) =>
    promisify(execFile)('npm', ['run', '-s', 'bench:all', '--', ...given], { cwd: ROOT, env });
  const { stdout } = await runAll(args);
  expect(stdout).toContain('Left out: blocked (needs a folder of its own data: --blocked)');
  expect(stdout).toContain('Only in the JSON file: capacity.model');

  const [file] = readdirSync(out);
  const read = () => JSON.parse(readFileSync(path.join(out, file!), 'utf8'));
  const result = read();
  const [{ startedAt, machine }] = result.benchmarks;
  const date = startedAt.slice(0, 10);
  expect(file).toBe(`${date}.json`);
  expect(result.leftOut.map(({ name }: { name: string }) => name)).toEqual(['blocked']);
  expect(result.benchmarks.map(({ name, tables }: Measured) => [name, tables.map((table) => table.name)])).toEqual([
    ['hostile', ['hostile']],
    ['capacity', ['capacity.model', 'capacity.simulation']],
    ['parse', ['parse']],
  ]);
  // Folders of the machine are not published.
  expect(result.benchmarks[2].command).toBe('npm run bench:parse -- pages');
  const [{ tables }] = result.benchmarks;
  expect(tables[0].baselines).toEqual([{ name: 'parse5', version: packageFile.devDependencies.parse5.slice(1) }]);
  expect(tables[0].heads).toContain(tables[0].ratios[0]);

  const renewed = readFileSync(readme, 'utf8');
  expect(renewed).toContain(`<!-- table hostile -->\n${date}, ${machine}, commit `);
  expect(tablesIn(renewed)).toEqual(tablesIn(readFileSync(README, 'utf8')));

  // Later runs of the day replace the results of the same benchmarks only.
  await runAll(['--only', 'hostile', ...args.slice(2)]);
  const later = read();
  expect(later.leftOut).toEqual(result.leftOut);
  expect(later.benchmarks).toEqual([
    expect.objectContaining({ name: 'capacity', startedAt: result.benchmarks[1].startedAt }),
    expect.objectContaining({ name: 'parse' }),
    expect.objectContaining({ name: 'hostile' }),
  ]);
  expect(later.benchmarks[2].startedAt > startedAt).toBe(true);
});

interface Measured {
  readonly name: string;
  readonly tables: readonly { readonly name: string }[];
}

it('has a benchmark for every table of bench/README.md', () => {
  const sources = readdirSync(path.dirname(README)).filter((name) => name.endsWith('.ts'));
  const text = sources.map((name) => readFileSync(path.join(path.dirname(README), name), 'utf8')).join('\n');
  // The name of a table may end with the size that was measured.
  const names = [...text.matchAll(/\breport\(\s*['`]([\w.-]+?)\.?(?:\$\{[^}]*\})?['`]/g)].map(([, name]) => name);
  const places = tablesIn(readFileSync(README, 'utf8'));
  expect(places.length).toBeGreaterThan(10);
  expect(places.filter((place) => !names.some((name) => place === name || place.startsWith(`${name}.`)))).toEqual([]);
});

it('replaces only the table that was measured', () => {
  const text = [
    'a',
    '<!-- table one -->',
    'old',
    '<!-- end of table -->',
    '<!-- table two -->',
    'kept',
    '<!-- end of table -->',
  ];
  const table = {
    name: 'one',
    heads: ['x', 'times'],
    rows: [['a', 2]],
    ratios: ['times'],
    baselines: [{ name: 'b', version: '1' }],
  };
  const facts = { date: '2026-01-01', machine: 'm', commit: 'c', loadBefore: 0.1, loadAfter: 0.2 };
  const renewed = renewTables(text.join('\n'), [
    { ...table, ...facts },
    { ...table, ...facts, name: 'three' },
  ]);
  expect(renewed.without).toEqual(['three']);
  expect(renewed.text).toContain('load 0.1 before and 0.2 after; baselines: b 1.');
  expect(renewed.text).toContain('kept');
  expect(renewed.text).not.toContain('old');
});
