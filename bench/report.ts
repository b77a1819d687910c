/**
 * How a benchmark reports a table. It is printed and, if `BENCH_TABLES` names a file, also appended to that file as one
 * line of JSON, which `npm run bench:all` collects.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { table } from './support.ts';

/** What Lectern was compared with in the same run. */
export interface Baseline {
  readonly name: string;
  readonly version: string;
}

type Cell = string | number;

export interface ReportedTable {
  /** The name of the benchmark, with a part after a point if it has several tables: `read.direct`. */
  readonly name: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** The columns that compare with the baseline. */
  readonly ratios: readonly string[];
  readonly baselines: readonly Baseline[];
}

interface Comparison {
  readonly ratios?: readonly string[];
  readonly baselines?: readonly (Baseline | undefined)[];
}

/** Reports a table. A baseline that is `undefined` is not installed on this machine. */
export function report(
  name: string,
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
  { ratios = [], baselines = [] }: Comparison = {},
): void {
  const unknown = ratios.filter((ratio) => !heads.includes(ratio));
  if (unknown.length > 0) throw new Error(`table ${name} has no column ${unknown.join(', ')}`);
  const present = baselines.filter((baseline) => baseline !== undefined);
  if (present.length > 0) console.log(`Baselines: ${namesOf(present)}\n`);
  console.log(markdownOf(heads, rows));
  const file = process.env.BENCH_TABLES;
  const reported: ReportedTable = { name, heads, rows, ratios, baselines: present };
  if (file) appendFileSync(file, `${JSON.stringify(reported)}\n`);
}

export const markdownOf = (heads: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  table(
    [...heads],
    rows.map((row) => [...row]),
  );

export const namesOf = (baselines: readonly Baseline[]): string =>
  baselines.map(({ name, version }) => `${name} ${version}`).join(', ');

/** An installed package; of this project, unless another folder is given. */
export const packageBaseline = (name: string, folder = path.join(import.meta.dirname, '..')): Baseline => ({
  name,
  version: versionIn(path.join(folder, 'node_modules', name, 'package.json')),
});

/** Something that Node does by itself. */
export const nodeBaseline = (name: string): Baseline => ({ name, version: `(Node ${process.versions.node})` });

/** Another way through Lectern. */
export const ownBaseline = (name: string): Baseline => ({
  name,
  version: `(Lectern ${versionIn(path.join(import.meta.dirname, '../package.json'))})`,
});

/** A program, with the first version number that it prints; `undefined` if it is not installed. */
export function programBaseline(name: string, program: string, ...args: string[]): Baseline | undefined {
  const { stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (error) return undefined;
  return { name, version: /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'of unknown version' };
}

const versionIn = (file: string): string => JSON.parse(readFileSync(file, 'utf8')).version;
