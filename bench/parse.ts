/**
 * Parsing of HTML to a tree for a folder of pages, compared with parse5 and its own tree, on one core:
 * `tsx --conditions=source bench/parse.ts <folder>` (or LECTERN_BENCH_DATA=<folder>). Reads every `.html` and
 * `.html.gz` file in the folder.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'parse5';
import { parseDocument } from '#html/parse.ts';
import { packageBaseline, report } from './report.ts';
import { machine, sized } from './support.ts';

const ROUNDS = sized(5, 1);

const CONTENDERS: Record<string, (source: string) => unknown> = {
  lectern: parseDocument,
  parse5: (source) => parse(source, { scriptingEnabled: false }),
};

const readPages = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.html(?:\.gz)?$/.test(name))
    .map((name) => {
      const bytes = readFileSync(path.join(folder, name));
      return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    });

/** Processor time for all pages, in milliseconds. It depends less on other load than elapsed time. */
function timeMs(read: (source: string) => unknown, pages: readonly string[]): number {
  const before = process.cpuUsage();
  for (const page of pages) read(page);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const folder = process.argv[2] ?? process.env.LECTERN_BENCH_DATA;
const pages = folder ? readPages(folder) : [];
if (pages.length === 0) {
  console.error('usage: tsx --conditions=source bench/parse.ts <folder with .html or .html.gz files>');
  process.exit(1);
}
const megabytes = pages.reduce((sum, page) => sum + Buffer.byteLength(page), 0) / 1e6;

// Alternates between the contenders, so that other load affects both.
const best = new Map<string, number>();
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, read] of Object.entries(CONTENDERS)) {
    best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, timeMs(read, pages)));
  }
}

console.log(`${pages.length} pages, ${megabytes.toFixed(1)} MB, best of ${ROUNDS} rounds; ${machine()}\n`);
report(
  'parse',
  ['', 'ms/page', 'pages/s', 'MB/s'],
  [...best].map(([name, ms]) => [name, ms / pages.length, pages.length / (ms / 1000), megabytes / (ms / 1000)]),
  { baselines: [packageBaseline('parse5')] },
);
