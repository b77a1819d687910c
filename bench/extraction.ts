/**
 * Extraction of content as Markdown from a folder of HTML pages, for Lectern and its competitors in one run:
 * `npm run bench:extraction -- <folder> [--scorer <module>] [--cross] [--baseline] [--limit <pages a set>]`.
 *
 * Without a scorer, the `.html` and `.html.gz` files of the folder are only timed. With a scorer (bench/scorer.ts
 * defines its exports), the results are scored too, and a run over all pages and contenders writes bench/extraction.md.
 * `--cross` adds cross-validated scores, which takes some minutes. `--baseline` runs only the competitor that the speed
 * is compared with.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { parseDocument } from '#html/parse.ts';
import { labelledText, ownPages } from '../test/support/own-pages.ts';
import { BASELINE, COMPARED_PACKAGES, COMPETITORS, type Contender, OURS, packageVersions } from './contenders.ts';
import {
  CROSS_VALIDATED,
  ownPagesTable,
  type Quality,
  reportPage,
  speedRows,
  type Timed,
  type TimedRow,
} from './extraction-report.ts';
import { type Checked, crossValidate } from './fit/check.ts';
import { faultsOf, shippedAnswer, sumFaults } from './fit/own-answers.ts';
import { isLabelled, readSamples } from './fit/samples.ts';
import { markdownOf, packageBaseline, report } from './report.ts';
import { loadScorer, type Row, type Scorer, type TestPage } from './scorer.ts';

const NO_URL = 'http://localhost/';
/** Number of pages that a contender reads before the next contender continues. */
const TURN = 20;
/** Every nth page is read as a warm-up. */
const WARM_UP = 5;

const { values: flags, positionals } = parseArgs({
  options: {
    scorer: { type: 'string' },
    cross: { type: 'boolean' },
    baseline: { type: 'boolean' },
    limit: { type: 'string' },
  },
  allowPositionals: true,
});

function filesOf(folder: string): TestPage[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.html(?:\.gz)?$/.test(name))
    .sort()
    .map((name) => {
      const bytes = readFileSync(path.join(folder, name));
      const html = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
      return { dataset: 'pages', id: name, url: NO_URL, html, gold: {} };
    });
}

async function readPages(folder: string, scorer: Scorer | undefined, limit: number | undefined): Promise<TestPage[]> {
  if (!scorer) return filesOf(folder).slice(0, limit);
  const pages: TestPage[] = [];
  for await (const page of scorer.pages(folder, limit ? { limit } : {})) {
    pages.push({ ...page, url: page.url || NO_URL });
  }
  return pages;
}

/** Runs each page once, timed separately. An exception counts as an empty result. */
async function run({ read }: Contender, pages: readonly TestPage[], scorer?: Scorer): Promise<TimedRow[]> {
  const rows: TimedRow[] = [];
  for (const { dataset, id, url, html, gold } of pages) {
    const from = performance.now();
    const spent = process.cpuUsage();
    let markdown = '';
    let error: string | undefined;
    try {
      markdown = await read(html, url);
    } catch (cause) {
      error = String(cause);
    }
    const ms = performance.now() - from;
    const { user, system } = process.cpuUsage(spent);
    const cpuMs = (user + system) / 1000;
    const score = scorer?.scorePage(dataset, markdown, gold);
    rows.push({ dataset, id, ms, cpuMs, empty: !markdown.trim(), score, ...(error && { error }) });
    // jsdom's weak references are released only after the event loop has continued.
    await setImmediate();
  }
  return rows;
}

/** Reads all pages and alternates between the contenders, so that other load affects all of them equally. */
async function timeContenders(
  contenders: readonly Contender[],
  pages: readonly TestPage[],
  scorer?: Scorer,
): Promise<Timed[]> {
  const all = contenders.map((contender) => ({ contender, rows: [] as TimedRow[] }));
  const some = pages.filter((_, at) => at % WARM_UP === 0);
  for (const { contender } of all) await run(contender, some);
  for (let from = 0; from < pages.length; from += TURN) {
    for (const { contender, rows } of all) rows.push(...(await run(contender, pages.slice(from, from + TURN), scorer)));
  }
  return all;
}

/**
 * Lectern and the baseline run first, and each of the others runs separately. Otherwise, the garbage of a slow
 * contender would be collected in the time of the next one. Code that is used with two DOM implementations also becomes
 * slower with both.
 */
async function compete(pages: readonly TestPage[], scorer?: Scorer): Promise<Timed[]> {
  const { error } = console;
  // Some contenders write log messages while they read, which would add to their time.
  console.error = () => {};
  const first = await timeContenders([OURS, BASELINE], pages, scorer);
  const second = flags.baseline ? [] : await timeContenders(COMPETITORS, pages, scorer);
  console.error = error;
  return [...first, ...second];
}

/** The quality of the results for `pages`, as rated by the scorer. */
function qualityOf(name: string, rows: readonly Row[], pages: readonly TestPage[], scorer: Scorer): Quality {
  const withContent = new Set(
    pages
      .filter(({ gold }) => (gold.text ?? gold.with?.join(' ') ?? '').trim())
      .map(({ dataset, id }) => `${dataset}/${id}`),
  );
  const empty = rows.filter((row) => row.empty);
  const wronglyEmpty = empty.filter(({ dataset, id }) => withContent.has(`${dataset}/${id}`)).length;
  return { name, report: scorer.report(rows), empty: empty.length, wronglyEmpty };
}

function ownPagesFindings(checked: Checked | undefined): string {
  const all = ownPages().map(({ html, expected }) => {
    const document = parseDocument(html);
    const gold = expected.content && labelledText(document, expected);
    return { expected, fault: faultsOf(shippedAnswer(document, expected), expected, gold) };
  });
  const labelled = all.filter(({ expected }) => isLabelled(expected));
  return ownPagesTable(sumFaults(all), sumFaults(labelled), checked);
}

const folder = positionals[0] ?? process.env.LECTERN_BENCH_DATA;
if (!folder) throw new Error('name the folder of pages: npm run bench:extraction -- <folder> [--scorer <module>]');
const limit = flags.limit ? Number(flags.limit) : undefined;
const scorer = flags.scorer ? await loadScorer(flags.scorer) : undefined;
const date = new Date().toISOString().slice(0, 10);
const pages = await readPages(folder, scorer, limit);
const megabytes = pages.reduce((sum, page) => sum + Buffer.byteLength(page.html), 0) / 1e6;
const timed = await compete(pages, scorer);
const speed = speedRows(timed, BASELINE, megabytes);

console.log(`${pages.length} pages, ${megabytes.toFixed(1)} MB\n`);
report('extraction.speed', speed.heads, speed.rows, {
  ratios: ['times the baseline'],
  baselines: COMPARED_PACKAGES.map((name) => packageBaseline(name)),
});
if (scorer) {
  const quality = timed.map(({ contender, rows }) => qualityOf(contender.name, rows, pages, scorer));
  let checked: Checked | undefined;
  if (flags.cross) {
    const samples = await readSamples(folder, scorer, { limit });
    checked = crossValidate(samples, scorer);
    const rows = checked.rows.filter(({ dataset }) => dataset !== 'own');
    quality.splice(1, 0, qualityOf(CROSS_VALIDATED, rows, pages, scorer));
  }
  const given = [flags.cross && '--cross', flags.baseline && '--baseline', limit && `--limit ${limit}`].filter(Boolean);
  const page = reportPage({
    pages: pages.length,
    megabytes,
    command: ['npm run bench:extraction -- <folder> --scorer <module>', ...given].join(' '),
    versions: packageVersions(),
    date,
    speed: markdownOf(speed.heads, speed.rows),
    quality,
    own: ownPagesFindings(checked),
    checked,
  });
  console.log(page);
  if (limit === undefined && !flags.baseline) writeFileSync(path.join(import.meta.dirname, 'extraction.md'), page);
}
