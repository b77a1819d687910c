/**
 * Manages the process of a model from the server's side: start, requests, end. A crash (a damaged file, too much
 * memory) only affects this process: its requests fail, and the next request starts it again.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { unlessAborted } from '#concurrency/deadline.ts';
import { childEnvironment } from '#concurrency/environment.ts';
import { residentBytes as residentBytesOf } from '#concurrency/resident.ts';
import { Problem, problem } from '#errors.ts';
import { RUNTIME_MISSING } from '#onnx-runtime.ts';
import type { Ask, Letter, LoadedModel, ModelSpec, Reply } from './messages.ts';

export interface ModelProcess {
  /** Starts the process and opens the model. Concurrent calls share one start. */
  load(signal?: AbortSignal): Promise<LoadedModel>;
  /**
   * Loads the model if necessary. Throws DownstreamServiceFailureError (the model cannot be loaded),
   * DownstreamServiceError (it failed on this input), ServiceNodeResourceDrainError (its process ended),
   * ServiceTimeoutError, or the reason of the signal.
   */
  ask(ask: Exclude<Ask, { do: 'load' }>, signal?: AbortSignal): Promise<unknown>;
  /** Ends the process after its pending requests. */
  unload(): Promise<void>;
  close(): Promise<void>;
  readonly loaded: boolean;
  readonly pid: number | undefined;
  /** Memory of the process, as last measured; 0 without a process or if the system does not report it. */
  readonly residentBytes: number;
}

export interface ModelLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface ModelProcessOptions {
  readonly id: string;
  readonly spec: () => Promise<ModelSpec>;
  /** Memory limit in bytes; the process is killed above it. */
  readonly maxBytes: number;
  /** Timeout of a request, including its wait in the process. */
  readonly timeoutMs: number;
  readonly loadTimeoutMs: number;
  readonly log: ModelLog;
}

const PROGRAM = new URL(`./process.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
const TOO_MUCH_MEMORY = 'The model exceeds its memory limit';
const WATCH_MS = 250;

interface Waiter {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Running {
  readonly child: ChildProcess;
  readonly waiting: Map<number, Waiter>;
  readonly ended: Promise<void>;
  /** Failure of the pending requests when the process ends. */
  reason: (() => Problem) | undefined;
  loaded: LoadedModel | undefined;
}

export const drained = (cause?: unknown): Problem =>
  problem(
    'ServiceNodeResourceDrainError',
    { message: 'The model process stopped and is being restarted, try again', retryAfter: 1 },
    cause,
  );

export function createModelProcess(options: ModelProcessOptions): ModelProcess {
  const { id, maxBytes, timeoutMs, loadTimeoutMs, log } = options;
  let running: Running | undefined;
  let starting: Promise<Running> | undefined;
  let count = 0;
  let closed = false;
  let residentBytes = 0;
  const asked = new Set<Promise<unknown>>();
  const processes = new Set<Running>();

  function start(): Running {
    // From sources (tests, development) the child process needs the TypeScript loader.
    const loader = PROGRAM.pathname.endsWith('.ts') ? ['--conditions=source', '--import', 'tsx'] : [];
    const child = fork(PROGRAM, [], {
      execArgv: loader,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: childEnvironment(),
    });
    const waiting = new Map<number, Waiter>();
    let finish = () => {};
    const ended = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const made: Running = { child, waiting, ended, reason: undefined, loaded: undefined };
    processes.add(made);
    const watch = setInterval(() => void watchMemory(made), WATCH_MS).unref();
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      clearInterval(watch);
      processes.delete(made);
      if (running === made) {
        running = undefined;
        residentBytes = 0;
      }
      const reason = made.reason ?? (() => drained(new Error(`the process ended: ${signal ?? code}`)));
      if (!made.reason) log.warn({ model: id, code, signal }, 'model process ended unexpectedly');
      for (const waiter of waiting.values()) waiter.reject(reason());
      waiting.clear();
      finish();
    };
    child.once('exit', end);
    child.once('error', () => {
      if (child.pid === undefined) end(null, null);
      else child.kill('SIGKILL');
    });
    child.on('message', (reply: Reply) => {
      const waiter = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (waiting.size === 0) unrefChild(made);
      if ('failure' in reply) waiter?.reject(new Error(reply.failure));
      else waiter?.resolve(reply.result);
    });
    unrefChild(made);
    return made;
  }

  async function watchMemory(made: Running): Promise<void> {
    const bytes = await residentBytesOf(made.child.pid);
    if (processes.has(made)) residentBytes = bytes;
    if (bytes <= maxBytes || made.reason) return;
    log.warn({ model: id, bytes, maxBytes }, 'model process exceeds its memory limit and is killed');
    end(made, () => problem('ServiceNodeResourceDrainError', { message: TOO_MUCH_MEMORY, retryAfter: 1 }));
  }

  function end(made: Running, reason: () => Problem): void {
    made.reason ??= reason;
    made.child.kill('SIGKILL');
  }

  /** Sends a message and waits for its answer. On a timeout the process is killed, with all its requests. */
  function send(made: Running, ask: Ask, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const letter: Letter = { id: ++count, ask };
      const timer = setTimeout(() => {
        made.waiting.delete(letter.id);
        reject(problem('ServiceTimeoutError', { message: `The model did not answer within ${limitMs / 1000} s` }));
        end(made, drained);
      }, limitMs);
      made.waiting.set(letter.id, {
        resolve: (result) => {
          clearTimeout(timer);
          resolve(result);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      made.child.ref();
      made.child.channel?.ref();
      made.child.send(letter, (error) => {
        if (error) end(made, drained);
      });
    });
  }

  async function open(): Promise<Running> {
    const spec = await options.spec().catch((error: unknown) => {
      throw unloadable(id, error);
    });
    if (closed) throw drained();
    const since = performance.now();
    const made = start();
    try {
      made.loaded = (await send(made, { do: 'load', spec }, loadTimeoutMs)) as LoadedModel;
    } catch (error) {
      end(made, drained);
      if (closed) throw drained(error);
      throw unloadable(id, error);
    }
    await watchMemory(made);
    if (made.reason) throw unloadable(id, made.reason());
    running = made;
    log.info({ model: id, ms: Math.round(performance.now() - since), bytes: residentBytes }, 'loaded a model');
    return made;
  }

  function opened(): Promise<Running> {
    if (running && !running.reason) return Promise.resolve(running);
    starting ??= open().finally(() => {
      starting = undefined;
    });
    return starting;
  }

  const orAborted = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> => {
    if (!signal) return work;
    work.catch(() => {});
    return unlessAborted(signal, work);
  };

  async function stop(made: Running): Promise<void> {
    // The event loop must not end before the process has.
    made.child.ref();
    end(made, drained);
    await made.ended;
  }

  async function answer(ask: Ask, signal: AbortSignal | undefined): Promise<unknown> {
    const made = await orAborted(signal, opened());
    try {
      return await orAborted(signal, send(made, ask, timeoutMs));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof Problem) throw error;
      log.warn({ model: id, reason: reasonOf(error) }, 'model failed on an input');
      throw problem('DownstreamServiceError', { message: `The model ${id} failed on this input` }, error);
    }
  }

  return {
    async load(signal) {
      return (await orAborted(signal, opened())).loaded!;
    },
    async ask(ask, signal) {
      signal?.throwIfAborted();
      const work = answer(ask, signal);
      asked.add(work);
      try {
        return await work;
      } finally {
        asked.delete(work);
      }
    },
    async unload() {
      await starting?.catch(() => {});
      const made = running;
      // New requests start a new process.
      running = undefined;
      residentBytes = 0;
      await Promise.allSettled(asked);
      if (made) await stop(made);
    },
    async close() {
      closed = true;
      await Promise.all(Array.from(processes, stop));
      await starting?.catch(() => {});
    },
    get loaded() {
      return running !== undefined && !running.reason;
    },
    get pid() {
      return running?.child.pid;
    },
    get residentBytes() {
      return residentBytes;
    },
  };
}

/** An idle process must not keep the server alive. */
function unrefChild({ child }: Running): void {
  child.unref();
  child.channel?.unref();
}

/** As text, because the log shows custom errors as empty objects. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? (error.cause ?? error) : error;
  return reason instanceof Error ? reason.message : String(reason);
}

/**
 * Errors of the hub and timeouts are passed on. If the process crashed while loading, its files are the likely cause.
 */
function unloadable(id: string, error: unknown): Problem {
  if (error instanceof Problem && ['ServiceTimeoutError', 'DownstreamServiceFailureError'].includes(error.name))
    return error;
  return problem('DownstreamServiceFailureError', { message: whyUnloadable(id, error) }, error);
}

function whyUnloadable(id: string, error: unknown): string {
  const { message = '' } = error as Error;
  if (message === RUNTIME_MISSING)
    return `The model ${id} needs the package onnxruntime-node: install it with \`npm install onnxruntime-node\``;
  if (message === TOO_MUCH_MEMORY) return `The model ${id} exceeds its memory limit`;
  return `The model ${id} cannot be loaded: its files are damaged or not supported`;
}
