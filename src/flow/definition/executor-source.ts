/** Reads the location of an executor's class, and the options of the executor. */
import path from 'node:path';
import type { ExecutorClass } from '../executor.ts';
import { isObject } from '../values.ts';
import type { ReadExecutorFile } from './define-flow.ts';
import type { Batching, ExecutorSource } from './definition.ts';
import {
  checkKeys,
  createOptionReader,
  invalidOption,
  type OptionReader,
  type OptionReport,
  type Options,
} from './options.ts';

export interface SourceContext {
  /** Name of the executor. */
  readonly name: string;
  readonly baseDir: string | undefined;
  readonly readExecutor: ReadExecutorFile | undefined;
  readonly report: OptionReport;
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

/** Throws for Python executors and containers, which run as separate programs. */
function refuseForeign(what: string, where: string): void {
  if (PYTHON_FILE.test(what)) throw invalidOption(where, `${what}: Python executors do not run here: ${ELSEWHERE}`);
  if (/^[a-z][a-z+]*:\/\//i.test(what))
    throw invalidOption(where, `${what}: containers and hub executors are not supported: ${ELSEWHERE}`);
}

const SOURCE_KEYS = ['jtype', 'version', 'with', 'metas', 'requests', 'dynamic_batching', 'modules', 'py_modules'];

interface Configuration {
  readonly config: Options;
  /** The class; used if the configuration does not name one. */
  readonly type: string | ExecutorClass;
  readonly baseDir: string;
  readonly file?: string;
}

function readConfiguration(uses: unknown, where: string, context: SourceContext): Configuration {
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
  if (!readExecutor) throw invalidOption(where, `${uses}: executor files are only supported in flow files`);
  const file = path.resolve(baseDir, uses);
  const config = checked(readExecutor(file), uses);
  return { config, type: typeOf(config, where), baseDir: path.dirname(file), file };
}

const DEFAULT_TYPE = 'BaseExecutor';
const typeOf = (config: Options, where: string): string =>
  createOptionReader(config, where).string('jtype') ?? DEFAULT_TYPE;

/** Reads the location of the class and the options. Options of the flow override the executor's own configuration. */
export function readSource(uses: unknown, reader: OptionReader, context: SourceContext): ExecutorSource {
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

/** The source of an executor that runs elsewhere. */
export const NO_SOURCE: ExecutorSource = {
  uses: DEFAULT_TYPE,
  options: {},
  metas: {},
  requests: {},
  batching: {},
  modules: [],
};
