/**
 * A pool of child processes for work on untrusted bytes. Unlike a thread, a process can always be killed without
 * affecting the server. If a task exceeds its time or memory limit, its process is killed.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { unlessAborted } from './deadline.ts';
import { childEnvironment } from './environment.ts';
import { residentBytes } from './resident.ts';
import { createTaskQueue, type Load, TaskCrashedError, type TaskLimits, TaskTimeoutError } from './task-queue.ts';
import { defaultThreads } from './threads.ts';

export interface ProcessPool<Task, Result> {
  /**
   * Runs a task. The timeout starts when a process starts the task. Throws TaskTimeoutError, TaskCrashedError (out of
   * memory, or the process died), QueueFullError (no process became free in time), the signal's reason, or an Error
   * with the message of the task's error.
   */
  run(task: Task, limits: TaskLimits): Promise<Result>;
  /** Ids of the running processes. */
  pids(): number[];
  load(): Load;
  close(): Promise<void>;
}

export interface ProcessPoolOptions {
  /** File URL of the module whose default export runs a task. */
  readonly worker: URL;
  readonly count?: number | undefined;
  /**
   * Memory limit of one process. On Linux it is enforced for the whole process, elsewhere only for the JavaScript heap.
   * A task may request a lower limit; it then runs in a process that was started with that limit.
   */
  readonly memoryMb: number;
  /** Maximum number of waiting tasks. Default: 1,000. */
  readonly maxWaiting?: number;
  /** Maximum waiting time. Default: one minute. */
  readonly maxWaitMs?: number;
  /** Idle time after which a process is ended. Default: one minute. */
  readonly idleMs?: number;
  /** Number of tasks after which a process is replaced. Default: 500. */
  readonly maxTasks?: number;
}

/** The message that sends a task to a process. */
export interface TaskMessage {
  readonly task: unknown;
}
export type TaskReply = { readonly result: unknown } | { readonly failure: string };

const HOST = new URL(`./process-host.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
const START_MS = 20_000;
/**
 * Interval between memory checks, in milliseconds. It is short, because a task can allocate hundreds of MB per second.
 */
const MEMORY_CHECK_MS = 50;
/**
 * If a process uses more than this share of its limit after a task, it is not reused, because the next task could fail.
 */
const MAX_REUSE_SHARE = 0.6;
const MEGABYTE = 1024 * 1024;
/**
 * Two halves of 8 MB. With half of that, Office files take a quarter longer. Node's default is 16, and 64 since Node 24;
 * nothing gets faster with it.
 */
const YOUNG_GENERATION = '--max-semi-space-size=8';

interface Worker {
  readonly child: ChildProcess;
  /** Resolves when the process can run its first task. */
  readonly ready: Promise<void>;
  readonly memoryMb: number;
  tasks: number;
  idleTimer: NodeJS.Timeout | undefined;
}

export function createProcessPool<Task, Result>({
  worker,
  count = defaultThreads(),
  memoryMb,
  maxWaiting = 1_000,
  maxWaitMs = 60_000,
  idleMs = 60_000,
  maxTasks = 500,
}: ProcessPoolOptions): ProcessPool<Task, Result> {
  const queue = createTaskQueue({ count, maxWaiting, maxWaitMs });
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  let closed = false;

  function start(memoryMb: number): Worker {
    // When run from TypeScript sources (tests, development), a child process needs the same loader as this process.
    const fromSource = [HOST, worker].some(({ pathname }) => pathname.endsWith('.ts'));
    const loader = fromSource ? ['--conditions=source', '--import', 'tsx'] : [];
    const child = fork(HOST, [worker.href], {
      execArgv: [`--max-old-space-size=${Math.floor(memoryMb * 0.8)}`, YOUNG_GENERATION, ...loader],
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
    // An idle child process must not keep the server running.
    child.unref();
    child.channel?.unref();
    return made;
  }

  function takeOrStart(memoryMb: number): Worker {
    const at = idle.findLastIndex((worker) => worker.memoryMb === memoryMb);
    if (at >= 0) {
      const [made] = idle.splice(at, 1);
      clearTimeout(made!.idleTimer);
      return made!;
    }
    // An idle process with a different memory limit is replaced, so that there are never more than `count` processes.
    if (all.size >= count) idle.shift()?.child.kill('SIGKILL');
    return start(memoryMb);
  }

  function makeIdle(made: Worker): void {
    if (closed || made.tasks >= maxTasks || !made.child.connected) return void made.child.kill('SIGKILL');
    made.idleTimer = setTimeout(() => made.child.kill('SIGKILL'), idleMs).unref();
    idle.push(made);
  }

  async function untilReady(made: Worker, signal: AbortSignal | undefined): Promise<void> {
    try {
      await (signal ? unlessAborted(signal, made.ready) : made.ready);
    } catch (error) {
      // The process continues to start up and will run the next task.
      if (signal?.aborted) makeIdle(made);
      throw error;
    }
  }

  return {
    async run(task, { timeoutMs, signal, weight = 0, memoryMb: wantedMb = memoryMb }) {
      await queue.acquire(weight, signal);
      try {
        signal?.throwIfAborted();
        const made = takeOrStart(Math.min(wantedMb, memoryMb));
        made.tasks++;
        await untilReady(made, signal);
        const reply = await execute(made.child, { task }, { timeoutMs, signal, memoryMb: made.memoryMb });
        if ((await residentBytes(made.child.pid)) > MAX_REUSE_SHARE * made.memoryMb * MEGABYTE) made.tasks = maxTasks;
        makeIdle(made);
        if ('failure' in reply) throw new Error(reply.failure);
        return reply.result as Result;
      } finally {
        queue.release();
      }
    },
    pids: () => [...all].flatMap(({ child }) => (child.pid === undefined ? [] : [child.pid])),
    load: queue.load,
    async close() {
      closed = true;
      await Promise.all(
        [...all].map(
          ({ child }) =>
            new Promise<void>((resolve) => {
              if (child.exitCode !== null || child.signalCode !== null) return resolve();
              // Keeps this process running until the child process has exited.
              child.ref();
              child.once('exit', () => resolve());
              child.kill('SIGKILL');
            }),
        ),
      );
    },
  };
}

/** Rejects with TaskCrashedError if the process does not start up. */
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

/** Sends one task and waits for its reply. If there is no reply, the process is killed. */
function execute(
  child: ChildProcess,
  order: TaskMessage,
  { timeoutMs, signal, memoryMb }: TaskLimits & { memoryMb: number },
): Promise<TaskReply> {
  return new Promise<TaskReply>((resolve, reject) => {
    child.ref();
    child.channel?.ref();
    const settle = () => {
      clearTimeout(timer);
      clearInterval(memoryCheck);
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
      resolve(reply as TaskReply);
    };
    const onExit = () => end(new TaskCrashedError('the process ended'));
    const onAbort = () => end(signal?.reason);
    const timer = setTimeout(() => end(new TaskTimeoutError(`not finished within ${timeoutMs} ms`)), timeoutMs);
    const memoryCheck = setInterval(async () => {
      const bytes = await residentBytes(child.pid);
      if (bytes > memoryMb * MEGABYTE) end(new TaskCrashedError(`the process used more than ${memoryMb} MB`));
    }, MEMORY_CHECK_MS);
    child.on('message', onMessage);
    child.once('exit', onExit);
    signal?.addEventListener('abort', onAbort, { once: true });
    child.send(order, (error) => {
      if (error) end(new TaskCrashedError('the task could not be sent to the process'));
    });
  });
}
