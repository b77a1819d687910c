/** Reads the options of one executor (docs/reference/wire/flow.md, Executor options). */
import path from 'node:path';
import type { ExecutorClass } from '../executor.ts';
import { isObject } from '../values.ts';
import { checkCondition } from './condition.ts';
import type { ReadExecutorFile } from './define-flow.ts';
import type { Batching, DeploymentDefinition, ExecutorSource, ExternalAddress, Polling } from './definition.ts';
import { createOptionReader, invalid, type OptionReader, type Options } from './options.ts';

export interface DeploymentPlace {
  readonly name: string;
  readonly needs: readonly string[];
  readonly baseDir: string | undefined;
  readonly readExecutor: ReadExecutorFile | undefined;
  readonly rest: Options;
}

const POLLINGS: readonly Polling[] = ['ANY', 'ALL'];

function pollingValue(value: unknown, where: string): Polling {
  const found = POLLINGS.find((one) => one === String(value).toUpperCase());
  if (!found) throw invalid(where, 'expected ANY or ALL');
  return found;
}

/**
 * A single word applies to every endpoint. A mapping leaves the defaults of /search and /index unless it names them.
 */
function readPolling(reader: OptionReader): Record<string, Polling> {
  const given = reader.of('polling');
  if (given === undefined) return {};
  if (typeof given === 'string' && !given.trimStart().startsWith('{')) {
    const polling = pollingValue(given, reader.at('polling'));
    return { '*': polling, '/search': polling, '/index': polling };
  }
  const entries = Object.entries(reader.record('polling')!);
  return Object.fromEntries(entries.map(([endpoint, one]) => [endpoint, pollingValue(one, reader.at('polling'))]));
}

function readBatching(given: Record<string, unknown>, where: string): Record<string, Batching> {
  return Object.fromEntries(
    Object.entries(given).map(([endpoint, value]) => {
      if (!isObject(value)) throw invalid(`${where}.${endpoint}`, 'expected a mapping');
      const reader = createOptionReader(value, `${where}.${endpoint}`);
      const preferredBatchSize = reader.integer('preferred_batch_size', 1) ?? reader.integer('preferredBatchSize', 1);
      if (preferredBatchSize === undefined) throw invalid(`${where}.${endpoint}`, 'preferred_batch_size is missing');
      return [endpoint, { preferredBatchSize, timeoutMs: reader.integer('timeout') ?? 10_000 }];
    }),
  );
}

const isFile = (uses: string): boolean => /\.(?:ya?ml|json)$/i.test(uses);

/** Where the class is loaded from and its options. Options of the flow override the executor's own configuration. */
function readSource(uses: unknown, reader: OptionReader, place: DeploymentPlace): ExecutorSource {
  const where = reader.at('uses');
  let config: Options = {};
  let name: string | ExecutorClass = 'BaseExecutor';
  let baseDir = place.baseDir ?? '';
  if (typeof uses === 'function') {
    name = uses as ExecutorClass;
  } else if (typeof uses === 'string') {
    if (/^[a-z][a-z+]*:\/\//i.test(uses))
      throw invalid(where, `${uses}: containers and hub executors are not supported`);
    if (isFile(uses)) {
      if (!place.readExecutor) throw invalid(where, `${uses}: files cannot be read here`);
      const file = path.resolve(baseDir, uses);
      config = place.readExecutor(file);
      baseDir = path.dirname(file);
    } else {
      name = uses;
    }
  } else if (isObject(uses)) {
    config = uses;
  } else if (uses !== undefined && uses !== null) {
    throw invalid(where, 'expected a class name, a file name or a configuration');
  }
  const own = createOptionReader(config, where);
  if (isObject(uses) || (typeof uses === 'string' && isFile(uses))) name = own.text('jtype') ?? 'BaseExecutor';
  const metas = own.record('metas') ?? {};
  const inMetas = createOptionReader(metas, own.at('metas'));
  return {
    uses: name,
    options: { ...own.record('with'), ...reader.record('uses_with') },
    metas: { ...metas, ...reader.record('uses_metas') },
    requests: bindings({ ...own.record('requests'), ...reader.record('uses_requests') }),
    batching: readBatching(
      { ...own.record('dynamic_batching'), ...reader.record('uses_dynamic_batching') },
      reader.at('uses_dynamic_batching'),
    ),
    modules: [...modulesOf(own, baseDir), ...modulesOf(inMetas, baseDir), ...modulesOf(reader, place.baseDir ?? '')],
  };
}

const modulesOf = (reader: OptionReader, baseDir: string): string[] =>
  [...(reader.texts('modules') ?? []), ...(reader.texts('py_modules') ?? [])].map((file) =>
    path.resolve(baseDir, file),
  );

const bindings = (given: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([endpoint, method]) => [endpoint, String(method)]));

/** Splits `host:port` and `grpc://host:port`. */
function splitHost(host: string): { host: string; port?: number } {
  const bare = host.replace(/^[a-z]+:\/\//i, '').replace(/\/+$/, '');
  const port = /:(\d{1,5})$/.exec(bare);
  if (!port || (bare.includes(':', bare.indexOf(':') + 1) && !bare.includes(']'))) return { host: bare };
  return { host: bare.slice(0, port.index), port: Number(port[1]) };
}

/** Each host or port is one replica. A single host is combined with every port, a single port with every host. */
function readAddresses(reader: OptionReader): ExternalAddress[] {
  const hosts = (reader.texts('host') ?? ['localhost'])
    .flatMap((host) => host.split(','))
    .map((host) => splitHost(host.trim()));
  const ports = (reader.texts('port') ?? []).flatMap((port) => port.split(',')).map(Number);
  const count = Math.max(hosts.length, ports.length);
  if ((hosts.length > 1 && ports.length > 1 && hosts.length !== ports.length) || ports.some((port) => !(port > 0))) {
    throw invalid(reader.at('port'), `${hosts.length} hosts do not match ${ports.length} ports`);
  }
  return Array.from({ length: count }, (_, at) => {
    const { host, port = ports[ports.length === 1 ? 0 : at] } = hosts[hosts.length === 1 ? 0 : at]!;
    if (port === undefined) throw invalid(reader.at('port'), `the external executor at ${host} needs a port`);
    return { host, port };
  });
}

const usesTls = (reader: OptionReader): boolean =>
  reader.flag('tls') ?? /^(?:grpcs|https|wss):\/\//i.test((reader.texts('host') ?? [])[0] ?? '');

const COMPRESSIONS = { nocompression: 'none', none: 'none', deflate: 'deflate', gzip: 'gzip' } as const;

function readCompression(reader: OptionReader): 'none' | 'deflate' | 'gzip' {
  const given = (reader.text('compression') ?? 'none').toLowerCase();
  if (!Object.hasOwn(COMPRESSIONS, given))
    throw invalid(reader.at('compression'), 'expected NoCompression, Deflate or Gzip');
  return COMPRESSIONS[given as keyof typeof COMPRESSIONS];
}

const FOREVER = -1;

function readTimeoutReady(reader: OptionReader): number {
  const given = reader.integer('timeout_ready', FOREVER);
  return given ?? 600_000;
}

/** Default memory limit of an executor's process. */
export const MAX_MEMORY_BYTES = 2 ** 31;
/** Node itself takes some 50 MB. */
const LEAST_MEMORY_BYTES = 2 ** 27;

function readMaxMemory(reader: OptionReader): number {
  const given = reader.integer('max_memory_bytes') ?? MAX_MEMORY_BYTES;
  if (given > 0 && given < LEAST_MEMORY_BYTES) {
    throw invalid(
      reader.at('max_memory_bytes'),
      `expected a whole number of at least ${LEAST_MEMORY_BYTES}, or 0 for no limit`,
    );
  }
  return given;
}

/** Throws a ParamValidationError that names the option. */
export function readDeployment(reader: OptionReader, place: DeploymentPlace): DeploymentDefinition {
  const external = reader.flag('external') ? readAddresses(reader) : undefined;
  const shards = reader.integer('shards', 1) ?? 1;
  const reduce = !reader.flag('no_reduce');
  if (external && !reduce && place.needs.length > 1) {
    throw invalid(
      reader.at('no_reduce'),
      `the external executor ${place.name} needs its inputs reduced to one request`,
    );
  }
  const timeoutSendMs = reader.integer('timeout_send', FOREVER);
  const when = reader.record('when');
  const workspace = reader.text('workspace');
  const side = (key: string) => {
    const uses = reader.of(key);
    return uses === undefined || shards === 1
      ? undefined
      : readSource(uses, createOptionReader({}, reader.at(key)), place);
  };
  return {
    name: place.name,
    needs: place.needs,
    source: readSource(reader.of('uses'), reader, place),
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
    grpcMetadata: reader.textRecord('grpc_metadata') ?? {},
    compression: readCompression(reader),
    env: reader.textRecord('env') ?? {},
    workspace: workspace && path.resolve(place.baseDir ?? '', workspace),
    timeoutReadyMs: readTimeoutReady(reader),
    timeoutSendMs: timeoutSendMs === FOREVER ? undefined : timeoutSendMs,
    retries: reader.integer('retries', FOREVER) ?? FOREVER,
    retryTimeouts: reader.flag('retry_timeouts') ?? false,
    exitOnExceptions: reader.texts('exit_on_exceptions') ?? [],
    outputArrayType: reader.choice('output_array_type', ['list', 'numpy']),
    ownProcess: reader.flag('own_process'),
    maxMemoryBytes: readMaxMemory(reader),
    port: external ? undefined : reader.integer('port'),
    rest: place.rest,
  };
}
