/** Files that callers upload for OCR. They are kept for a day, and belong to the key. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import { orUnavailable } from '#api/unavailable.ts';
import type { StoredFile } from '#batch/index.ts';
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { filesIn } from '../documents/uploads.ts';
import { sendJson } from '../errors.ts';
import { numberText, readFields } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import * as uploaded from '../uploaded-files.ts';

const HOUR_MS = 60 * 60_000;
const LIFETIME_MS = 24 * HOUR_MS;
/** Files of a list. */
const MAX_LISTED = 10_000;

export const UPLOAD_FIELDS = z.object({
  purpose: z.literal('ocr', 'must be ocr').meta({ description: '`ocr`.' }),
});

export async function upload(call: CompatCall): Promise<unknown> {
  readFields(UPLOAD_FIELDS, call.body);
  const [file] = filesIn(call.body, ['file']);
  if (!file) throw problem('ParamValidationError', { path: 'file', message: 'file: a file is required' });
  showIgnored(call.reply, Object.keys(call.body as object).includes('expiry') ? ['expiry'] : []);
  const kept = await uploaded.keepFile(call, { file, purpose: 'ocr', keepMs: LIFETIME_MS, standardName: 'file' });
  return sendJson(call.reply, uploaded.fileJson(kept));
}

const LIST_FIELDS = z.object({
  purpose: z.string().optional(),
  page: numberText().pipe(z.number().int().min(0)).default(0),
  page_size: numberText().pipe(z.number().int().min(1).max(1_000)).default(100),
});

export async function list(call: CompatCall): Promise<unknown> {
  const { purpose = 'ocr', page, page_size: size } = readFields(LIST_FIELDS, call.query);
  const { owner } = uploaded.ownerOf(call);
  const files = await orUnavailable(
    call.native.parts.batch.files.list(owner, { limit: MAX_LISTED, order: 'desc', purpose }),
  );
  const data = files.slice(page * size, (page + 1) * size).map(uploaded.fileJson);
  return sendJson(call.reply, { object: 'list', data, total: files.length });
}

/** The file of this caller. Throws ResourceNotFoundError. */
export async function ownFile(call: CompatCall, id: string): Promise<StoredFile> {
  const file = await uploaded.findFile(call, id);
  if (!file) throw noFile();
  return file;
}

const noFile = () => problem('ResourceNotFoundError', { message: 'There is no such file; files are kept for a day' });

export async function show(call: CompatCall): Promise<unknown> {
  return sendJson(call.reply, uploaded.fileJson(await ownFile(call, call.params.id!)));
}

export async function remove(call: CompatCall): Promise<unknown> {
  const { id } = await ownFile(call, call.params.id!);
  await orUnavailable(call.native.parts.batch.files.remove(id));
  return sendJson(call.reply, { id, object: 'file', deleted: true });
}

export async function sendContent(call: CompatCall): Promise<unknown> {
  return uploaded.sendContent(call, await ownFile(call, call.params.id!));
}

const SIGNED_PATH = '/mistral/files/';
const URL_FIELDS = z.object({
  expiry: numberText()
    .pipe(z.number().positive().max(24))
    .default(24)
    .meta({ description: 'Hours for which the URL is valid, at most 24.' }),
});

export async function sendUrl(call: CompatCall): Promise<unknown> {
  const { expiry } = readFields(URL_FIELDS, call.query);
  const file = await ownFile(call, call.params.id!);
  const expires = uploaded.secondsOf(Math.min(Date.now() + expiry * HOUR_MS, file.expiresAt));
  const query = new URLSearchParams({ expires: String(expires), signature: sign(file, expires) });
  return sendJson(call.reply, { url: `${call.origin}${SIGNED_PATH}${file.id}?${query}` });
}

const sign = ({ id, secret }: StoredFile, expires: number): string =>
  createHmac('sha256', secret).update(`${id}\n${expires}`).digest('base64url');

/** Sends a file to whoever has its signed URL. */
export async function sendSigned(call: CompatCall): Promise<unknown> {
  const { expires, signature } = call.query;
  const file = await signedFile(call, call.params.id!, String(expires), String(signature));
  if (!file) throw noFile();
  return uploaded.sendContent(call, file);
}

async function signedFile(
  { native }: Pick<CompatCall, 'native'>,
  id: string,
  expires: string,
  signature: string,
): Promise<StoredFile | undefined> {
  if (!uploaded.isStoredId(id) || !(Number(expires) * 1_000 > Date.now())) return undefined;
  const file = await orUnavailable(native.parts.batch.files.find(id));
  if (!file) return undefined;
  const [given, own] = [Buffer.from(signature), Buffer.from(sign(file, Number(expires)))];
  return given.length === own.length && timingSafeEqual(given, own) ? file : undefined;
}

/**
 * The file of a URL that `sendUrl` wrote, whatever its host; `undefined` for other URLs. Such a file is not fetched,
 * because this server does not read itself. Throws ResourceNotFoundError if the URL has expired.
 */
export async function fileOfSignedUrl(call: CompatCall, url: string): Promise<StoredFile | undefined> {
  const found = /^https?:\/\/[^/?#]+\/+(?:for\/mistral\/)?mistral\/files\/([\w-]{1,120})\?([^#]*)/i.exec(url);
  if (!found) return undefined;
  const query = new URLSearchParams(found[2]);
  const file = await signedFile(call, found[1]!, query.get('expires') ?? '', query.get('signature') ?? '');
  if (!file) throw noFile();
  return file;
}

export const bytesOf = ({ native }: Pick<CompatCall, 'native'>, file: StoredFile): Promise<Uint8Array> =>
  orUnavailable(buffer(native.parts.batch.files.read(file)));
