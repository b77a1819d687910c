/** Files that callers upload for OCR. They are kept for a day, and belong to the account. */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { filesIn } from '../documents/uploads.ts';
import { sendJson } from '../errors.ts';
import { numberText, readFields } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import { FILE_LIFETIME_MS, type FileRecord } from '../kept/file-record.ts';
import { ownerOf } from '../kept/owner.ts';

const MAX_FILES = 200;
const MAX_OWNER_BYTES = 1_000_000_000;

export const UPLOAD_FIELDS = z.object({
  purpose: z.literal('ocr', 'must be ocr').meta({ description: '`ocr`.' }),
});

export async function upload(call: CompatCall): Promise<unknown> {
  readFields(UPLOAD_FIELDS, call.body);
  const [file] = filesIn(call.body, ['file']);
  if (!file) throw problem('ParamValidationError', { path: 'file', message: 'file: a file is required' });
  showIgnored(call.reply, Object.keys(call.body as object).includes('expiry') ? ['expiry'] : []);
  const owner = ownerOf(call);
  const known = await call.native.files.list(owner);
  const total = known.reduce((sum, { bytes }) => sum + bytes, file.byteLength);
  if (known.length >= MAX_FILES || total > MAX_OWNER_BYTES) {
    throw problem('ResourceLimitExceededError', {
      path: 'file',
      message: `An account may keep ${MAX_FILES} files and ${MAX_OWNER_BYTES / 1e6} MB; delete files first`,
    });
  }
  const record: FileRecord = {
    id: randomUUID(),
    owner,
    createdAt: Date.now(),
    bytes: file.byteLength,
    filename: file.filename ?? 'file',
    mediaType: file.mediaType ?? null,
    secret: randomBytes(32).toString('base64url'),
  };
  await call.native.files.put(record, file);
  return sendJson(call.reply, fileBody(record));
}

const fileBody = ({ id, bytes, createdAt, filename, mediaType }: FileRecord) => ({
  id,
  object: 'file',
  bytes,
  created_at: seconds(createdAt),
  expires_at: seconds(createdAt + FILE_LIFETIME_MS),
  filename,
  purpose: 'ocr',
  sample_type: 'ocr_input',
  source: 'upload',
  status: 'processed',
  num_lines: null,
  mimetype: mediaType,
  signature: null,
  deleted: false,
});

const seconds = (ms: number): number => Math.floor(ms / 1_000);

const LIST_FIELDS = z.object({
  purpose: z.string().optional(),
  page: numberText().pipe(z.number().int().min(0)).default(0),
  page_size: numberText().pipe(z.number().int().min(1).max(1_000)).default(100),
});

export async function list(call: CompatCall): Promise<unknown> {
  const { purpose, page, page_size: size } = readFields(LIST_FIELDS, call.query);
  const records = purpose === undefined || purpose === 'ocr' ? await call.native.files.list(ownerOf(call)) : [];
  const data = records.slice(page * size, (page + 1) * size).map(fileBody);
  return sendJson(call.reply, { object: 'list', data, total: records.length });
}

/** The file of this caller. Throws ResourceNotFoundError. */
export async function ownFile(call: CompatCall, id: string): Promise<FileRecord> {
  const record = await call.native.files.record(id, ownerOf(call));
  if (!record) throw noFile();
  return record;
}

const noFile = () => problem('ResourceNotFoundError', { message: 'There is no such file; files are kept for a day' });

export async function show(call: CompatCall): Promise<unknown> {
  return sendJson(call.reply, fileBody(await ownFile(call, call.params.id!)));
}

export async function remove(call: CompatCall): Promise<unknown> {
  const { id } = await ownFile(call, call.params.id!);
  await call.native.files.remove(id);
  return sendJson(call.reply, { id, object: 'file', deleted: true });
}

export async function sendContent(call: CompatCall): Promise<unknown> {
  return sendBytes(call, await ownFile(call, call.params.id!));
}

const SIGNED_PATH = '/mistral/files/';
const HOUR_MS = 60 * 60_000;
const URL_FIELDS = z.object({
  expiry: numberText()
    .pipe(z.number().positive().max(24))
    .default(24)
    .meta({ description: 'Hours for which the URL is valid, at most 24.' }),
});

export async function sendUrl(call: CompatCall): Promise<unknown> {
  const { expiry } = readFields(URL_FIELDS, call.query);
  const record = await ownFile(call, call.params.id!);
  const expires = seconds(Math.min(Date.now() + expiry * HOUR_MS, record.createdAt + FILE_LIFETIME_MS));
  const query = new URLSearchParams({ expires: String(expires), signature: sign(record, expires) });
  return sendJson(call.reply, { url: `${call.origin}${SIGNED_PATH}${record.id}?${query}` });
}

const sign = ({ id, secret }: FileRecord, expires: number): string =>
  createHmac('sha256', secret).update(`${id}\n${expires}`).digest('base64url');

/** Sends a file to whoever has its signed URL. */
export async function sendSigned(call: CompatCall): Promise<unknown> {
  const { expires, signature } = call.query;
  const record = await signedFile(call, call.params.id!, String(expires), String(signature));
  if (!record) throw noFile();
  return sendBytes(call, record);
}

async function signedFile(
  { native }: Pick<CompatCall, 'native'>,
  id: string,
  expires: string,
  signature: string,
): Promise<FileRecord | undefined> {
  const record = await native.files.record(id);
  if (!record || !(Number(expires) * 1_000 > Date.now())) return undefined;
  const [given, own] = [Buffer.from(signature), Buffer.from(sign(record, Number(expires)))];
  return given.length === own.length && timingSafeEqual(given, own) ? record : undefined;
}

/**
 * The file of a URL that `sendUrl` wrote, whatever its host; `undefined` for other URLs. Such a file is not fetched,
 * because this server does not read itself. Throws ResourceNotFoundError if the URL has expired.
 */
export async function fileOfSignedUrl(call: CompatCall, url: string): Promise<FileRecord | undefined> {
  const found = /^https?:\/\/[^/?#]+\/+(?:for\/mistral\/)?mistral\/files\/([\w-]{36})\?([^#]*)/i.exec(url);
  if (!found) return undefined;
  const query = new URLSearchParams(found[2]);
  const record = await signedFile(call, found[1]!, query.get('expires') ?? '', query.get('signature') ?? '');
  if (!record) throw noFile();
  return record;
}

export async function bytesOf({ native }: Pick<CompatCall, 'native'>, { id }: FileRecord): Promise<Uint8Array> {
  const bytes = await native.files.bytes(id);
  if (!bytes) throw noFile();
  return bytes;
}

/** Never as a page that a browser would show. */
async function sendBytes(call: CompatCall, record: FileRecord): Promise<unknown> {
  const bytes = await bytesOf(call, record);
  return call.reply
    .type('application/octet-stream')
    .header('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(record.filename)}`)
    .send(Buffer.from(bytes));
}
