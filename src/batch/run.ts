/**
 * One run of a job under a lease: reads lines, runs several of them concurrently, and writes results in order. Results
 * and progress are written in one transaction. No matter how a run ends, its written results are preserved, and the
 * next run continues after them.
 */
import { setMaxListeners } from 'node:events';
import { asProblem } from '#errors.ts';
import type { ModelRuntime, Registry } from '#models/index.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { type Lease, LeaseLostError } from '#storage/jobs/lease.ts';
import { NonRetryableError, RetryLaterError } from './errors.ts';
import type { Files } from './files.ts';
import { fileInput, InvalidInputError, packLines } from './input.ts';
import { linesOf } from './jsonl.ts';
import { namesOf, type StoredLine } from './line.ts';
import { lineRunner } from './line-runner.ts';
import type { BatchDb } from './objects.ts';
import { createResults } from './pending-results.ts';
import { readLog } from './pieces.ts';
import type { FailureOf, Outcome, ServedEmbedding } from './run-line.ts';
import type { JobRow } from './schema.ts';
import { appendInput, countInput, dropInput, writeProgress } from './store.ts';

export interface RunTools {
  readonly store: BatchDb;
  readonly registry: Registry;
  readonly models: ModelRuntime;
  readonly fetch: GuardedFetch;
  readonly files: Files;
  readonly failureOf: FailureOf;
  readonly now: () => number;
}

export interface BatchRun {
  readonly row: JobRow;
  readonly lease: Lease;
  /** Aborts the run immediately. Lines in progress are left for the next run. */
  readonly signal: AbortSignal;
  /** Whether the job must end after the lines in progress. */
  readonly cancelling: () => boolean;
  /** Time at which the run yields to other jobs, in milliseconds since 1970. */
  readonly until: number;
}

/** The only endpoint of jobs. */
const EMBEDDINGS_ENDPOINT = '/v1/embeddings';
/** Maximum number of texts, and of lines, in progress. */
const MAX_TEXTS = 128;
const MAX_LINES = 128;
/** Throws NonRetryableError, RetryLaterError, LeaseLostError, the signal's reason, or an error of the stores. */
export async function runBatchJob(run: BatchRun, tools: RunTools): Promise<void> {
  const { row } = run;
  const model = await tools.registry.embedding(row.model).catch((error: unknown) => {
    throw new NonRetryableError(asProblem(error).message);
  });
  const inputBytes = row.total === null ? await downloadInput(run, tools, model) : row.input_bytes;
  if (inputBytes !== undefined) await runLines({ ...run, inputBytes, model }, tools);
}

/**
 * Downloads the input file, or reads an uploaded one. Returns the size of the stored input, or undefined if the job was cancelled in the
 * meantime.
 */
async function downloadInput(
  { row, lease, signal, cancelling }: BatchRun,
  { store, fetch, files, now }: RunTools,
  { name, row: { id, hub } }: ServedEmbedding,
): Promise<number | undefined> {
  await dropInput(store, lease);
  let bytes = 0;
  const write = async (piece: Uint8Array) => {
    if (cancelling()) throw new Cancelled();
    await appendInput(store, lease, piece);
    bytes += piece.length;
  };
  try {
    const isModel = namesOf(name, id, hub);
    const total =
      row.input_file === null
        ? await fileInput({ url: row.input_url!, fetch, isModel, signal, write })
        : await packLines(await openUpload(row.input_file, files), {
            name: 'input_file_id',
            endpoint: EMBEDDINGS_ENDPOINT,
            isModel,
            write,
          });
    await countInput(store, lease, total);
    return bytes;
  } catch (error) {
    if (error instanceof Cancelled) {
      await writeProgress(store, lease, createResults(0, now).take(), now(), 'cancel');
      return undefined;
    }
    if (signal.aborted || error instanceof LeaseLostError) throw error;
    if (error instanceof InvalidInputError) throw new NonRetryableError(error.message);
    const failure = asProblem(error);
    if (failure.name === 'AssertionFailureError') throw new RetryLaterError(failure);
    throw failure.code < 500 ? new NonRetryableError(`input_url cannot be read: ${failure.message}`) : error;
  }
}

async function openUpload(id: string, files: Files): Promise<AsyncIterable<Uint8Array>> {
  const file = await files.find(id);
  if (!file) throw new InvalidInputError('The file input_file_id was deleted before it was read');
  return files.read(file);
}

class Cancelled extends Error {}

interface Work extends BatchRun {
  readonly inputBytes: number;
  readonly model: ServedEmbedding;
}

interface InWork {
  /** Offset of the end of the line in the input. */
  readonly end: number;
  readonly texts: number;
  readonly outcome: Promise<Outcome>;
}

async function runLines(work: Work, tools: RunTools): Promise<void> {
  const { row, lease, signal, inputBytes, cancelling, until } = work;
  const { store, now } = tools;
  const closing = new AbortController();
  const within = AbortSignal.any([signal, closing.signal]);
  // Each line in progress adds listeners. The number of lines in progress is limited.
  setMaxListeners(0, within);
  const run = lineRunner(work, tools, within);
  const log = { jobId: row.id, kind: 'input' } as const;
  const lines = linesOf(readLog(store, log, row.done_bytes, inputBytes), { maxLineBytes: Number.POSITIVE_INFINITY });
  const inWork: InWork[] = [];
  const results = createResults(row.done_bytes, now);
  let place = row.done_bytes;
  let texts = 0;
  let read = false;

  async function fill(): Promise<void> {
    while (!read && texts < MAX_TEXTS && inWork.length < MAX_LINES && !cancelling() && now() < until) {
      const step = await lines.next();
      if (step.done) {
        read = true;
        return;
      }
      const bytes = step.value.bytes!;
      place += bytes.length + 1;
      const line = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()) as StoredLine;
      const outcome = run(line);
      // Avoids an unhandled rejection, because outcomes are awaited later, in order.
      outcome.catch(() => {});
      const count = line.fault === undefined ? line.texts.length : 0;
      inWork.push({ end: place, texts: count, outcome });
      texts += count;
    }
  }

  try {
    for (await fill(); inWork.length; await fill()) {
      const first = inWork.shift()!;
      results.add(await first.outcome, first.end);
      texts -= first.texts;
      if (results.full) await writeProgress(store, lease, results.take(), now());
    }
  } catch (error) {
    closing.abort(error);
    if (!(error instanceof LeaseLostError) && !results.empty) await writeProgress(store, lease, results.take(), now());
    throw error;
  }
  const end = read ? 'complete' : cancelling() ? 'cancel' : undefined;
  await writeProgress(store, lease, results.take(), now(), end);
}
