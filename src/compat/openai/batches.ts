/** OpenAI's batches, which are jobs of the batch module whose input is an uploaded file. */
import * as z from 'zod';
import { denseModel } from '#api/batch/request.ts';
import { orUnavailable } from '#api/unavailable.ts';
import { type Job, linesOf, MAX_LINE_BYTES, type StoredFile } from '#batch/index.ts';
import { problem } from '#errors.ts';
import { parseJson } from '#http/json.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { sentFields, showIgnored } from '../ignored.ts';
import { findFile, ownerOf, secondsOf } from '../uploaded-files.ts';
import { resultId } from './files.ts';
import { pageJson, readPage } from './lists.ts';
import { findJob, notFound } from './owner.ts';

const ENDPOINT = '/v1/embeddings';
const WINDOW = '24h';
const MAX_METADATA = 16;

export const BATCH_FIELDS = z.object({
  input_file_id: z.string(),
  endpoint: z.literal(ENDPOINT),
  completion_window: z.literal(WINDOW),
  metadata: z
    .record(z.string().max(64), z.string().max(512))
    .refine((fields) => Object.keys(fields).length <= MAX_METADATA, `must have at most ${MAX_METADATA} fields`)
    .optional(),
});

/** The results are kept as long as the job. */
const IGNORED = ['output_expires_after'];

export async function createBatch(call: CompatCall): Promise<unknown> {
  const { input_file_id: id, metadata } = readFields(BATCH_FIELDS, call.body);
  const { batch, modelHost } = call.native.parts;
  const file = await findFile(call, id);
  if (!file) {
    const message = `input_file_id: there is no file ${id.slice(0, 100)}`;
    throw problem('ParamValidationError', { path: 'input_file_id', message });
  }
  const model = await denseModel(await orUnavailable(modelOf(call, file)), modelHost.registry);
  const job = await orUnavailable(
    batch.submit({
      ...ownerOf(call),
      model,
      input: file,
      // Without it, jobs have a task, and their vectors would differ from those of single requests.
      options: { task: null },
      baseUrl: call.origin,
      webhookUrl: null,
      metadata: metadata ?? null,
    }),
  );
  showIgnored(call.reply, sentFields(call.body as Record<string, unknown>, IGNORED));
  return sendJson(call.reply, batchJson(job));
}

/** The model of the first line, which is the model of the job. Lines with another one fail. */
async function modelOf(call: CompatCall, file: StoredFile): Promise<string> {
  const content = call.native.parts.batch.files.read(file);
  for await (const { number, bytes } of linesOf(content, { maxLineBytes: MAX_LINE_BYTES })) {
    const model = modelIn(bytes);
    if (model !== undefined) return model;
    const message = `input_file_id: line ${number} of the file has no body.model, which is the model of the batch`;
    throw problem('ParamValidationError', { path: 'input_file_id', message });
  }
  throw problem('ParamValidationError', { path: 'input_file_id', message: 'input_file_id: the file has no lines' });
}

const LINE = z.object({ body: z.object({ model: z.string() }) });

function modelIn(bytes: Uint8Array | undefined): string | undefined {
  try {
    return LINE.safeParse(parseJson(new TextDecoder().decode(bytes))).data?.body.model;
  } catch {
    return undefined;
  }
}

export async function showBatch(call: CompatCall): Promise<unknown> {
  return sendJson(call.reply, batchJson(await jobOf(call)));
}

export async function cancelBatch(call: CompatCall): Promise<unknown> {
  const job = await orUnavailable(call.native.parts.batch.cancel(await jobOf(call)));
  return sendJson(call.reply, batchJson(job));
}

const PAGE = { standard: 20, most: 100 };

export async function listBatches(call: CompatCall): Promise<unknown> {
  const { limit, after } = readPage(call, PAGE, {});
  const jobs = await orUnavailable(call.native.parts.batch.list(ownerOf(call).owner, limit + 1, after));
  return sendJson(call.reply, pageJson(jobs.map(batchJson), limit));
}

async function jobOf(call: CompatCall): Promise<Job> {
  const id = call.params.id!;
  const job = await findJob(call, id);
  if (!job) throw notFound('batch', id);
  return job;
}

function statusOf({ state, total }: Job): string {
  if (state === 'pending' || (state === 'processing' && total === null)) return 'validating';
  return state === 'processing' ? 'in_progress' : state;
}

function batchJson(job: Job) {
  const endedAs = (state: Job['state'], at = job.completedAt) =>
    job.state === state && at !== null ? secondsOf(at) : null;
  const failure = { code: 'invalid_input', line: null, message: job.error, param: 'input_file_id' };
  return {
    id: job.id,
    object: 'batch',
    endpoint: ENDPOINT,
    model: job.model,
    errors: job.state === 'failed' ? { object: 'list', data: [failure] } : null,
    input_file_id: job.inputFile,
    completion_window: WINDOW,
    status: statusOf(job),
    output_file_id: resultId(job, 'output'),
    error_file_id: resultId(job, 'errors'),
    created_at: secondsOf(job.createdAt),
    in_progress_at: null,
    expires_at: secondsOf(job.expiresAt),
    finalizing_at: null,
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: endedAs('expired', job.expiresAt),
    cancelling_at: null,
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: job.total ?? 0, completed: job.completed, failed: job.failed },
    metadata: job.metadata,
  };
}
