/**
 * Manages a model's process from the server's side: start, requests, shutdown. A crash (caused by a damaged file or too
 * much memory) affects only this process: its requests fail, and the next request starts it again.
 */
import { unlessAborted } from '#concurrency/deadline.ts';
import { Problem, problem } from '#errors.ts';
import type { LoadedModel, ModelRequest, ModelSpec } from './messages.ts';
import { drained, type ModelChild, type ModelLog, startModelChild, TOO_MUCH_MEMORY } from './model-child.ts';

export interface ModelProcess {
  /** Starts the process and opens the model. Concurrent calls share one start. */
  load(signal?: AbortSignal): Promise<LoadedModel>;
  /**
   * Loads the model if necessary. Throws DownstreamServiceFailureError (the model cannot be loaded),
   * DownstreamServiceError (the model failed on this input), ServiceNodeResourceDrainError (its process ended),
   * ServiceTimeoutError, or the signal's reason.
   */
  request(request: Exclude<ModelRequest, { do: 'load' }>, signal?: AbortSignal): Promise<unknown>;
  /** Ends the process once its pending requests are done. */
  unload(): Promise<void>;
  close(): Promise<void>;
  readonly loaded: boolean;
  readonly pid: number | undefined;
  /** Memory of the process when last measured; 0 without a process or if the system does not report it. */
  readonly residentBytes: number;
}

export interface ModelProcessOptions {
  readonly id: string;
  readonly spec: () => Promise<ModelSpec>;
  /** Maximum memory in bytes. A process that exceeds it is killed. */
  readonly maxBytes: number;
  /** Timeout of a request, including the time it is queued in the process. */
  readonly timeoutMs: number;
  readonly loadTimeoutMs: number;
  readonly log: ModelLog;
}

interface LoadedChild {
  readonly child: ModelChild;
  readonly model: LoadedModel;
}

export function createModelProcess(options: ModelProcessOptions): ModelProcess {
  const { id, maxBytes, timeoutMs, loadTimeoutMs, log } = options;
  let loaded: LoadedChild | undefined;
  let loading: Promise<LoadedChild> | undefined;
  let closed = false;
  let residentBytes = 0;
  const requests = new Set<Promise<unknown>>();
  const children = new Set<ModelChild>();

  function start(): ModelChild {
    const child = startModelChild({
      id,
      maxBytes,
      log,
      onMemory(bytes) {
        residentBytes = bytes;
      },
      onEnd() {
        children.delete(child);
        if (loaded?.child !== child) return;
        loaded = undefined;
        residentBytes = 0;
      },
    });
    children.add(child);
    return child;
  }

  async function load(): Promise<LoadedChild> {
    const spec = await options.spec().catch((error: unknown) => {
      throw unloadable(id, error);
    });
    if (closed) throw drained();
    const since = performance.now();
    const child = start();
    const model = await openModel(child, spec, loadTimeoutMs).catch((error: unknown) => {
      throw closed ? drained(error) : unloadable(id, error);
    });
    await child.checkMemory();
    const failure = child.failure();
    if (failure) throw unloadable(id, failure);
    loaded = { child, model };
    log.info({ model: id, ms: Math.round(performance.now() - since), bytes: residentBytes }, 'loaded a model');
    return loaded;
  }

  function loadOnce(): Promise<LoadedChild> {
    if (loaded && !loaded.child.isEnding) return Promise.resolve(loaded);
    loading ??= load().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  async function answer(request: ModelRequest, signal: AbortSignal | undefined): Promise<unknown> {
    const { child } = await orAborted(signal, loadOnce());
    try {
      return await orAborted(signal, child.send(request, timeoutMs));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof Problem) throw error;
      log.warn({ model: id, reason: reasonOf(error) }, 'model failed on an input');
      throw problem('DownstreamServiceError', { message: `The model ${id} failed on this input` }, error);
    }
  }

  return {
    async load(signal) {
      return (await orAborted(signal, loadOnce())).model;
    },
    async request(request, signal) {
      signal?.throwIfAborted();
      const work = answer(request, signal);
      requests.add(work);
      try {
        return await work;
      } finally {
        requests.delete(work);
      }
    },
    async unload() {
      await loading?.catch(() => {});
      const unloaded = loaded?.child;
      // New requests start a new process.
      loaded = undefined;
      residentBytes = 0;
      await Promise.allSettled(requests);
      await unloaded?.stop();
    },
    async close() {
      closed = true;
      await Promise.all(Array.from(children, (child) => child.stop()));
      await loading?.catch(() => {});
    },
    get loaded() {
      return loaded !== undefined && !loaded.child.isEnding;
    },
    get pid() {
      return loaded?.child.pid;
    },
    get residentBytes() {
      return residentBytes;
    },
  };
}

/** Opens the model in a new process. Kills the process if that fails. */
async function openModel(child: ModelChild, spec: ModelSpec, timeoutMs: number): Promise<LoadedModel> {
  try {
    return (await child.send({ do: 'load', spec }, timeoutMs)) as LoadedModel;
  } catch (error) {
    child.kill();
    throw error;
  }
}

function orAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  work.catch(() => {});
  return unlessAborted(signal, work);
}

/** Converts the error to text, because the log shows custom errors as empty objects. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? (error.cause ?? error) : error;
  return reason instanceof Error ? reason.message : String(reason);
}

/**
 * Errors of the hub and timeouts are passed on unchanged. If the process crashed while loading, its files are the
 * likely cause.
 */
function unloadable(id: string, error: unknown): Problem {
  if (error instanceof Problem && ['ServiceTimeoutError', 'DownstreamServiceFailureError'].includes(error.name))
    return error;
  return problem('DownstreamServiceFailureError', { message: whyUnloadable(id, error) }, error);
}

function whyUnloadable(id: string, error: unknown): string {
  const { message = '' } = error as Error;
  if (message === TOO_MUCH_MEMORY) return `The model ${id} exceeds its memory limit`;
  return `The model ${id} cannot be loaded: its files are damaged or not supported`;
}
