/** The OpenAPI document of the admin API, generated from its table of endpoints. */
import * as z from 'zod';
import type { ProblemName } from '#errors.ts';
import { inputSchema } from '#http/openapi.ts';
import { ref } from '../openapi/components.ts';
import { FAILURE, failureComponents, failureResponses } from '../openapi/failures.ts';
import { ADMIN_SHAPES, ADMIN_TABLE, ADMIN_TAGS, type AdminRoute } from './endpoints.ts';
import { ADMIN_ANSWERS, ADMIN_BODIES, ADMIN_IDS } from './examples.ts';

const json = (schema: object, example: unknown) => ({ 'application/json': { schema, example } });

const FAILURES: readonly ProblemName[] = [
  'ParamValidationError',
  'DataStreamBrokenError',
  'AuthenticationFailedError',
  'AuthenticationRequiredError',
  'OperationNotAllowedError',
  'ResourceNotFoundError',
  'RequestPayloadTooLargeError',
  'RateLimitTriggeredError',
  'RequestHeaderFieldsTooLargeError',
  'InternalError',
  'ServiceNodeResourceDrainError',
  'ServiceAwayError',
];
const statusOf = ({ method }: AdminRoute) => (method === 'POST' ? 201 : 200);

/** The OpenAPI 3.1 document of the admin API. `version` is the version of the interface. */
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
    tags: Object.entries(ADMIN_TAGS).map(([name, description]) => ({ name, description })),
    security: [{ secret: [] }],
    paths,
    components: {
      securitySchemes: { secret: { type: 'http', scheme: 'bearer' } },
      responses: failureComponents({ names: FAILURES, isNegotiated: false }),
      schemas: {
        ...Object.fromEntries(Object.entries(ADMIN_SHAPES).map(([name, shape]) => [name, inputSchema(shape)])),
        Failure: FAILURE,
      },
    },
  };
}

function operation(route: AdminRoute): object {
  const { name, summary, path, query, body } = route;
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: ADMIN_IDS[route.tag] };
  const parameters = [...(path.endsWith('{id}') ? [id] : []), ...(query ? queryParameters(query) : [])];
  return {
    operationId: name,
    summary,
    tags: [route.tag],
    ...(parameters.length && { parameters }),
    ...(body && { requestBody: { required: true, content: json(inputSchema(body), ADMIN_BODIES[name]) } }),
    responses: {
      [statusOf(route)]: { description: 'Done.', content: json(answerOf(route), ADMIN_ANSWERS[name]) },
      ...failureResponses(FAILURES),
    },
  };
}

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
