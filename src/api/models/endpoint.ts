/**
 * Code shared by the endpoints of the model host: routes with access control, and the context that a request passes to
 * models.
 */
import type { FastifyReply, FastifyRequest, HTTPMethods, RouteHandlerMethod } from 'fastify';
import { problem } from '#errors.ts';
import { clientIpOf } from '#http/client-ip.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import type { Face } from '#http/server.ts';
import type { ModelRuntime, Registry, RequestContext } from '#models/index.ts';
import type { Endpoint } from '#plans.ts';
import type { AccessHooks } from '../access-hooks.ts';
import { asksForTrace, type Tracing } from '../trace.ts';
import type { ModelBody } from './body.ts';

export interface ModelEndpointOptions {
  readonly registry: Registry;
  readonly models: ModelRuntime;
  readonly accessHooks: AccessHooks;
  readonly tracing: Tracing;
}

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Adds a POST route that requires a key. */
export function keyedRoute(
  face: Face,
  url: string,
  endpoint: Endpoint,
  deps: ModelEndpointOptions,
  handler: RouteHandlerMethod,
) {
  const access = { face: 'model', endpoint, authorization: 'bearer', keyless: 'refused' } as const;
  face.route({ method: 'POST', url, onRequest: deps.accessHooks.hook(access, 'by kind'), handler });
  refuseOtherMethods(face, url, ['POST']);
}

/** Adds a route that requires no key. A key in the request is ignored. */
export function publicRoute(face: Face, url: string, handler: RouteHandlerMethod) {
  // Load balancers and monitors send HEAD requests.
  face.route({ method: ['GET', 'HEAD'], url, handler });
  refuseOtherMethods(face, url, ['GET', 'HEAD']);
}

/** Responds with 405 to all other methods of a path, except those that another API on the same server has. */
export function refuseOtherMethods(face: Face, url: string, methods: readonly HTTPMethods[]): void {
  const others = METHODS.filter((other) => !methods.includes(other));
  const refused = others.filter((method) => !face.hasRoute({ method, url }));
  const allowed = [...methods, ...others.filter((method) => !refused.includes(method))];
  face.route({
    method: refused,
    url,
    // A hook, so that the body is not read.
    onRequest: async (_, reply) => {
      reply.header('allow', `${allowed.join(', ')}, OPTIONS`);
      throw problem('MethodNotAllowedError');
    },
    handler: async () => {},
  });
}

/** The caller, abort signal, token limit and trace that a request passes to models. */
export function callOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { accessHooks, tracing }: ModelEndpointOptions,
  body?: ModelBody,
): RequestContext {
  const admission = accessHooks.admissionOf(request);
  const { caller } = admission;
  return {
    caller: caller.kind === 'key' ? caller.account.id : clientIpOf(request),
    signal: disconnectSignal(reply),
    admit: (tokens) => admission.reserveTokens(tokens),
    trace: tracing.start(request, reply, asksForTrace(request, body)),
  };
}
