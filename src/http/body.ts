/**
 * Request bodies as one plain object, whatever their type: JSON, form or multipart. A repeated key is an array, a
 * multipart name ending in `[]` always is; a part of type application/json is parsed; file parts are streamed to disk
 * and become Upload values.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { diskFull, isDiskFull, Problem, problem } from '#errors.ts';
import { JsonTooLargeError, marksLeft, parseJson } from './json.ts';

const MAX_FIELD_BYTES = 2 * 1024 * 1024;
const MAX_PARTS = 1000;

/** A file part of a form: its bytes with the name and type that the client gave it. */
export class Upload extends Uint8Array {
  filename: string | undefined;
  mediaType: string | undefined;
}

const broken = (message: string) => problem('ParamValidationError', { path: 'body', message });

export async function registerBodies(
  face: FastifyInstance,
  { maxBodyBytes, temporaryDir }: { maxBodyBytes: number; temporaryDir: string },
): Promise<void> {
  face.removeAllContentTypeParsers();
  const asText = { parseAs: 'string' } as const;
  face.addContentTypeParser(['application/json', 'text/json'], asText, async (_: unknown, text: string) =>
    jsonBody(text),
  );
  face.addContentTypeParser('application/x-www-form-urlencoded', asText, async (_: unknown, text: string) =>
    // A JSON body under a client's default type is what its author meant.
    /^\s*\{/.test(text) ? jsonBody(text) : parseForm(text),
  );
  await face.register(multipart, {
    limits: { fieldSize: MAX_FIELD_BYTES, fileSize: maxBodyBytes, parts: MAX_PARTS, fieldNameSize: 200, files: 10 },
    throwFileSizeLimit: true,
  });
  face.addHook('preValidation', async (request) => {
    if (!request.isMultipart()) return;
    request.body = await readParts(request, temporaryDir).catch((error: unknown) => {
      // The next request of the connection comes after the rest of this one.
      request.raw.unpipe();
      request.raw.resume();
      throw error;
    });
  });
}

function jsonBody(text: string): Record<string, unknown> {
  if (!text.trim()) return {};
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw broken(`The body ${error instanceof JsonTooLargeError ? error.message : 'is not valid JSON'}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw broken('The body must be a JSON object');
  return value as Record<string, unknown>;
}

const parseForm = (text: string) => gathered(new URLSearchParams(text));

/** Pairs as an object: a key that comes again makes an array. */
export function gathered(pairs: Iterable<[string, unknown]>): Record<string, unknown> {
  const gathering = createGathering();
  let count = 0;
  for (const [name, value] of pairs) {
    if (++count > MAX_PARTS) throw broken(`There are more than ${MAX_PARTS} parameters`);
    gathering.add(name, value);
  }
  return gathering.out;
}

function createGathering() {
  const out: Record<string, unknown> = Object.create(null);
  /** The lists made here; a value may be a list of its own. */
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
  const { out, add } = createGathering();
  let left: number | undefined;
  try {
    for await (const part of request.parts()) {
      const name = decodeName(part.fieldname);
      if (part.type === 'file') add(name, await readUpload(part, temporaryDir));
      else if (part.valueTruncated)
        throw problem('RequestPayloadTooLargeError', { path: name, message: `${name} is over 2 MiB` });
      else {
        const value =
          isJsonType(part.mimetype) && typeof part.value === 'string' ? parsePart(name, part.value) : part.value;
        left = marksLeft(value, left);
        add(name, value);
      }
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (isDiskFull(error)) throw diskFull(error);
    if (error instanceof JsonTooLargeError) throw broken(`The body ${error.message}`);
    const { code, statusCode } = error as { code?: string; statusCode?: number };
    if (statusCode === 413) throw problem('RequestPayloadTooLargeError');
    if (code === 'FST_INVALID_JSON_FIELD_ERROR') throw broken('A part of the form is not valid JSON');
    if (code === 'FST_PROTO_VIOLATION') throw broken(INHERITED_NAME);
    if (code?.startsWith('FST_') || (error instanceof Error && error.name === 'Error')) {
      throw problem('DataStreamBrokenError', { path: 'body', message: 'The form could not be read to its end' }, error);
    }
    throw error;
  }
  return out;
}

const INHERITED_NAME = `A part of the form cannot be named ${Object.getOwnPropertyNames(Object.prototype).join(', ')}`;

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

/** The file goes through disk so that a slow client holds no memory; the copy on disk is gone when this returns. */
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
