/** `lectern batch`: jobs of a server, over HTTP. */
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { MAX_INLINE_LINES, type ShownJob } from '#batch/index.ts';
import { wholeNumber } from './numbers.ts';
import { type CommandContext, roomCommand } from './room.ts';
import { tableLines } from './table.ts';
import { shortTime } from './times.ts';

export interface BatchContext extends CommandContext {
  /** Where a file goes that is asked for without a name. */
  readonly output: Writable;
  /** Writes over the last line of a terminal; undefined where there is none. */
  readonly rewrite: ((line: string) => void) | undefined;
}

interface Flags {
  readonly server: string;
  readonly key?: string;
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

const STANDARD_SERVER = 'http://localhost:3002';
const LOOK_MS = 500;

export function batchCommand(context: BatchContext): Command {
  const batch = roomCommand('batch', 'Submit batch jobs of embeddings to a server, and fetch what they give.');
  const add = (name: string, description: string) =>
    withServerFlags(batch.command(name), context).description(description);
  submit(add('submit', 'Submit a file of JSON lines, the input with `-`, or an address of one with --url.'), context);
  add('status', 'Show a job.')
    .argument('<id>')
    .action(async (id: string, flags: Flags) => show(context, flags, await askJob(flags, `/v1/batch/${segment(id)}`)));
  add('wait', 'Wait for the end of a job, and show it. Fails unless it was completed.')
    .argument('<id>')
    .action((id: string, flags: Flags) => wait(context, flags, id));
  add('get', 'Fetch the output of a job that has ended.')
    .argument('<id>')
    .option('--errors', 'The lines that failed instead.')
    .option('-o, --output <file>', 'Where to write it; the output without one.')
    .action((id: string, flags: GetFlags) => get(context, flags, id));
  add('cancel', 'Cancel a job; what is done by then can be fetched.')
    .argument('<id>')
    .action(async (id: string, flags: Flags) =>
      show(context, flags, await askJob(flags, `/v1/batch/${segment(id)}`, { method: 'DELETE' })),
    );
  add('list', 'List jobs, newest first.')
    .addOption(new Option('--limit <count>', 'How many.').argParser(wholeNumber).default(20))
    .action(async (flags: Flags & { limit: number }) => {
      const jobs = (await (await ask(flags, `/v1/batches?limit=${flags.limit}`)).json()) as ShownJob[];
      if (flags.json) context.print(JSON.stringify(jobs, null, 2));
      else for (const line of tableLines(HEADINGS, jobs.map(cells), 'There is no job.')) context.print(line);
    });
  return batch;
}

const withServerFlags = (command: Command, { environment }: CommandContext): Command =>
  command
    .addOption(
      new Option('--server <url>', 'The address of the model host. [LECTERN_URL]').default(
        environment.LECTERN_URL || STANDARD_SERVER,
      ),
    )
    .addOption(new Option('--key <key>', 'The API key. [LECTERN_API_KEY]').default(environment.LECTERN_API_KEY, 'none'))
    .option('--json', 'Answer in JSON.');

function submit(command: Command, context: BatchContext): void {
  command
    .argument('<file>', 'a file of JSON lines, `-`, or with --url its address')
    .requiredOption('--model <id>', 'The model.')
    .option('--url', 'The argument is an address, from which the server fetches the file.')
    .option('--task <task>', 'What the vectors are for.')
    .addOption(new Option('--dimensions <count>', 'Their length.').argParser(wholeNumber))
    .option('--embedding-type <type>', 'How they are written: float, base64, binary, ubinary.')
    .option('--truncate', 'Cut what is longer than the model takes.')
    .option('--webhook <url>', 'Where the end of the job is told.')
    .option('--wait', 'Wait for its end.')
    .action(async (file: string, flags: SubmitFlags) => {
      const { model, task, dimensions, embeddingType, truncate } = flags;
      const body = {
        model,
        ...(flags.url ? { input_url: file } : { input: await linesOf(file, context) }),
        ...(task !== undefined && { task }),
        ...(dimensions !== undefined && { dimensions }),
        ...(embeddingType !== undefined && { embedding_type: embeddingType }),
        ...(truncate && { truncate }),
        ...(flags.webhook !== undefined && { webhook_url: flags.webhook }),
      };
      const answer = await ask(flags, '/v1/batch/embeddings', { method: 'POST', body: JSON.stringify(body) });
      const secret = answer.headers.get('x-webhook-secret');
      if (secret) context.note(`webhooks are signed with ${secret}`);
      const job = (await answer.json()) as ShownJob;
      if (flags.wait) {
        context.note(job.batch_id);
        await wait(context, flags, job.batch_id);
      } else if (flags.json) context.print(JSON.stringify(job, null, 2));
      else context.print(job.batch_id);
    });
}

/** A line that is no JSON is sent as the text that it is: it fails alone, and is told among the errors. */
async function linesOf(file: string, { readInput }: CommandContext): Promise<unknown[]> {
  const text = file === '-' ? await readInput() : await readFile(file, 'utf8');
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim());
  if (lines.length > MAX_INLINE_LINES) {
    throw new Error(
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

async function wait(context: BatchContext, flags: Flags, id: string): Promise<void> {
  for (;;) {
    const job = await askJob(flags, `/v1/batch/${segment(id)}`);
    context.rewrite?.(progressLine(job));
    if (job.status !== 'pending' && job.status !== 'processing') {
      context.rewrite?.('');
      show(context, flags, job);
      if (job.status !== 'completed') throw new Error(`the job is ${job.status}${job.error ? `: ${job.error}` : ''}`);
      return;
    }
    await sleep(LOOK_MS);
  }
}

const BAR_WIDTH = 30;

/** `[######----]  61 %  3,050 of 5,000 lines, 3 failed`. */
export function progressLine({ status, stats }: Pick<ShownJob, 'status' | 'stats'>): string {
  if (!stats) return `${status}: the input is being read`;
  const { total, completed, failed } = stats;
  const share = total ? (completed + failed) / total : 1;
  const full = Math.floor(share * BAR_WIDTH);
  const bar = `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}]`;
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  const count = (value: number) => value.toLocaleString('en-US');
  return `${bar} ${percent}  ${count(completed + failed)} of ${count(total)} lines${failed ? `, ${count(failed)} failed` : ''}`;
}

async function get({ output }: BatchContext, flags: GetFlags, id: string): Promise<void> {
  const answer = await ask(flags, `/v1/batch/${segment(id)}/${flags.errors ? 'errors' : 'output'}`);
  const body = answer.body ? Readable.fromWeb(answer.body as never) : Readable.from([]);
  if (flags.output === undefined) await pipeline(body, output, { end: false });
  else await pipeline(body, createWriteStream(flags.output));
}

const segment = (id: string) => encodeURIComponent(id);

async function askJob(flags: Flags, path: string, init?: RequestInit): Promise<ShownJob> {
  return (await (await ask(flags, path, init)).json()) as ShownJob;
}

/** Throws an Error with what the server said when it refuses. */
async function ask({ server, key }: Flags, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    ...(init.body !== undefined && { 'content-type': 'application/json' }),
    ...(key && { authorization: `Bearer ${key}` }),
  };
  const answer = await fetch(`${server.replace(/\/$/, '')}${path}`, { ...init, headers }).catch((error: unknown) => {
    throw new Error(`${server} cannot be reached`, { cause: error });
  });
  if (answer.ok) return answer;
  const { detail } = (await answer.json().catch(() => ({}))) as { detail?: string };
  throw new Error(`${server} answered ${answer.status}: ${detail ?? answer.statusText}`);
}

function show(context: CommandContext, { json }: Flags, job: ShownJob): void {
  if (json) context.print(JSON.stringify(job, null, 2));
  else for (const [label, value] of facts(job)) context.print(`${label.padEnd(10)} ${value}`);
}

function facts({ batch_id, status, model, stats, created_at, completed_at, expires_at, error }: ShownJob) {
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

const cells = ({ batch_id, status, model, stats, created_at }: ShownJob): (string | number)[] => [
  batch_id,
  status,
  model,
  stats?.total ?? 0,
  stats?.completed ?? 0,
  stats?.failed ?? 0,
  shortTime(created_at),
];
