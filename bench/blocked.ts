/**
 * Evaluates the detection of blocked pages on a folder of labelled pages:
 * `npm run bench:blocked -- <folder> [--list]`. The folder has
 * `pages.jsonl` (one page a line: id, status, headers, and what is expected) and `html/<id>.html` or `.html.gz`. A
 * folder without `pages.jsonl` contains only content. `--list` prints the pages that are wrong.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseDocument } from '#html/parse.ts';
import { examinePage } from '#reader/blocked/examine.ts';
import { examineText } from '#reader/blocked/examine-text.ts';
import { responseMarksOf } from '#reader/blocked/response-marks.ts';
import { report } from './report.ts';
import { machine } from './support.ts';

interface Labelled {
  readonly id: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly expected: { readonly blocked: boolean; readonly kind: string | null; readonly vendor: string | null };
}

function readHtml(folder: string, id: string): string {
  const plain = path.join(folder, 'html', `${id}.html`);
  return existsSync(plain) ? readFileSync(plain, 'utf8') : gunzipSync(readFileSync(`${plain}.gz`)).toString('utf8');
}

function readLabels(folder: string): Labelled[] {
  const list = path.join(folder, 'pages.jsonl');
  if (existsSync(list)) {
    const lines = readFileSync(list, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Labelled);
  }
  const expected = { blocked: false, kind: null, vendor: null };
  return readdirSync(path.join(folder, 'html'))
    .filter((name) => /\.html(?:\.gz)?$/.test(name))
    .map((name) => ({ id: name.replace(/\.html(?:\.gz)?$/, ''), status: 200, headers: {}, expected }));
}

const [folder, ...flags] = process.argv.slice(2);
if (!folder) {
  console.error('usage: npm run bench:blocked -- <folder with pages.jsonl and html/> [--list]');
  process.exit(1);
}

const kinds = new Map<string, { pages: number; found: number; kind: number; by: number }>();
const wrong: string[] = [];
let content = 0;
let falseAlarms = 0;
let parseMs = 0;
let examineMs = 0;
for (const { id, status, headers, expected } of readLabels(folder)) {
  const html = readHtml(folder, id);
  const answer = { url: 'https://site.example/', status, response: responseMarksOf(headers) };
  const isText = /json|text\/plain/.test(headers['content-type'] ?? '');
  const before = process.cpuUsage();
  const document = parseDocument(html);
  const parsed = process.cpuUsage(before);
  const found = isText ? examineText(html, answer) : examinePage(document, answer);
  const done = process.cpuUsage(before);
  parseMs += (parsed.user + parsed.system) / 1000;
  examineMs += (done.user + done.system - parsed.user - parsed.system) / 1000;
  const label = expected.kind ?? 'content';
  if (!expected.blocked) {
    content++;
    if (found) falseAlarms++;
    if (found) wrong.push(`${id}: content, not ${found.kind} by ${found.by}`);
    continue;
  }
  const count = kinds.get(label) ?? { pages: 0, found: 0, kind: 0, by: 0 };
  kinds.set(label, count);
  count.pages++;
  if (found) count.found++;
  if (found?.kind === expected.kind) count.kind++;
  if (found?.by === expected.vendor) count.by++;
  if (found?.kind !== expected.kind || found?.by !== expected.vendor)
    wrong.push(`${id}: ${label} by ${expected.vendor}, not ${found ? `${found.kind} by ${found.by}` : 'content'}`);
}

const sum = [...kinds.values()].reduce(
  (all, one) => ({
    pages: all.pages + one.pages,
    found: all.found + one.found,
    kind: all.kind + one.kind,
    by: all.by + one.by,
  }),
  { pages: 0, found: 0, kind: 0, by: 0 },
);
const share = (part: number, whole: number) => (whole === 0 ? '' : (part / whole).toFixed(3));
console.log(`${sum.pages + content} pages; ${machine()}\n`);
report(
  'blocked',
  ['kind', 'pages', 'found', 'kind right', 'vendor right'],
  [...kinds, ['all', sum] as const].map(([kind, { pages, found, kind: right, by }]) => [
    kind,
    pages,
    share(found, pages),
    share(right, pages),
    share(by, pages),
  ]),
);
console.log(`\nfalse alarms: ${falseAlarms} of ${content} pages of content`);
console.log(`processor time: parsing ${parseMs.toFixed(0)} ms, examination ${examineMs.toFixed(0)} ms`);
if (flags.includes('--list')) for (const line of wrong) console.log(line);
