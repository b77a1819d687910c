/** The flow face: starts the flow of this server and its gateways for HTTP, WebSocket and gRPC. */
import type { IncomingMessage } from 'node:http';
import type { HostFace } from '#api/hosts.ts';
import { type Config, ConfigError } from '#config.ts';
import { asProblem } from '#errors.ts';
import {
  createBuiltIns,
  createConnect,
  createFlow,
  createFlowMetrics,
  createGrpcGateway,
  createHttpGateway,
  type ExecutorClass,
  type FlowDefinition,
  type FlowObserver,
  loadFlow,
  type MetricsPort,
  parseFlow,
  serveMetrics,
} from '#flow/index.ts';
import { createCrossSiteRefusal } from './flow-cross-site.ts';
import { createFlowTools, type FlowModules } from './flow-tools.ts';

export interface FlowFace extends HostFace {
  /** The built-in executors, by their name in `uses`. */
  readonly executors: Readonly<Record<string, ExecutorClass>>;
  listen(): Promise<{ readonly url: string; readonly grpcUrl: string }>;
  /** Accepts no more requests, and gives those in flight at most `graceMs` to finish. */
  close(graceMs: number): Promise<void>;
}

export type FlowSettings = Pick<
  Config,
  'flow' | 'flowToken' | 'auth' | 'host' | 'flowPort' | 'flowGrpcPort' | 'logLevel'
>;

export interface FlowFaceParts extends FlowModules {
  readonly version: string;
  /** Called in addition to the flow's own metrics. */
  readonly observe?: FlowObserver | undefined;
  /** Host names of this server. */
  readonly ownNames: readonly string[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The flow of a server without a flow definition: indexes documents by URL, and answers queries with their passages. */
const DEFAULT_FLOW = `
jtype: Flow
executors:
  - {name: read, uses: Read}
  - {name: index, uses: Index}
  - {name: search, uses: Search}
`;

const REMOTE_REFUSED =
  'This flow has no token, so it serves only this machine. Set LECTERN_FLOW_TOKEN, or LECTERN_AUTH=off to serve everyone without a token';
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const LOCALHOST = 'localhost';

/** Starts the flow without opening its ports. Throws ConfigError if the configured flow cannot start. */
export async function openFlowFace(settings: FlowSettings, tools: FlowFaceParts): Promise<FlowFace> {
  const { host, flowPort, flowGrpcPort } = settings;
  const { version, log, ownNames, environment } = tools;
  const definition = readDefinition(settings, environment);
  const { gateway: options } = definition;
  const executors = createBuiltIns(createFlowTools(tools));
  const metrics = createFlowMetrics();
  const observe = tools.observe ? combined(metrics.observe, tools.observe) : metrics.observe;
  const flow = createFlow(definition, {
    executors,
    ownProcesses: true,
    connect: createConnect(),
    log,
    observe,
    stacks: settings.logLevel === 'debug',
  });
  try {
    await flow.start();
  } catch (error) {
    throw settings.flow === undefined ? error : new ConfigError(`flow: ${asProblem(error).message}`);
  }
  const localOnly = settings.auth === 'on' && options.token === undefined && !LOOPBACK.test(host);

  const refuseCrossSite = createCrossSiteRefusal(options, ownNames);
  function refuse(request: IncomingMessage): string | undefined {
    if (localOnly && !isLocal(request)) return REMOTE_REFUSED;
    return refuseCrossSite(request);
  }

  const shared = { flow, options, version, log, environment, observe };
  const http = createHttpGateway({ ...shared, protocol: 'HTTP', refuse });
  const grpc = createGrpcGateway(shared);
  let monitor: MetricsPort | undefined;
  return {
    executors,
    routing: http.handle,
    upgrade: http.upgrade,
    async listen() {
      const { url } = await http.listen(flowPort, host);
      const { url: grpcUrl } = await grpc.listen(flowGrpcPort, localOnly ? LOCALHOST : host);
      if (options.monitoring) monitor = await serveMetrics(metrics, options.portMonitoring ?? 0, host);
      return { url, grpcUrl };
    },
    async close(graceMs) {
      const until = performance.now() + graceMs;
      const leftMs = () => Math.max(0, until - performance.now());
      // No port closes before the requests of all gateways are answered, so new ones get an answer until then.
      await Promise.all([http.drain(graceMs), grpc.drain(graceMs)]);
      await Promise.all([http.close(leftMs()), grpc.close(leftMs()), monitor?.close()]);
      await flow.close(graceMs);
    },
  };
}

/** Reports everything to the first observer, and ended requests to the second as well. */
const combined = (first: Required<FlowObserver>, second: FlowObserver): Required<FlowObserver> => ({
  ...first,
  requestEnded(facts) {
    first.requestEnded(facts);
    second.requestEnded?.(facts);
  },
});

/** Whether a request comes from this machine, and not through a proxy on it. */
const isLocal = ({ socket, headers }: IncomingMessage): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') &&
  headers['x-forwarded-for'] === undefined &&
  headers.forwarded === undefined;

function readDefinition(
  { flow: file, flowToken: token }: FlowSettings,
  env: FlowFaceParts['environment'],
): FlowDefinition {
  const overrides = token === undefined ? {} : { token };
  if (file === undefined) return parseFlow(DEFAULT_FLOW, { with: overrides });
  try {
    return loadFlow(file, { with: overrides, env });
  } catch (error) {
    throw new ConfigError(`flow: ${asProblem(error).message}`);
  }
}
