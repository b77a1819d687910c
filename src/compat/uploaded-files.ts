/**
 * Files that callers upload to OpenAI's or Mistral's API. Both have the same paths and almost the same objects, so there
 * is one store of files, and one form in which they are shown.
 */
import { Readable } from 'node:stream';
import { callerOf } from '#api/batch/batch.ts';
import { orUnavailable, startReading } from '#api/unavailable.ts';
import type { StoredFile } from '#batch/index.ts';
import type { Upload } from '#http/body.ts';
import type { CompatCall } from './dialect.ts';

const MAX_NAME = 255;

/** Files belong to the key of the caller. */
export const ownerOf = ({ admission }: CompatCall) => callerOf(admission.caller);

/** Other ids exist nowhere, and a database may refuse them. */
export const isStoredId = (id: string): boolean => /^(?:batch_|file-)[\w-]{1,100}$/.test(id);

export interface KeepRequest {
  readonly file: Upload;
  readonly purpose: 'batch' | 'ocr';
  readonly keepMs: number;
  /** Used if the upload has no name. */
  readonly standardName: string;
}

/** Throws ResourceLimitExceededError if the files of the caller would be too large together. */
export const keepFile = (call: CompatCall, { file, purpose, keepMs, standardName }: KeepRequest): Promise<StoredFile> =>
  orUnavailable(
    call.native.parts.batch.files.add({
      owner: ownerOf(call).owner,
      name: (file.filename ?? '').replace(/\p{Cc}/gu, '').slice(0, MAX_NAME) || standardName,
      purpose,
      mediaType: file.mediaType,
      content: file,
      keepMs,
    }),
  );

/** The file of this caller; those of other keys are not found. */
export async function findFile(call: CompatCall, id: string): Promise<StoredFile | undefined> {
  if (!isStoredId(id)) return undefined;
  const file = await orUnavailable(call.native.parts.batch.files.find(id));
  return file?.owner === ownerOf(call).owner ? file : undefined;
}

/** Unix seconds. */
export const secondsOf = (ms: number): number => Math.floor(ms / 1000);

/** Fields that all files have. `status_details` is OpenAI's, and those from `num_lines` on are Mistral's. */
export const fileFields = (sampleType: 'batch_request' | 'ocr_input') => ({
  object: 'file',
  status: 'processed',
  status_details: null,
  sample_type: sampleType,
  num_lines: null,
  signature: null,
  deleted: false,
});

export const fileJson = ({ id, name, bytes, purpose, mediaType, createdAt, expiresAt }: StoredFile) => ({
  id,
  ...fileFields(purpose === 'ocr' ? 'ocr_input' : 'batch_request'),
  bytes,
  created_at: secondsOf(createdAt),
  expires_at: secondsOf(expiresAt),
  filename: name,
  purpose,
  mimetype: mediaType,
  source: 'upload',
});

/** Streams the content, so that only one piece is in memory. Never as a page that a browser would show. */
export async function sendContent({ native, reply }: CompatCall, file: StoredFile) {
  const content = await startReading(native.parts.batch.files.read(file));
  return reply
    .type('application/octet-stream')
    .header('content-length', file.bytes)
    .header('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`)
    .send(Readable.from(content, { objectMode: false }));
}
