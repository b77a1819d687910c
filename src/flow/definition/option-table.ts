/**
 * The options of flow files, for the flow and its gateway (`with`, `gateway`) and for executors. Rows with a `flag` are
 * also command-line flags.
 */

/** A command-line flag, in kebab case. */
export interface OptionFlag {
  readonly meaning: string;
  /** Name of the value in the help. `pairs`: KEY: VALUE, repeatable. `undefined`: a switch. */
  readonly value?: string;
  /** Whether the flag accepts several values. */
  readonly several?: boolean;
}

export interface OptionRow {
  /** `ignored`: accepted with a warning, because old files contain it. `exported`: has an effect in manifests only. */
  readonly use: 'used' | 'exported' | 'ignored';
  readonly flag?: OptionFlag;
  /** Whether executors inherit the option from the flow. */
  readonly inherited?: boolean;
  /** Added to the warning that the option has no effect: why, or what to do instead. */
  readonly note?: string;
}

export type OptionTable = Readonly<Record<string, OptionRow>>;

const used: OptionRow = { use: 'used' };
const inherited: OptionRow = { use: 'used', inherited: true };

const flag = (meaning: string, value?: string, several?: boolean): { readonly flag: OptionFlag } => ({
  flag: { meaning, ...(value && { value }), ...(several && { several }) },
});

const ignored = (note?: string): OptionRow => ({ use: 'ignored', ...(note && { note }) });

/** Options of the original framework that have no effect here, for flows or for executors. */
const WITHOUT_EFFECT: OptionTable = {
  timeout_ctrl: ignored(),
  quiet: ignored('set the log level with LECTERN_LOG_LEVEL'),
  quiet_error: ignored('answers of `lectern flow` contain no stack traces'),
  log_config: ignored('the log is JSON on standard output; set its level with LECTERN_LOG_LEVEL'),
};

/** Monitoring, tracing and reloading, which the gateway and each executor have. */
const OPERATION: OptionTable = {
  monitoring: { ...inherited, ...flag('Serve Prometheus metrics.') },
  port_monitoring: { ...used, ...flag('Port that serves the metrics; 0 picks a free one.', 'port') },
  tracing: { ...inherited, ...flag('Send traces to an OpenTelemetry collector.') },
  traces_exporter_host: { ...inherited, ...flag('Host of the trace collector (OTLP over gRPC).', 'host') },
  traces_exporter_port: { ...inherited, ...flag('Port of the trace collector. Default: 4317.', 'port') },
  metrics: { ...inherited, ...flag('Send metrics to an OpenTelemetry collector.') },
  metrics_exporter_host: { ...inherited, ...flag('Host of the metrics collector (OTLP over gRPC).', 'host') },
  metrics_exporter_port: { ...inherited, ...flag('Port of the metrics collector. Default: 4317.', 'port') },
  reload: { ...inherited, ...flag('Apply changed files without a restart.') },
};

const GATEWAY_CLASS = 'gateways of your own are not supported';

export const FLOW_OPTIONS: OptionTable = {
  protocol: { ...used, ...flag('Protocols, overriding the file: grpc, http, websocket.', 'names', true) },
  port: { ...used, ...flag('Ports, one for each protocol.', 'ports', true) },
  host: { ...used, ...flag('IP address or host name to listen on. Default: 127.0.0.1, this machine only.', 'host') },
  title: { ...used, ...flag('Title of the OpenAPI document.', 'text') },
  description: { ...used, ...flag('Description in the OpenAPI document.', 'text') },
  cors: { ...used, ...flag('Allow web pages of other sites.') },
  no_debug_endpoints: { ...used, ...flag('Do not serve /status, /post and /dry_run.') },
  no_crud_endpoints: { ...used, ...flag('Do not serve /index, /search, /update and /delete.') },
  expose_endpoints: { ...used, ...flag('Executor endpoints to serve at HTTP paths of their own.', 'json') },
  prefetch: { ...used, ...flag('Maximum number of concurrent requests per connection; 0 for no limit.', 'count') },
  timeout_send: { ...inherited, ...flag('Timeout of each call to an executor.', 'ms') },
  retries: {
    ...inherited,
    ...flag('Number of retries of a call; -1 for 3 or the number of replicas, whichever is larger.', 'count'),
  },
  retry_timeouts: inherited,
  compression: {
    ...inherited,
    ...flag('Compression of requests to executors: NoCompression, Deflate or Gzip.', 'name'),
  },
  ssl_certfile: { ...used, ...flag('TLS certificate, PEM.', 'file') },
  ssl_keyfile: { ...used, ...flag('Private key of the certificate, PEM.', 'file') },
  ...OPERATION,
  name: { ...used, ...flag('Name of the flow.', 'name') },
  workspace: { ...inherited, ...flag('Folder for the data of executors, or s3://bucket/prefix.', 'folder') },
  env: inherited,
  inspect: { ...used, ...flag('COLLECT, HANG, or REMOVE to omit inspecting executors.', 'how') },
  timeout_ready: inherited,
  restful: { ...used, ...flag('Same as --protocol http.') },
  rest_api_version: used,
  headers: used,
  failures_are_500: used,
  token: used,
  max_body_bytes: used,
  request_timeout: used,
  exit_on_exceptions: inherited,
  own_process: inherited,
  max_memory_bytes: inherited,
  uvicorn_kwargs: { ...used, ...flag('Options of the HTTP server, each KEY: VALUE.', 'pairs') },
  grpc_server_options: { ...used, ...flag('Options of the gRPC server, each KEY: VALUE.', 'pairs') },
  grpc_channel_options: { ...inherited, ...flag('Options of connections to executors, each KEY: VALUE.', 'pairs') },
  replicas: { use: 'exported' },
  ...WITHOUT_EFFECT,
  expose_graphql_endpoint: ignored('GraphQL is not supported'),
  uses: ignored(GATEWAY_CLASS),
  uses_with: ignored(GATEWAY_CLASS),
  uses_metas: ignored(GATEWAY_CLASS),
  py_modules: ignored(GATEWAY_CLASS),
  proxy: ignored(),
};

const DOCKER = 'containers are not started';

export const EXECUTOR_OPTIONS: OptionTable = {
  name: used,
  method: used,
  uses: used,
  uses_with: used,
  uses_metas: used,
  uses_requests: used,
  uses_dynamic_batching: used,
  py_modules: used,
  modules: used,
  needs: used,
  replicas: used,
  shards: used,
  polling: used,
  uses_before: used,
  uses_after: used,
  when: used,
  floating: used,
  external: used,
  host: used,
  port: used,
  tls: used,
  grpc_metadata: used,
  compression: used,
  no_reduce: used,
  env: used,
  workspace: used,
  timeout_ready: used,
  timeout_send: used,
  retries: used,
  retry_timeouts: used,
  exit_on_exceptions: used,
  output_array_type: used,
  own_process: used,
  max_memory_bytes: used,
  ...OPERATION,
  grpc_server_options: { ...used, ...flag('Options of the gRPC server, each KEY: VALUE.', 'pairs') },
  grpc_channel_options: used,
  volumes: { use: 'exported' },
  gpus: { use: 'exported' },
  ...WITHOUT_EFFECT,
  docker_kwargs: ignored(DOCKER),
  entrypoint: ignored(DOCKER),
  install_requirements: ignored('install packages with npm'),
  stateful: ignored(),
  raft_configuration: ignored(),
};

/** Maps older names to the current ones. */
export const OLD_NAMES: Readonly<Record<string, string>> = {
  port_expose: 'port',
  port_in: 'port',
  https: 'tls',
  override_with: 'uses_with',
  override_metas: 'uses_metas',
  override_requests: 'uses_requests',
  disable_reduce: 'no_reduce',
  rest_api: 'restful',
  protocols: 'protocol',
  ports: 'port',
  hosts: 'host',
  parallel: 'replicas',
};

/** Options that executors inherit from the flow. */
export const INHERITED_OPTIONS: readonly string[] = Object.entries(FLOW_OPTIONS).flatMap(([name, row]) =>
  row.inherited ? [name] : [],
);
