/** Request bodies of the model host: JSON objects, regardless of the Content-Type. */
import type { FastifyRequest } from 'fastify';
import { problem } from '#errors.ts';
import { JsonTooLargeError, parseJson } from '#http/json.ts';
import type { Face } from '#http/server.ts';

export type ModelBody = Readonly<Record<string, unknown>>;

export function registerModelBodies(face: Face): void {
  face.removeAllContentTypeParsers();
  // Otherwise, Fastify would refuse a missing or different Content-Type before it reads the body.
  face.addHook('onRequest', async ({ headers }) => {
    headers['content-type'] = 'application/json';
  });
  face.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (request: FastifyRequest, text: string) => {
      refuseCompressed(request.headers['content-encoding']);
      return parse(text);
    },
  );
}

function refuseCompressed(encoding: string | undefined): void {
  if (!encoding || encoding.toLowerCase() === 'identity') return;
  const message = `Content-Encoding ${encoding.slice(0, 100)} is not supported: send the body uncompressed`;
  throw problem('UnsupportedMediaTypeError', { message });
}

function parse(text: string): unknown {
  if (!text.trim()) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    const tooLarge = error instanceof JsonTooLargeError;
    throw invalidField(
      'body',
      tooLarge ? error.message : 'is not valid JSON',
      tooLarge ? 'value_error' : 'json_invalid',
    );
  }
}

/** The body of a request. Throws ParamValidationError if it is missing or not an object. */
export function bodyOf({ body }: FastifyRequest): ModelBody {
  if (body === undefined) throw invalidField('body', 'is required', 'missing');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidField('body', 'must be a JSON object', 'dict_type');
  }
  return body as ModelBody;
}

/** The model named in a body; `undefined` if there is none. */
export function givenModel({ model }: ModelBody): string | undefined {
  if (model === undefined || model === null) return undefined;
  if (typeof model === 'string') return model;
  throw invalidField('body -> model', 'must be a string', 'string_type', typeof model === 'object' ? undefined : model);
}

export function modelOf(body: ModelBody): string {
  const model = givenModel(body);
  if (model === undefined) throw invalidField('body -> model', 'is required', 'missing');
  return model;
}

function invalidField(field: string, message: string, type: string, input?: unknown) {
  const error = { field, message, type, ...(input !== undefined && { input }) };
  return problem('ParamValidationError', { path: field, message: `${field} ${message}`, errors: [error] });
}
