/** The flow API: starts this server's flow and its gateways for HTTP, WebSocket and gRPC. */
import type { IncomingMessage } from 'node:http';
import { isOwnPage, type OwnOrigins } from '#api/cross-site.ts';
import type { HostFace } from '#api/hosts.ts';
import { type Config, ConfigError } from '#config.ts';
import { asProblem } from '#errors.ts';
import {
  createBuiltIns,
  createConnect,
  createGrpcGateway,
  createHttpGateway,
  createReloadableFlow,
  defineFlow,
  type ExecutorClass,
  type FileWatcher,
  type FlowDefinition,
  type FlowObserver,
  loadFlow,
  openOperation,
  reloadFlowOnChange,
  socketLimits,
} from '#flow/index.ts';
import { createRegion, type Region } from '#net/region.ts';
import { createCrossSiteRefusal } from './flow-cross-site.ts';
import { createFlowTools, type FlowModules } from './flow-tools.ts';

export interface FlowFace extends HostFace {
  /** The built-in executors, keyed by their names in `uses`. */
  readonly executors: Readonly<Record<string, ExecutorClass>>;
  listen(): Promise<{ readonly url: string; readonly grpcUrl: string }>;
  /** Accepts no more requests, and gives those in flight at most `graceMs` to finish. */
  close(graceMs: number): Promise<void>;
}

export type FlowSettings = Pick<
  Config,
  | 'flow'
  | 'flowToken'
  | 'flowLenient'
  | 'region'
  | 'euHosts'
  | 'auth'
  | 'host'
  | 'flowPort'
  | 'flowGrpcPort'
  | 'logLevel'
>;

export interface FlowFaceParts extends FlowModules {
  readonly version: string;
  /** Called in addition to the flow's own metrics. */
  readonly observe?: FlowObserver | undefined;
  /** Host names of this server. */
  readonly ownNames: readonly string[];
  /** The pages of this server, which send requests to the flow from the reader's origin. */
  readonly ownPages: OwnOrigins;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * The flow of a server without a flow definition. It indexes documents by URL, and answers queries with their passages.
 */
const defaultFlow = (options: { readonly token?: string }): FlowDefinition =>
  ['Read', 'Index', 'Search']
    .reduce((flow, uses) => flow.add({ name: uses.toLowerCase(), uses }), defineFlow(options))
    .definition();

const REMOTE_REFUSED =
  'This flow has no token, so it serves only this machine. Set LECTERN_FLOW_TOKEN, or LECTERN_AUTH=off to serve everyone without a token';
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const LOCALHOST = 'localhost';

/** Starts the flow without opening its ports. Throws ConfigError if the configured flow cannot be started. */
export async function openFlowFace(settings: FlowSettings, tools: FlowFaceParts): Promise<FlowFace> {
  const { host, flowPort, flowGrpcPort } = settings;
  const { version, log, ownNames, ownPages, environment } = tools;
  const definition = readDefinition(settings, environment);
  const { gateway: options } = definition;
  requireRegion(definition, createRegion({ region: settings.region, euHosts: settings.euHosts, log }));
  const executors = createBuiltIns(createFlowTools(tools));
  const operation = await openOperation({
    gateway: options,
    deployments: definition.deployments,
    version,
    log,
    observe: tools.observe && onlyEnded(tools.observe),
  });
  const { observe, tracing } = operation;
  const flow = createReloadableFlow(definition, {
    executors,
    ownProcesses: true,
    connect: createConnect(),
    log,
    observe,
    tracing,
    stacks: settings.logLevel === 'debug',
  });
  try {
    await flow.start();
  } catch (error) {
    await operation.close();
    throw settings.flow === undefined ? error : new ConfigError(`flow: ${asProblem(error).message}`);
  }
  const localOnly = settings.auth === 'on' && options.token === undefined && !LOOPBACK.test(host);

  const refuseCrossSite = createCrossSiteRefusal(options, ownNames, ownPages);
  const admitsOrigin = ({ headers }: IncomingMessage) => isOwnPage(headers, ownNames, ownPages);
  function refuse(request: IncomingMessage): string | undefined {
    if (localOnly && !isLocal(request)) return REMOTE_REFUSED;
    return refuseCrossSite(request);
  }

  const shared = { flow, options, version, log, environment, observe };
  const http = createHttpGateway({
    ...shared,
    ...{ protocol: 'HTTP', refuse, admitsOrigin, limits: socketLimits(options) },
  });
  const grpc = createGrpcGateway(shared);
  const load = settings.flow === undefined ? undefined : () => readDefinition(settings, environment);
  let watcher: FileWatcher | undefined;
  return {
    executors,
    routing: http.handle,
    upgrade: http.upgrade,
    async listen() {
      const { url } = await http.listen(flowPort, host);
      const { url: grpcUrl } = await grpc.listen(flowGrpcPort, localOnly ? LOCALHOST : host);
      await operation.listen(host);
      watcher = await reloadFlowOnChange({ flow, load, log });
      return { url, grpcUrl };
    },
    async close(graceMs) {
      watcher?.close();
      const until = performance.now() + graceMs;
      const leftMs = () => Math.max(0, until - performance.now());
      // All gateways finish their requests before any port closes, so new requests get a response until then.
      await Promise.all([http.drain(graceMs), grpc.drain(graceMs)]);
      await Promise.all([http.close(leftMs()), grpc.close(leftMs())]);
      await flow.close(graceMs);
      await operation.close();
    },
  };
}

/** Throws ConfigError if a collector of traces or metrics is outside the allowed region. */
function requireRegion({ gateway, deployments }: FlowDefinition, region: Pick<Region, 'allows'>): void {
  for (const { traces, metrics } of [gateway, ...deployments]) {
    for (const collector of [traces, metrics]) {
      if (!collector || region.allows(new URL(`http://${collector.host}:${collector.port}`))) continue;
      throw new ConfigError(`flow: the collector ${collector.host}:${collector.port} is not in euHosts`);
    }
  }
}

/** Passes on only the ends of whole requests, because the server counts nothing else. */
const onlyEnded = ({ requestEnded }: FlowObserver): FlowObserver => ({ requestEnded });

/** Whether a request comes directly from this machine, not through a proxy on it. */
const isLocal = ({ socket, headers }: IncomingMessage): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') &&
  headers['x-forwarded-for'] === undefined &&
  headers.forwarded === undefined;

function readDefinition(
  { flow: file, flowToken: token, flowLenient }: FlowSettings,
  env: FlowFaceParts['environment'],
): FlowDefinition {
  const overrides = token === undefined ? {} : { token };
  if (file === undefined) return defaultFlow(overrides);
  try {
    return loadFlow(file, { with: overrides, env, lenient: flowLenient === 'on' });
  } catch (error) {
    throw new ConfigError(`flow: ${asProblem(error).message}`);
  }
}
