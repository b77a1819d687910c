/**
 * A complete flow definition, read from a file (`yaml.ts`) or built in code (`define-flow.ts`). Names are resolved and
 * the graph is checked; nothing is started yet.
 */
import type { Bindings, ExecutorClass } from '../executor.ts';
import type { JsonObject } from '../values.ts';

export const START = 'start-gateway';
export const END = 'end-gateway';

/** The shards that receive a request: one of them (round robin) or all. */
export type Polling = 'ANY' | 'ALL';

export interface Batching {
  /** A batch with this number of documents runs at once. */
  readonly preferredBatchSize: number;
  /** Maximum time a request waits for others. */
  readonly timeoutMs: number;
}

/** An executor class, or the location to load it from. */
export interface ExecutorSource {
  /** The class itself or its name: a built-in executor or an export of `modules`. */
  readonly uses: string | ExecutorClass;
  readonly options: Readonly<Record<string, unknown>>;
  readonly metas: Readonly<Record<string, unknown>>;
  readonly requests: Bindings;
  readonly batching: Readonly<Record<string, Batching>>;
  /** Absolute paths of files to import. */
  readonly modules: readonly string[];
  /** Absolute path of the configuration file. */
  readonly file?: string | undefined;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Options for monitoring, telemetry and reloading of a program of the flow. */
export interface OperationOptions {
  readonly monitoring: boolean;
  /** 0 or `undefined` for any free port. */
  readonly portMonitoring?: number | undefined;
  /** The collector that receives traces, over OTLP/gRPC. */
  readonly traces?: HostAndPort | undefined;
  /** The collector that receives metrics, over OTLP/gRPC. */
  readonly metrics?: HostAndPort | undefined;
  /** Whether file changes are applied while the program runs. */
  readonly reload: boolean;
}

/** Options of the gRPC library, under the names that the library uses. */
export type GrpcOptions = Readonly<Record<string, string | number>>;

/** Limits of the HTTP server. Limits that are not set have default values. */
export interface HttpServerOptions {
  readonly keepAliveMs?: number;
  /** Maximum number of connections that wait to be accepted. */
  readonly backlog?: number;
  readonly maxHeaderBytes?: number;
  /** Maximum size of a WebSocket message. */
  readonly maxMessageBytes?: number;
  readonly pingMs?: number;
  readonly pongMs?: number;
}

export interface DeploymentDefinition extends OperationOptions {
  readonly name: string;
  /** Upstream deployments; START for the gateway. Joins merge the requests in this order. */
  readonly needs: readonly string[];
  readonly source: ExecutorSource;
  readonly before?: ExecutorSource | undefined;
  readonly after?: ExecutorSource | undefined;
  readonly replicas: number;
  readonly shards: number;
  /** Polling by endpoint. `*` applies to all others except /search and /index. */
  readonly polling: Readonly<Record<string, Polling>>;
  readonly when?: JsonObject | undefined;
  readonly floating: boolean;
  readonly reduce: boolean;
  /** Addresses of an executor that runs elsewhere; each one is a replica. */
  readonly external?: readonly HostAndPort[] | undefined;
  readonly tls: boolean;
  readonly grpcMetadata: Readonly<Record<string, string>>;
  readonly compression: 'none' | 'deflate' | 'gzip';
  /** gRPC options for the executor's server when it runs on its own. */
  readonly grpcServerOptions: GrpcOptions;
  /** gRPC options for the connections to an external executor. */
  readonly grpcChannelOptions: GrpcOptions;
  readonly env: Readonly<Record<string, string>>;
  readonly workspace?: string | undefined;
  /** Maximum start-up time; -1 for no limit. */
  readonly timeoutReadyMs: number;
  readonly timeoutSendMs?: number | undefined;
  /** Number of retries; -1 for 3 or the number of replicas, whichever is larger. */
  readonly retries: number;
  /** Whether a call that timed out is retried. The executor may then process the request twice. */
  readonly retryTimeouts: boolean;
  readonly exitOnExceptions: readonly string[];
  readonly outputArrayType?: 'list' | 'numpy' | undefined;
  /** Whether executors from `modules` run in their own processes. `undefined`: the program decides. */
  readonly ownProcess?: boolean | undefined;
  /** Memory limit of an executor's own process; 0 for no limit. */
  readonly maxMemoryBytes: number;
  /** Port of the executor when it runs on its own. Used by exported manifests. */
  readonly port?: number | undefined;
  /** Options without an effect in this process, retained for exported manifests. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** The properties of a deployment that its executors need. */
export type ExecutorDeployment = Pick<
  DeploymentDefinition,
  'name' | 'shards' | 'replicas' | 'env' | 'workspace' | 'exitOnExceptions' | 'outputArrayType'
>;

export type Protocol = 'GRPC' | 'HTTP' | 'WEBSOCKET';

export interface ExposedEndpoint {
  readonly httpPath: string;
  readonly methods: readonly string[];
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly tags: readonly string[];
}

export interface GatewayOptions extends OperationOptions {
  readonly protocols: readonly Protocol[];
  /** One port for each protocol; 0 for any free port. */
  readonly ports: readonly number[];
  readonly host: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly cors: boolean;
  readonly debugEndpoints: boolean;
  readonly crudEndpoints: boolean;
  readonly exposeEndpoints: Readonly<Record<string, ExposedEndpoint>>;
  /** Maximum number of concurrent requests of one connection; 0 for no limit. */
  readonly prefetch: number;
  readonly restApiVersion: '1' | '2' | '3';
  readonly sslCertfile?: string | undefined;
  readonly sslKeyfile?: string | undefined;
  /** Whether the HTTP status is 500 instead of 200 if an executor failed. */
  readonly failuresAre500: boolean;
  /** The bearer token that requests must include. */
  readonly token?: string | undefined;
  readonly maxBodyBytes?: number | undefined;
  readonly requestTimeoutMs?: number | undefined;
  readonly httpServer: HttpServerOptions;
  readonly grpcServerOptions: GrpcOptions;
}

export interface FlowDefinition {
  readonly name: string;
  readonly gateway: GatewayOptions;
  /** The deployments in the order in which they were added. Each depends only on earlier ones. */
  readonly deployments: readonly DeploymentDefinition[];
  readonly workspace?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Names of the HTTP headers that executors may see, in lower case. */
  readonly headers: readonly string[];
  /** Absolute path of the flow file; `undefined` for a flow from code or text. */
  readonly file?: string | undefined;
  /** Options without an effect in this process, retained for exported manifests. */
  readonly rest: Readonly<Record<string, unknown>>;
  /** Warnings for the log, one sentence each. */
  readonly warnings: readonly string[];
}
