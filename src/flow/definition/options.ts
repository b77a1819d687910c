/** Option names of flows and executors, their old names, and a reader for their values. */
import { problem } from '#errors.ts';
import { ownValue } from '#own-value.ts';
import { isObject } from '../values.ts';

export type Options = Record<string, unknown>;

/** `used` by this program, `exported` to manifests, `ignored` with a warning. */
type OptionUse = 'used' | 'exported' | 'ignored';

export const EXECUTOR_OPTIONS: Readonly<Record<string, OptionUse>> = {
  name: 'used',
  method: 'used',
  uses: 'used',
  uses_with: 'used',
  uses_metas: 'used',
  uses_requests: 'used',
  uses_dynamic_batching: 'used',
  py_modules: 'used',
  modules: 'used',
  needs: 'used',
  replicas: 'used',
  shards: 'used',
  polling: 'used',
  uses_before: 'used',
  uses_after: 'used',
  when: 'used',
  floating: 'used',
  external: 'used',
  host: 'used',
  port: 'used',
  tls: 'used',
  grpc_metadata: 'used',
  compression: 'used',
  no_reduce: 'used',
  env: 'used',
  workspace: 'used',
  timeout_ready: 'used',
  timeout_send: 'used',
  retries: 'used',
  retry_timeouts: 'used',
  exit_on_exceptions: 'used',
  output_array_type: 'used',
  own_process: 'used',
  max_memory_bytes: 'used',
  timeout_ctrl: 'exported',
  monitoring: 'exported',
  port_monitoring: 'exported',
  tracing: 'exported',
  traces_exporter_host: 'exported',
  traces_exporter_port: 'exported',
  metrics: 'exported',
  metrics_exporter_host: 'exported',
  metrics_exporter_port: 'exported',
  reload: 'exported',
  quiet: 'exported',
  quiet_error: 'exported',
  log_config: 'exported',
  grpc_server_options: 'exported',
  grpc_channel_options: 'exported',
  volumes: 'exported',
  gpus: 'exported',
  docker_kwargs: 'ignored',
  entrypoint: 'ignored',
  install_requirements: 'ignored',
  stateful: 'ignored',
  raft_configuration: 'ignored',
};

export const FLOW_OPTIONS: Readonly<Record<string, OptionUse>> = {
  protocol: 'used',
  port: 'used',
  host: 'used',
  title: 'used',
  description: 'used',
  cors: 'used',
  no_debug_endpoints: 'used',
  no_crud_endpoints: 'used',
  expose_endpoints: 'used',
  prefetch: 'used',
  timeout_send: 'used',
  retries: 'used',
  retry_timeouts: 'used',
  compression: 'used',
  ssl_certfile: 'used',
  ssl_keyfile: 'used',
  monitoring: 'used',
  port_monitoring: 'used',
  name: 'used',
  workspace: 'used',
  env: 'used',
  inspect: 'used',
  timeout_ready: 'used',
  restful: 'used',
  rest_api_version: 'used',
  headers: 'used',
  failures_are_500: 'used',
  token: 'used',
  max_body_bytes: 'used',
  request_timeout: 'used',
  exit_on_exceptions: 'used',
  own_process: 'used',
  max_memory_bytes: 'used',
  timeout_ctrl: 'exported',
  tracing: 'exported',
  traces_exporter_host: 'exported',
  traces_exporter_port: 'exported',
  metrics: 'exported',
  metrics_exporter_host: 'exported',
  metrics_exporter_port: 'exported',
  reload: 'exported',
  quiet: 'exported',
  quiet_error: 'exported',
  log_config: 'exported',
  replicas: 'exported',
  grpc_server_options: 'exported',
  grpc_channel_options: 'exported',
  expose_graphql_endpoint: 'ignored',
  uvicorn_kwargs: 'ignored',
  uses: 'ignored',
  uses_with: 'ignored',
  py_modules: 'ignored',
  proxy: 'ignored',
};

/** Options that executors inherit from the flow. */
export const INHERITED_OPTIONS = [
  'workspace',
  'env',
  'timeout_ready',
  'timeout_ctrl',
  'timeout_send',
  'retries',
  'retry_timeouts',
  'compression',
  'exit_on_exceptions',
  'own_process',
  'max_memory_bytes',
  'monitoring',
  'tracing',
  'traces_exporter_host',
  'traces_exporter_port',
  'metrics',
  'metrics_exporter_host',
  'metrics_exporter_port',
  'reload',
  'quiet',
  'quiet_error',
  'log_config',
];

const OLD_NAMES: Readonly<Record<string, string>> = {
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

/** `usesWith` to `uses_with`, `failuresAre500` to `failures_are_500`. */
const toSnakeCase = (key: string): string => key.replace(/[A-Z]|(?<=[a-z])\d/g, (sign) => `_${sign.toLowerCase()}`);

export const invalidOption = (path: string, message: string) =>
  problem('ParamValidationError', { message: `${path}: ${message}`, path });

/** Renames options to their current snake_case names and drops those without an effect, adding a warning for each. */
export function normalizeOptions(
  given: Options,
  known: Readonly<Record<string, OptionUse>>,
  path: string,
  warnings: string[],
): Options {
  const options: Options = {};
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const name = ownValue(OLD_NAMES, toSnakeCase(key)) ?? toSnakeCase(key);
    const fate = ownValue(known, name);
    if (fate === undefined) warnings.push(`${path}: unknown option ${key} ignored`);
    else if (fate === 'ignored') warnings.push(`${path}: the option ${key} has no effect`);
    else options[name] = value;
  }
  return options;
}

export const exportedOptions = (options: Options, known: Readonly<Record<string, OptionUse>>): Options =>
  Object.fromEntries(Object.entries(options).filter(([key]) => ownValue(known, key) === 'exported'));

/**
 * Reads and checks option values. `null` counts as not set. Throws a ParamValidationError that names the invalid
 * option.
 */
export function createOptionReader(options: Options, path: string) {
  const raw = (key: string): unknown => options[key] ?? undefined;
  const pathOf = (key: string): string => (path ? `${path}.${key}` : key);

  function string(key: string): string | undefined {
    const value = raw(key);
    if (value === undefined) return undefined;
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    throw invalidOption(pathOf(key), 'expected a string');
  }

  function integer(key: string, least = 0): number | undefined {
    const value = raw(key);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < least) {
      throw invalidOption(pathOf(key), `expected a whole number of at least ${least}`);
    }
    return number;
  }

  function flag(key: string): boolean | undefined {
    const value = raw(key);
    if (value === undefined || typeof value === 'boolean') return value;
    if (typeof value === 'string' && /^(?:true|yes|on|1)$/i.test(value)) return true;
    if (typeof value === 'string' && /^(?:false|no|off|0)$/i.test(value)) return false;
    throw invalidOption(pathOf(key), 'expected true or false');
  }

  function record(key: string): Record<string, unknown> | undefined {
    const value = raw(key);
    const read = typeof value === 'string' && value.trimStart().startsWith('{') ? parseJson(value, pathOf(key)) : value;
    if (read === undefined) return undefined;
    if (!isObject(read)) throw invalidOption(pathOf(key), 'expected a mapping');
    return read;
  }

  /** A list. A single value becomes a list of one. */
  function list(key: string): unknown[] | undefined {
    const value = raw(key);
    if (value === undefined) return undefined;
    return Array.isArray(value) ? value : [value];
  }

  function strings(key: string): string[] | undefined {
    return list(key)?.map((value) => {
      if (typeof value === 'string' || typeof value === 'number') return String(value);
      throw invalidOption(pathOf(key), 'expected a string or a list of strings');
    });
  }

  function stringRecord(key: string): Record<string, string> | undefined {
    const value = record(key);
    return value && Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one ?? '')]));
  }

  function choice<const T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = string(key);
    if (value === undefined) return undefined;
    const found = choices.find((one) => one.toLowerCase() === value.toLowerCase());
    if (found === undefined) throw invalidOption(pathOf(key), `expected one of ${choices.join(', ')}`);
    return found;
  }

  return { raw, pathOf, string, integer, flag, record, list, strings, stringRecord, choice };
}

export type OptionReader = ReturnType<typeof createOptionReader>;

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidOption(path, `not valid JSON: ${(error as Error).message}`);
  }
}
