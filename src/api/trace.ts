/**
 * Traces the requests that ask for a trace, or all requests if traces are exported. Returns a trace only to the caller
 * who requested it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EndedRequest, RequestObserver } from '#http/server.ts';
import { toBoolean } from '#http/values.ts';
import type { SpanExport } from '#telemetry/otlp.ts';
import {
  createTrace,
  readTraceParent,
  serverTiming,
  type Trace,
  type TraceJson,
  type TraceParent,
} from '#telemetry/trace.ts';
import type { AccessHooks } from './access-hooks.ts';

export interface Tracing {
  /**
   * Starts the trace of a request at the time of its arrival. `undefined` if neither the caller nor an export needs a
   * trace.
   */
  start(request: FastifyRequest, reply: FastifyReply, asked: boolean): Trace | undefined;
  /** Returns the trace if the caller requested it, and sets the Server-Timing header. Otherwise returns `undefined`. */
  show(request: FastifyRequest, reply: FastifyReply): TraceJson | undefined;
  /** Exports traces when their requests end. */
  readonly observer: RequestObserver;
}

interface TracedRequest {
  readonly trace: Trace;
  readonly asked: boolean;
  readonly parent: TraceParent | undefined;
}

const HEADER = 'server-timing';

export function createTracing({
  accessHooks,
  spanExport,
}: {
  readonly accessHooks: Pick<AccessHooks, 'keyCheckOf'>;
  readonly spanExport?: SpanExport | undefined;
}): Tracing {
  const traced = new WeakMap<FastifyRequest, TracedRequest>();

  function begin(request: FastifyRequest, reply: FastifyReply, asked: boolean): Trace {
    const parent = readTraceParent(request.headers.traceparent);
    const trace = createTrace({ id: parent?.traceId, startedAt: performance.now() - reply.elapsedTime });
    const check = accessHooks.keyCheckOf(request);
    if (check) trace.note('key_check', check.fromMs, check.toMs);
    traced.set(request, { trace, asked, parent });
    return trace;
  }

  const show = (request: FastifyRequest, reply: FastifyReply): TraceJson | undefined => {
    const known = traced.get(request);
    if (!known?.asked) return undefined;
    const shown = known.trace.shown();
    if (!reply.sent && !reply.raw.headersSent) reply.header(HEADER, serverTiming(shown));
    return shown;
  };

  return {
    start: (request, reply, asked) => (asked || spanExport ? begin(request, reply, asked) : undefined),
    show,
    observer: {
      failed: (_, request, reply) => void show(request, reply),
      ...(spanExport && {
        ended({ face, route = 'none', status, request, reply }: EndedRequest) {
          const trace = traced.get(request)?.trace ?? begin(request, reply, false);
          const { method } = request;
          const facts = { 'lectern.face': face, 'http.request.method': method, 'http.route': route };
          spanExport.ended({ trace, parent: traced.get(request)?.parent, name: `${method} ${route}`, status, facts });
        },
      }),
    },
  };
}

/** Whether a request to the model host asks for a trace, in a header, the query or the body. */
export function asksForTrace({ headers, query }: FastifyRequest, body?: Readonly<Record<string, unknown>>): boolean {
  const header = headers['x-trace'];
  const given = [header, (query as Record<string, unknown> | undefined)?.trace, body?.trace];
  return given.some((value) => {
    const [first] = Array.isArray(value) ? (value as unknown[]) : [value];
    return typeof first === 'string' || typeof first === 'boolean' || typeof first === 'number'
      ? toBoolean(first)
      : false;
  });
}

/** An observer that calls all given observers, in order. */
export const combineObservers = (...observers: readonly RequestObserver[]): RequestObserver => ({
  ended(facts) {
    for (const { ended } of observers) ended?.(facts);
  },
  failed(...facts) {
    for (const { failed } of observers) failed?.(...facts);
  },
});
