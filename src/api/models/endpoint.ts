/** What the endpoints of the model host share: how callers enter, and what a request brings to the models. */
import type { FastifyReply, FastifyRequest, HTTPMethods, RouteHandlerMethod } from 'fastify';
import { problem } from '#errors.ts';
import { clientIpOf } from '#http/client-ip.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import type { Face } from '#http/server.ts';
import type { Call, Opened, Registry } from '#models/index.ts';
import type { Endpoint } from '#plans.ts';
import type { Gatekeeper } from '../gatekeeper.ts';
import { asksForTrace, type Tracing } from '../trace.ts';
import type { ModelBody } from './body.ts';

export interface ModelEndpointOptions {
  readonly registry: Registry;
  readonly models: Opened;
  readonly gatekeeper: Gatekeeper;
  readonly tracing: Tracing;
}

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A route for which a key is needed. */
export function keyedRoute(
  face: Face,
  url: string,
  endpoint: Endpoint,
  door: ModelEndpointOptions,
  handler: RouteHandlerMethod,
) {
  const entrance = { face: 'model', endpoint, authorization: 'bearer', keyless: 'refused' } as const;
  face.route({ method: 'POST', url, onRequest: door.gatekeeper.guard(entrance, 'by kind'), handler });
  refuseOthers(face, url, ['POST']);
}

/** A route for anybody: a key is not looked at. */
export function openRoute(face: Face, url: string, handler: RouteHandlerMethod) {
  // Balancers and monitors ask for the head alone.
  face.route({ method: ['GET', 'HEAD'], url, handler });
  refuseOthers(face, url, ['GET', 'HEAD']);
}

/** Answers every method but those that the address has. */
export function refuseOthers(face: Face, url: string, methods: readonly HTTPMethods[]): void {
  face.route({
    method: METHODS.filter((other) => !methods.includes(other)),
    url,
    // Before the body is read: whatever it is, it is not for this method.
    onRequest: async (_, reply) => {
      reply.header('allow', `${methods.join(', ')}, OPTIONS`);
      throw problem('MethodNotAllowedError');
    },
    handler: async () => {},
  });
}

/** What a request brings to the models beside its content. What it spends is settled when its answer is out. */
export function callOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { gatekeeper, tracing }: ModelEndpointOptions,
  body?: ModelBody,
): Call {
  const visit = gatekeeper.visitOf(request);
  const { caller } = visit;
  return {
    caller: caller.kind === 'key' ? caller.account.id : clientIpOf(request),
    signal: disconnectSignal(reply),
    admit: (tokens) => visit.takeTokens(tokens),
    trace: tracing.follow(request, reply, asksForTrace(request, body)),
  };
}
