/** Applies changed files to a running flow or executor (the `reload` option). */
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '#telemetry/log.ts';
import type {
  DeploymentDefinition,
  ExecutorSource,
  FlowDefinition,
  GatewayOptions,
  OperationOptions,
} from '../definition/definition.ts';
import type { ReloadableFlow } from './reloadable-flow.ts';
import { type FileWatcher, watchFiles } from './watch-files.ts';

/** Reloads the definition. Throws an error if it is invalid. */
export type Load<Definition> = () => Definition;

const NO_WATCHER: FileWatcher = { close() {} };

const sourcesOf = ({ source, before, after }: DeploymentDefinition): ExecutorSource[] =>
  [source, before, after].filter((one) => one !== undefined);
const modulesOf = (deployment: DeploymentDefinition): string[] =>
  sourcesOf(deployment).flatMap(({ modules }) => modules);
const configurationsOf = (deployment: DeploymentDefinition): string[] =>
  sourcesOf(deployment).flatMap(({ file }) => (file === undefined ? [] : [file]));

/** The options that are read only once, when the program starts. */
const operationOf = ({ monitoring, portMonitoring, traces, metrics }: OperationOptions) => ({
  ...{ monitoring, portMonitoring },
  ...{ traces, metrics },
});

/** Changed options that need a restart: all of the gateway, and the metrics and traces of executors. */
function fixedOptionsThatDiffer(one: FlowDefinition, other: FlowDefinition): string[] {
  const keys = Object.keys(one.gateway) as (keyof GatewayOptions)[];
  const ofGateway = keys.filter((key) => !isDeepStrictEqual(one.gateway[key], other.gateway[key]));
  const ofExecutors = other.deployments.flatMap((deployment) => {
    const before = one.deployments.find(({ name }) => name === deployment.name);
    const isSame = !before || isDeepStrictEqual(operationOf(before), operationOf(deployment));
    return isSame ? [] : [`metrics and traces of ${deployment.name}`];
  });
  return [...ofGateway, ...ofExecutors];
}

interface ReloadFlowOptions {
  readonly flow: ReloadableFlow;
  /** `undefined` for a flow that is not from a file. */
  readonly load: Load<FlowDefinition> | undefined;
  readonly log: Log | undefined;
  readonly intervalMs?: number | undefined;
}

/**
 * Watches the files of a flow whose `reload` option is on. A change to the flow file or to an executor's configuration
 * file replaces the flow; a change to a module rebuilds its executors. If this fails, the error is logged and the old
 * flow stays in use.
 */
export async function reloadFlowOnChange({ flow, load, log, intervalMs }: ReloadFlowOptions): Promise<FileWatcher> {
  const watched = () => flow.definition.deployments.filter(({ reload }) => reload);
  const configurations = (): string[] => {
    const { file, gateway } = flow.definition;
    const own = gateway.reload && file !== undefined ? [file] : [];
    return load ? [...own, ...watched().flatMap(configurationsOf)] : [];
  };
  const files = (): string[] => [...configurations(), ...watched().flatMap(modulesOf)];
  if (!flow.definition.gateway.reload && watched().length === 0) return NO_WATCHER;

  async function replace(): Promise<void> {
    const before = flow.definition;
    const definition = load!();
    await flow.replace(definition);
    const fixed = fixedOptionsThatDiffer(before, definition);
    if (fixed.length > 0) log?.warn(`Restart the flow to apply changes of: ${fixed.join(', ')}`);
  }

  async function rebuild(changed: readonly string[]): Promise<void> {
    const affected = watched().filter((one) => modulesOf(one).some((file) => changed.includes(file)));
    const routes = await flow.reload(affected.map(({ name }) => `${name}$`));
    const failure = routes.find(({ status }) => status);
    if (failure) throw new Error(`${failure.executor}: ${failure.status!.description}`);
  }

  async function apply(changed: readonly string[]): Promise<void> {
    const names = changed.map((file) => path.basename(file)).join(', ');
    try {
      if (configurations().some((file) => changed.includes(file))) await replace();
      else await rebuild(changed);
      log?.info({ files: names }, 'the flow was reloaded');
    } catch (error) {
      log?.error(
        { files: names, reason: (error as Error).message },
        'the flow could not be reloaded; the old one stays',
      );
    }
  }

  return watchFiles(files, apply, intervalMs);
}

interface ReloadExecutorOptions {
  readonly current: () => DeploymentDefinition;
  readonly load: Load<DeploymentDefinition> | undefined;
  /** Rebuilds the executors, from the new definition if there is one. */
  readonly rebuild: (definition: DeploymentDefinition | undefined) => Promise<void>;
  readonly log: Log | undefined;
  readonly intervalMs?: number | undefined;
}

/** Like `reloadFlowOnChange`, for an executor that is served on its own. */
export async function reloadExecutorOnChange(options: ReloadExecutorOptions): Promise<FileWatcher> {
  const { current, load, rebuild, log, intervalMs } = options;
  if (!current().reload) return NO_WATCHER;
  const configurations = (): string[] => (load ? configurationsOf(current()) : []);

  async function apply(changed: readonly string[]): Promise<void> {
    const names = changed.map((file) => path.basename(file)).join(', ');
    try {
      await rebuild(configurations().some((file) => changed.includes(file)) ? load!() : undefined);
      log?.info({ files: names }, 'the executor was reloaded');
    } catch (error) {
      const reason = (error as Error).message;
      log?.error({ files: names, reason }, 'the executor could not be reloaded; the old one stays');
    }
  }

  return watchFiles(() => [...configurations(), ...modulesOf(current())], apply, intervalMs);
}
