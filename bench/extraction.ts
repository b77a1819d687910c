/**
 * HTML to content Markdown over a folder of pages, beside Mozilla's Readability on linkedom with Turndown, in one run:
 * `npm run bench:extraction -- <folder> [--scorer <module>] [--limit <pages a set>]`.
 *
 * Without a scorer the folder's `.html` and `.html.gz` files are only timed. A scorer is a module that exports
 * `pages(folder)`, an async iterable of `{dataset, id, url, gold, html}`, and `scorePage`, `report` and `table`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { parseDocument } from '#html/parse.ts';
import { extractArticle } from '#reader/extract/extract.ts';
import { documentBaseUrl } from '#reader/extract/links.ts';
import { MARKDOWN_STYLE_DEFAULTS } from '#reader/markdown/style.ts';
import { toMarkdown } from '#reader/markdown/to-markdown.ts';
import { machine, table } from './support.ts';

interface TestPage {
  dataset: string;
  id: string;
  url: string;
  html: string;
  gold?: unknown;
}

interface Row {
  dataset: string;
  id: string;
  ms: number;
  /** Of processor time, on all threads: what else the machine does counts less in it than on the wall clock. */
  cpuMs: number;
  empty: boolean;
  score: unknown;
  error?: string;
}

interface Scorer {
  pages(folder: string, options?: { limit?: number }): AsyncIterable<TestPage>;
  scorePage(dataset: string, predicted: string, gold: unknown): unknown;
  report(rows: Row[]): { headline_f1: number | null };
  table(report: unknown): string;
}

interface Contender {
  name: string;
  read(page: TestPage): string;
}

const ours: Contender = {
  name: 'lectern',
  read({ html, url }) {
    const document = parseDocument(html);
    const baseUrl = documentBaseUrl(document, url);
    const { content } = extractArticle(document, { url, baseUrl, whole: false });
    return toMarkdown(content, {
      ...MARKDOWN_STYLE_DEFAULTS,
      pageUrl: url,
      baseUrl,
      gfm: 'all',
      retainLinks: 'all',
      retainImages: 'all',
      keepImgDataUrl: false,
    }).markdown;
  },
};

// Turndown ships without types.
const TurndownService = createRequire(import.meta.url)('turndown') as new (
  options: Record<string, string>,
) => { turndown(html: string): string };
const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
const peers: Contender = {
  name: 'readability + linkedom + turndown',
  read({ html }) {
    const article = new Readability(
      parseHTML(html).document as unknown as ConstructorParameters<typeof Readability>[0],
    ).parse();
    return article?.content ? turndown.turndown(article.content) : '';
  },
};

function filesOf(folder: string): TestPage[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.html(?:\.gz)?$/.test(name))
    .sort()
    .map((name) => {
      const bytes = readFileSync(path.join(folder, name));
      const html = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
      return { dataset: 'pages', id: name, url: 'http://localhost/', html };
    });
}

/** Every page once, timed one by one; an exception counts as an empty answer. */
function run(contender: Contender, pages: readonly TestPage[], scorer: Scorer | undefined): Row[] {
  return pages.map((page) => {
    const from = performance.now();
    const spent = process.cpuUsage();
    let markdown = '';
    let error: string | undefined;
    try {
      markdown = contender.read(page);
    } catch (cause) {
      error = String(cause);
    }
    const ms = performance.now() - from;
    const { user, system } = process.cpuUsage(spent);
    const cpuMs = (user + system) / 1000;
    const score = scorer?.scorePage(page.dataset, markdown, page.gold);
    return { dataset: page.dataset, id: page.id, ms, cpuMs, empty: !markdown.trim(), score, ...(error && { error }) };
  });
}

/** Pages that a contender reads before the next one's turn. */
const TURN = 20;

const percentile = (values: number[], share: number) =>
  values.sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;

const { values, positionals } = parseArgs({
  options: { scorer: { type: 'string' }, limit: { type: 'string' } },
  allowPositionals: true,
});
const folder = positionals[0] ?? process.env.LECTERN_BENCH_DATA;
if (!folder) throw new Error('give the folder of pages: npm run bench:extraction -- <folder> [--scorer <module>]');
const scorer: Scorer | undefined = values.scorer
  ? await import(pathToFileURL(path.resolve(values.scorer)).href)
  : undefined;
const pages: TestPage[] = [];
if (scorer) {
  for await (const page of scorer.pages(folder, values.limit ? { limit: Number(values.limit) } : {})) {
    pages.push({ ...page, url: page.url || 'http://localhost/' });
  }
} else pages.push(...filesOf(folder).slice(0, values.limit ? Number(values.limit) : undefined));

const megabytes = pages.reduce((sum, page) => sum + Buffer.byteLength(page.html), 0) / 1e6;
console.log(
  `${machine()}; ${pages.length} pages, ${megabytes.toFixed(1)} MB, one core, each contender warmed up on a fifth\n`,
);
const speeds: (string | number)[][] = [];
const reports: string[] = [];
const contenders = [ours, peers];
const results = new Map<Contender, Row[]>(contenders.map((contender) => [contender, []]));
for (const contender of contenders)
  run(
    contender,
    pages.filter((_, at) => at % 5 === 0),
    undefined,
  );
// By turns, so that whatever else the machine does falls on all alike.
for (let from = 0; from < pages.length; from += TURN) {
  for (const contender of contenders)
    results.get(contender)!.push(...run(contender, pages.slice(from, from + TURN), scorer));
}
for (const [contender, rows] of results) {
  const ms = rows.map((row) => row.ms);
  const seconds = ms.reduce((sum, one) => sum + one, 0) / 1000;
  const summary = scorer?.report(rows);
  speeds.push([
    contender.name,
    pages.length / seconds,
    megabytes / seconds,
    (1000 * seconds) / pages.length,
    rows.reduce((sum, row) => sum + row.cpuMs, 0) / pages.length,
    percentile(ms, 0.5),
    percentile(ms, 0.95),
    rows.filter((row) => row.empty).length,
    summary?.headline_f1?.toFixed(3) ?? '-',
  ]);
  if (scorer && summary) reports.push(`${contender.name}\n${scorer.table(summary)}`);
}
console.log(
  table(
    ['HTML to content', 'pages/s', 'MB/s', 'ms a page', 'CPU ms a page', 'p50 ms', 'p95 ms', 'empty', 'F1'],
    speeds,
  ),
);
if (reports.length) console.log(`\n${reports.join('\n\n')}`);
