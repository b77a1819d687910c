/**
 * How fast pages are read, beside the usual libraries, in one process on one core.
 *
 *     npm run bench:extraction -- <folder with data>      (or LECTERN_BENCH_DATA=<folder>)
 *
 * The folder has a folder a set, and in it `html/<id>.html.gz`: pages as UTF-8 HTML.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'parse5';
import { parseDocument } from '../src/html/parse.ts';

const ROUNDS = 5;

const CANDIDATES = {
  'lectern: parse': (source) => parseDocument(source),
  'parse5: parse': (source) => parse(source, { scriptingEnabled: false }),
};

function readPages(folder) {
  const pages = [];
  for (const set of readdirSync(folder)) {
    const html = join(folder, set, 'html');
    if (!statSync(html, { throwIfNoEntry: false })?.isDirectory()) continue;
    for (const name of readdirSync(html)) {
      if (name.endsWith('.html.gz')) pages.push(gunzipSync(readFileSync(join(html, name))).toString('utf8'));
    }
  }
  return pages;
}

/** Milliseconds of processor time for all pages: the machine's other work counts less than on the wall clock. */
function time(read, pages) {
  const before = process.cpuUsage();
  for (const page of pages) read(page);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const folder = process.argv[2] ?? process.env.LECTERN_BENCH_DATA;
if (!folder) {
  console.error('usage: npm run bench:extraction -- <folder with data>');
  process.exit(1);
}
const pages = readPages(folder);
if (pages.length === 0) {
  console.error(`No <set>/html/<id>.html.gz in ${folder}`);
  process.exit(1);
}
const megabytes = pages.reduce((sum, page) => sum + Buffer.byteLength(page), 0) / 1e6;
console.log(
  `${pages.length} pages, ${megabytes.toFixed(1)} MB, Node ${process.versions.node}, best of ${ROUNDS} rounds\n`,
);

// The candidates take turns, so that a busy moment of the machine does not fall on one of them alone.
const best = new Map(Object.keys(CANDIDATES).map((name) => [name, Number.POSITIVE_INFINITY]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, read] of Object.entries(CANDIDATES)) best.set(name, Math.min(best.get(name), time(read, pages)));
}

const rows = [...best].map(([name, ms]) => [
  name,
  (ms / pages.length).toFixed(2),
  (pages.length / (ms / 1000)).toFixed(0),
  (megabytes / (ms / 1000)).toFixed(1),
]);
for (const row of [['', 'ms/page', 'pages/s', 'MB/s'], ...rows]) {
  console.log(
    `${row[0].padEnd(20)}${row
      .slice(1)
      .map((cell) => cell.padStart(10))
      .join('')}`,
  );
}
