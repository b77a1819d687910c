/** Many addresses and files: side by side, in their order, with what failed told at the end. */
import { appendFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { CliContext } from './context.ts';
import { CommandFailed, type ExitName, exitOf, exitOfMany } from './exit-codes.ts';
import { inOrder } from './in-order.ts';
import { fileNameFor, isThere, write, writeWhole } from './out.ts';
import { bar, count, createProgress, type Progress } from './progress.ts';
import { answerOf, endingOf, PARTING, type Reading } from './read.ts';
import { listed, type Source, sourceOf, targetOf } from './sources.ts';

/** What became of one. */
type Outcome =
  | { readonly source: string; readonly came: 'read'; readonly answer: string | Uint8Array }
  | { readonly source: string; readonly came: 'there' | 'stopped' }
  | { readonly source: string; readonly came: 'failed'; readonly error: unknown };

const AT_ONCE = 4;

const FAILURES = 'failures.jsonl';

/** Throws CommandFailed when some failed, or when it was stopped. */
export async function readMany(sources: readonly Source[], reading: Reading, atServer: boolean): Promise<void> {
  const { flags, context } = reading;
  const { outDir } = flags;
  if (outDir !== undefined) {
    await mkdir(outDir, { recursive: true });
    await rm(path.join(outDir, FAILURES), { force: true });
  }
  const tally = createTally(await totalOf(sources, flags.list, context), createProgress(context));
  let end: unknown;
  const over = new AbortController();
  // A list may be waited for.
  const stop = AbortSignal.any([context.signal, over.signal]);
  const outcomeOf = outcomes(reading);
  const came = inOrder(
    named(sources, reading, stop),
    async (source): Promise<Outcome> => {
      const { name } = source;
      if (stop.aborted) return { source: name, came: 'stopped' };
      return outcomeOf(source).catch((error: unknown) => {
        if (context.signal.aborted) return { source: name, came: 'stopped' };
        if (endsAll(error, atServer)) {
          end ??= error;
          over.abort();
        }
        return { source: name, came: 'failed', error };
      });
    },
    flags.concurrency ?? AT_ONCE,
  );
  let isFirst = true;
  for await (const outcome of came) {
    tally.add(outcome);
    if (outcome.came === 'failed') await tellFailure(outcome, reading, tally.progress);
    if (outcome.came !== 'read' || outDir !== undefined) continue;
    if (!isFirst && !flags.json) await write(context.output, PARTING);
    isFirst = false;
    await write(context.output, outcome.answer);
  }
  tally.progress.end();
  conclude(tally, { end, outDir, context });
}

/** Nothing else will be done better: the server is away, or does not know the key. */
function endsAll(error: unknown, atServer: boolean): boolean {
  if (!atServer) return false;
  return exitOf(error) === 'unreachable' || (error as { status?: unknown }).status === 401;
}

type Named = Source | { readonly kind: 'wrong'; readonly name: string; readonly error: unknown };

/** A line of a list that names no file is a failure of that line alone. */
async function* named(
  sources: readonly Source[],
  { flags, context: { input } }: Reading,
  signal: AbortSignal,
): AsyncGenerator<Named> {
  for (const source of sources) if (!signal.aborted) yield source;
  if (flags.list === undefined) return;
  for await (const line of listed(flags.list, { input, signal })) {
    if (signal.aborted) return;
    try {
      yield sourceOf(line);
    } catch (error) {
      yield { kind: 'wrong', name: line, error };
    }
  }
}

/** Reads one and writes it into its file, where it gets one. */
function outcomes(reading: Reading): (source: Named) => Promise<Outcome> {
  const { outDir, force } = reading.flags;
  /** What is being read, by its file: a list may name an address twice. */
  const pending = new Map<string, Promise<Outcome>>();

  async function intoFile(source: Source, file: string): Promise<Outcome> {
    if (!force && isThere(file)) return { source: source.name, came: 'there' };
    await writeWhole(file, await answerOf(source, reading));
    return { source: source.name, came: 'read', answer: '' };
  }

  return async (source) => {
    if (source.kind === 'wrong') throw source.error;
    if (outDir === undefined) return answered(source, reading);
    const file = path.join(outDir, fileNameFor(source.name, endingOf(reading.flags)));
    const same = pending.get(file);
    if (same) return same.then(({ source }) => ({ source, came: 'there' }));
    const own = intoFile(source, file).finally(() => pending.delete(file));
    pending.set(file, own);
    return own;
  };
}

async function answered(source: Source, reading: Reading): Promise<Outcome> {
  const { client, options, flags, context } = reading;
  const { name } = source;
  if (!flags.json) return { source: name, came: 'read', answer: await answerOf(source, reading) };
  const target = await targetOf(source, context, flags.url);
  const { page } = await client.read(target, options, { signal: context.signal });
  return { source: name, came: 'read', answer: `${JSON.stringify({ source: name, page })}\n` };
}

/** A line on the standard error; in JSON also among the answers, and in a folder in the file of failures. */
async function tellFailure(
  { source, error }: Outcome & { came: 'failed' },
  { flags, context }: Reading,
  progress: Progress,
): Promise<void> {
  const { name, message, status, code } = error as Error & { status?: number; code?: unknown };
  const line = `${JSON.stringify({ source, error: { name, message, status, code } })}\n`;
  if (flags.outDir !== undefined) await appendFile(path.join(flags.outDir, FAILURES), line);
  else if (flags.json) await write(context.output, line);
  progress.note(`lectern: ${source}: ${message}`);
}

interface Tally {
  readonly progress: Progress;
  add(outcome: Outcome): void;
  /** `7 read, 2 were there, 3 failed (ParamValidationError 2, TimeoutError 1)`. */
  summary(): string;
  counts(): { readonly done: number; readonly failed: number };
  /** The exit of a failure, when all failures have the same. */
  exit(): ExitName | undefined;
}

function createTally(total: number | undefined, progress: Progress): Tally {
  const counts = { read: 0, there: 0, failed: 0, stopped: 0 };
  const reasons = new Map<string, number>();
  const exits = new Set<ExitName>();
  const failed = () => (counts.failed > 0 ? `, ${count(counts.failed)} failed` : '');
  return {
    progress,
    add(outcome) {
      counts[outcome.came]++;
      if (outcome.came === 'failed') {
        const name = (outcome.error as Error).name;
        reasons.set(name, (reasons.get(name) ?? 0) + 1);
        exits.add(exitOf(outcome.error));
      }
      const done = counts.read + counts.there + counts.failed;
      progress.show(
        total === undefined
          ? `${count(done)} done${failed()}`
          : `${bar(total ? done / total : 1)}  ${count(done)} of ${count(total)}${failed()}  ${outcome.source}`,
      );
    },
    summary() {
      const why = [...reasons]
        .sort(([, one], [, other]) => other - one)
        .map(([name, many]) => `${name} ${count(many)}`);
      return [
        `${count(counts.read)} read`,
        counts.there > 0 && `${count(counts.there)} were there`,
        counts.failed > 0 && `${count(counts.failed)} failed (${why.join(', ')})`,
      ]
        .filter(Boolean)
        .join(', ');
    },
    counts: () => ({ done: counts.read + counts.there, failed: counts.failed }),
    exit: () => (exits.size === 1 ? [...exits][0] : undefined),
  };
}

interface Conclusion {
  readonly end: unknown;
  readonly outDir: string | undefined;
  readonly context: CliContext;
}

function conclude(tally: Tally, { end, outDir, context }: Conclusion): void {
  const summary = tally.summary();
  const goesOn = outDir === undefined ? '' : '; the same command goes on where this one was';
  if (context.signal.aborted) throw new CommandFailed('interrupted', `stopped: ${summary}${goesOn}`);
  const counts = tally.counts();
  if (end !== undefined) throw new CommandFailed(exitOf(end), `${(end as Error).message} (${summary}${goesOn})`);
  const exit = exitOfMany(counts);
  if (exit === 'ok') {
    if (outDir !== undefined) context.note(summary);
    return;
  }
  const listed = outDir === undefined ? '' : `; ${path.join(outDir, FAILURES)} lists what failed`;
  throw new CommandFailed(exit === 'failed' ? (tally.exit() ?? exit) : exit, `${summary}${listed}`);
}

/** How many there are, where that can be known before. */
async function totalOf(
  sources: readonly Source[],
  list: string | undefined,
  context: CliContext,
): Promise<number | undefined> {
  if (list === undefined) return sources.length;
  if (list === '-' || !context.rewrite) return undefined;
  let total = sources.length;
  for await (const _ of listed(list, context)) total++;
  return total;
}
