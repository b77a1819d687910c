/**
 * Exports traces to an OpenTelemetry collector over OTLP/HTTP. This is optional: its packages are loaded only if a
 * collector is configured. Each request is a span, with its steps as child spans. A `traceparent` header makes the
 * request part of the caller's trace.
 */
import type { Context, Tracer } from '@opentelemetry/api';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import type { Log } from './log.ts';
import { loadOtlpPackages, rateLimitedWarning } from './otlp-packages.ts';
import type { SpanFacts, Trace, TraceParent } from './trace.ts';

export interface SpanExport {
  /** Queues a finished request for the next export batch. */
  ended(request: EndedTrace): void;
  /** Exports the remaining spans, waiting at most a few seconds. */
  close(): Promise<void>;
}

export interface EndedTrace {
  readonly trace: Trace;
  /** The caller's span, from `traceparent`. */
  readonly parent?: TraceParent | undefined;
  /** HTTP method and route pattern. */
  readonly name: string;
  readonly status: number;
  readonly facts: SpanFacts;
}

export interface SpanExportOptions {
  /** URL of the collector; `/v1/traces` is appended if missing. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sampling rate, from 0 to 1, for requests whose `traceparent` contains no sampling decision. */
  readonly sampleRatio: number;
  readonly service: string;
  readonly version: string;
  readonly log: Pick<Log, 'warn'>;
}

const CLOSE_MS = 3_000;
const PATH = '/v1/traces';

/** Throws ConfigError if the packages are not installed. */
export async function openSpanExport(options: SpanExportOptions): Promise<SpanExport> {
  const { api, sdk, otlp, resources } = await loadOtlpPackages('otlpUrl');
  const { url, headers, sampleRatio, service, version } = options;
  const exporter = new otlp.OTLPTraceExporter({ url: tracesUrl(url), headers: { ...headers } });
  const warn = rateLimitedWarning(options.log, 'traces');
  const send = exporter.export.bind(exporter);
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      if (result.error) warn(result.error);
      done(result);
    });
  let nextTraceId: string | undefined;
  const random = new sdk.RandomIdGenerator();
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': service, 'service.version': version }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
    idGenerator: {
      generateSpanId: () => random.generateSpanId(),
      // The collector receives the same trace id as the caller.
      generateTraceId: () => nextTraceId ?? random.generateTraceId(),
    },
  });
  const tracer = provider.getTracer('lectern', version);
  return {
    ended(request) {
      nextTraceId = request.trace.id;
      write(api, tracer, request);
      nextTraceId = undefined;
    },
    async close() {
      await within(CLOSE_MS, provider.shutdown()).catch((error: unknown) => {
        if (!(error instanceof DeadlineExceededError)) warn(error);
      });
    },
  };
}

type Api = typeof import('@opentelemetry/api');

function write(api: Api, tracer: Tracer, { trace, parent, name, status, facts }: EndedTrace): void {
  const { spans, counts, duration_ms: duration, cache, engine } = trace.shown();
  const startTime = performance.timeOrigin + trace.startedAt;
  const counted = Object.entries(counts).map(([count, amount]) => [`lectern.${count}`, amount]);
  const attributes = {
    ...facts,
    ...Object.fromEntries(counted),
    'http.response.status_code': status,
    ...(cache !== undefined && { 'lectern.cache': cache }),
    ...(engine !== undefined && { 'lectern.engine': engine }),
  };
  const root = tracer.startSpan(name, { startTime, attributes, kind: api.SpanKind.SERVER }, contextOf(api, parent));
  if (status >= 500) root.setStatus({ code: api.SpanStatusCode.ERROR });
  const inside = api.trace.setSpan(api.ROOT_CONTEXT, root);
  for (const { name, start_ms: start, duration_ms: took, ...more } of spans) {
    const step = tracer.startSpan(name, { startTime: startTime + start, attributes: more }, inside);
    step.end(startTime + start + took);
  }
  root.end(startTime + duration);
}

function contextOf({ ROOT_CONTEXT, TraceFlags, trace }: Api, parent: TraceParent | undefined): Context {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parent;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function tracesUrl(collector: string): string {
  const url = new URL(collector);
  if (!url.pathname.endsWith(PATH)) url.pathname = `${url.pathname.replace(/\/$/, '')}${PATH}`;
  return url.href;
}
