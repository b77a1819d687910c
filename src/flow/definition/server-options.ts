/**
 * Reads `grpc_server_options`, `grpc_channel_options` and `uvicorn_kwargs`. The names in them are defined by the
 * libraries of the original framework. A name without a counterpart here causes a warning.
 */
import { ownValue } from '#own-value.ts';
import type { GrpcOptions, HttpServerOptions } from './definition.ts';
import { invalidOption, type OptionReader, type OptionReport } from './options.ts';

const SHARED = [
  'grpc.keepalive_time_ms',
  'grpc.keepalive_timeout_ms',
  'grpc.max_receive_message_length',
  'grpc.max_send_message_length',
  'grpc-node.flow_control_window',
  'grpc-node.max_session_memory',
];

/** The options that the gRPC library applies, keyed by the option of the definition. */
const GRPC_OPTIONS = {
  grpc_server_options: [
    ...SHARED,
    'grpc.max_concurrent_streams',
    'grpc.max_connection_age_ms',
    'grpc.max_connection_age_grace_ms',
    'grpc.max_connection_idle_ms',
  ],
  grpc_channel_options: [
    ...SHARED,
    'grpc.ssl_target_name_override',
    'grpc.primary_user_agent',
    'grpc.secondary_user_agent',
    'grpc.default_authority',
    'grpc.keepalive_permit_without_calls',
    'grpc.service_config',
    'grpc.service_config_disable_resolution',
    'grpc.initial_reconnect_backoff_ms',
    'grpc.max_reconnect_backoff_ms',
    'grpc.use_local_subchannel_pool',
    'grpc.enable_http_proxy',
    'grpc.default_compression_algorithm',
    'grpc.dns_min_time_between_resolutions_ms',
    'grpc.client_idle_timeout_ms',
  ],
} as const;

/** Throws a ParamValidationError for a value that is neither a number, a string nor a boolean. */
export function readGrpcOptions(
  reader: OptionReader,
  key: keyof typeof GRPC_OPTIONS,
  { warnings }: OptionReport,
): GrpcOptions {
  const known: readonly string[] = GRPC_OPTIONS[key];
  const options: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(reader.record(key) ?? {})) {
    const path = `${reader.pathOf(key)}.${name}`;
    if (!known.includes(name)) warnings.push(`${path}: the gRPC option ${name} has no effect`);
    else if (typeof value === 'number' || typeof value === 'string') options[name] = value;
    else if (typeof value === 'boolean') options[name] = Number(value);
    else throw invalidOption(path, 'expected a number, a string or a boolean');
  }
  return options;
}

const MS_PER_SECOND = 1000;

interface HttpRow {
  readonly name: keyof HttpServerOptions;
  /** Factor that converts the original framework's unit to ours. */
  readonly factor: number;
}

/** Arguments of the original framework's HTTP server that have a counterpart here. Its times are in seconds. */
const UVICORN: Readonly<Record<string, HttpRow>> = {
  timeout_keep_alive: { name: 'keepAliveMs', factor: MS_PER_SECOND },
  backlog: { name: 'backlog', factor: 1 },
  h11_max_incomplete_event_size: { name: 'maxHeaderBytes', factor: 1 },
  ws_max_size: { name: 'maxMessageBytes', factor: 1 },
  ws_ping_interval: { name: 'pingMs', factor: MS_PER_SECOND },
  ws_ping_timeout: { name: 'pongMs', factor: MS_PER_SECOND },
};

/** Throws a ParamValidationError for a value that is not a positive number. */
export function readHttpServerOptions(reader: OptionReader, { warnings }: OptionReport): HttpServerOptions {
  const options: { -readonly [Key in keyof HttpServerOptions]: number } = {};
  for (const [name, value] of Object.entries(reader.record('uvicorn_kwargs') ?? {})) {
    const path = `${reader.pathOf('uvicorn_kwargs')}.${name}`;
    const row = ownValue(UVICORN, name);
    const number = Number(value);
    if (!row) warnings.push(`${path}: the argument ${name} has no effect`);
    else if (!Number.isFinite(number) || number <= 0) throw invalidOption(path, 'expected a positive number');
    else options[row.name] = Math.round(number * row.factor);
  }
  return options;
}

/** The inverse of `readHttpServerOptions`: converts the options back to arguments. */
export const uvicornArguments = (options: HttpServerOptions): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(UVICORN).flatMap(([argument, { name, factor }]) => {
      const value = options[name];
      return value === undefined ? [] : [[argument, value / factor]];
    }),
  );
