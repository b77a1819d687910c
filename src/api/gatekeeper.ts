/** The gate at the doors: a route that has an entrance lets nobody in whom the gate refuses, and every visit is ended. */
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Caller, Entrance, Gate, Standing, Standings, Visit } from '#accounts/index.ts';
import { problem } from '#errors.ts';
import { clientIpOf } from '#http/client-ip.ts';

/** How limits stand in the headers of a face: the model host names requests and tokens apart. */
export type LimitHeaders = 'plain' | 'by kind';

export interface Gatekeeper {
  /** The hook of a route: it runs before the body is read. */
  guard(entrance: Entrance, headers: LimitHeaders): onRequestAsyncHookHandler;
  /** The visit of a request that came through a guarded route. */
  visitOf(request: FastifyRequest): Visit;
  /** Who asks, at a door whose calls go on to others, which count them: a wrong key is refused. */
  recognize(entrance: Entrance, request: FastifyRequest): Promise<Caller>;
  /** When such a request was looked at, as `performance.now()` milliseconds. */
  checkOf(request: FastifyRequest): Check | undefined;
}

export interface Check {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A client that left before its answer was out (nginx's convention). */
const CLIENT_GONE = 499;

export interface GatekeeperOptions {
  /** Told what an answer has cost, once it is out. */
  readonly onSpent?: ((endpoint: Entrance['endpoint'], tokens: number) => void) | undefined;
}

export function createGatekeeper(gate: Gate, { onSpent }: GatekeeperOptions = {}): Gatekeeper {
  const visits = new WeakMap<FastifyRequest, Check & { readonly visit: Visit }>();
  return {
    guard: (entrance, headers) => async (request, reply) => {
      const asking = askingOf(request);
      const fromMs = performance.now();
      const admitted = await gate.admit(entrance, asking, (standings) => showLimits(reply, standings, headers));
      let spent = 0;
      const visit: Visit = {
        ...admitted,
        spend(cost) {
          spent = cost.tokens;
          admitted.spend(cost);
        },
      };
      visits.set(request, { visit, fromMs, toMs: performance.now() });
      const end = () => {
        visit.end(reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE);
        if (spent) onSpent?.(entrance.endpoint, spent);
      };
      if (reply.raw.destroyed) end();
      else reply.raw.once('close', end);
    },
    recognize: (entrance, request) => gate.recognize(entrance, askingOf(request)),
    visitOf(request) {
      const known = visits.get(request);
      if (!known) throw problem('InternalError', {}, new Error('the route is not guarded'));
      return known.visit;
    },
    checkOf: (request) => visits.get(request),
  };
}

const askingOf = (request: FastifyRequest) => ({
  authorization: authorizationOf(request),
  address: clientIpOf(request),
});

/** Node keeps the first of several Authorization headers only, so they are read from what came over the wire. */
function authorizationOf({ raw: { rawHeaders } }: FastifyRequest): string[] {
  const found: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length === 13 && rawHeaders[at]!.toLowerCase() === 'authorization') {
      found.push(rawHeaders[at + 1]!);
    }
  }
  return found;
}

function showLimits(reply: FastifyReply, { requests, tokens }: Standings, headers: LimitHeaders): void {
  if (headers === 'plain') {
    if (requests) write(reply, requests, '');
    return;
  }
  if (requests) write(reply, requests, '-requests');
  if (tokens) write(reply, tokens, '-tokens');
}

function write(reply: FastifyReply, { limit, remaining, resetMs }: Standing, kind: string): void {
  reply.header(`x-ratelimit-limit${kind}`, limit);
  reply.header(`x-ratelimit-remaining${kind}`, remaining);
  reply.header(`x-ratelimit-reset${kind}`, Math.ceil(resetMs / 1000));
}
