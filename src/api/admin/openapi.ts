/** The OpenAPI document of the admin API, made from its table of endpoints. */
import * as z from 'zod';
import { PROBLEMS } from '#errors.ts';
import { inputSchema } from '#http/openapi.ts';
import { ref } from '../openapi/components.ts';
import { ADMIN_SHAPES, ADMIN_TABLE, type AdminRoute } from './endpoints.ts';

const json = (schema: object) => ({ 'application/json': { schema } });
const statusOf = ({ method }: AdminRoute) => (method === 'POST' ? 201 : 200);

/** The OpenAPI 3.1 document of the admin API. `version` is that of the interface. */
export function createAdminDescription(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ADMIN_TABLE) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lectern admin API',
      version,
      description: 'Accounts, keys and usage. Every request needs the admin secret.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ secret: [] }],
    paths,
    components: {
      securitySchemes: { secret: { type: 'http', scheme: 'bearer' } },
      schemas: {
        ...Object.fromEntries(Object.entries(ADMIN_SHAPES).map(([name, shape]) => [name, inputSchema(shape)])),
        Failure: FAILURE,
      },
    },
  };
}

function operation(route: AdminRoute): object {
  const { name, summary, path, query, body } = route;
  const parameters = [...(path.endsWith('{id}') ? [ID] : []), ...(query ? queryParameters(query) : [])];
  return {
    operationId: name,
    summary,
    ...(parameters.length && { parameters }),
    ...(body && { requestBody: { required: true, content: json(inputSchema(body)) } }),
    responses: {
      [statusOf(route)]: { description: 'Done.', content: json(answerOf(route)) },
      default: { description: 'A failure. Its `code` is the HTTP status.', content: json(ref('Failure')) },
    },
  };
}

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

function queryParameters(query: z.ZodType): object[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape).map(([name, shape]) => {
    const { description, ...schema } = inputSchema(shape as z.ZodType);
    return { name, in: 'query', required: false, description, schema };
  });
}

function answerOf({ kind, shape }: AdminRoute): object {
  const data = kind === 'one' ? ref(shape) : { type: 'array', items: ref(shape) };
  const next = {
    type: ['string', 'null'],
    description: 'The value of `after` for the next page; null on the last page.',
  };
  return {
    type: 'object',
    required: kind === 'page' ? ['data', 'next'] : ['data'],
    properties: kind === 'page' ? { data, next } : { data },
  };
}

const FAILURE = {
  type: 'object',
  required: ['data', 'code', 'name', 'status', 'message', 'readableMessage'],
  properties: {
    data: { type: 'null' },
    path: { type: 'string', description: 'The first invalid field.' },
    faults: {
      type: 'array',
      description: 'All invalid fields.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
    code: { type: 'integer', description: 'The HTTP status.' },
    name: { enum: Object.keys(PROBLEMS) },
    status: { type: 'integer' },
    message: { type: 'string' },
    readableMessage: { type: 'string' },
    retryAfter: { type: 'integer', description: 'Seconds to wait before retrying.' },
  },
};
