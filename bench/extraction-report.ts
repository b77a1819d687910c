/** The tables of bench/extraction.md. */
import type { Contender } from './contenders.ts';
import type { Checked } from './fit/check.ts';
import type { OwnSums } from './fit/own-answers.ts';
import type { Figures, Report, Row } from './scorer.ts';
import { machine, percentile, table } from './support.ts';

export interface TimedRow extends Row {
  ms: number;
  /** Processor time of all threads, which depends less on other load than elapsed time. */
  cpuMs: number;
}

export interface Timed {
  contender: Contender;
  rows: readonly TimedRow[];
}

export interface Quality {
  name: string;
  report: Report;
  /** Number of empty results, and how many of those pages do have content. */
  empty: number;
  wronglyEmpty: number;
}

export const CROSS_VALIDATED = 'lectern, cross-validated';

/** A share without its leading zero, as usual in the field: `.913`. */
const share = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : value.toFixed(3).replace(/^0/, '');

interface ReportedRows {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Pages per second and time per page. The last column is relative to the baseline, which is `1.00`. */
export function speedRows(all: readonly Timed[], baseline: Contender, megabytes: number): ReportedRows {
  const rateOf = ({ rows }: Timed) => (1000 * rows.length) / rows.reduce((sum, { ms }) => sum + ms, 0);
  const cpuOf = ({ rows }: Timed) => rows.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / rows.length;
  const base = all.find(({ contender }) => contender === baseline)!;
  const rows = all.map((timed) => {
    const ms = timed.rows.map((row) => row.ms);
    const rate = rateOf(timed);
    const [p50, p95] = [percentile(ms, 0.5), percentile(ms, 0.95)];
    const perPage = megabytes / timed.rows.length;
    return [timed.contender.name, rate, rate * perPage, p50, p95, cpuOf(timed), rate / rateOf(base)];
  });
  const heads = ['HTML to content', 'pages/s', 'MB/s', 'p50 ms', 'p95 ms', 'CPU ms a page', 'times the baseline'];
  return { heads, rows };
}

export function summaryTable(all: readonly Quality[]): string {
  const sets = Object.keys(all[0]!.report.datasets);
  const snippets = sets.filter((set) => all[0]!.report.datasets[set]!.with !== undefined);
  const heads = snippets.flatMap((set) => [`${set} with`, `${set} without`]);
  const rows = all.map(({ name, report, empty, wronglyEmpty }) => [
    name,
    share(report.headline_f1),
    ...sets.map((set) => share(report.datasets[set]?.f1)),
    ...snippets.flatMap((set) => [share(report.datasets[set]?.with), share(report.datasets[set]?.without)]),
    `${empty} (${wronglyEmpty})`,
  ]);
  return table(['F1', 'headline', ...sets, ...heads, 'empty (wrongly)'], rows);
}

export function setsTable(all: readonly Quality[]): string {
  const rows = Object.keys(all[0]!.report.datasets).flatMap((set) =>
    all.map(({ name, report }) => {
      const { pages, f1, f1_se, p, r } = report.datasets[set]!;
      return [set, pages.toFixed(0), name, share(f1), f1_se === undefined ? '' : share(f1_se), share(p), share(r)];
    }),
  );
  return table(['set', 'pages', '', 'F1', 'standard error', 'precision', 'recall'], rows);
}

/** F1 for each type of page, for each data set that has types. */
export function typesTables(all: readonly Quality[]): string[] {
  return Object.entries(all[0]!.report.datasets).flatMap(([set, { types }]) => {
    if (!types) return [];
    const f1 = (figures: Record<string, Figures> | undefined, type: string) => share(figures?.[type]?.f1);
    const rows = Object.entries(types).map(([type, { pages }]) => [
      type,
      pages.toFixed(0),
      ...all.map(({ report }) => f1(report.datasets[set]?.types, type)),
    ]);
    return [table([`${set}, by type`, 'pages', ...all.map(({ name }) => name)], rows)];
  });
}

export function ownPagesTable(shipped: OwnSums, shippedLabelled: OwnSums, checked?: Checked): string {
  const row = (name: string, { pages, labelled, f1, pieces, wrong, kinds, kindsRight }: OwnSums) => [
    name,
    pages.toFixed(0),
    `${share(f1)} (${labelled} pages)`,
    `${pieces - wrong} of ${pieces}`,
    wrong.toFixed(0),
    `${kindsRight} of ${kinds}`,
  ];
  return table(
    ['our own pages', 'pages', 'mean word F1', 'pieces right', 'known wrong', 'kinds right'],
    [
      row('lectern, all', shipped),
      row('lectern, those fitted to', shippedLabelled),
      ...(checked ? [row(CROSS_VALIDATED, checked.own)] : []),
    ],
  );
}

export interface Findings {
  pages: number;
  megabytes: number;
  command: string;
  versions: readonly string[];
  date: string;
  speed: string;
  quality: readonly Quality[];
  own: string;
  checked?: Checked | undefined;
}

/** The text of bench/extraction.md. */
export function reportPage({
  pages,
  megabytes,
  command,
  versions,
  date,
  speed,
  quality,
  own,
  checked,
}: Findings): string {
  const sections = [
    '# Extraction results',
    `Written by \`${command}\` on ${date}: ${pages} pages, ${megabytes.toFixed(1)} MB; ${machine()}. ` +
      '[README.md](README.md#html-to-content) explains the columns.',
    `Competitors: ${versions.join(', ')}.`,
    '## Quality',
    summaryTable(quality),
    '`lectern` is the program as shipped. Its trees were fitted to the development pages of these sets, so on them its ' +
      `row shows what it has learned, not how it does elsewhere. ${checked ? `\`${CROSS_VALIDATED}\` reads each page with trees fitted to other sites: quote that row.` : 'Run with `--cross` for the row to quote.'}`,
    ...typesTables(quality),
    '### Sets in full',
    setsTable(quality),
    '## Speed',
    speed,
    '## Our own pages',
    own,
    ...(checked
      ? [`Correct kinds of annotated pages, cross-validated: ${checked.kinds.right} of ${checked.kinds.known}.`]
      : []),
  ];
  return `${sections.join('\n\n')}\n`;
}
