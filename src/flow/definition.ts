/**
 * What a flow is, whoever wrote it down: a file (`yaml.ts`) or code (`define.ts`). Names are resolved and the topology is
 * checked; nothing is started yet.
 */
import type { Bindings, ExecutorClass } from './executor.ts';
import type { JsonObject } from './values.ts';

export const START = 'start-gateway';
export const END = 'end-gateway';

/** Which shards get a request: one of them in turn, or each. */
export type Polling = 'ANY' | 'ALL';

export interface Batching {
  /** Documents that are worth waiting for. */
  readonly preferredBatchSize: number;
  /** Longest wait of a request for others. */
  readonly timeoutMs: number;
}

/** A class, or where one is found. */
export interface ExecutorSource {
  /** The class itself, or its name: of a built-in executor, or of an export of `modules`. */
  readonly uses: string | ExecutorClass;
  readonly options: Readonly<Record<string, unknown>>;
  readonly metas: Readonly<Record<string, unknown>>;
  readonly requests: Bindings;
  readonly batching: Readonly<Record<string, Batching>>;
  /** Files to import, absolute. */
  readonly modules: readonly string[];
}

export interface ExternalAddress {
  readonly host: string;
  readonly port: number;
}

export interface DeploymentDefinition {
  readonly name: string;
  /** Names of the deployments before it; START for the beginning. In order: joins depend on it. */
  readonly needs: readonly string[];
  readonly source: ExecutorSource;
  readonly before?: ExecutorSource | undefined;
  readonly after?: ExecutorSource | undefined;
  readonly replicas: number;
  readonly shards: number;
  /** By endpoint; `*` for all that are not named, but /search and /index. */
  readonly polling: Readonly<Record<string, Polling>>;
  readonly when?: JsonObject | undefined;
  readonly floating: boolean;
  readonly reduce: boolean;
  /** Where it runs, when it is not ours to start: each address is a replica. */
  readonly external?: readonly ExternalAddress[] | undefined;
  readonly tls: boolean;
  readonly grpcMetadata: Readonly<Record<string, string>>;
  readonly compression: 'none' | 'deflate' | 'gzip';
  readonly env: Readonly<Record<string, string>>;
  readonly workspace?: string | undefined;
  /** -1 for ever. */
  readonly timeoutReadyMs: number;
  readonly timeoutSendMs?: number | undefined;
  /** -1 for as many as the larger of three and the number of replicas. */
  readonly retries: number;
  /** Whether a call that took too long is made again: the work may then be done twice. */
  readonly retryTimeouts: boolean;
  readonly exitOnExceptions: readonly string[];
  readonly outputArrayType?: 'list' | 'numpy' | undefined;
  /** Whether executors of `modules` run in processes of their own; undefined for what the program says. */
  readonly ownProcess?: boolean | undefined;
  /** What such a process may take of the memory; 0 for no limit. */
  readonly maxMemoryBytes: number;
  /** Port of the executor when it runs alone: for manifests. */
  readonly port?: number | undefined;
  /** Options that this flow itself has no use for, as they were written: for manifests. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** What an executor needs to know of its deployment. */
export type ExecutorPlace = Pick<
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

export interface GatewayOptions {
  readonly protocols: readonly Protocol[];
  /** One for each protocol; 0 for any free one. */
  readonly ports: readonly number[];
  readonly host: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly cors: boolean;
  readonly debugEndpoints: boolean;
  readonly crudEndpoints: boolean;
  readonly exposeEndpoints: Readonly<Record<string, ExposedEndpoint>>;
  /** Requests of one connection in work at a time; 0 for no limit. */
  readonly prefetch: number;
  readonly restApiVersion: '1' | '2' | '3';
  readonly sslCertfile?: string | undefined;
  readonly sslKeyfile?: string | undefined;
  /** Whether a failed executor answers HTTP 500 instead of 200. */
  readonly failuresAre500: boolean;
  /** The token that requests must bear. */
  readonly token?: string | undefined;
  readonly maxBodyBytes?: number | undefined;
  readonly requestTimeoutMs?: number | undefined;
  readonly monitoring: boolean;
  readonly portMonitoring?: number | undefined;
}

export interface FlowDefinition {
  readonly name: string;
  readonly gateway: GatewayOptions;
  /** In the order of adding: each needs only names before it. */
  readonly deployments: readonly DeploymentDefinition[];
  readonly workspace?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** HTTP headers that executors may see, in lower case. */
  readonly headers: readonly string[];
  /** Options that this flow itself has no use for, as they were written. */
  readonly rest: Readonly<Record<string, unknown>>;
  /** What is odd about it, a sentence each: for the log. */
  readonly warnings: readonly string[];
}
