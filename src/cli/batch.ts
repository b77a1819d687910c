/** `lectern batch`: submits and follows batch jobs of embeddings, through the client. */
import { createWriteStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BatchJob, BatchLine, BatchRequest, Client } from '#client/index.ts';
import { type ClientFlags, withClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { CommandError, usageError } from './exit-codes.ts';
import { Command, Option } from './flags.ts';
import { parseInteger } from './numbers.ts';
import { writeAtomically } from './output.ts';
import { bar, count } from './progress.ts';
import { tableLines } from './table.ts';
import { shortTime } from './times.ts';

interface Flags extends ClientFlags {
  readonly json?: boolean;
}

interface SubmitFlags extends Flags {
  readonly model: string;
  readonly url?: boolean;
  readonly task?: string;
  readonly dimensions?: number;
  readonly embeddingType?: string;
  readonly truncate?: boolean;
  readonly webhook?: string;
  readonly wait?: boolean;
}

interface GetFlags extends Flags {
  readonly errors?: boolean;
  readonly output?: string;
}

const POLL_MS = 500;
/** Maximum number of lines in one request; the server enforces the same limit. */
const MAX_INLINE_LINES = 10_000;

export function batchCommand(context: CliContext): Command {
  const batch = new Command('batch').description('Submit embedding batch jobs and fetch their output.');
  const add = (name: string, description: string) =>
    withClientFlags(batch.command(name)).description(description).option('--json', 'Print JSON.');
  addSubmitCommand(add('submit', 'Submit a JSONL file, standard input with `-`, or a URL with --url.'), context);
  const shown = (work: (client: Client, id: string) => Promise<BatchJob>) => (id: string, flags: Flags) =>
    withClient(context, flags, async ({ client }) => printJob(context, flags, await work(client, id)));
  const call = () => ({ signal: context.signal });
  add('status', 'Show the state of a job.')
    .argument('<id>')
    .action(shown((client, id) => client.batches.get(id, call())));
  add('wait', 'Wait until a job has ended and show it. Fails unless the job completed.')
    .argument('<id>')
    .action((id: string, flags: Flags) =>
      withClient(context, flags, ({ client }) => waitForJob(context, flags, client, id), { jobs: 'batch' }),
    );
  add('get', 'Fetch the output of a job that has ended.')
    .argument('<id>')
    .option('--errors', 'Fetch the failed lines instead.')
    .option('-o, --output <file>', 'Output file; standard output if omitted.')
    .action((id: string, flags: GetFlags) =>
      withClient(context, flags, ({ client }) => writeRecords(context, flags, client, id)),
    );
  add('cancel', 'Cancel a job; finished lines can still be fetched.')
    .argument('<id>')
    .action(shown((client, id) => client.batches.cancel(id, call())));
  add('list', 'List jobs, newest first.')
    .addOption(new Option('--limit <count>', 'Number of jobs to list.').argParser(parseInteger).default(20))
    .action((flags: Flags & { limit: number }) =>
      withClient(context, flags, async ({ client }) => {
        const jobs = await client.batches.list({ limit: flags.limit, ...call() });
        if (flags.json) context.print(JSON.stringify(jobs, null, 2));
        else for (const line of tableLines(HEADINGS, jobs.map(cells), 'No jobs.')) context.print(line);
      }),
    );
  return batch;
}

function addSubmitCommand(command: Command, context: CliContext): void {
  command
    .argument('<file>', 'JSONL file, `-` for standard input, or a URL with --url')
    .requiredOption('--model <id>', 'Model id.')
    .option('--url', 'Treat the argument as a URL from which the server fetches the file.')
    .option('--task <task>', 'Task that the vectors are for, such as retrieval.passage.')
    .addOption(new Option('--dimensions <count>', 'Length of the vectors.').argParser(parseInteger))
    .option('--embedding-type <type>', 'Encoding of the vectors: float, base64, binary or ubinary.')
    .option('--truncate', 'Truncate texts longer than the model accepts.')
    .option('--webhook <url>', 'URL to notify when the job has ended.')
    .option('--wait', 'Wait until the job has ended.')
    .action((file: string, flags: SubmitFlags) => submitFile(file, flags, context));
}

async function submitFile(file: string, flags: SubmitFlags, context: CliContext): Promise<void> {
  const { model, task, dimensions, embeddingType, truncate } = flags;
  const request: BatchRequest = {
    model,
    ...(flags.url ? { input_url: file } : { input: (await readLines(file, context)) as BatchLine[] }),
    ...(task !== undefined && { task }),
    ...(dimensions !== undefined && { dimensions }),
    ...(embeddingType !== undefined && { embedding_type: embeddingType }),
    ...(truncate && { truncate }),
    ...(flags.webhook !== undefined && { webhook_url: flags.webhook }),
  };
  const onAnswer = ({ headers }: Response) => {
    const secret = headers.get('x-webhook-secret');
    if (secret) context.note(`webhook signing secret: ${secret}`);
  };
  await withClient(
    context,
    flags,
    async ({ client, server }) => {
      const job = await client.batches.submit(request, { signal: context.signal });
      if (flags.wait) {
        context.note(job.batch_id);
        return waitForJob(context, flags, client, job.batch_id);
      }
      if (server === undefined)
        context.note('the job starts once a server, `lectern worker` or `lectern batch wait` runs');
      context.print(flags.json ? JSON.stringify(job, null, 2) : job.batch_id);
    },
    { jobs: flags.wait ? 'batch' : undefined, onAnswer },
  );
}

/** Sends a line that is not JSON unchanged: only that line fails, and the job lists it among its errors. */
async function readLines(file: string, { readInput }: CliContext): Promise<unknown[]> {
  if (file !== '-' && !existsSync(file)) throw usageError(`no such file: ${file}`);
  const text = file === '-' ? await readInput() : await readFile(file, 'utf8');
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim());
  if (lines.length > MAX_INLINE_LINES) {
    throw usageError(
      `${lines.length} lines exceed the maximum for one request (${MAX_INLINE_LINES}): put the file where the server can fetch it and pass its URL with --url`,
    );
  }
  return lines.map((line) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      return line;
    }
  });
}

async function waitForJob(context: CliContext, flags: Flags, client: Client, id: string): Promise<void> {
  const job = await client.batches
    .wait(id, {
      signal: context.signal,
      pollMs: POLL_MS,
      onProgress: (now) => context.rewrite?.(progressLine(now)),
    })
    .catch((error: unknown) => {
      if (!context.signal.aborted) throw error;
      throw new CommandError(
        'interrupted',
        `stopped waiting; the job continues if a worker is running. To wait again: \`lectern batch wait ${id}\``,
      );
    })
    .finally(() => context.rewrite?.(''));
  printJob(context, flags, job);
  if (job.status !== 'completed')
    throw new CommandError('failed', `the job is ${job.status}${job.error ? `: ${job.error}` : ''}`);
}

/** `[######----]  61 %  3,050 of 5,000 lines, 3 failed`. */
export function progressLine({ status, stats }: Pick<BatchJob, 'status' | 'stats'>): string {
  if (!stats) return `${status}: reading the input`;
  const { total, completed, failed } = stats;
  const done = completed + failed;
  return `${bar(total ? done / total : 1)}  ${count(done)} of ${count(total)} lines${failed ? `, ${count(failed)} failed` : ''}`;
}

async function writeRecords(
  { output, signal }: CliContext,
  flags: GetFlags,
  client: Client,
  id: string,
): Promise<void> {
  const { batches } = client;
  const records = flags.errors ? batches.errors(id, { signal }) : batches.output(id, { signal });
  const lines = Readable.from(
    (async function* () {
      for await (const record of records) yield `${JSON.stringify(record)}\n`;
    })(),
  );
  const { output: name } = flags;
  if (name === undefined) return pipeline(lines, output, { end: false });
  // Flushed to disk before it replaces an existing file.
  await writeAtomically(name, (file) => writeStream(lines, file)).catch((error: unknown) => {
    throw signal.aborted ? new CommandError('interrupted', `stopped: ${name} is unchanged`) : error;
  });
}

/** Settles only when the file is closed: one that is still being opened would appear after the caller removed it. */
async function writeStream(lines: Readable, file: string): Promise<void> {
  const target = createWriteStream(file, { flush: true });
  const closed = new Promise<void>((resolve) => target.once('close', () => resolve()));
  try {
    await pipeline(lines, target);
  } finally {
    await closed;
  }
}

function printJob(context: CliContext, { json }: Flags, job: BatchJob): void {
  if (json) context.print(JSON.stringify(job, null, 2));
  else for (const [label, value] of facts(job)) context.print(`${label.padEnd(10)} ${value}`);
}

function facts({ batch_id, status, model, stats, created_at, completed_at, expires_at, error }: BatchJob) {
  return [
    ['id', batch_id],
    ['state', status],
    ...(error ? [['error', error] as const] : []),
    ['model', model],
    ['lines', stats ? progressLine({ status, stats }) : 'unknown yet'],
    ['tokens', (stats?.total_tokens ?? 0).toLocaleString('en-US')],
    ['created', shortTime(created_at)],
    ['ended', shortTime(completed_at)],
    ['kept until', shortTime(expires_at)],
  ] as const;
}

const HEADINGS = ['ID', 'STATE', 'MODEL', 'LINES', 'DONE', 'FAILED', 'CREATED'];

const cells = ({ batch_id, status, model, stats, created_at }: BatchJob): (string | number)[] => [
  batch_id,
  status,
  model,
  stats?.total ?? 0,
  stats?.completed ?? 0,
  stats?.failed ?? 0,
  shortTime(created_at),
];
