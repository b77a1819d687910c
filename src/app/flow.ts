/** The flow face: the flow that this server serves, behind its gateway for HTTP and WebSocket and the one for gRPC. */
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
import { crossSiteRefusal } from './flow-cross-site.ts';
import { createFlowTools, type FlowModules } from './flow-tools.ts';

export interface FlowFace extends HostFace {
  /** What flows may name in `uses`. */
  readonly executors: Readonly<Record<string, ExecutorClass>>;
  listen(): Promise<{ readonly url: string; readonly grpcUrl: string }>;
  /** Takes no new requests, and lets those in work finish for so long at most. */
  close(graceMs: number): Promise<void>;
}

export type FlowSettings = Pick<
  Config,
  'flow' | 'flowToken' | 'auth' | 'host' | 'flowPort' | 'flowGrpcPort' | 'logLevel'
>;

export interface FlowFaceTools extends FlowModules {
  readonly version: string;
  /** Told what the metrics of the flow itself are told. */
  readonly observe?: FlowObserver | undefined;
  /** Host names of this server. */
  readonly ownNames: readonly string[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Documents in by their address, questions answered by passages of them. */
const STANDARD_FLOW = `
jtype: Flow
executors:
  - {name: read, uses: Read}
  - {name: index, uses: Index}
  - {name: search, uses: Search}
`;

const FROM_ELSEWHERE =
  'Other machines are served with a token only: set LECTERN_FLOW_TOKEN, or LECTERN_AUTH=off where everybody may use all';
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const HERE = 'localhost';

/** Started and ready, with its ports still closed. Throws ConfigError when the file's flow cannot be. */
export async function openFlowFace(settings: FlowSettings, tools: FlowFaceTools): Promise<FlowFace> {
  const { host, flowPort, flowGrpcPort } = settings;
  const { version, log, ownNames, environment } = tools;
  const definition = readDefinition(settings, environment);
  const { gateway: options } = definition;
  const executors = createBuiltIns(createFlowTools(tools));
  const metrics = createFlowMetrics();
  const observe = tools.observe ? both(metrics.observe, tools.observe) : metrics.observe;
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
  const guarded = settings.auth === 'on' && options.token === undefined && !LOOPBACK.test(host);

  const ofForeignPage = crossSiteRefusal(options, ownNames);
  function refuse(request: IncomingMessage): string | undefined {
    if (guarded && !isFromHere(request)) return FROM_ELSEWHERE;
    return ofForeignPage(request);
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
      const { url: grpcUrl } = await grpc.listen(flowGrpcPort, guarded ? HERE : host);
      if (options.monitoring) monitor = await serveMetrics(metrics, options.portMonitoring ?? 0, host);
      return { url, grpcUrl };
    },
    async close(graceMs) {
      await Promise.all([http.close(graceMs), grpc.close(graceMs), monitor?.close()]);
      await flow.close(graceMs);
    },
  };
}

/** Requests at the gateway are told to the second one too. */
const both = (first: Required<FlowObserver>, second: FlowObserver): Required<FlowObserver> => ({
  ...first,
  requestEnded(facts) {
    first.requestEnded(facts);
    second.requestEnded?.(facts);
  },
});

/** Behind a proxy, only the proxy is from here. */
const isFromHere = ({ socket, headers }: IncomingMessage): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') &&
  headers['x-forwarded-for'] === undefined &&
  headers.forwarded === undefined;

function readDefinition(
  { flow: file, flowToken: token }: FlowSettings,
  env: FlowFaceTools['environment'],
): FlowDefinition {
  const over = token === undefined ? {} : { token };
  if (file === undefined) return parseFlow(STANDARD_FLOW, { with: over });
  try {
    return loadFlow(file, { with: over, env });
  } catch (error) {
    throw new ConfigError(`flow: ${asProblem(error).message}`);
  }
}
