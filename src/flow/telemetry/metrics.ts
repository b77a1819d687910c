/**
 * Metrics of a flow as OpenTelemetry instruments: histograms instead of summaries, an up-down counter for pending
 * requests, and more labels for requests that the gateway sends.
 */
import type { MeterProvider as ApiMeterProvider, Meter } from '@opentelemetry/api';
import type { HostAndPort, OperationOptions } from '../definition/definition.ts';
import {
  GATEWAY_NAME,
  type Labels,
  MEASURES,
  type MeasureName,
  type MeasureSink,
  observeWith,
} from '../metrics/measures.ts';
import type { FlowObserver } from '../observer.ts';

/** The part of the metrics SDK that is used. */
export interface MetricsPackage {
  readonly MeterProvider: new (options: {
    resource: unknown;
    readers: unknown[];
  }) => ApiMeterProvider & { shutdown(): Promise<void> };
  readonly PeriodicExportingMetricReader: new (options: { exporter: unknown }) => unknown;
}

export interface OtlpObserverOptions extends MetricsPackage {
  /** The gateway's options; `undefined` in an executor's program. */
  readonly gateway: OperationOptions | undefined;
  /** The collector for an executor, by its name such as `a/rep-0`; `undefined` if its metrics are off. */
  readonly collectorOf: (runtime: string) => HostAndPort | undefined;
  readonly resourceOf: (service: string) => unknown;
  readonly exporterFor: (collector: HostAndPort) => unknown;
  readonly version: string;
  readonly onClose: (close: () => Promise<void>) => void;
}

type Record = (value: number, labels: Labels) => void;

export function createOtlpObserver(options: OtlpObserverOptions): FlowObserver {
  const { gateway, collectorOf } = options;
  /** Programs by name; `undefined` for programs without metrics. */
  const programs = new Map<string, Program | undefined>();

  function programOf(labels: Labels): Program | undefined {
    const service = labels.runtime_name!;
    if (programs.has(service)) return programs.get(service);
    const collector = service === GATEWAY_NAME ? gateway?.metrics : collectorOf(service);
    const program = collector && openProgram(options, service, collector);
    programs.set(service, program);
    return program;
  }

  const sink: MeasureSink = {
    add: (name, labels, value, details) => programOf(labels)?.(name, value, { ...labels, ...details }),
    touch: () => {},
  };
  return observeWith(sink, gateway && GATEWAY_NAME);
}

/** Records the metrics of one program. */
type Program = (name: MeasureName, value: number, labels: Labels) => void;

function openProgram(options: OtlpObserverOptions, service: string, collector: HostAndPort): Program {
  const { MeterProvider, PeriodicExportingMetricReader, resourceOf, exporterFor, version, onClose } = options;
  const reader = new PeriodicExportingMetricReader({ exporter: exporterFor(collector) });
  const provider = new MeterProvider({ resource: resourceOf(service), readers: [reader] });
  onClose(() => provider.shutdown());
  const meter = provider.getMeter('lectern', version);
  const instruments = new Map<MeasureName, Record>();
  return (name, value, labels) => {
    const record = instruments.get(name) ?? createInstrument(meter, name);
    instruments.set(name, record);
    record(value, labels);
  };
}

function createInstrument(meter: Meter, name: MeasureName): Record {
  const { type, meaning: description } = MEASURES[name];
  if (type === 'summary') {
    const histogram = meter.createHistogram(name, { description, unit: name.endsWith('_seconds') ? 's' : 'By' });
    return (value, labels) => histogram.record(value, labels);
  }
  const counter =
    type === 'gauge' ? meter.createUpDownCounter(name, { description }) : meter.createCounter(name, { description });
  return (value, labels) => counter.add(value, labels);
}
