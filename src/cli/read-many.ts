/** Reads many URLs and files concurrently, prints the results in order, and summarizes the failures at the end. */
import { appendFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { createFolder } from '#create-folder.ts';
import type { CliContext } from './context.ts';
import { CommandError, type ExitName, exitOf, exitOfMany, type RunCounts } from './exit-codes.ts';
import { mapInOrder } from './map-in-order.ts';
import { fileExists, fileNameFor, write, writeFileAtomically } from './output.ts';
import { bar, count, createProgress, type Progress } from './progress.ts';
import {
  type Answer,
  fileExtensionOf,
  isErrorStatus,
  PAGE_SEPARATOR,
  type ReadContext,
  readAnswer,
  targetStatusError,
} from './read.ts';
import { parseSource, readList, type Source } from './sources.ts';

/** Outcome for one source. */
type Outcome =
  | ({ readonly source: string; readonly kind: 'read' } & Answer)
  /** With `--fail`: the target responded with an error status, so nothing was written. */
  | { readonly source: string; readonly kind: 'refused'; readonly status: number; readonly error: Error }
  | { readonly source: string; readonly kind: 'skipped' | 'stopped' }
  | { readonly source: string; readonly kind: 'failed'; readonly error: unknown };

const DEFAULT_CONCURRENCY = 4;

const FAILURES_FILE = 'failures.jsonl';

/** Throws CommandError if a source failed or the run was interrupted. */
export async function readMany(sources: readonly Source[], reading: ReadContext, atServer: boolean): Promise<void> {
  const { flags, context } = reading;
  const { outDir } = flags;
  if (outDir !== undefined) {
    await createFolder(outDir);
    await rm(path.join(outDir, FAILURES_FILE), { force: true });
  }
  const tally = createTally(await totalOf(sources, flags.list, context), createProgress(context));
  let end: unknown;
  const fatal = new AbortController();
  // Also stops waiting for the next line of a list.
  const stop = AbortSignal.any([context.signal, fatal.signal]);
  const outcomeOf = createSourceReader(reading);
  const results = mapInOrder(
    listSources(sources, reading, stop),
    async (source): Promise<Outcome> => {
      const { name } = source;
      if (stop.aborted) return { source: name, kind: 'stopped' };
      return outcomeOf(source).catch((error: unknown) => {
        if (context.signal.aborted) return { source: name, kind: 'stopped' };
        if (isFatal(error, atServer)) {
          end ??= error;
          fatal.abort();
        }
        return { source: name, kind: 'failed', error };
      });
    },
    flags.concurrency ?? DEFAULT_CONCURRENCY,
  );
  let isFirst = true;
  for await (const outcome of results) {
    tally.add(outcome);
    if (outcome.kind === 'failed' || outcome.kind === 'refused') await reportFailure(outcome, reading, tally.progress);
    if (outcome.kind === 'read' && isErrorStatus(outcome.status))
      tally.progress.note(`lectern: ${targetStatusError(outcome.source, outcome.status).message}`);
    if (outcome.kind === 'read') for (const line of outcome.notes ?? []) tally.progress.note(line);
    if (outcome.kind !== 'read' || outDir !== undefined) continue;
    if (!isFirst && !flags.json) await write(context.output, PAGE_SEPARATOR);
    isFirst = false;
    await write(context.output, outcome.answer);
  }
  tally.progress.end();
  conclude(tally, { end, outDir, context });
}

/** Whether further reads would fail in the same way, because the server is unreachable or refuses the key. */
function isFatal(error: unknown, atServer: boolean): boolean {
  if (!atServer) return false;
  return exitOf(error) === 'unreachable' || (error as { status?: unknown }).status === 401;
}

type ListedSource = Source | { readonly kind: 'invalid'; readonly name: string; readonly error: unknown };

/** Yields the sources from the arguments and the list. An invalid line of the list does not stop the others. */
async function* listSources(
  sources: readonly Source[],
  { flags, context: { input } }: ReadContext,
  signal: AbortSignal,
): AsyncGenerator<ListedSource> {
  for (const source of sources) if (!signal.aborted) yield source;
  if (flags.list === undefined) return;
  for await (const line of readList(flags.list, { input, signal })) {
    if (signal.aborted) return;
    try {
      yield parseSource(line);
    } catch (error) {
      yield { kind: 'invalid', name: line, error };
    }
  }
}

/** Creates the function that reads one source and, with `--out-dir`, writes its file. */
function createSourceReader(reading: ReadContext): (source: ListedSource) => Promise<Outcome> {
  const { outDir, force } = reading.flags;
  /** In-progress reads, keyed by output file, because a list may contain the same URL twice. */
  const pending = new Map<string, Promise<Outcome>>();

  async function intoFile(source: Source, file: string): Promise<Outcome> {
    if (!force && fileExists(file)) return { source: source.name, kind: 'skipped' };
    const outcome = await readOutcome(source, reading);
    if (outcome.kind !== 'read') return outcome;
    await writeFileAtomically(file, outcome.answer);
    return { ...outcome, answer: '' };
  }

  return async (source) => {
    if (source.kind === 'invalid') throw source.error;
    if (outDir === undefined) return readOutcome(source, reading);
    const file = path.join(outDir, fileNameFor(source.name, fileExtensionOf(reading.flags)));
    const same = pending.get(file);
    if (same) return same.then(({ source }) => ({ source, kind: 'skipped' }));
    const own = intoFile(source, file).finally(() => pending.delete(file));
    pending.set(file, own);
    return own;
  };
}

async function readOutcome(source: Source, reading: ReadContext): Promise<Outcome> {
  const { fail, outDir } = reading.flags;
  const { name } = source;
  const { answer, status, notes } = await readAnswer(source, reading, outDir === undefined);
  if (fail && isErrorStatus(status))
    return { source: name, kind: 'refused', status, error: targetStatusError(name, status) };
  return { source: name, kind: 'read', answer, status, ...(notes && { notes }) };
}

/** Reports a failure on standard error, and in the JSON output or the failures file. */
async function reportFailure(
  outcome: Outcome & { kind: 'failed' | 'refused' },
  { flags, context }: ReadContext,
  progress: Progress,
): Promise<void> {
  const { source, error } = outcome;
  const { name, message, status, code } = error as Error & { status?: number; code?: unknown };
  const targetStatus = outcome.kind === 'refused' ? outcome.status : undefined;
  const line = `${JSON.stringify({ source, ...(targetStatus && { targetStatus }), error: { name, message, status, code } })}\n`;
  if (flags.outDir !== undefined) await appendFile(path.join(flags.outDir, FAILURES_FILE), line);
  else if (flags.json) await write(context.output, line);
  progress.note(`lectern: ${outcome.kind === 'refused' ? message : `${source}: ${message}`}`);
}

interface Tally {
  readonly progress: Progress;
  add(outcome: Outcome): void;
  /** `7 read, 2 of them with an error status (404 2), 2 skipped (file exists), 3 failed (TimeoutError 3)`. */
  summary(): string;
  counts(): RunCounts;
  /** The exit code, if all failures have the same one. */
  exit(): ExitName | undefined;
}

function createTally(total: number | undefined, progress: Progress): Tally {
  const counts = { read: 0, skipped: 0, refused: 0, failed: 0, stopped: 0 };
  const reasons = new Map<string, number>();
  const statuses = new Map<string, number>();
  const exits = new Set<ExitName>();
  const failed = () => (counts.failed > 0 ? `, ${count(counts.failed)} failed` : '');
  return {
    progress,
    add(outcome) {
      counts[outcome.kind]++;
      if (outcome.kind === 'failed') {
        increment(reasons, (outcome.error as Error).name);
        exits.add(exitOf(outcome.error));
      }
      if ((outcome.kind === 'read' || outcome.kind === 'refused') && isErrorStatus(outcome.status))
        increment(statuses, String(outcome.status));
      const done = counts.read + counts.skipped + counts.refused + counts.failed;
      progress.show(
        total === undefined
          ? `${count(done)} done${failed()}`
          : `${bar(total ? done / total : 1)}  ${count(done)} of ${count(total)}${failed()}  ${outcome.source}`,
      );
    },
    summary() {
      const answers = [...statuses.values()].reduce((sum, many) => sum + many, 0);
      const which = `with an error status (${formatCounts(statuses)})`;
      return [
        `${count(counts.read)} read`,
        answers > counts.refused && `${count(answers)} of them ${which}`,
        counts.skipped > 0 && `${count(counts.skipped)} skipped (file exists)`,
        counts.refused > 0 && `${count(counts.refused)} responded ${which}`,
        counts.failed > 0 && `${count(counts.failed)} failed (${formatCounts(reasons)})`,
      ]
        .filter(Boolean)
        .join(', ');
    },
    counts: () => ({ done: counts.read + counts.skipped, failed: counts.failed, refused: counts.refused }),
    exit: () => (exits.size === 1 ? [...exits][0] : undefined),
  };
}

export const increment = (counts: Map<string, number>, name: string): void =>
  void counts.set(name, (counts.get(name) ?? 0) + 1);

/** Formats counts, most frequent first: `404 3, 500 1`. */
export const formatCounts = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([name, many]) => `${name} ${count(many)}`)
    .join(', ');

interface Conclusion {
  readonly end: unknown;
  readonly outDir: string | undefined;
  readonly context: CliContext;
}

function conclude(tally: Tally, { end, outDir, context }: Conclusion): void {
  const summary = tally.summary();
  const goesOn = outDir === undefined ? '' : '; run the same command again to continue';
  if (context.signal.aborted) throw new CommandError('interrupted', `stopped: ${summary}${goesOn}`);
  const counts = tally.counts();
  if (end !== undefined) throw new CommandError(exitOf(end), `${(end as Error).message} (${summary}${goesOn})`);
  const exit = exitOfMany(counts);
  if (exit === 'ok') {
    if (outDir !== undefined) context.note(summary);
    return;
  }
  const listed = outDir === undefined ? '' : `; ${path.join(outDir, FAILURES_FILE)} lists what failed`;
  throw new CommandError(exit === 'failed' ? (tally.exit() ?? exit) : exit, `${summary}${listed}`);
}

/** The number of sources, if it is known in advance. */
async function totalOf(
  sources: readonly Source[],
  list: string | undefined,
  context: CliContext,
): Promise<number | undefined> {
  if (list === undefined) return sources.length;
  if (list === '-' || !context.rewrite) return undefined;
  let total = sources.length;
  for await (const _ of readList(list, context)) total++;
  return total;
}
