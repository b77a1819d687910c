/**
 * Sends spans and metrics of a flow to OpenTelemetry collectors over OTLP/gRPC, as with the options `traces_exporter_*`
 * and `metrics_exporter_*` in the original framework. The packages are optional.
 */
import type { Context, Tracer } from '@opentelemetry/api';
import { within } from '#concurrency/deadline.ts';
import type { Log } from '#telemetry/log.ts';
import { loadOtlpPackages, type OtlpPackages, rateLimitedWarning, TRANSFORMER } from '#telemetry/otlp-packages.ts';
import type { TraceParent } from '#telemetry/trace.ts';
import type { FlowDefinition, HostAndPort, OperationOptions } from '../definition/definition.ts';
import type { MethodName } from '../grpc/names.ts';
import type { FlowObserver } from '../observer.ts';
import { openChannel } from '../remote/channel.ts';
import { createOtlpObserver, type MetricsPackage } from './metrics.ts';
import type { FlowTracer, FlowTracing, SpanKind } from './tracing.ts';

export interface FlowTelemetry extends FlowTracing {
  /** Records the metrics of the programs whose `metrics` option is on. */
  readonly observe: FlowObserver;
  /** Sends the remaining spans and metrics, waiting at most a few seconds. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  /** The gateway's options; `undefined` in an executor's program. */
  readonly gateway: OperationOptions | undefined;
  readonly deployments: FlowDefinition['deployments'];
  /** Product version. */
  readonly version: string;
  readonly log?: Log | undefined;
}

const TRACES: MethodName = { service: 'opentelemetry.proto.collector.trace.v1.TraceService', name: 'Export' };
const METRICS: MethodName = { service: 'opentelemetry.proto.collector.metrics.v1.MetricsService', name: 'Export' };
const CLOSE_MS = 3000;
const EXPORT_MS = 10_000;

interface Serializer<T> {
  serializeRequest(data: T): Uint8Array | undefined;
}

interface ExportResult {
  /** 0: success, 1: failure. */
  readonly code: number;
  readonly error?: Error;
}

/** The part of span and metric exporters that the SDK calls. */
export interface OtlpExporter<T> {
  export(data: T, done: (result: ExportResult) => void): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

function createExporter<T>(
  { host, port }: HostAndPort,
  method: MethodName,
  serializer: Serializer<T>,
  warn: (error: unknown) => void,
): OtlpExporter<T> {
  const channel = openChannel({ host, port, tls: false, compression: 'none' });
  const running = new Set<Promise<unknown>>();
  async function send(data: T): Promise<ExportResult> {
    try {
      const bytes = serializer.serializeRequest(data);
      if (bytes) await channel.callUnary(method, bytes, {}, AbortSignal.timeout(EXPORT_MS));
      return { code: 0 };
    } catch (error) {
      warn(error);
      return { code: 1, error: error as Error };
    }
  }
  const flush = async (): Promise<void> => void (await Promise.all(running));
  return {
    export(data, done) {
      const work = send(data).then(done);
      running.add(work);
      work.finally(() => running.delete(work));
    },
    forceFlush: flush,
    async shutdown() {
      await flush();
      channel.close();
    },
  };
}

/** `undefined` if no program of the flow has telemetry. Throws ConfigError if the packages are not installed. */
export async function openFlowTelemetry(options: TelemetryOptions): Promise<FlowTelemetry | undefined> {
  const { gateway, deployments, version, log } = options;
  const programs = [gateway, ...deployments].filter((one) => one !== undefined);
  const needed = (['traces', 'metrics'] as const).find((key) => programs.some((one) => one[key]));
  if (!needed) return undefined;
  const packages = await loadOtlpPackages(needed === 'traces' ? 'tracing' : 'metrics');
  const transformer = packages.dependency(TRANSFORMER) as Record<string, Serializer<never>>;
  const warnTraces = rateLimitedWarning(log, 'traces');
  const warnMetrics = rateLimitedWarning(log, 'metrics');
  const closers: (() => Promise<void>)[] = [];
  const tracers = new Map<string, FlowTracer>();
  const resourceOf = (service: string) =>
    packages.resources.resourceFromAttributes({ 'service.name': service, 'service.version': version });

  function openTracer(service: string, collector: HostAndPort): FlowTracer {
    const exporter = createExporter(collector, TRACES, transformer.ProtobufTraceSerializer!, warnTraces);
    const { TracerProvider, BatchSpanProcessor } = packages.sdk;
    const provider = new TracerProvider({
      resource: resourceOf(service),
      spanProcessors: [new BatchSpanProcessor({ exporter: exporter as never })],
    });
    closers.push(() => provider.shutdown());
    return createTracer(packages, provider.getTracer('lectern', version));
  }

  const metricsPackage = packages.dependency('@opentelemetry/sdk-metrics') as MetricsPackage;
  const observe = createOtlpObserver({
    ...metricsPackage,
    gateway,
    collectorOf: (runtime) => deployments.find(({ name }) => name === runtime.split('/')[0])?.metrics,
    resourceOf,
    exporterFor: (collector) => createExporter(collector, METRICS, transformer.ProtobufMetricsSerializer!, warnMetrics),
    version,
    onClose: (close) => closers.push(close),
  });

  return {
    tracerOf(service, { traces }) {
      if (!traces) return undefined;
      const key = `${service} ${traces.host}:${traces.port}`;
      const known = tracers.get(key) ?? openTracer(service, traces);
      tracers.set(key, known);
      return known;
    },
    observe,
    async close() {
      await within(CLOSE_MS, Promise.allSettled(closers.map((close) => close()))).catch(() => {});
    },
  };
}

function createTracer({ api }: OtlpPackages, tracer: Tracer): FlowTracer {
  const kinds: Readonly<Record<SpanKind, number>> = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  };
  return {
    start(name, { kind, parent, startMs }) {
      const context = parent ? contextOf(api, parent) : api.ROOT_CONTEXT;
      const span = tracer.startSpan(name, { kind: kinds[kind], ...(startMs && { startTime: startMs }) }, context);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        context: { traceId, spanId, sampled: (traceFlags & api.TraceFlags.SAMPLED) !== 0 },
        end(isFailed, endMs) {
          if (isFailed) span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end(endMs);
        },
      };
    },
  };
}

function contextOf(
  { ROOT_CONTEXT, TraceFlags, trace }: OtlpPackages['api'],
  { traceId, spanId, sampled }: TraceParent,
): Context {
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
