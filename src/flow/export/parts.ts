/**
 * Splits a flow into programs for several machines: a gateway with external executors, and each executor on its own,
 * with their configuration files.
 */
import path from 'node:path';
import { stringify } from 'yaml';
import { problem } from '#errors.ts';
import {
  type DeploymentDefinition,
  type ExecutorSource,
  type FlowDefinition,
  type Protocol,
  START,
} from '../definition/definition.ts';
import { DEFAULT_MAX_MEMORY_BYTES } from '../definition/deployment-options.ts';
import { uvicornArguments } from '../definition/server-options.ts';
import { isBucketUrl } from '../workspace.ts';
import { keepsData, readVolumes, type Volume } from './data.ts';
import { omitEmpty } from './omit-empty.ts';
import { flagsOf, grpcFlags, metricsPortOf, telemetryOptions } from './operation-flags.ts';

export interface ExportOptions {
  /** Container image with Lectern, and with the executors' modules below `/flow`. */
  readonly image: string;
  /** Folder of the flow file. Modules below it keep their relative paths. */
  readonly baseDir: string;
  readonly namespace?: string | undefined;
}

/** Prefix of every host name, for namespaces shared by several flows. */
export interface HostNameOptions {
  readonly hostPrefix?: string;
}

export interface ExecutorPart {
  readonly definition: DeploymentDefinition;
  /** Host name: letters, digits and hyphens. */
  readonly host: string;
  /** Content of the executor's configuration file. */
  readonly yaml: string;
  /** Arguments of the `lectern executor` command, including the configuration file. */
  readonly args: readonly string[];
  /** Whether it stores data in `DATA_DIR`. */
  readonly keepsData: boolean;
  readonly volumes: readonly Volume[];
  /** `undefined` without the `monitoring` option. */
  readonly metricsPort: number | undefined;
}

export interface GatewayPart {
  readonly host: string;
  readonly yaml: string;
  readonly ports: readonly { readonly protocol: Protocol; readonly port: number }[];
  readonly hasToken: boolean;
  readonly hasTls: boolean;
  /** `undefined` without the `monitoring` option. */
  readonly metricsPort: number | undefined;
}

export interface FlowParts {
  readonly gateway: GatewayPart;
  readonly executors: readonly ExecutorPart[];
}

export const EXECUTOR_PORT = 8080;
/** Folder in which the containers mount their files. */
export const CONFIG_DIR = '/etc/lectern';
export const TLS_DIR = '/etc/lectern-tls';
export const DATA_DIR = '/data';
/** The setting that contains the data folder of the built-in executors. */
export const DATA_VARIABLE = 'LECTERN_DATA_DIR';
const WORKSPACE_DIR = `${DATA_DIR}/workspace`;
const MODULES_DIR = '/flow';
/** The environment variable that contains the gateway's token. The token is a secret and is not written to files. */
export const TOKEN_VARIABLE = 'FLOW_TOKEN';
const FIRST_PORT = 8080;

/** Creates unique host names. */
function createHostNamer(prefix: string): (name: string) => string {
  const taken = new Set<string>();
  return (name) => {
    const plain = name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^[-\d]+|-+$/g, '')
      .slice(0, 50);
    const base = plain || 'executor';
    let host = base;
    for (let at = 2; taken.has(host); at++) host = `${base}-${at}`;
    taken.add(host);
    return prefix + host;
  };
}

/** Path of a module in the image: below `/flow`, relative to the flow file. */
function modulePath(file: string, baseDir: string): string {
  const relative = path.relative(baseDir, file);
  const inside = relative.startsWith('..') || path.isAbsolute(relative) ? path.basename(file) : relative;
  return path.posix.join(MODULES_DIR, inside.split(path.sep).join('/'));
}

function sourceOptions(source: ExecutorSource, name: string, baseDir: string) {
  if (typeof source.uses !== 'string') {
    throw problem('ParamValidationError', {
      path: 'uses',
      message: `${name} is a class of this program, which other machines cannot load: refer to it by name and list its file in modules`,
    });
  }
  return omitEmpty({
    jtype: source.uses,
    with: source.options,
    metas: source.metas,
    requests: source.requests,
    dynamic_batching: Object.fromEntries(
      Object.entries(source.batching).map(([endpoint, { preferredBatchSize, timeoutMs }]) => [
        endpoint,
        { preferred_batch_size: preferredBatchSize, timeout: timeoutMs },
      ]),
    ),
    modules: source.modules.map((file) => modulePath(file, baseDir)),
  });
}

const START_NAME = 'gateway';
const needsOf = ({ needs }: DeploymentDefinition) => needs.map((name) => (name === START ? START_NAME : name));

/** Options that apply wherever the executor runs. */
const routingOptions = (one: DeploymentDefinition) => ({
  name: one.name,
  needs: needsOf(one),
  when: one.when,
  floating: one.floating || undefined,
  timeout_send: one.timeoutSendMs,
  retries: one.retries === -1 ? undefined : one.retries,
  retry_timeouts: one.retryTimeouts || undefined,
});

const COMPRESSION_NAMES = { none: undefined, deflate: 'Deflate', gzip: 'Gzip' } as const;

function externalEntry(
  one: DeploymentDefinition,
  addresses: readonly { readonly host: string; readonly port: number }[],
) {
  const alone = addresses.length === 1 ? addresses[0] : undefined;
  return omitEmpty({
    ...routingOptions(one),
    external: true,
    host: alone?.host ?? addresses.map(({ host }) => host),
    port: alone?.port ?? addresses.map(({ port }) => port),
    tls: one.tls || undefined,
    grpc_metadata: one.grpcMetadata,
    compression: COMPRESSION_NAMES[one.compression],
    grpc_channel_options: one.grpcChannelOptions,
  });
}

/**
 * A join with `no_reduce` runs in the gateway's process, because an external executor accepts only a single request.
 */
const runsInGateway = ({ reduce, needs, external }: DeploymentDefinition): boolean =>
  !external && !reduce && needs.length > 1;

function inlineEntry(one: DeploymentDefinition, baseDir: string) {
  return omitEmpty({
    ...routingOptions(one),
    uses: sourceOptions(one.source, one.name, baseDir),
    no_reduce: true,
    replicas: one.replicas > 1 ? one.replicas : undefined,
    env: one.env,
    own_process: one.ownProcess,
    max_memory_bytes: one.maxMemoryBytes === DEFAULT_MAX_MEMORY_BYTES ? undefined : one.maxMemoryBytes,
  });
}

function executorPart(one: DeploymentDefinition, host: string, baseDir: string): ExecutorPart {
  const side = (flag: string, source: ExecutorSource | undefined) =>
    source ? [flag, JSON.stringify(sourceOptions(source, one.name, baseDir))] : [];
  const polling = Object.keys(one.polling).length > 0 ? ['--polling', JSON.stringify(one.polling)] : [];
  const metricsPort = metricsPortOf(one);
  return {
    definition: one,
    host,
    keepsData: keepsData(one),
    volumes: readVolumes(one),
    metricsPort,
    yaml: stringify(sourceOptions(one.source, one.name, baseDir), { aliasDuplicateObjects: false }),
    args: [
      ...['executor', '--name', one.name, '--uses', `${CONFIG_DIR}/executor.yml`],
      ...['--host', '0.0.0.0', '--port', String(EXECUTOR_PORT)],
      ...(one.shards > 1 ? ['--shards', String(one.shards), ...polling] : []),
      ...side('--uses-before', one.before),
      ...side('--uses-after', one.after),
      ...(one.workspace ? ['--workspace', isBucketUrl(one.workspace) ? one.workspace : WORKSPACE_DIR] : []),
      ...['--timeout-ready', String(one.timeoutReadyMs)],
      ...(one.outputArrayType ? ['--output-array-type', one.outputArrayType] : []),
      ...(one.ownProcess === undefined ? [] : ['--own-process', String(one.ownProcess)]),
      ...(one.maxMemoryBytes === DEFAULT_MAX_MEMORY_BYTES ? [] : ['--max-memory-bytes', String(one.maxMemoryBytes)]),
      ...(metricsPort === undefined ? [] : ['--monitoring', '--port-monitoring', String(metricsPort)]),
      ...flagsOf(telemetryOptions(one)),
      ...grpcFlags(one.grpcServerOptions),
      ...(one.exitOnExceptions.length > 0 ? ['--exit-on-exceptions', ...one.exitOnExceptions] : []),
    ],
  };
}

function gatewayOptions({ gateway, headers, env, name }: FlowDefinition, ports: readonly number[]) {
  const { title, description } = gateway;
  const metricsPort = metricsPortOf(gateway);
  return omitEmpty({
    name,
    protocol: gateway.protocols,
    port: ports,
    host: '0.0.0.0',
    title,
    description,
    cors: gateway.cors || undefined,
    no_debug_endpoints: gateway.debugEndpoints ? undefined : true,
    no_crud_endpoints: gateway.crudEndpoints ? undefined : true,
    expose_endpoints: Object.fromEntries(
      Object.entries(gateway.exposeEndpoints).map(([endpoint, { httpPath, methods, summary, ...rest }]) => [
        endpoint,
        omitEmpty({ http_path: httpPath, methods, summary, description: rest.description, tags: rest.tags }),
      ]),
    ),
    prefetch: gateway.prefetch,
    rest_api_version: gateway.restApiVersion === '3' ? undefined : gateway.restApiVersion,
    failures_are_500: gateway.failuresAre500 || undefined,
    token: gateway.token && `\${{ ENV.${TOKEN_VARIABLE} }}`,
    max_body_bytes: gateway.maxBodyBytes,
    request_timeout: gateway.requestTimeoutMs,
    ssl_certfile: gateway.sslCertfile && `${TLS_DIR}/tls.crt`,
    ssl_keyfile: gateway.sslKeyfile && `${TLS_DIR}/tls.key`,
    monitoring: metricsPort && true,
    port_monitoring: metricsPort,
    ...telemetryOptions(gateway),
    uvicorn_kwargs: uvicornArguments(gateway.httpServer),
    grpc_server_options: gateway.grpcServerOptions,
    headers,
    env,
  });
}

/** Throws a ParamValidationError for an executor that other machines cannot load. */
export function splitFlow(
  definition: FlowDefinition,
  { baseDir, hostPrefix = '' }: ExportOptions & HostNameOptions,
): FlowParts {
  const hostName = createHostNamer(hostPrefix);
  const { gateway, deployments } = definition;
  const ports = gateway.protocols.map((protocol, at) => ({ protocol, port: gateway.ports[at] || FIRST_PORT + at }));
  const gatewayHost = hostName('gateway');
  const executors: ExecutorPart[] = [];
  const entries = deployments.map((one) => {
    if (one.external) return externalEntry(one, one.external);
    if (runsInGateway(one)) return inlineEntry(one, baseDir);
    const part = executorPart(one, hostName(one.name), baseDir);
    executors.push(part);
    return externalEntry(one, [{ host: part.host, port: EXECUTOR_PORT }]);
  });
  const tree = {
    jtype: 'Flow',
    version: '1',
    with: gatewayOptions(
      definition,
      ports.map(({ port }) => port),
    ),
    executors: entries,
  };
  return {
    gateway: {
      host: gatewayHost,
      yaml: stringify(tree, { aliasDuplicateObjects: false }),
      ports,
      hasToken: gateway.token !== undefined,
      hasTls: gateway.sslCertfile !== undefined,
      metricsPort: metricsPortOf(gateway),
    },
    executors,
  };
}
