/** A flow with its doors: started, one port for each protocol, closed in the reverse order. */
import type { IncomingMessage } from 'node:http';
import type { FlowDefinition, Protocol } from './definition.ts';
import { createFlow, type Flow, type FlowTools } from './flow.ts';
import { createFlowMetrics, type MetricsPort, serveMetrics } from './metrics.ts';
import { createConnect } from './remote/worker.ts';

export interface ServeFlowOptions extends FlowTools {
  readonly definition: FlowDefinition;
  /** Of the product. */
  readonly version: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Why a request over HTTP or WebSocket is not let in. */
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
  /** Of the metrics; undefined without the option `monitoring`. */
  readonly monitoringPort: number | undefined;
  /** Takes no new requests, lets those in work finish for so long at most. */
  close(graceMs?: number): Promise<void>;
}

interface Door {
  listen(port: number, host: string): Promise<{ readonly port: number; readonly url: string }>;
  close(graceMs?: number): Promise<void>;
}

/** Doors are loaded when a flow has them: each brings a library of its own. */
async function openDoor(protocol: Protocol, flow: Flow, options: ServeFlowOptions): Promise<Door> {
  const { version, log, environment, observe, refuse } = options;
  if (protocol === 'GRPC') {
    const { createGrpcGateway } = await import('./gateway/grpc.ts');
    return createGrpcGateway({ flow, version, log, environment, observe });
  }
  const { createHttpGateway } = await import('./gateway/http.ts');
  return createHttpGateway({ flow, protocol, version, log, environment, observe, refuse });
}

/** Rejects with a FaceNotReadyError when an executor cannot start, and with the system's error when a port is taken. */
export async function serveFlow(options: ServeFlowOptions): Promise<FlowServer> {
  const { definition, log } = options;
  const { protocols, ports, host, monitoring, portMonitoring } = definition.gateway;
  const metrics = monitoring ? createFlowMetrics() : undefined;
  const tools = { connect: createConnect(), ...options, ...(metrics && { observe: metrics.observe }) };
  const flow = createFlow(definition, tools);
  const doors: Door[] = [];
  let monitor: MetricsPort | undefined;
  const close = async (graceMs?: number): Promise<void> => {
    await Promise.all(doors.map((door) => door.close(graceMs)));
    await flow.close(graceMs);
    await monitor?.close();
  };
  try {
    await flow.start();
    const places: FlowPlace[] = [];
    for (const [at, protocol] of protocols.entries()) {
      const door = await openDoor(protocol, flow, tools);
      doors.push(door);
      places.push({ protocol, ...(await door.listen(ports[at] ?? 0, host)) });
    }
    if (metrics) {
      monitor = await serveMetrics(metrics, portMonitoring ?? 0, host);
      log?.info({ port: monitor.port }, 'metrics are served');
    }
    return { flow, places, monitoringPort: monitor?.port, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}
