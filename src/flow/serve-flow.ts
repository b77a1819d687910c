/** Serves a flow: starts it, opens one port for each protocol, and closes everything in reverse order. */
import type { IncomingMessage } from 'node:http';
import type { FlowDefinition, Protocol } from './definition/definition.ts';
import { createFlow, type Flow, type FlowTools } from './flow.ts';
import { createFlowMetrics, type MetricsPort, serveMetrics } from './metrics.ts';
import { createConnect } from './remote/worker.ts';

export interface ServeFlowOptions extends FlowTools {
  readonly definition: FlowDefinition;
  /** Product version. */
  readonly version: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Returns why an HTTP or WebSocket request is refused; `undefined` to allow it. */
  readonly refuse?: ((request: IncomingMessage) => string | undefined) | undefined;
}

export interface FlowPlace {
  readonly protocol: Protocol;
  readonly port: number;
  readonly url: string;
}

export interface FlowServer {
  readonly flow: Flow;
  readonly places: readonly FlowPlace[];
  /** Port of the metrics; `undefined` without the option `monitoring`. */
  readonly monitoringPort: number | undefined;
  /** Refuses new requests and waits up to `graceMs` for running ones. */
  close(graceMs?: number): Promise<void>;
}

interface Gateway {
  listen(port: number, host: string): Promise<{ readonly port: number; readonly url: string }>;
  drain(graceMs?: number): Promise<void>;
  close(graceMs?: number): Promise<void>;
}

const GRACE_MS = 10_000;

/** Gateways are imported on demand: each needs its own library. */
async function createGateway(protocol: Protocol, flow: Flow, options: ServeFlowOptions): Promise<Gateway> {
  const { version, log, environment, observe, refuse } = options;
  if (protocol === 'GRPC') {
    const { createGrpcGateway } = await import('./gateway/grpc.ts');
    return createGrpcGateway({ flow, version, log, environment, observe });
  }
  const { createHttpGateway } = await import('./gateway/http.ts');
  return createHttpGateway({ flow, protocol, version, log, environment, observe, refuse });
}

/**
 * Rejects with a FaceNotReadyError when an executor cannot start, and with the system's error when a port is in use.
 */
export async function serveFlow(options: ServeFlowOptions): Promise<FlowServer> {
  const { definition, log } = options;
  const { protocols, ports, host, monitoring, portMonitoring } = definition.gateway;
  const metrics = monitoring ? createFlowMetrics() : undefined;
  const tools = { connect: createConnect(), ...options, ...(metrics && { observe: metrics.observe }) };
  const flow = createFlow(definition, tools);
  const gateways: Gateway[] = [];
  let monitor: MetricsPort | undefined;
  const close = async (graceMs = GRACE_MS): Promise<void> => {
    const until = performance.now() + graceMs;
    const leftMs = () => Math.max(0, until - performance.now());
    // No port closes before the requests of all gateways are answered, so new ones get an answer until then.
    await Promise.all(gateways.map((gateway) => gateway.drain(graceMs)));
    await Promise.all(gateways.map((gateway) => gateway.close(leftMs())));
    await flow.close(graceMs);
    await monitor?.close();
  };
  try {
    await flow.start();
    const places: FlowPlace[] = [];
    for (const [at, protocol] of protocols.entries()) {
      const gateway = await createGateway(protocol, flow, tools);
      gateways.push(gateway);
      places.push({ protocol, ...(await gateway.listen(ports[at] ?? 0, host)) });
    }
    if (metrics) {
      monitor = await serveMetrics(metrics, portMonitoring ?? 0, host);
      log?.info({ port: monitor.port }, 'serving metrics');
    }
    return { flow, places, monitoringPort: monitor?.port, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}
