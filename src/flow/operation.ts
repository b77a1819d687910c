/** Metrics and traces of a program that serves a flow or an executor, as specified by its options. */
import type { Log } from '#telemetry/log.ts';
import type { DeploymentDefinition, OperationOptions } from './definition/definition.ts';
import { createExecutorMetrics, createFlowMetrics } from './metrics/prometheus.ts';
import { type MetricsPort, serveMetrics } from './metrics/serve-metrics.ts';
import { combineObservers, type FlowObserver } from './observer.ts';
import type { FlowTracing } from './telemetry/tracing.ts';

export interface Operation {
  readonly observe: FlowObserver;
  readonly tracing: FlowTracing | undefined;
  /** Opens the metrics ports and returns their numbers. Rejects with the system's error when one is in use. */
  listen(host: string): Promise<readonly number[]>;
  /** Sends remaining spans and metrics, and closes the ports. */
  close(): Promise<void>;
}

export interface OperationTools {
  /** The gateway's options; `undefined` in an executor's program. */
  readonly gateway: OperationOptions | undefined;
  readonly deployments: readonly DeploymentDefinition[];
  /** Product version. */
  readonly version: string;
  readonly log?: Log | undefined;
  /** An observer that is called in addition to metrics and traces. */
  readonly observe?: FlowObserver | undefined;
}

const ANY_PORT = 0;

/**
 * The ports that the options specify. Executors of this program share the ports of the gateway unless they have their
 * own.
 */
function portsOf({ gateway, deployments }: OperationTools): number[] {
  const here = deployments.filter(({ external }) => !external);
  const watched = [gateway, ...here].filter((one) => one?.monitoring);
  if (watched.length === 0) return [];
  const given = watched.flatMap((one) => one?.portMonitoring ?? []);
  return given.length > 0 ? [...new Set(given)] : [ANY_PORT];
}

/** Throws ConfigError if tracing or metrics need packages that are not installed. */
export async function openOperation(tools: OperationTools): Promise<Operation> {
  const { gateway, deployments, log } = tools;
  const metrics = gateway ? createFlowMetrics() : createExecutorMetrics();
  const hasTelemetry = [gateway, ...deployments].some((one) => one?.traces || one?.metrics);
  const telemetry = hasTelemetry ? await (await import('./telemetry/otlp.ts')).openFlowTelemetry(tools) : undefined;
  const own = telemetry ? combineObservers(metrics.observe, telemetry.observe) : metrics.observe;
  const ports: MetricsPort[] = [];
  return {
    observe: tools.observe ? combineObservers(own, tools.observe) : own,
    tracing: telemetry,
    async listen(host) {
      for (const port of portsOf(tools)) {
        const opened = await serveMetrics(metrics, port, host);
        ports.push(opened);
        log?.info({ port: opened.port }, 'serving metrics');
      }
      return ports.map(({ port }) => port);
    },
    async close() {
      await Promise.all([telemetry?.close(), ...ports.map((port) => port.close())]);
    },
  };
}
