/**
 * Runs the benchmarks one after the other on a quiet machine, writes what they measured to `bench/results/<date>.json`,
 * and renews the tables of bench/README.md: `npm run bench:all -- [flags]`. If the file of this day exists, the
 * benchmarks that are run replace their results in it.
 *
 * - `--only read,cache`: these benchmarks only
 * - `--pages <folder>`, `--scorer <module>`: labelled pages (extraction, parse, metadata); LECTERN_BENCH_DATA names them too
 * - `--documents <folder>`, `--documents-scorer <program>`; `--scans <folder>` (text recognition); `--sets <folder>`
 *   (retrieval sets); `--blocked <folder>`
 * - `--out <folder>`, `--readme <file>`: where to write instead
 * - `--busy`: runs although the machine has other load
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import packageFile from '../package.json' with { type: 'json' };
import { renewTables } from './readme-tables.ts';
import type { ReportedTable } from './report.ts';
import { machine, SMOKE } from './support.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Above this load for each processor, the figures would be those of other programs. */
const QUIET_LOAD = 0.25;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    pages: { type: 'string', default: process.env.LECTERN_BENCH_DATA ?? '' },
    scorer: { type: 'string', default: '' },
    documents: { type: 'string', default: '' },
    'documents-scorer': { type: 'string', default: '' },
    scans: { type: 'string', default: '' },
    sets: { type: 'string', default: '' },
    blocked: { type: 'string', default: '' },
    out: { type: 'string', default: path.join(ROOT, 'bench/results') },
    readme: { type: 'string', default: path.join(ROOT, 'bench/README.md') },
    busy: { type: 'boolean', default: false },
  },
});

/** The arguments of a benchmark, or why it is left out. */
type Plan = readonly string[] | { readonly leftOut: string };

const needs = (flag: string, folder: string, ...more: string[]): Plan =>
  folder === '' ? { leftOut: `needs a folder of its own data: ${flag}` } : [folder, ...more];
const withValue = (flag: string, value: string): string[] => (value === '' ? [] : [flag, value]);

/** The benchmarks that need arguments. The others run without. */
const PLANS: Readonly<Record<string, Plan>> = {
  all: { leftOut: 'it is this one' },
  extraction: needs('--pages', flags.pages, ...(flags.scorer ? ['--scorer', flags.scorer, '--cross'] : [])),
  parse: needs('--pages', flags.pages),
  metadata: needs('--pages', flags.pages),
  documents: needs('--documents', flags.documents, ...withValue('--scorer', flags['documents-scorer'])),
  search: needs('--sets', flags.sets),
  blocked: needs('--blocked', flags.blocked),
  // Without a folder, it reads pages that it draws.
  ocr: flags.scans === '' ? [] : [flags.scans],
  soak: { leftOut: 'takes two hours: run it by itself' },
  // A million passages take most of an hour.
  'index-scale': ['--words', '--passages', '10000,100000'],
};

interface Results {
  readonly benchmarks: readonly Measured[];
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

interface Measured {
  readonly name: string;
  readonly command: string;
  readonly machine: string;
  readonly commit: string;
  readonly startedAt: string;
  readonly seconds: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly tables: readonly ReportedTable[];
  readonly error?: string;
}

const loadNow = (): number => Math.round((os.loadavg()[0] ?? 0) * 100) / 100;

const source = { machine: machine(), commit: commit() };

async function run(name: string, args: readonly string[], tablesFile: string): Promise<Measured> {
  const script = `bench:${name}`;
  rmSync(tablesFile, { force: true });
  const loadBefore = loadNow();
  const startedAt = new Date().toISOString();
  const from = performance.now();
  const child = spawn('npm', ['run', '-s', script, '--', ...args, ...(SMOKE ? ['--smoke'] : [])], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, BENCH_TABLES: tablesFile },
  });
  const [code] = await once(child, 'exit');
  const tables = existsSync(tablesFile)
    ? readFileSync(tablesFile, 'utf8')
        .trim()
        .split('\n')
        .map((line): ReportedTable => JSON.parse(line))
    : [];
  return {
    name,
    ...source,
    startedAt,
    command: ['npm run', script, ...(args.length > 0 ? ['--', ...args.map(withoutFolder)] : [])].join(' '),
    seconds: Math.round((performance.now() - from) / 1000),
    loadBefore,
    loadAfter: loadNow(),
    tables,
    ...(code !== 0 && { error: `ended with ${code}` }),
    ...(code === 0 && tables.length === 0 && { error: 'reported no table' }),
  };
}

/** The name of a folder or file without its path, because the results are published. */
const withoutFolder = (arg: string): string => (path.isAbsolute(arg) ? path.basename(arg) : arg);

function commit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'src') === '' ? '' : ' with changes');
  } catch {
    return 'unknown';
  }
}

const all = Object.keys(packageFile.scripts).flatMap((script) => /^bench:(.+)$/.exec(script)?.[1] ?? []);
const chosen = flags.only?.split(',') ?? all.filter((name) => name !== 'all');
const unknown = chosen.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(', ')}; there are: ${all.join(', ')}`);
const loadBefore = loadNow();
if (!SMOKE && !flags.busy && loadBefore > QUIET_LOAD * os.availableParallelism()) {
  console.error(`The load is ${loadBefore}, so this machine is not quiet. Wait, or use --busy.`);
  process.exit(1);
}

const startedAt = new Date().toISOString();
const temporary = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
const measured: Measured[] = [];
const leftOut: { name: string; reason: string }[] = [];
for (const name of chosen) {
  const plan = PLANS[name] ?? [];
  if ('leftOut' in plan) leftOut.push({ name, reason: plan.leftOut });
  else {
    console.log(`\n# bench:${name}\n`);
    measured.push(await run(name, plan, path.join(temporary, 'tables.jsonl')));
  }
}
rmSync(temporary, { recursive: true, force: true });

const date = startedAt.slice(0, 10);
mkdirSync(flags.out, { recursive: true });
const file = path.join(flags.out, `${date}.json`);
const earlier: Results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { benchmarks: [], leftOut: [] };
const wasNotRun = ({ name }: { readonly name: string }) => !chosen.includes(name);
const result: Results = {
  benchmarks: [...earlier.benchmarks.filter(wasNotRun), ...measured],
  leftOut: [...earlier.leftOut.filter(wasNotRun), ...leftOut],
};
writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);

const tables = measured.flatMap((one) => one.tables.map((table) => ({ ...one, ...table, date })));
const { text, without } = renewTables(readFileSync(flags.readme, 'utf8'), tables);
writeFileSync(flags.readme, text);

console.log(`\nWritten: ${path.relative(process.cwd(), file)}, ${path.relative(process.cwd(), flags.readme)}`);
if (without.length > 0) console.log(`Only in the JSON file: ${without.join(', ')}`);
for (const { name, reason } of leftOut) console.log(`Left out: ${name} (${reason})`);
const failed = measured.filter(({ error }) => error !== undefined);
for (const { name, error } of failed) console.error(`Failed: ${name} (${error})`);
process.exitCode = failed.length > 0 ? 1 : 0;
