/** Files in requests, as the reader takes them. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { problem } from '#errors.ts';
import { Upload } from '#http/body.ts';
import type { CompatCall } from '../dialect.ts';

export interface FileFacts {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
}

/** Types that say nothing about a file. */
const NO_TYPES: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'application/x-www-form-urlencoded']);

/** A file with the last segment of its name. Throws ParamValidationError for an empty file. */
export function uploadOf(bytes: Uint8Array, { name, type }: FileFacts, field = 'body'): Upload {
  if (bytes.length === 0)
    throw problem('ParamValidationError', { path: field, message: `${field}: the file is empty` });
  const upload = new Upload(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  upload.filename = fileNameOf(name);
  const given = type?.trim().toLowerCase() ?? '';
  upload.mediaType = NO_TYPES.has(given.split(';', 1)[0]!.trim()) ? undefined : given;
  return upload;
}

export const fileNameOf = (name: string | undefined): string | undefined =>
  name?.split(/[\\/]/).at(-1)?.trim() || undefined;

/** The files of a multipart body in the fields `names`, or in all fields. */
export function filesIn(body: unknown, names?: readonly string[]): Upload[] {
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body)
    .filter(([name]) => names === undefined || names.includes(name))
    .flatMap(([name, value]) =>
      [value]
        .flat()
        .filter((one) => one instanceof Upload)
        .map((one) => uploadOf(one, { name: one.filename, type: one.mediaType }, name)),
    );
}

/** The bytes of base64 text. Throws ParamValidationError that names the field. */
export function base64Bytes(text: string, field: string): Uint8Array {
  const plain = text.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(plain)) {
    throw problem('ParamValidationError', { path: field, message: `${field} is not valid base64` });
  }
  return Buffer.from(plain, 'base64');
}

const decompress = promisify(gunzip);

/** Decompressed bytes, at most as many as a request may have. `field` is the part of the request that says gzip. */
export async function unzipped(
  bytes: Uint8Array,
  { native }: Pick<CompatCall, 'native'>,
  field: string,
): Promise<Uint8Array> {
  try {
    return await decompress(bytes, { maxOutputLength: native.parts.maxBodyBytes });
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw problem('RequestPayloadTooLargeError');
    throw problem('ParamValidationError', { path: field, message: `${field}: the body is not gzip` });
  }
}
