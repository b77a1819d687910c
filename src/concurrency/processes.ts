/**
 * Child processes for work on bytes that may be hostile. Unlike a thread, a process can be ended whatever it does, and
 * its end takes nothing else with it. A task that takes too long, or more memory than it may, is ended with its process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { unlessAborted } from './deadline.ts';
import { childEnvironment } from './environment.ts';
import { residentBytes } from './resident.ts';
import { createTaskQueue, type Load, TaskCrashedError, type TaskLimits, TaskTimeoutError } from './task-queue.ts';
import { defaultThreads } from './threads.ts';

export interface Processes<Task, Result> {
  /**
   * Throws TaskTimeUp, TaskCrashed (out of memory, or the process died), TooManyTasks (no process came free in time), the
   * signal's reason, or an Error with the message of what the task threw. The time limit runs from when a process takes
   * the task.
   */
  run(task: Task, limits: TaskLimits): Promise<Result>;
  /** Process numbers of those that are running. */
  pids(): number[];
  load(): Load;
  close(): Promise<void>;
}

export interface ProcessesOptions {
  /** The module whose default export does a task, as a file URL. */
  readonly worker: URL;
  readonly count?: number | undefined;
  /**
   * Of a process in all, watched where the system tells (Linux); its heap is held below that everywhere. A task may be
   * given less: it gets a process that was started with so much.
   */
  readonly memoryMb: number;
  /** Tasks that may wait, and how long. Default 1,000 and a minute. */
  readonly maxWaiting?: number;
  readonly maxWaitMs?: number;
  /** A process that had nothing to do for so long is ended. Default a minute. */
  readonly idleMs?: number;
  /** A process is replaced after so many tasks. Default 500. */
  readonly maxTasks?: number;
}

/** What crosses to a process and back. */
export interface Order {
  readonly task: unknown;
}
export type Reply = { readonly result: unknown } | { readonly failure: string };

const HOST = new URL(`./process-host.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
const START_MS = 20_000;
/** A task fills hundreds of MB a second. */
const WATCH_MS = 50;
/** A process that holds more of its memory than this after a task is not used again: the next task would pay for it. */
const KEPT_SHARE = 0.6;
const MEGABYTE = 1024 * 1024;

interface Worker {
  readonly child: ChildProcess;
  /** Settled when it can take its first task. */
  readonly ready: Promise<void>;
  readonly memoryMb: number;
  tasks: number;
  idleTimer: NodeJS.Timeout | undefined;
}

export function createProcesses<Task, Result>({
  worker,
  count = defaultThreads(),
  memoryMb,
  maxWaiting = 1_000,
  maxWaitMs = 60_000,
  idleMs = 60_000,
  maxTasks = 500,
}: ProcessesOptions): Processes<Task, Result> {
  const turns = createTaskQueue({ count, maxWaiting, maxWaitMs });
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  let closed = false;

  function start(memoryMb: number): Worker {
    // From sources (tests, development) a process needs the same loader that this one has.
    const fromSource = [HOST, worker].some(({ pathname }) => pathname.endsWith('.ts'));
    const loader = fromSource ? ['--conditions=source', '--import', 'tsx'] : [];
    const child = fork(HOST, [worker.href], {
      execArgv: [`--max-old-space-size=${Math.floor(memoryMb * 0.8)}`, ...loader],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: childEnvironment(),
    });
    const made: Worker = { child, ready: readiness(child), memoryMb, tasks: 0, idleTimer: undefined };
    all.add(made);
    child.once('exit', () => {
      all.delete(made);
      clearTimeout(made.idleTimer);
      const at = idle.indexOf(made);
      if (at >= 0) idle.splice(at, 1);
    });
    child.on('error', () => child.kill('SIGKILL'));
    // An idle process must not keep the server from ending.
    child.unref();
    child.channel?.unref();
    return made;
  }

  function take(memoryMb: number): Worker {
    const at = idle.findLastIndex((worker) => worker.memoryMb === memoryMb);
    if (at >= 0) {
      const [made] = idle.splice(at, 1);
      clearTimeout(made!.idleTimer);
      return made!;
    }
    // One that rests makes room: there are no more processes than may work at once.
    if (all.size >= count) idle.shift()?.child.kill('SIGKILL');
    return start(memoryMb);
  }

  function rest(made: Worker): void {
    if (closed || made.tasks >= maxTasks || !made.child.connected) return void made.child.kill('SIGKILL');
    made.idleTimer = setTimeout(() => made.child.kill('SIGKILL'), idleMs).unref();
    idle.push(made);
  }

  async function readied(made: Worker, signal: AbortSignal | undefined): Promise<void> {
    try {
      await (signal ? unlessAborted(signal, made.ready) : made.ready);
    } catch (error) {
      // It goes on starting, for whoever comes next.
      if (signal?.aborted) rest(made);
      throw error;
    }
  }

  return {
    async run(task, { timeoutMs, signal, weight = 0, memoryMb: wantedMb = memoryMb }) {
      await turns.take(weight, signal);
      try {
        signal?.throwIfAborted();
        const made = take(Math.min(wantedMb, memoryMb));
        made.tasks++;
        await readied(made, signal);
        const reply = await answer(made.child, { task }, { timeoutMs, signal, memoryMb: made.memoryMb });
        if ((await residentBytes(made.child.pid)) > KEPT_SHARE * made.memoryMb * MEGABYTE) made.tasks = maxTasks;
        rest(made);
        if ('failure' in reply) throw new Error(reply.failure);
        return reply.result as Result;
      } finally {
        turns.giveBack();
      }
    },
    pids: () => [...all].flatMap(({ child }) => (child.pid === undefined ? [] : [child.pid])),
    load: turns.load,
    async close() {
      closed = true;
      await Promise.all(
        [...all].map(
          ({ child }) =>
            new Promise<void>((resolve) => {
              if (child.exitCode !== null || child.signalCode !== null) return resolve();
              // Whoever waits for this needs a process that goes on until it is over.
              child.ref();
              child.once('exit', () => resolve());
              child.kill('SIGKILL');
            }),
        ),
      );
    },
  };
}

/** TaskCrashed when the process does not come up. */
function readiness(child: ChildProcess): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    const fail = () => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new TaskCrashedError('the process did not start'));
    };
    const timer = setTimeout(fail, START_MS);
    child.once('exit', fail);
    child.once('message', () => {
      clearTimeout(timer);
      child.off('exit', fail);
      resolve();
    });
  });
  ready.catch(() => {});
  return ready;
}

/** One order and its reply. However it ends without one, the process is ended too. */
function answer(
  child: ChildProcess,
  order: Order,
  { timeoutMs, signal, memoryMb }: TaskLimits & { memoryMb: number },
): Promise<Reply> {
  return new Promise<Reply>((resolve, reject) => {
    child.ref();
    child.channel?.ref();
    const settle = () => {
      clearTimeout(timer);
      clearInterval(watch);
      signal?.removeEventListener('abort', onAbort);
      child.off('message', onMessage);
      child.off('exit', onExit);
      child.unref();
      child.channel?.unref();
    };
    const end = (error: unknown) => {
      settle();
      child.kill('SIGKILL');
      reject(error);
    };
    const onMessage = (reply: unknown) => {
      settle();
      resolve(reply as Reply);
    };
    const onExit = () => end(new TaskCrashedError('the process ended'));
    const onAbort = () => end(signal?.reason);
    const timer = setTimeout(() => end(new TaskTimeoutError(`not done within ${timeoutMs} ms`)), timeoutMs);
    const watch = setInterval(async () => {
      const bytes = await residentBytes(child.pid);
      if (bytes > memoryMb * MEGABYTE) end(new TaskCrashedError(`more than ${memoryMb} MB`));
    }, WATCH_MS);
    child.on('message', onMessage);
    child.once('exit', onExit);
    signal?.addEventListener('abort', onAbort, { once: true });
    child.send(order, (error) => {
      if (error) end(new TaskCrashedError('the process could not be asked'));
    });
  });
}
