/** `lectern batch`: jobs of many texts, through the client. */
import { createWriteStream } from 'node:fs';
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
/** What one request takes, as the server says in its guide. */
const MAX_INLINE_LINES = 10_000;

export function batchCommand(context: CliContext): Command {
  const batch = new Command('batch').description('Submit batch jobs of embeddings, and fetch what they give.');
  const add = (name: string, description: string) =>
    withClientFlags(batch.command(name)).description(description).option('--json', 'Answer in JSON.');
  addSubmitCommand(
    add('submit', 'Submit a file of JSON lines, the input with `-`, or an address of one with --url.'),
    context,
  );
  const shown = (work: (client: Client, id: string) => Promise<BatchJob>) => (id: string, flags: Flags) =>
    withClient(context, flags, async ({ client }) => printJob(context, flags, await work(client, id)));
  const call = () => ({ signal: context.signal });
  add('status', 'Show a job.')
    .argument('<id>')
    .action(shown((client, id) => client.batches.get(id, call())));
  add('wait', 'Wait for the end of a job, and show it. Fails unless it was completed.')
    .argument('<id>')
    .action((id: string, flags: Flags) =>
      withClient(context, flags, ({ client }) => waitForJob(context, flags, client, id), { jobs: true }),
    );
  add('get', 'Fetch the output of a job that has ended.')
    .argument('<id>')
    .option('--errors', 'The lines that failed instead.')
    .option('-o, --output <file>', 'Where to write it; the output without one.')
    .action((id: string, flags: GetFlags) =>
      withClient(context, flags, ({ client }) => writeRecords(context, flags, client, id)),
    );
  add('cancel', 'Cancel a job; what is done by then can be fetched.')
    .argument('<id>')
    .action(shown((client, id) => client.batches.cancel(id, call())));
  add('list', 'List jobs, newest first.')
    .addOption(new Option('--limit <count>', 'How many.').argParser(parseInteger).default(20))
    .action((flags: Flags & { limit: number }) =>
      withClient(context, flags, async ({ client }) => {
        const jobs = await client.batches.list({ limit: flags.limit, ...call() });
        if (flags.json) context.print(JSON.stringify(jobs, null, 2));
        else for (const line of tableLines(HEADINGS, jobs.map(cells), 'There is no job.')) context.print(line);
      }),
    );
  return batch;
}

function addSubmitCommand(command: Command, context: CliContext): void {
  command
    .argument('<file>', 'a file of JSON lines, `-`, or with --url its address')
    .requiredOption('--model <id>', 'The model.')
    .option('--url', 'The argument is an address, from which the server fetches the file.')
    .option('--task <task>', 'What the vectors are for.')
    .addOption(new Option('--dimensions <count>', 'Their length.').argParser(parseInteger))
    .option('--embedding-type <type>', 'How they are written: float, base64, binary, ubinary.')
    .option('--truncate', 'Cut what is longer than the model takes.')
    .option('--webhook <url>', 'Where the end of the job is told.')
    .option('--wait', 'Wait for its end.')
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
    if (secret) context.note(`webhooks are signed with ${secret}`);
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
      if (server === undefined) context.note('it waits for a server, `lectern worker` or `lectern batch wait`');
      context.print(flags.json ? JSON.stringify(job, null, 2) : job.batch_id);
    },
    { jobs: flags.wait ?? false, onAnswer },
  );
}

/** A line that is no JSON is sent as the text that it is: it fails alone, and is told among the errors. */
async function readLines(file: string, { readInput }: CliContext): Promise<unknown[]> {
  const text = file === '-' ? await readInput() : await readFile(file, 'utf8');
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim());
  if (lines.length > MAX_INLINE_LINES) {
    throw usageError(
      `${lines.length} lines are more than a request takes (${MAX_INLINE_LINES}): lay the file where the server can fetch it, and give its address with --url`,
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
        `stopped: the job goes on where there are workers; \`lectern batch wait ${id}\``,
      );
    })
    .finally(() => context.rewrite?.(''));
  printJob(context, flags, job);
  if (job.status !== 'completed')
    throw new CommandError('failed', `the job is ${job.status}${job.error ? `: ${job.error}` : ''}`);
}

/** `[######----]  61 %  3,050 of 5,000 lines, 3 failed`. */
export function progressLine({ status, stats }: Pick<BatchJob, 'status' | 'stats'>): string {
  if (!stats) return `${status}: the input is being read`;
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
  // On the disk before it takes the place of what was there.
  await writeAtomically(name, (file) => pipeline(lines, createWriteStream(file, { flush: true }))).catch(
    (error: unknown) => {
      throw signal.aborted ? new CommandError('interrupted', `stopped: ${name} is as it was before`) : error;
    },
  );
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
    ['lines', stats ? progressLine({ status, stats }) : 'not counted yet'],
    ['tokens', (stats?.total_tokens ?? 0).toLocaleString('en-US')],
    ['made', shortTime(created_at)],
    ['ended', shortTime(completed_at)],
    ['kept until', shortTime(expires_at)],
  ] as const;
}

const HEADINGS = ['ID', 'STATE', 'MODEL', 'LINES', 'DONE', 'FAILED', 'MADE'];

const cells = ({ batch_id, status, model, stats, created_at }: BatchJob): (string | number)[] => [
  batch_id,
  status,
  model,
  stats?.total ?? 0,
  stats?.completed ?? 0,
  stats?.failed ?? 0,
  shortTime(created_at),
];
