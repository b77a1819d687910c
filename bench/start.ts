/**
 * Time from the start of the process until it is ready, idle memory, and the time of `--help` and of reading a page
 * from a file: `npm run bench:start`. Baseline: `node -e 0`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { nodeBaseline, report } from './report.ts';
import { build, descendantsMb, machine, median, proportionalMb, residentMb, serve, sized } from './support.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../dist/main.js');
const RUNS = Number(process.argv[2] ?? sized(7, 1));
/** Long enough for the collection of garbage in an idle server. */
const IDLE_MS = sized(20_000, 100);
const PAGE =
  '<!doctype html><title>Tea</title><article><h1>Green tea</h1><p>It is drunk hot, and has been.</p></article>';

build();
const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
const page = path.join(folder, 'page.html');
writeFileSync(page, PAGE);
const env = { ...process.env, LECTERN_DATA_DIR: path.join(folder, 'data'), LECTERN_BROWSER: 'none' };

/** Duration of one run of Node, in milliseconds. */
function time(...args: string[]): number {
  const from = performance.now();
  execFileSync(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return performance.now() - from;
}

const bare: number[] = [];
const help: number[] = [];
const read: number[] = [];
const ready: number[] = [];
const memory: number[] = [];
// Creates the tables in the data folder before the measurement starts.
time(PROGRAM, 'read', page);
for (let run = 0; run < RUNS; run++) {
  bare.push(time('-e', '0'));
  help.push(time(PROGRAM, '--help'));
  read.push(time(PROGRAM, 'read', page));
  const server = await serve({ LECTERN_BROWSER: 'none' });
  ready.push(server.readyMs);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  memory.push(residentMb(server.pid));
  await server.stop();
}
rmSync(folder, { recursive: true, force: true });

const server = await serve({ LECTERN_BROWSER: 'none' });
await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
const idleMb = proportionalMb(server.pid) + descendantsMb(server.pid);
await server.stop();
console.log(`${machine()}; ${RUNS} runs\n`);
const row = (name: string, values: number[]) => [name, Math.min(...values), median(values), Math.max(...values)];
const timeRow = (name: string, values: number[]) => [...row(name, values), median(values) / median(bare)];
report(
  'start',
  ['', 'minimum', 'median', 'maximum', 'times the baseline'],
  [
    timeRow('`node -e 0`, ms', bare),
    timeRow('`lectern --help`, ms', help),
    timeRow('`lectern read page.html`, ms', read),
    timeRow('start to ready, ms', ready),
    [...row('memory a second later, MB resident', memory), ''],
    [...row('memory when idle, with its processes, MB proportional', [idleMb]), ''],
  ],
  { ratios: ['times the baseline'], baselines: [nodeBaseline('`node -e 0`')] },
);
