/**
 * Runs an executor in its own process, as a worker of a deployment. If the process dies, only its running calls fail.
 */
import type { Log } from '#telemetry/log.ts';
import type { ExecutorDeployment, ExecutorSource } from '../definition/definition.ts';
import type { FlowObserver } from '../observer.ts';
import type { ExecutorPosition } from '../runtime/open-executor.ts';
import { OWN_PROCESS, type Worker, WorkerUnavailableError } from '../runtime/worker.ts';
import { failedRequest } from '../status.ts';
import { createCalls } from './calls.ts';
import { ExecutorClassMissingError } from './replica.ts';
import { createSupervisor } from './supervisor.ts';

export { ExecutorClassMissingError };

export interface ProcessWorkerOptions {
  readonly deployment: ExecutorDeployment;
  readonly source: ExecutorSource;
  readonly position: ExecutorPosition;
  readonly maxMemoryBytes: number;
  readonly stacks: boolean;
  readonly log?: Log | undefined;
  readonly observe?: FlowObserver | undefined;
  /** Aborted when the executor is no longer needed; a process that is starting is killed. */
  readonly signal: AbortSignal;
}

/**
 * Rejects with an ExecutorClassMissingError when no module exports the class, and with the executor's error when it
 * cannot start.
 */
export async function openProcessWorker(options: ProcessWorkerOptions): Promise<Worker> {
  const { observe } = options;
  const { name } = options.position;
  const calls = createCalls({
    name,
    deployment: options.deployment.name,
    observe,
    onClosed: () => supervisor.markClosed(),
  });
  const supervisor = createSupervisor(options, calls);
  await supervisor.start();
  let closing: Promise<void> | undefined;

  return {
    address: OWN_PROCESS,
    endpoints: supervisor.endpoints,
    isUnavailable: () => !supervisor.isRunning(),
    async process(call) {
      const replica = await supervisor.runningReplica();
      try {
        return await calls.send(replica, call);
      } catch (error) {
        if (error instanceof WorkerUnavailableError) throw error;
        return failedRequest(call.requests, error, replica.type, options.stacks);
      }
    },
    async ping(signal) {
      await calls.ping(await supervisor.runningReplica(), signal);
    },
    close() {
      closing ??= supervisor.close();
      return closing;
    },
  };
}
