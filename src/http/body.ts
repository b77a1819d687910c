/**
 * Parses request bodies (JSON, form or multipart) into one plain object. A repeated key results in an array, and so
 * does a key that ends in `[]`. In multipart bodies, application/json parts are parsed, and file parts are streamed to
 * disk and become Uploads. `maxBodyBytes` limits multipart bodies here, and all others in `server.ts`.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { diskFull, isDiskFull, Problem, problem } from '#errors.ts';
import { JsonTooLargeError, parseJson, remainingMarks } from './json.ts';

const MAX_FIELD_BYTES = 2 * 1024 * 1024;
const MAX_PARTS = 1000;

/** The bytes of an uploaded file, with the name and media type that the client sent. */
export class Upload extends Uint8Array {
  filename: string | undefined;
  mediaType: string | undefined;
}

const invalidBody = (message: string) => problem('ParamValidationError', { path: 'body', message });

interface BodyOptions {
  readonly maxBodyBytes: number;
  readonly temporaryDir: string;
  readonly takesAnyJson?: boolean | undefined;
}

export async function registerBodies(
  face: FastifyInstance,
  { maxBodyBytes, temporaryDir, takesAnyJson = false }: BodyOptions,
): Promise<void> {
  face.removeAllContentTypeParsers();
  const asText = { parseAs: 'string' } as const;
  const asJson = takesAnyJson ? anyJsonBody : jsonBody;
  face.addContentTypeParser(['application/json', 'text/json'], asText, async (_: unknown, text: string) =>
    asJson(text),
  );
  face.addContentTypeParser('application/x-www-form-urlencoded', asText, async (_: unknown, text: string) =>
    // curl and other clients send JSON under this default content type.
    /^\s*\{/.test(text) ? asJson(text) : parseForm(text),
  );
  // The parser for a missing Content-Type too.
  if (takesAnyJson) face.addContentTypeParser('*', asText, async (_: unknown, text: string) => asJson(text));
  await face.register(multipart, {
    limits: { fieldSize: MAX_FIELD_BYTES, fileSize: maxBodyBytes, parts: MAX_PARTS, fieldNameSize: 200, files: 10 },
    throwFileSizeLimit: true,
  });
  face.addHook('preValidation', async (request) => {
    if (!request.isMultipart()) return;
    request.body = await readParts(request, temporaryDir).catch((error: unknown) => {
      // The rest of the body must be read, because otherwise the next request on this connection would never arrive.
      request.raw.unpipe();
      request.raw.resume();
      throw error;
    });
  });
}

function anyJsonBody(text: string): unknown {
  if (!text.trim()) return {};
  try {
    return parseJson(text);
  } catch (error) {
    throw invalidBody(`The body ${error instanceof JsonTooLargeError ? error.message : 'is not valid JSON'}`);
  }
}

function jsonBody(text: string): Record<string, unknown> {
  const value = anyJsonBody(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidBody('The body must be a JSON object');
  return value as Record<string, unknown>;
}

const parseForm = (text: string) => objectFromPairs(new URLSearchParams(text));

/** Converts pairs to an object. The values of a repeated key become an array. */
export function objectFromPairs(pairs: Iterable<[string, unknown]>): Record<string, unknown> {
  const collector = createCollector();
  let count = 0;
  for (const [name, value] of pairs) {
    if (++count > MAX_PARTS) throw invalidBody(`Too many parameters: at most ${MAX_PARTS} are allowed`);
    collector.add(name, value);
  }
  return collector.out;
}

function createCollector() {
  const out: Record<string, unknown> = Object.create(null);
  /** Arrays that were created for repeated keys, as opposed to values that are arrays themselves. */
  const lists = new Map<string, unknown[]>();
  const add = (given: string, value: unknown): void => {
    const name = given.endsWith('[]') ? given.slice(0, -2) : given;
    const list = lists.get(name);
    if (list) list.push(value);
    else if (name in out || name !== given) {
      const made = name in out ? [out[name], value] : [value];
      lists.set(name, made);
      out[name] = made;
    } else out[name] = value;
  };
  return { out, add };
}

async function readParts(request: FastifyRequest, temporaryDir: string): Promise<Record<string, unknown>> {
  const { out, add } = createCollector();
  let remaining: number | undefined;
  try {
    for await (const part of request.parts()) {
      const name = decodeName(part.fieldname);
      if (part.type === 'file') add(name, await readUpload(part, temporaryDir));
      else if (part.valueTruncated)
        throw problem('RequestPayloadTooLargeError', { path: name, message: `${name} is larger than 2 MiB` });
      else {
        const value =
          isJsonType(part.mimetype) && typeof part.value === 'string' ? parsePart(name, part.value) : part.value;
        remaining = remainingMarks(value, remaining);
        add(name, value);
      }
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (isDiskFull(error)) throw diskFull(error);
    if (error instanceof JsonTooLargeError) throw invalidBody(`The body ${error.message}`);
    const { code, statusCode } = error as { code?: string; statusCode?: number };
    if (statusCode === 413) throw problem('RequestPayloadTooLargeError');
    if (code === 'FST_INVALID_JSON_FIELD_ERROR') throw invalidBody('A part of the form is not valid JSON');
    if (code === 'FST_PROTO_VIOLATION') throw invalidBody(INHERITED_NAME);
    if (code?.startsWith('FST_') || (error instanceof Error && error.name === 'Error')) {
      throw problem('DataStreamBrokenError', { path: 'body', message: 'The form ended early' }, error);
    }
    throw error;
  }
  return out;
}

const INHERITED_NAME = `A part of the form must not be named ${Object.getOwnPropertyNames(Object.prototype).join(', ')}`;

const isJsonType = (type: string) => /^application\/json\b/i.test(type);

function parsePart(name: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const what = error instanceof JsonTooLargeError ? error.message : 'is not valid JSON';
    throw problem('ParamValidationError', { path: name, message: `${name} ${what}` });
  }
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

interface FilePart {
  readonly file: NodeJS.ReadableStream;
  readonly filename: string | undefined;
  readonly mimetype: string;
}

/**
 * Buffers the file on disk, so that slow clients use no memory. The temporary file is removed before this function
 * returns.
 */
async function readUpload(part: FilePart, temporaryDir: string): Promise<Upload> {
  await mkdir(temporaryDir, { recursive: true });
  const file = path.join(temporaryDir, randomUUID());
  try {
    await pipeline(part.file, createWriteStream(file, { mode: 0o600 }));
    const bytes = await readFile(file);
    const upload = new Upload(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
    upload.filename = part.filename;
    upload.mediaType = part.mimetype;
    return upload;
  } finally {
    await rm(file, { force: true });
  }
}
