/** From what a definition says to an executor that is ready: its class is found, built and started. */
import { mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Log } from '#telemetry/log.ts';
import type { DeploymentDefinition, ExecutorSource } from './definition.ts';
import { Executor, type ExecutorClass, type ExecutorContext } from './executor.ts';
import { BaseExecutor } from './executors/pass.ts';
import { createLocalWorker } from './local-worker.ts';
import type { FlowObserver } from './observer.ts';
import type { Worker } from './worker.ts';

export interface SourceTools {
  readonly executors: Readonly<Record<string, ExecutorClass>>;
  readonly log?: Log | undefined;
  readonly observe?: FlowObserver | undefined;
  readonly stacks: boolean;
}

const PASS_NAMES = ['BaseExecutor', '_pass', '_merge', 'executors.BaseExecutor'];

const isExecutorClass = (value: unknown): value is ExecutorClass =>
  typeof value === 'function' && value.prototype instanceof Executor;

/** `version` above 0 imports a changed file anew; what has not changed is not kept twice, since modules are never let go. */
async function importModule(file: string, version: number): Promise<Record<string, unknown>> {
  const address = pathToFileURL(file);
  if (version > 0) address.search = `v=${(await stat(file, { bigint: true })).mtimeNs}`;
  return import(address.href);
}

/** The class that `uses` names: a built-in one, or an export of the modules. Throws an Error that says what is missing. */
export async function findClass(
  { uses, modules }: ExecutorSource,
  executors: Readonly<Record<string, ExecutorClass>>,
  version = 0,
): Promise<ExecutorClass> {
  if (typeof uses !== 'string') return uses;
  for (const file of modules) {
    const exported = await importModule(file, version);
    const found = exported[uses] ?? Object.values(exported).find((one) => isExecutorClass(one) && one.name === uses);
    if (isExecutorClass(found)) return found;
    if (found !== undefined) throw new Error(`${uses} of ${path.basename(file)} does not extend Executor`);
  }
  if (PASS_NAMES.includes(uses)) return BaseExecutor;
  const known = Object.hasOwn(executors, uses) ? executors[uses] : undefined;
  if (known) return known;
  const where = modules.length ? ` in ${modules.map((file) => path.basename(file)).join(', ')}` : '';
  throw new Error(
    `there is no executor ${uses}${where}; ready-made are ${Object.keys(executors).join(', ') || 'none'}`,
  );
}

export interface Seat {
  /** `NAME/rep-0`, `NAME/shard-1/rep-0`. */
  readonly name: string;
  /** -1 without shards. */
  readonly shardId: number;
  readonly replica: number;
}

function createContext(
  definition: DeploymentDefinition,
  source: ExecutorSource,
  type: ExecutorClass,
  seat: Seat,
  log: Log | undefined,
): ExecutorContext {
  const metas: Record<string, unknown> = { name: type.name, ...source.metas };
  const base = typeof metas.workspace === 'string' ? metas.workspace : definition.workspace;
  let folder: string | undefined;
  return {
    name: seat.name,
    deployment: definition.name,
    shardId: seat.shardId,
    shards: definition.shards,
    replicas: definition.replicas,
    replica: seat.replica,
    metas,
    get workspace() {
      if (folder === undefined) {
        if (!base) throw new Error(`${definition.name} has no workspace: give the flow one`);
        folder = path.join(base, String(metas.name), ...(seat.shardId < 0 ? [] : [String(seat.shardId)]));
        mkdirSync(folder, { recursive: true });
      }
      return folder;
    },
    env: definition.env,
    log: log?.child({ executor: seat.name }),
  };
}

/** Built and started, in this process. */
export async function openLocal(
  definition: DeploymentDefinition,
  source: ExecutorSource,
  type: ExecutorClass,
  seat: Seat,
  { log, observe, stacks }: SourceTools,
): Promise<Worker> {
  const context = createContext(definition, source, type, seat, log);
  const executor = new type({ options: source.options, context });
  const worker = createLocalWorker({
    executor,
    requests: source.requests,
    batching: source.batching,
    exitOnExceptions: definition.exitOnExceptions,
    outputArrayType: definition.outputArrayType,
    stacks,
    observe,
  });
  try {
    await executor.start();
  } catch (error) {
    await worker.close().catch(() => {});
    throw error;
  }
  return worker;
}
