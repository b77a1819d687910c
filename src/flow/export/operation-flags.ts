/** Monitoring and telemetry of exported programs, as options of flow files and as flags. */
import type { GrpcOptions, OperationOptions } from '../definition/definition.ts';
import { omitEmpty } from './omit-empty.ts';

const METRICS_PORT = 9090;

/** The collectors of traces and metrics, as options of flow files. */
export const telemetryOptions = ({ traces, metrics }: OperationOptions) =>
  omitEmpty({
    tracing: traces && true,
    traces_exporter_host: traces?.host,
    traces_exporter_port: traces?.port,
    metrics: metrics && true,
    metrics_exporter_host: metrics?.host,
    metrics_exporter_port: metrics?.port,
  });

export const metricsPortOf = ({ monitoring, portMonitoring }: OperationOptions): number | undefined =>
  monitoring ? portMonitoring || METRICS_PORT : undefined;

/** Converts options to flags. `true` becomes a switch. */
export const flagsOf = (options: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(options).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll('_', '-')}`;
    return value === true ? [flag] : [flag, String(value)];
  });

export const grpcFlags = (options: GrpcOptions): string[] => {
  const pairs = Object.entries(options).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return pairs.length > 0 ? ['--grpc-server-options', ...pairs] : [];
};
