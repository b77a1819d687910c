/** Turns an executor source into a running executor: finds the class, creates it and starts it. */
import { mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ownValue } from '#own-value.ts';
import type { Log } from '#telemetry/log.ts';
import type { ExecutorDeployment, ExecutorSource } from '../definition/definition.ts';
import { Executor, type ExecutorClass, type ExecutorContext } from '../executor.ts';
import { BaseExecutor } from '../executors/base-executor.ts';
import type { FlowObserver } from '../observer.ts';
import { isBucketUrl } from '../workspace.ts';
import { openBucketWorkspace } from './bucket-workspace.ts';
import { createLocalWorker } from './local-worker.ts';
import type { Worker } from './worker.ts';

const BASE_EXECUTOR_NAMES = ['BaseExecutor', '_pass', '_merge', 'executors.BaseExecutor'];

const isExecutorClass = (value: unknown): value is ExecutorClass =>
  typeof value === 'function' && value.prototype instanceof Executor;

/**
 * With `version` above 0 a changed file is imported again. The URL contains its modification time, because Node never
 * unloads modules: an unchanged file must not be loaded twice.
 */
async function importModule(file: string, version: number): Promise<Record<string, unknown>> {
  const url = pathToFileURL(file);
  if (version > 0) url.search = `v=${(await stat(file, { bigint: true })).mtimeNs}`;
  try {
    return await import(url.href);
  } catch (error) {
    throw isTypeScriptImport(error) ? new Error(typeScriptMessage(path.basename(file)), { cause: error }) : error;
  }
}

const isTypeScriptImport = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_UNKNOWN_FILE_EXTENSION' &&
  /"\.[cm]?ts"/.test(String((error as Error).message));

const typeScriptMessage = (file: string): string =>
  `${file}: Node ${process.versions.node} does not run TypeScript. Use Node 22.18 or newer, or compile it to JavaScript`;

/**
 * The class that one of the modules exports as `uses`; `undefined` when none does. Throws an Error for a module that
 * cannot be loaded, or an export that does not extend Executor.
 */
export async function importClass({ uses, modules }: ExecutorSource, version = 0): Promise<ExecutorClass | undefined> {
  if (typeof uses !== 'string') return uses;
  for (const file of modules) {
    const exported = await importModule(file, version);
    const found =
      ownValue(exported, uses) ?? Object.values(exported).find((one) => isExecutorClass(one) && one.name === uses);
    if (isExecutorClass(found)) return found;
    if (found !== undefined) throw new Error(`${uses} of ${path.basename(file)} does not extend Executor`);
  }
  return undefined;
}

/** The built-in class named by `uses`. Throws an Error that lists the available names. */
export function findBuiltInClass(
  { uses, modules }: ExecutorSource,
  executors: Readonly<Record<string, ExecutorClass>>,
): ExecutorClass {
  if (typeof uses !== 'string') return uses;
  if (BASE_EXECUTOR_NAMES.includes(uses)) return BaseExecutor;
  const known = ownValue(executors, uses);
  if (known) return known;
  const where = modules.length ? ` in ${modules.map((file) => path.basename(file)).join(', ')}` : '';
  throw new Error(
    `there is no executor ${uses}${where}; built-in executors: ${Object.keys(executors).join(', ') || 'none'}`,
  );
}

/** Identifies one executor of a deployment. */
export interface ExecutorPosition {
  /** `NAME/rep-0`, or `NAME/shard-1/rep-0` with shards. */
  readonly name: string;
  /** -1 without shards. */
  readonly shardId: number;
  readonly replica: number;
}

/** The folder of an executor's data. */
interface Workspace {
  /** Throws an Error if there is none. */
  readonly folder: () => string;
  readonly save: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** Closes without saving, if the executor could not start. */
  readonly discard: () => void;
}

async function openWorkspace(
  deployment: ExecutorDeployment,
  metas: Readonly<Record<string, unknown>>,
  { shardId }: ExecutorPosition,
): Promise<Workspace> {
  const base = typeof metas.workspace === 'string' ? metas.workspace : deployment.workspace;
  const place = [String(metas.name), ...(shardId < 0 ? [] : [String(shardId)])];
  if (!base) return without(`${deployment.name} has no workspace: set the option workspace of the flow`);
  if (isBucketUrl(base)) {
    if (deployment.replicas > 1) return without(`${deployment.name}: a workspace in a bucket needs replicas: 1`);
    const bucket = await openBucketWorkspace(base, place, { ...process.env, ...deployment.env });
    return { ...bucket, folder: () => bucket.folder };
  }
  const folder = path.join(base, ...place);
  let isMade = false;
  return {
    folder() {
      if (!isMade) mkdirSync(folder, { recursive: true });
      isMade = true;
      return folder;
    },
    save: async () => {},
    close: async () => {},
    discard() {},
  };
}

function without(message: string): Workspace {
  const fail = () => {
    throw new Error(message);
  };
  return { folder: fail, save: async () => fail(), close: async () => {}, discard() {} };
}

function createContext(
  deployment: ExecutorDeployment,
  metas: Readonly<Record<string, unknown>>,
  position: ExecutorPosition,
  workspace: Workspace,
  log: Log | undefined,
): ExecutorContext {
  return {
    name: position.name,
    deployment: deployment.name,
    shardId: position.shardId,
    shards: deployment.shards,
    replicas: deployment.replicas,
    replica: position.replica,
    metas,
    get workspace() {
      return workspace.folder();
    },
    saveWorkspace: () => workspace.save(),
    env: deployment.env,
    log: log?.child({ executor: position.name }),
  };
}

export interface ExecutorTools {
  readonly log?: Log | undefined;
  readonly observe?: Pick<FlowObserver, 'processed'> | undefined;
  readonly stacks: boolean;
}

/** Creates and starts an executor in this process. */
export async function openLocalExecutor(
  deployment: ExecutorDeployment,
  source: ExecutorSource,
  type: ExecutorClass,
  position: ExecutorPosition,
  { log, observe, stacks }: ExecutorTools,
): Promise<Worker> {
  const metas: Record<string, unknown> = { name: type.name, ...source.metas };
  const workspace = await openWorkspace(deployment, metas, position);
  let worker: Worker | undefined;
  let started = false;
  try {
    const context = createContext(deployment, metas, position, workspace, log);
    const executor = new type({ options: source.options, context });
    worker = createLocalWorker({
      executor,
      requests: source.requests,
      batching: source.batching,
      exitOnExceptions: deployment.exitOnExceptions,
      outputArrayType: deployment.outputArrayType,
      closed: async () => (started ? workspace.close() : workspace.discard()),
      stacks,
      log,
      observe,
    });
    await executor.start();
    started = true;
    return worker;
  } catch (error) {
    if (worker) await worker.close().catch(() => {});
    else workspace.discard();
    throw error;
  }
}
