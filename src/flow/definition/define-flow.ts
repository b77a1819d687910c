/**
 * Builds a flow definition in code. Definitions from files use the same rules for names, dependencies and defaults.
 *
 *     const definition = defineFlow({ protocol: 'http', port: 8080 })
 *       .add({ name: 'chunker', uses: Chunker })
 *       .add({ name: 'encoder', uses: Encoder, replicas: 2 })
 *       .definition();
 */
import type { ExecutorClass } from '../executor.ts';
import { type DeploymentDefinition, END, type FlowDefinition, START } from './definition.ts';
import { readDeployment, readWorkspace } from './deployment-options.ts';
import { readGateway } from './gateway-options.ts';
import { EXECUTOR_OPTIONS, FLOW_OPTIONS, INHERITED_OPTIONS } from './option-table.ts';
import {
  createOptionReader,
  exportedOptions,
  invalidOption,
  normalizeOptions,
  type OptionReport,
  type Options,
  reportMistake,
} from './options.ts';

/** An executor: a class, a class name or file name, or an inline configuration. */
export type Uses = string | ExecutorClass | Options;

/** Options of one executor. All options of flow files are accepted, in camelCase or snake_case. */
export interface AddOptions {
  name?: string;
  uses?: Uses;
  usesWith?: Record<string, unknown>;
  usesMetas?: Record<string, unknown>;
  usesRequests?: Record<string, string>;
  usesDynamicBatching?: Record<string, { preferredBatchSize: number; timeout: number }>;
  modules?: string | string[];
  needs?: string | string[];
  replicas?: number;
  shards?: number;
  polling?: string | Record<string, string>;
  usesBefore?: Uses;
  usesAfter?: Uses;
  when?: Record<string, unknown>;
  floating?: boolean;
  external?: boolean;
  host?: string | string[];
  port?: number | number[];
  tls?: boolean;
  grpcMetadata?: Record<string, string>;
  noReduce?: boolean;
  env?: Record<string, string>;
  workspace?: string;
  /** Milliseconds. */
  timeoutReady?: number;
  /** Milliseconds. */
  timeoutSend?: number;
  retries?: number;
  retryTimeouts?: boolean;
  exitOnExceptions?: string[];
  outputArrayType?: 'list' | 'numpy';
  /** Whether an executor from `modules` runs in its own process. */
  ownProcess?: boolean;
  /** Memory limit of the executor's own process, in bytes; 0 for no limit. */
  maxMemoryBytes?: number;
  [option: string]: unknown;
}

/** Reads the configuration file of an executor. */
export type ReadExecutorFile = (file: string) => Options;

export interface DefineTools {
  /** Base folder for relative paths. */
  readonly baseDir?: string;
  readonly readExecutor?: ReadExecutorFile;
  /** Unknown options and duplicate names are warnings instead of errors. */
  readonly lenient?: boolean | undefined;
}

export interface FlowBuilder {
  /** Adds an executor after its `needs`, by default after the last one that is not floating. */
  add(options?: AddOptions): FlowBuilder;
  /** Joins at least two branches. */
  needs(names: readonly string[], options?: AddOptions): FlowBuilder;
  /** Joins every branch that ends here. */
  needsAll(options?: AddOptions): FlowBuilder;
  /** Adds a side branch whose results are not used. */
  inspect(options?: AddOptions): FlowBuilder;
  definition(): FlowDefinition;
}

const IDENTIFIER = /^[A-Za-z_]\w*$/;
const RESERVED = ['gateway', START, END];

export function defineFlow(given: Options = {}, tools: DefineTools = {}): FlowBuilder {
  const warnings: string[] = [];
  const report: OptionReport = { warnings, lenient: tools.lenient ?? false };
  const options = normalizeOptions(given, FLOW_OPTIONS, { path: 'with', owner: 'the flow' }, report);
  const reader = createOptionReader(options, 'with');
  const gateway = readGateway(reader, report);
  const inherited = Object.fromEntries(
    INHERITED_OPTIONS.flatMap((key) => (key in options ? [[key, options[key]]] : [])),
  );
  const inspects = reader.choice('inspect', ['COLLECT', 'REMOVE', 'HANG']) !== 'REMOVE';
  const deployments: DeploymentDefinition[] = [];
  let last = START;

  function resolveName(wanted: unknown, where: string): string {
    const count = deployments.length;
    const base = wanted === undefined || wanted === null || wanted === '' ? `executor${count}` : String(wanted);
    if (!IDENTIFIER.test(base)) {
      throw invalidOption(
        `${where}.name`,
        `${base} is not a valid name: use letters, digits and underscores, no digit first`,
      );
    }
    if (RESERVED.includes(base)) throw invalidOption(`${where}.name`, `${base} is a reserved name`);
    if (!deployments.some(({ name }) => name === base)) return base;
    const changed = `${base}${count}`;
    reportMistake(report, `${where}.name`, `there are two executors \`${base}\``, `this one is called ${changed}`);
    return changed;
  }

  function resolveNeeds(needs: unknown, name: string, where: string): string[] {
    if (needs === undefined || needs === null || (Array.isArray(needs) && needs.length === 0)) return [last];
    const names = [...new Set((Array.isArray(needs) ? needs : [needs]).map(String))];
    return names.map((need) => {
      if (need === 'gateway' || need === START) return START;
      if (need === name) throw invalidOption(`${where}.needs`, `FlowTopologyError: ${name} cannot need itself`);
      if (deployments.some((one) => one.name === need)) return need;
      throw invalidOption(`${where}.needs`, `${name} needs ${need}, which is not defined before it`);
    });
  }

  function append(raw: AddOptions, { needs, floating }: { needs?: readonly string[]; floating?: boolean } = {}): void {
    const where = `executors[${deployments.length}]`;
    const owner = `executor \`${String(raw.name ?? `executor${deployments.length}`)}\``;
    const own = normalizeOptions(raw, EXECUTOR_OPTIONS, { path: where, owner }, report);
    const parallel = readParallel(raw, own);
    const name = resolveName(own.name, where);
    const merged: Options = { ...inherited, ...own, ...parallel };
    if (own.env && inherited.env) merged.env = { ...(inherited.env as Options), ...(own.env as Options) };
    const read = readDeployment(createOptionReader(merged, where), {
      name,
      needs: resolveNeeds(needs ?? own.needs, name, where),
      baseDir: tools.baseDir,
      readExecutor: tools.readExecutor,
      rest: exportedOptions(merged, EXECUTOR_OPTIONS),
      report,
    });
    const definition = floating === undefined ? read : { ...read, floating };
    deployments.push(definition);
    if (!definition.floating) last = name;
  }

  const builder: FlowBuilder = {
    add(one = {}) {
      append(one);
      return builder;
    },
    needs(names, one = {}) {
      if (new Set(names).size < 2) throw invalidOption('needs', 'a join needs at least two names');
      append(one, { needs: names });
      return builder;
    },
    needsAll(one = {}) {
      const followed = new Set(deployments.flatMap(({ needs }) => needs));
      const hanging = deployments.filter(({ name, floating }) => !floating && !followed.has(name));
      append(one, { needs: hanging.map(({ name }) => name) });
      return builder;
    },
    inspect(one = {}) {
      if (inspects) append(one, { floating: true });
      return builder;
    },
    definition() {
      return {
        name: reader.string('name') ?? 'flow',
        gateway,
        deployments: [...deployments],
        workspace: readWorkspace(reader, tools.baseDir),
        env: reader.stringRecord('env') ?? {},
        headers: (reader.strings('headers') ?? []).map((header) => header.toLowerCase()),
        rest: exportedOptions(options, FLOW_OPTIONS),
        warnings,
      };
    },
  };
  return builder;
}

/** `parallel` in older files: shards if `polling` is set, else replicas. */
function readParallel(raw: AddOptions, own: Options): Options {
  if (raw.parallel === undefined || raw.replicas !== undefined) return {};
  return own.polling === undefined ? {} : { shards: raw.parallel, replicas: 1 };
}
