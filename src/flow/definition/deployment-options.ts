/** Reads the options of one executor (docs/reference/wire/flow.md, Executor options). */

import { resolveWorkspace } from '../workspace.ts';
import { checkCondition } from './condition.ts';
import type { DeploymentDefinition, HostAndPort, Polling } from './definition.ts';
import { NO_SOURCE, readSource, type SourceContext } from './executor-source.ts';
import { splitHost } from './host.ts';
import { readOperation } from './operation-options.ts';
import { createOptionReader, invalidOption, type OptionReader, type OptionReport, type Options } from './options.ts';
import { readGrpcOptions } from './server-options.ts';

export interface DeploymentContext extends SourceContext {
  readonly needs: readonly string[];
  readonly rest: Options;
}

const POLLINGS: readonly Polling[] = ['ANY', 'ALL'];

function parsePolling(value: unknown, where: string): Polling {
  const found = POLLINGS.find((one) => one === String(value).toUpperCase());
  if (!found) throw invalidOption(where, 'expected ANY or ALL');
  return found;
}

/**
 * A single word applies to every endpoint. A mapping keeps the defaults for /search and /index unless it contains these
 * endpoints.
 */
function readPolling(reader: OptionReader): Record<string, Polling> {
  const given = reader.raw('polling');
  if (given === undefined) return {};
  if (typeof given === 'string' && !given.trimStart().startsWith('{')) {
    const polling = parsePolling(given, reader.pathOf('polling'));
    return { '*': polling, '/search': polling, '/index': polling };
  }
  const entries = Object.entries(reader.record('polling')!);
  return Object.fromEntries(entries.map(([endpoint, one]) => [endpoint, parsePolling(one, reader.pathOf('polling'))]));
}

/** Returns one address per replica. A single host is combined with every port, and a single port with every host. */
function readAddresses(reader: OptionReader): HostAndPort[] {
  const hosts = (reader.strings('host') ?? ['localhost'])
    .flatMap((host) => host.split(','))
    .map((host) => splitHost(host.trim()));
  const ports = (reader.strings('port') ?? []).flatMap((port) => port.split(',')).map(Number);
  const count = Math.max(hosts.length, ports.length);
  if ((hosts.length > 1 && ports.length > 1 && hosts.length !== ports.length) || ports.some((port) => !(port > 0))) {
    throw invalidOption(reader.pathOf('port'), `${hosts.length} hosts do not match ${ports.length} ports`);
  }
  return Array.from({ length: count }, (_, at) => {
    const { host, port = ports[ports.length === 1 ? 0 : at] } = hosts[hosts.length === 1 ? 0 : at]!;
    if (port === undefined) throw invalidOption(reader.pathOf('port'), `the external executor at ${host} needs a port`);
    return { host, port };
  });
}

const usesTls = (reader: OptionReader): boolean =>
  reader.flag('tls') ?? /^(?:grpcs|https|wss):\/\//i.test((reader.strings('host') ?? [])[0] ?? '');

const COMPRESSIONS = { nocompression: 'none', none: 'none', deflate: 'deflate', gzip: 'gzip' } as const;

function readCompression(reader: OptionReader): 'none' | 'deflate' | 'gzip' {
  const given = (reader.string('compression') ?? 'none').toLowerCase();
  if (!Object.hasOwn(COMPRESSIONS, given))
    throw invalidOption(reader.pathOf('compression'), 'expected NoCompression, Deflate or Gzip');
  return COMPRESSIONS[given as keyof typeof COMPRESSIONS];
}

const NO_LIMIT = -1;

function readTimeoutReady(reader: OptionReader): number {
  const given = reader.integer('timeout_ready', NO_LIMIT);
  return given ?? 600_000;
}

/** Default memory limit of an executor's process. */
export const DEFAULT_MAX_MEMORY_BYTES = 2 ** 31;
/** Minimum memory limit, because Node itself uses about 50 MB. */
const MIN_MEMORY_BYTES = 2 ** 27;

function readMaxMemory(reader: OptionReader): number {
  const given = reader.integer('max_memory_bytes') ?? DEFAULT_MAX_MEMORY_BYTES;
  if (given > 0 && given < MIN_MEMORY_BYTES) {
    throw invalidOption(
      reader.pathOf('max_memory_bytes'),
      `expected a whole number of at least ${MIN_MEMORY_BYTES}, or 0 for no limit`,
    );
  }
  return given;
}

/** Options that apply to the program that runs the executor. */
const OF_THE_PROGRAM = [
  'uses',
  'uses_with',
  'uses_metas',
  'uses_requests',
  'uses_dynamic_batching',
  'uses_before',
  'uses_after',
  'modules',
  'py_modules',
  'replicas',
  'shards',
];

function warnExternal(reader: OptionReader, { warnings }: OptionReport): void {
  const given = OF_THE_PROGRAM.filter((key) => reader.raw(key) !== undefined);
  if (given.length === 0) return;
  warnings.push(`${reader.pathOf('external')}: ${given.join(', ')} of an external executor have no effect here`);
}

/** The folder or bucket of `workspace`. Throws a ParamValidationError for an invalid URL. */
export function readWorkspace(reader: OptionReader, baseDir: string | undefined): string | undefined {
  const workspace = reader.string('workspace');
  if (workspace === undefined) return undefined;
  try {
    return resolveWorkspace(workspace, baseDir);
  } catch (error) {
    throw invalidOption(reader.pathOf('workspace'), (error as Error).message);
  }
}

/** Throws a ParamValidationError that names the option. */
export function readDeployment(reader: OptionReader, context: DeploymentContext): DeploymentDefinition {
  const external = reader.flag('external') ? readAddresses(reader) : undefined;
  if (external) warnExternal(reader, context.report);
  const shards = reader.integer('shards', 1) ?? 1;
  const reduce = !reader.flag('no_reduce');
  if (external && !reduce && context.needs.length > 1) {
    throw invalidOption(
      reader.pathOf('no_reduce'),
      `the external executor ${context.name} needs its inputs reduced to one request`,
    );
  }
  const timeoutSendMs = reader.integer('timeout_send', NO_LIMIT);
  const when = reader.record('when');
  const workspace = readWorkspace(reader, context.baseDir);
  const side = (key: string) => {
    const uses = reader.raw(key);
    return uses === undefined || shards === 1 || external
      ? undefined
      : readSource(uses, createOptionReader({}, reader.pathOf(key)), context);
  };
  return {
    name: context.name,
    needs: context.needs,
    source: external ? NO_SOURCE : readSource(reader.raw('uses'), reader, context),
    before: side('uses_before'),
    after: side('uses_after'),
    replicas: external?.length ?? reader.integer('replicas', 1) ?? 1,
    shards: external ? 1 : shards,
    polling: readPolling(reader),
    when: when && checkCondition(when),
    floating: reader.flag('floating') ?? false,
    reduce,
    external,
    tls: usesTls(reader),
    grpcMetadata: reader.stringRecord('grpc_metadata') ?? {},
    compression: readCompression(reader),
    grpcServerOptions: readGrpcOptions(reader, 'grpc_server_options', context.report),
    grpcChannelOptions: readGrpcOptions(reader, 'grpc_channel_options', context.report),
    ...readOperation(reader),
    env: reader.stringRecord('env') ?? {},
    workspace,
    timeoutReadyMs: readTimeoutReady(reader),
    timeoutSendMs: timeoutSendMs === NO_LIMIT ? undefined : timeoutSendMs,
    retries: reader.integer('retries', NO_LIMIT) ?? NO_LIMIT,
    retryTimeouts: reader.flag('retry_timeouts') ?? false,
    exitOnExceptions: reader.strings('exit_on_exceptions') ?? [],
    outputArrayType: reader.choice('output_array_type', ['list', 'numpy']),
    ownProcess: reader.flag('own_process'),
    maxMemoryBytes: readMaxMemory(reader),
    port: external ? undefined : reader.integer('port'),
    rest: context.rest,
  };
}
