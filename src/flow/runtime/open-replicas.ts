/** Starts the executors for some positions of a deployment, in this process or each in its own process. */
import type { Log } from '#telemetry/log.ts';
import type { DeploymentDefinition, ExecutorSource } from '../definition/definition.ts';
import type { ExecutorClass } from '../executor.ts';
import type { FlowObserver } from '../observer.ts';
import { ExecutorClassMissingError, openProcessWorker } from '../process/worker.ts';
import { type FlowTracing, rememberFacts, traceWorker } from '../telemetry/tracing.ts';
import { type ExecutorPosition, findBuiltInClass, importClass, openLocalExecutor } from './open-executor.ts';
import type { Worker } from './worker.ts';

export interface SourceTools {
  readonly executors: Readonly<Record<string, ExecutorClass>>;
  /** Whether executors from modules run in their own processes, unless their definition specifies otherwise. */
  readonly ownProcesses?: boolean | undefined;
  readonly log?: Log | undefined;
  readonly observe?: FlowObserver | undefined;
  readonly tracing?: FlowTracing | undefined;
  readonly stacks: boolean;
}

export interface OpenOptions {
  /** Number of times the deployment was reloaded. */
  readonly version: number;
  /** Aborted when the executors are no longer needed. */
  readonly signal: AbortSignal;
}

type Started = PromiseSettledResult<Worker>[];

/** One worker or failure for each position. Throws an Error when the class is not found. */
export async function openReplicas(
  definition: DeploymentDefinition,
  source: ExecutorSource,
  positions: readonly ExecutorPosition[],
  tools: SourceTools,
  options: OpenOptions,
): Promise<Started> {
  const { tracing } = tools;
  if (!tracing || !definition.traces) return openWorkers(definition, source, positions, tools, options);
  const facts = rememberFacts(tools.observe);
  const started = await openWorkers(definition, source, positions, { ...tools, observe: facts.observe }, options);
  return started.map((one, at) => {
    const tracer = tracing.tracerOf(positions[at]!.name, definition);
    return one.status === 'fulfilled' && tracer ? { ...one, value: traceWorker(one.value, tracer, facts) } : one;
  });
}

async function openWorkers(
  definition: DeploymentDefinition,
  source: ExecutorSource,
  positions: readonly ExecutorPosition[],
  tools: SourceTools,
  { version, signal }: OpenOptions,
): Promise<Started> {
  if (definition.ownProcess && typeof source.uses !== 'string') {
    throw new Error(
      'own_process needs an executor from a module: a class of this program cannot run in another process',
    );
  }
  const locally = async (type: ExecutorClass): Promise<Started> =>
    Promise.allSettled(positions.map((position) => openLocalExecutor(definition, source, type, position, tools)));
  const isFromModule = typeof source.uses === 'string' && source.modules.length > 0;
  if (!isFromModule || !(definition.ownProcess ?? tools.ownProcesses)) {
    return locally((await importClass(source, version)) ?? findBuiltInClass(source, tools.executors));
  }
  const { maxMemoryBytes } = definition;
  const { stacks, log, observe } = tools;
  const shared = { deployment: definition, source, maxMemoryBytes, stacks, log, observe, signal };
  const started = await Promise.allSettled(positions.map((position) => openProcessWorker({ ...shared, position })));
  const isClassMissing = started.some(
    (one) => one.status === 'rejected' && one.reason instanceof ExecutorClassMissingError,
  );
  return isClassMissing ? locally(findBuiltInClass(source, tools.executors)) : started;
}
