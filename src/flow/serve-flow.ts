/** Serves a flow: starts it, opens one port for each protocol, and closes everything in reverse order. */
import type { IncomingMessage } from 'node:http';
import type { FlowDefinition, GatewayOptions, Protocol } from './definition/definition.ts';
import type { Flow, FlowTools } from './flow.ts';
import type { SocketLimits } from './gateway/websocket.ts';
import { openOperation } from './operation.ts';
import { reloadFlowOnChange } from './reload/reload-files.ts';
import { createReloadableFlow } from './reload/reloadable-flow.ts';
import type { FileWatcher } from './reload/watch-files.ts';
import { createConnect } from './remote/worker.ts';

export interface ServeFlowOptions extends FlowTools {
  readonly definition: FlowDefinition;
  /** Reloads the definition, for the `reload` option. */
  readonly load?: (() => FlowDefinition) | undefined;
  /** Product version. */
  readonly version: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Returns the reason for refusing an HTTP or WebSocket request; `undefined` to allow it. */
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
  /** Ports of the metrics; none without the `monitoring` option. */
  readonly monitoringPorts: readonly number[];
  /** Refuses new requests and waits up to `graceMs` for running ones. */
  close(graceMs?: number): Promise<void>;
}

interface Gateway {
  listen(port: number, host: string): Promise<{ readonly port: number; readonly url: string }>;
  drain(graceMs?: number): Promise<void>;
  close(graceMs?: number): Promise<void>;
}

const GRACE_MS = 10_000;

/** The limits of WebSocket connections derived from the options of the HTTP server. */
export function socketLimits({ httpServer }: GatewayOptions): Partial<SocketLimits> {
  const { maxMessageBytes, pingMs, pongMs } = httpServer;
  return {
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    ...(pingMs !== undefined && { pingMs }),
    ...(pongMs !== undefined && { pongMs }),
  };
}

/** Gateways are imported on demand: each needs its own library. */
async function createGateway(protocol: Protocol, flow: Flow, options: ServeFlowOptions): Promise<Gateway> {
  const { version, log, environment, observe, refuse } = options;
  if (protocol === 'GRPC') {
    const { createGrpcGateway } = await import('./gateway/grpc.ts');
    return createGrpcGateway({ flow, version, log, environment, observe });
  }
  const { createHttpGateway } = await import('./gateway/http.ts');
  const limits = socketLimits(flow.definition.gateway);
  return createHttpGateway({ flow, protocol, version, log, environment, observe, refuse, limits });
}

/**
 * Rejects with a FaceNotReadyError when an executor cannot start, with the system's error when a port is in use, and
 * with a ConfigError when telemetry needs packages that are not installed.
 */
export async function serveFlow(options: ServeFlowOptions): Promise<FlowServer> {
  const { definition, load, version, log } = options;
  const { protocols, ports, host } = definition.gateway;
  const { gateway: operated, deployments } = definition;
  const operation = await openOperation({ gateway: operated, deployments, version, log, observe: options.observe });
  const { observe, tracing } = operation;
  const tools = { connect: createConnect(), ...options, observe, tracing };
  const flow = createReloadableFlow(definition, tools);
  const gateways: Gateway[] = [];
  let watcher: FileWatcher | undefined;
  const close = async (graceMs = GRACE_MS): Promise<void> => {
    watcher?.close();
    const until = performance.now() + graceMs;
    const leftMs = () => Math.max(0, until - performance.now());
    // All gateways finish their requests before any port closes, so new requests still get a response until then.
    await Promise.all(gateways.map((gateway) => gateway.drain(graceMs)));
    await Promise.all(gateways.map((gateway) => gateway.close(leftMs())));
    await flow.close(graceMs);
    await operation.close();
  };
  try {
    await flow.start();
    const places: FlowPlace[] = [];
    for (const [at, protocol] of protocols.entries()) {
      const gateway = await createGateway(protocol, flow, tools);
      gateways.push(gateway);
      places.push({ protocol, ...(await gateway.listen(ports[at] ?? 0, host)) });
    }
    const monitoringPorts = await operation.listen(host);
    watcher = await reloadFlowOnChange({ flow, load, log });
    return { flow, places, monitoringPorts, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}
