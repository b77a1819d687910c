/** The admin API: accounts, keys and usage as JSON. It runs on a separate server that requires the admin secret. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asProblem, diskFull, isDiskFull, type Problem, problem } from '#errors.ts';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { namesProblemJson } from '#http/negotiate.ts';
import type { Face } from '#http/server.ts';
import type { Counters } from '#storage/counters/counters.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import { writeProblemJson } from '../envelopes/problem.ts';
import { errorObject } from '../envelopes/reader.ts';
import { ADMIN_TABLE, type AdminModules, type AdminRoute } from './endpoints.ts';
import { createAdminDescription } from './openapi.ts';
import { ID_PATTERN, validate } from './schemas.ts';
import { createSecretHook } from './secret-hook.ts';

export interface AdminEndpointOptions extends AdminModules {
  readonly secret: string;
  readonly counters: Pick<Counters, 'take'>;
}

const RETRY_AFTER_S = 2;

/** Writes a failure. Always as JSON, because only programs use this API. */
export function writeAdminError(failure: Problem, request: FastifyRequest, reply: FastifyReply): unknown {
  // Fastify rejects some requests on its own, without running the hooks.
  reply.code(failure.code).type('application/json; charset=utf-8').header('cache-control', 'no-store');
  if (typeof failure.facts.retryAfter === 'number') reply.header('retry-after', String(failure.facts.retryAfter));
  if (namesProblemJson(request.headers.accept)) return writeProblemJson(failure, request, reply);
  return reply.send(JSON.stringify({ data: null, ...errorObject(failure) }));
}

export function adminRoutes(face: Face, { secret, counters, ...modules }: AdminEndpointOptions): void {
  face.addHook('onSend', async (_, reply) => {
    reply.header('cache-control', 'no-store');
    // Web pages of other origins must not read the responses.
    for (const name of Object.keys(reply.getHeaders())) {
      if (name.startsWith('access-control-')) reply.removeHeader(name);
    }
  });
  face.get('/openapi.json', async (_, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(createAdminDescription(INTERFACE_VERSIONS.admin.version))),
  );
  const onRequest = createSecretHook(secret, counters);
  for (const route of ADMIN_TABLE) {
    face.route({
      method: route.method,
      url: route.path.replace('{id}', ':id'),
      onRequest,
      handler: async (request, reply) => {
        const answer = await runRoute(route, modules, request);
        return reply
          .code(route.method === 'POST' ? 201 : 200)
          .type('application/json; charset=utf-8')
          .send(JSON.stringify(answer));
      },
    });
  }
}

async function runRoute(route: AdminRoute, modules: AdminModules, request: FastifyRequest) {
  const { id } = request.params as { id?: string };
  if (id !== undefined && !ID_PATTERN.test(id))
    throw problem('ResourceNotFoundError', { path: 'id', message: 'The id in the path is not valid' });
  const query = route.query && validate(route.query, { ...(request.query as object) });
  const body = route.body && validate(route.body, bodyOf(request));
  try {
    return await route.run(modules, { id: id ?? '', query, body });
  } catch (error) {
    if (isDiskFull(error)) throw diskFull(error);
    throw error instanceof DatabaseUnavailableError
      ? problem('ServiceAwayError', { retryAfter: RETRY_AFTER_S }, error)
      : asProblem(error);
  }
}

/** The body of a request. Only JSON is accepted, because the fields of a form have no types. */
function bodyOf({ body, headers }: FastifyRequest): unknown {
  if (body === undefined || body === null) return {};
  if (/^(?:application|text)\/json\b/i.test(headers['content-type'] ?? '')) return body;
  throw problem('ParamValidationError', {
    path: 'body',
    message: 'Send the body as JSON, with Content-Type: application/json',
  });
}
