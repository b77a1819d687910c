/** Reads the options of one executor (docs/reference/wire/flow.md, Executor options). */
import path from 'node:path';
import type { ExecutorClass } from '../executor.ts';
import { isObject } from '../values.ts';
import { checkCondition } from './condition.ts';
import type { ReadExecutorFile } from './define-flow.ts';
import type { Batching, DeploymentDefinition, ExecutorSource, HostAndPort, Polling } from './definition.ts';
import { splitHost } from './host.ts';
import { readOperation } from './operation-options.ts';
import {
  checkKeys,
  createOptionReader,
  invalidOption,
  type OptionReader,
  type OptionReport,
  type Options,
} from './options.ts';
import { readGrpcOptions } from './server-options.ts';

export interface DeploymentContext {
  readonly name: string;
  readonly needs: readonly string[];
  readonly baseDir: string | undefined;
  readonly readExecutor: ReadExecutorFile | undefined;
  readonly rest: Options;
  readonly report: OptionReport;
}

const POLLINGS: readonly Polling[] = ['ANY', 'ALL'];

function parsePolling(value: unknown, where: string): Polling {
  const found = POLLINGS.find((one) => one === String(value).toUpperCase());
  if (!found) throw invalidOption(where, 'expected ANY or ALL');
  return found;
}

/**
 * A single word applies to every endpoint. A mapping leaves the defaults of /search and /index unless it names them.
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

const BATCHING_KEYS = ['preferred_batch_size', 'preferredBatchSize', 'timeout'];

function readBatching(given: Record<string, unknown>, where: string, report: OptionReport): Record<string, Batching> {
  return Object.fromEntries(
    Object.entries(given).map(([endpoint, value]) => {
      if (!isObject(value)) throw invalidOption(`${where}.${endpoint}`, 'expected a mapping');
      checkKeys(value, BATCHING_KEYS, { path: `${where}.${endpoint}`, owner: `the batches of ${endpoint}` }, report);
      const reader = createOptionReader(value, `${where}.${endpoint}`);
      const preferredBatchSize = reader.integer('preferred_batch_size', 1) ?? reader.integer('preferredBatchSize', 1);
      if (preferredBatchSize === undefined)
        throw invalidOption(`${where}.${endpoint}`, 'preferred_batch_size is missing');
      return [endpoint, { preferredBatchSize, timeoutMs: reader.integer('timeout') ?? 10_000 }];
    }),
  );
}

const isFileName = (uses: string): boolean => /\.(?:ya?ml|json)$/i.test(uses);

const PYTHON_FILE = /\.py$/i;
const ELSEWHERE = 'serve it with its own framework, and list it here with `external: true`, its `host` and its `port`';

/** Python executors and containers run in programs of their own. */
function refuseForeign(what: string, where: string): void {
  if (PYTHON_FILE.test(what)) throw invalidOption(where, `${what}: Python executors do not run here: ${ELSEWHERE}`);
  if (/^[a-z][a-z+]*:\/\//i.test(what))
    throw invalidOption(where, `${what}: containers and hub executors are not supported: ${ELSEWHERE}`);
}

const SOURCE_KEYS = ['jtype', 'version', 'with', 'metas', 'requests', 'dynamic_batching', 'modules', 'py_modules'];

interface Configuration {
  readonly config: Options;
  /** The class, when it is not named by the configuration. */
  readonly type: string | ExecutorClass;
  readonly baseDir: string;
  readonly file?: string;
}

function readConfiguration(uses: unknown, where: string, context: DeploymentContext): Configuration {
  const { baseDir = '', readExecutor, report } = context;
  const checked = (config: Options, owner: string): Options => {
    checkKeys(config, SOURCE_KEYS, { path: where, owner }, report);
    return config;
  };
  if (typeof uses === 'function') return { config: {}, type: uses as ExecutorClass, baseDir };
  if (isObject(uses)) {
    const config = checked(uses, `the configuration of executor \`${context.name}\``);
    return { config, type: typeOf(config, where), baseDir };
  }
  if (uses === undefined || uses === null) return { config: {}, type: DEFAULT_TYPE, baseDir };
  if (typeof uses !== 'string') throw invalidOption(where, 'expected a class name, a file name or a configuration');
  refuseForeign(uses, where);
  if (!isFileName(uses)) return { config: {}, type: uses, baseDir };
  if (!readExecutor) throw invalidOption(where, `${uses}: files cannot be read here`);
  const file = path.resolve(baseDir, uses);
  const config = checked(readExecutor(file), uses);
  return { config, type: typeOf(config, where), baseDir: path.dirname(file), file };
}

const DEFAULT_TYPE = 'BaseExecutor';
const typeOf = (config: Options, where: string): string =>
  createOptionReader(config, where).string('jtype') ?? DEFAULT_TYPE;

/** Where the class is loaded from and its options. Options of the flow override the executor's own configuration. */
function readSource(uses: unknown, reader: OptionReader, context: DeploymentContext): ExecutorSource {
  const where = reader.pathOf('uses');
  const { config, type, baseDir, file } = readConfiguration(uses, where, context);
  const own = createOptionReader(config, where);
  const metas = own.record('metas') ?? {};
  const inMetas = createOptionReader(metas, own.pathOf('metas'));
  return {
    uses: type,
    options: { ...own.record('with'), ...reader.record('uses_with') },
    metas: { ...metas, ...reader.record('uses_metas') },
    requests: toBindings({ ...own.record('requests'), ...reader.record('uses_requests') }),
    batching: readBatching(
      { ...own.record('dynamic_batching'), ...reader.record('uses_dynamic_batching') },
      reader.pathOf('uses_dynamic_batching'),
      context.report,
    ),
    modules: [
      ...readModules(own, baseDir),
      ...readModules(inMetas, baseDir),
      ...readModules(reader, context.baseDir ?? ''),
    ],
    ...(file !== undefined && { file }),
  };
}

function readModules(reader: OptionReader, baseDir: string): string[] {
  return ['modules', 'py_modules'].flatMap((key) =>
    (reader.strings(key) ?? []).map((file) => {
      refuseForeign(file, reader.pathOf(key));
      return path.resolve(baseDir, file);
    }),
  );
}

const toBindings = (given: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([endpoint, method]) => [endpoint, String(method)]));

/** Each host or port is one replica. A single host is combined with every port, a single port with every host. */
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
/** Node itself takes some 50 MB. */
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

/** The executor runs elsewhere. */
const NO_SOURCE: ExecutorSource = {
  uses: DEFAULT_TYPE,
  options: {},
  metas: {},
  requests: {},
  batching: {},
  modules: [],
};
/** Options of the program that runs the executor. */
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
  const workspace = reader.string('workspace');
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
    workspace: workspace && path.resolve(context.baseDir ?? '', workspace),
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
