/** OpenAI's files: inputs of batches that callers upload, and the outputs of batches. */
import * as z from 'zod';
import { sendFile } from '#api/batch/files.ts';
import { orUnavailable } from '#api/unavailable.ts';
import { type FileKind, isFinal, type Job } from '#batch/index.ts';
import { problem } from '#errors.ts';
import { Upload } from '#http/body.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { numberText, readFields } from '../fields.ts';
import { fileFields, fileJson, findFile, keepFile, ownerOf, secondsOf, sendContent } from '../uploaded-files.ts';
import { pageJson, readPage, word } from './lists.ts';
import { findJob, notFound } from './owner.ts';

const HOUR_S = 3_600;
const MOST_S = 30 * 24 * HOUR_S;
const PURPOSES = ['batch'] as const;

export const UPLOAD_FIELDS = z.object({
  file: z
    .instanceof(Upload, { error: 'must be a file of a multipart form' })
    .refine(({ length }) => length > 0, 'must not be empty')
    .meta({ description: 'JSON Lines.' }),
  purpose: z.enum(PURPOSES),
  'expires_after[anchor]': z.literal('created_at').optional(),
  'expires_after[seconds]': numberText()
    .pipe(z.number().int().min(HOUR_S).max(MOST_S))
    .default(MOST_S)
    .meta({ description: 'How long the file is kept. Default: 30 days.' }),
});

export async function uploadFile(call: CompatCall): Promise<unknown> {
  const { file, purpose, 'expires_after[seconds]': seconds } = readFields(UPLOAD_FIELDS, call.body);
  const kept = await keepFile(call, { file, purpose, keepMs: seconds * 1000, standardName: 'file.jsonl' });
  return sendJson(call.reply, fileJson(kept));
}

const PAGE = { standard: 1_000, most: 10_000 };

export async function listFiles(call: CompatCall): Promise<unknown> {
  const { limit, after, order, purpose } = readPage(call, PAGE, {
    order: z.enum(['asc', 'desc']).default('desc'),
    purpose: word().optional(),
  });
  const page = { limit: limit + 1, after, order, purpose };
  const found = await orUnavailable(call.native.parts.batch.files.list(ownerOf(call).owner, page));
  return sendJson(call.reply, pageJson(found.map(fileJson), limit));
}

export async function showFile(call: CompatCall): Promise<unknown> {
  const id = call.params.id!;
  const result = await findResult(call, id);
  if (result) return sendJson(call.reply, resultJson(result));
  const file = await findFile(call, id);
  if (!file) throw notFound('File object', id);
  return sendJson(call.reply, fileJson(file));
}

export async function fileContent(call: CompatCall): Promise<unknown> {
  const id = call.params.id!;
  const { request, reply, native } = call;
  const { batch } = native.parts;
  const result = await findResult(call, id);
  if (result) return sendFile(request, reply, batch, result.job, result.kind);
  const file = await findFile(call, id);
  if (!file) throw notFound('File object', id);
  return sendContent(call, file);
}

export async function deleteFile(call: CompatCall): Promise<unknown> {
  const id = call.params.id!;
  if (await findResult(call, id)) {
    const message = `${id} cannot be deleted: it is removed when its batch expires`;
    throw problem('OperationNotAllowedError', { path: 'id', message });
  }
  const file = await findFile(call, id);
  if (!file) throw notFound('File object', id);
  await orUnavailable(call.native.parts.batch.files.remove(id));
  return sendJson(call.reply, { id, object: 'file', deleted: true });
}

interface Result {
  readonly job: Job;
  readonly kind: FileKind;
}

/** The id of a result file of a job; null if there is none. */
export function resultId(job: Job, kind: FileKind): string | null {
  const hasFiles = isFinal(job.state) && job.state !== 'expired';
  const lines = kind === 'output' ? job.completed : job.failed;
  return hasFiles && lines > 0 ? `file-${job.id}-${kind}` : null;
}

async function findResult(call: CompatCall, id: string): Promise<Result | undefined> {
  const [, jobId, kind] = /^file-(batch_\w+)-(output|errors)$/.exec(id) ?? [];
  if (jobId === undefined) return undefined;
  const job = await findJob(call, jobId);
  return job && resultId(job, kind as FileKind) === id ? { job, kind: kind as FileKind } : undefined;
}

const resultJson = ({ job, kind }: Result) => ({
  id: resultId(job, kind),
  ...fileFields('batch_request'),
  bytes: kind === 'output' ? job.outputBytes : job.errorBytes,
  created_at: secondsOf(job.completedAt ?? job.createdAt),
  expires_at: secondsOf(job.expiresAt),
  filename: `${job.id}_${kind}.jsonl`,
  purpose: 'batch_output',
  source: 'repository',
});
