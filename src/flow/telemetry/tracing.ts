/**
 * Spans of a flow (docs/reference/wire/flow.md, Tracing): one for each request at the gateway, one for each call of an
 * executor on both sides, and one for each handler.
 */
import type { TraceParent } from '#telemetry/trace.ts';
import type { OperationOptions } from '../definition/definition.ts';
import { CATCH_ALL } from '../executor.ts';
import { METHODS, pathOf } from '../grpc/names.ts';
import type { FlowObserver, ProcessedFacts } from '../observer.ts';
import { type DataRequest, failed } from '../request.ts';
import type { Worker } from '../runtime/worker.ts';

export const GATEWAY_SPAN = pathOf(METHODS.call);
export const CALL_SPAN = pathOf(METHODS.single);
/** Name of the span of a handler that is not bound to a particular endpoint. */
const CATCH_ALL_SPAN = 'default';

export type SpanKind = 'server' | 'client' | 'internal';

export interface SpanStart {
  readonly kind: SpanKind;
  readonly parent?: TraceParent | undefined;
  /** Milliseconds since 1970; now by default. */
  readonly startMs?: number;
}

export interface FlowSpan {
  readonly context: TraceParent;
  /** `endMs`: milliseconds since 1970; now by default. */
  end(isFailed: boolean, endMs?: number): void;
}

/** Creates the spans of one program: the gateway or an executor. */
export interface FlowTracer {
  start(name: string, how: SpanStart): FlowSpan;
}

export interface FlowTracing {
  /** The tracer of the program `service`, such as `gateway/rep-0`; `undefined` if its tracing is off. */
  tracerOf(service: string, options: OperationOptions): FlowTracer | undefined;
}

const now = (): number => performance.timeOrigin + performance.now();

/** Runs work within a span, if there is a tracer. The work receives the parent for its own spans. */
export async function traceRequest(
  tracer: FlowTracer | undefined,
  name: string,
  how: SpanStart,
  work: (trace: TraceParent | undefined) => Promise<DataRequest>,
): Promise<DataRequest> {
  if (!tracer) return work(how.parent);
  const span = tracer.start(name, how);
  let answer: DataRequest | undefined;
  try {
    answer = await work(span.context);
    return answer;
  } finally {
    span.end(answer === undefined || failed(answer));
  }
}

/** Records which executor produced each response, with its metrics. */
export interface AnswerFacts {
  readonly observe: FlowObserver;
  of(answer: DataRequest): ProcessedFacts | undefined;
}

export function rememberFacts(observe: FlowObserver | undefined): AnswerFacts {
  const known = new WeakMap<DataRequest, ProcessedFacts>();
  return {
    observe: {
      ...observe,
      processed(facts, answer) {
        known.set(answer, facts);
        observe?.processed?.(facts, answer);
      },
    },
    of: (answer) => known.get(answer),
  };
}

/** Wraps a worker so that each call, and the handler inside it, gets a span. */
export const traceWorker = (worker: Worker, tracer: FlowTracer, facts: AnswerFacts): Worker => ({
  ...worker,
  process: (call) =>
    traceRequest(tracer, CALL_SPAN, { kind: 'server', parent: call.trace }, async (trace) => {
      const answer = await worker.process({ ...call, trace });
      const handled = facts.of(answer);
      if (handled) {
        const endMs = now();
        const name = handled.endpoint === CATCH_ALL ? CATCH_ALL_SPAN : handled.endpoint;
        tracer.start(name, { kind: 'internal', parent: trace, startMs: endMs - handled.ms }).end(handled.failed, endMs);
      }
      return answer;
    }),
});
