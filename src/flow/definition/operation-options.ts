/** Reads the options for running a program of a flow: monitoring, telemetry, reloading and gRPC. */
import type { HostAndPort, OperationOptions } from './definition.ts';
import { splitHost } from './host.ts';
import { invalidOption, type OptionReader } from './options.ts';

/** Default port of OTLP over gRPC (OpenTelemetry Protocol Specification, OTLP/gRPC Default Port). */
const OTLP_PORT = 4317;

function readPort(reader: OptionReader, key: string): number | undefined {
  const port = reader.integer(key);
  if (port !== undefined && port > 65_535) throw invalidOption(reader.pathOf(key), 'expected a port from 0 to 65535');
  return port;
}

/** The collector of traces or metrics; `undefined` if they are off. */
function readCollector(reader: OptionReader, key: 'tracing' | 'metrics', prefix: string): HostAndPort | undefined {
  if (!reader.flag(key)) return undefined;
  const { host, port } = splitHost(reader.string(`${prefix}_host`) ?? 'localhost');
  return { host, port: readPort(reader, `${prefix}_port`) ?? port ?? OTLP_PORT };
}

/** Throws a ParamValidationError that names the option. */
export function readOperation(reader: OptionReader): OperationOptions {
  return {
    monitoring: reader.flag('monitoring') ?? false,
    portMonitoring: readPort(reader, 'port_monitoring'),
    traces: readCollector(reader, 'tracing', 'traces_exporter'),
    metrics: readCollector(reader, 'metrics', 'metrics_exporter'),
    reload: reader.flag('reload') ?? false,
  };
}
