/**
 * Conversion of documents to Markdown, compared with other converters:
 * `npm run bench:documents -- <folder> [--scorer <program>] [--peers <folder> | --install] [--format pdf,docx]
 * [--limit <files of each format>] [--smoke]`. `documents/folder.ts` describes the folder, `documents/scorer.ts` the
 * scorer. Without a scorer, only words are compared. `--smoke` measures a few files that the benchmark makes itself.
 * Times are processor seconds, including those of child processes and of starting the converter.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Absent, Converter } from './documents/converter.ts';
import { readFolder, type TestFile, unitsOf } from './documents/folder.ts';
import { createLectern } from './documents/lectern.ts';
import { findPeers, installPeers } from './documents/peers.ts';
import { processorSeconds, runningChildren, untilEnded } from './documents/processor-time.ts';
import { runScorer, SCORED_COLUMNS, type ScoredFormat } from './documents/scorer.ts';
import { makeSmokeFolder } from './documents/smoke.ts';
import { compareWords } from './documents/words.ts';
import { report } from './report.ts';
import { machine, SMOKE } from './support.ts';

interface Result {
  readonly converter: Converter;
  readonly format: string;
  readonly files: number;
  /** The files that were not converted, with the reason. */
  readonly failed: readonly string[];
  readonly recall: number;
  readonly precision: number;
  readonly seconds: number;
  readonly unitsPerSecond: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scorer: { type: 'string' },
    peers: { type: 'string' },
    install: { type: 'boolean', default: false },
    format: { type: 'string' },
    limit: { type: 'string' },
  },
});
const temporary = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-documents-'));
async function main(): Promise<void> {
  const folder = SMOKE ? await makeSmokeFolder(path.join(temporary, 'smoke')) : positionals[0];
  if (!folder) throw new Error('name a folder with manifest.json and truth/, or use --smoke');
  const selection = { formats: values.format?.split(','), limit: values.limit ? Number(values.limit) : undefined };
  const formats = readFolder(folder, selection);
  if (formats.size === 0) throw new Error(`no files to convert in ${folder}`);
  if (values.install) installPeers(temporary);
  const found = findPeers(values.install ? temporary : values.peers);
  const isPresent = (one: Converter | Absent): one is Converter => 'open' in one;
  const lectern = await createLectern();
  const converters = [lectern, ...found.filter(isPresent)];
  const results: Result[] = [];
  for (const [format, files] of formats) {
    for (const [at, converter] of converters.entries()) {
      if (converter.reads(format)) results.push(await measure(converter, format, files, answersOf(at)));
    }
  }
  print(folder, results, converters, lectern);
  for (const one of found) if (!isPresent(one)) console.log(`Not measured: ${one.name} (${one.reason})`);
}

/** The folder for the answers of a converter, as the scorer reads them. */
function answersOf(at: number): string {
  return path.join(temporary, 'answers', String(at));
}

async function measure(
  converter: Converter,
  format: string,
  files: readonly TestFile[],
  answers: string,
): Promise<Result> {
  const before = runningChildren();
  const begun = processorSeconds();
  const open = await converter.open();
  const found: (string | Error)[] = [];
  for await (const markdown of open.convert(files)) found.push(markdown);
  await open.close();
  await untilEnded(before);
  const seconds = processorSeconds() - begun;
  const shares = files.map(({ name, truth }, at) => {
    const markdown = found[at]!;
    if (markdown instanceof Error) return { recall: 0, precision: 0 };
    const file = path.join(answers, `${name}.md`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, markdown);
    return compareWords(markdown, path.basename(name), truth);
  });
  const mean = (key: 'recall' | 'precision') => shares.reduce((sum, share) => sum + share[key], 0) / files.length;
  return {
    converter,
    format,
    files: files.length,
    failed: found.flatMap((one, at) => (one instanceof Error ? [`${files[at]!.name}: ${one.message}`] : [])),
    recall: mean('recall'),
    precision: mean('precision'),
    seconds,
    unitsPerSecond: unitsOf(files) / seconds,
  };
}

function print(folder: string, results: readonly Result[], converters: readonly Converter[], lectern: Converter): void {
  const scores = new Map<Converter, Readonly<Record<string, ScoredFormat>>>();
  if (values.scorer && values.limit) throw new Error('a scorer rates all files of a format: leave out --limit');
  converters.forEach((converter, at) => {
    const formats = results.filter((result) => result.converter === converter).map(({ format }) => format);
    if (values.scorer && formats.length > 0)
      scores.set(converter, runScorer(values.scorer, folder, answersOf(at), formats));
  });
  const columns = values.scorer ? SCORED_COLUMNS : [];
  const speedOf = (format: string) =>
    results.find((result) => result.converter === lectern && result.format === format)!.unitsPerSecond;
  const rows = results.map(({ converter, format, files, failed, unitsPerSecond, recall, precision }) => [
    format,
    converter.name,
    String(files),
    String(failed.length),
    ...(values.scorer ? [] : [share(recall), share(precision)]),
    ...columns.map(([key]) => shown(scores.get(converter)?.[format]?.[key])),
    unitsPerSecond,
    unitsPerSecond / speedOf(format),
  ]);
  const words = values.scorer ? [] : ['recall', 'precision'];
  const heads = ['', '', 'files', 'failed', ...words, ...columns.map(([, heading]) => heading)];
  const loads = os.loadavg().map((load) => load.toFixed(1));
  console.log(`${machine()}; load average ${loads.join(', ')}`);
  console.log(converters.map(({ name, version }) => `${name} ${version}`).join(', '));
  console.log('Speed: pages of PDFs, documents of other formats, for each processor second\n');
  report('documents', [...heads, 'speed', 'times lectern'], rows, {
    ratios: ['times lectern'],
    baselines: converters.filter((converter) => converter !== lectern).map(({ name, version }) => ({ name, version })),
  });
  for (const { converter, failed } of results)
    for (const one of failed) console.log(`Not converted by ${converter.name}: ${one}`);
  const failed = results.filter((result) => result.converter === lectern && result.failed.length === result.files);
  if (failed.length > 0) {
    console.error(`Nothing was converted: ${failed.map(({ format }) => format).join(', ')}`);
    process.exitCode = 1;
  }
}

function share(value: number): string {
  return value.toFixed(3);
}

function shown(value: number | null | undefined): string {
  if (value === null || value === undefined) return '';
  return Number.isInteger(value) && value !== 1 ? String(value) : share(value);
}

try {
  await main();
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
