/**
 * One child process that runs a model: sends requests, matches responses by id, and kills a process that misbehaves.
 */
import { fork } from 'node:child_process';
import { childEnvironment } from '#concurrency/environment.ts';
import { residentBytes } from '#concurrency/resident.ts';
import { type Problem, problem } from '#errors.ts';
import type { ModelRequest, Reply, RequestMessage } from './messages.ts';

export interface ModelLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface ModelChildOptions {
  readonly id: string;
  /** Maximum memory in bytes. A process that exceeds it is killed. */
  readonly maxBytes: number;
  readonly log: ModelLog;
  /** Called with the memory of the process at each measurement. */
  readonly onMemory: (bytes: number) => void;
  /** Called once, when the process has ended. */
  readonly onEnd: () => void;
}

export interface ModelChild {
  readonly pid: number | undefined;
  /** Whether the process has been asked to exit. */
  readonly isEnding: boolean;
  /** The error for pending requests when the process ends; `undefined` unless the process is being killed. */
  failure(): Problem | undefined;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** Sends a request and waits for its response. On a timeout, the process is killed and all its requests fail. */
  send(request: ModelRequest, timeoutMs: number): Promise<unknown>;
  /** Measures the memory, and kills the process if it exceeds the limit. */
  checkMemory(): Promise<void>;
  /** Kills the process; its pending requests fail. */
  kill(): void;
  /** Kills the process and waits for it to end. */
  stop(): Promise<void>;
}

export const TOO_MUCH_MEMORY = 'The model exceeds its memory limit';

const PROGRAM = new URL(`./process.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
const WATCH_MS = 250;

interface PendingRequest {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export const drained = (cause?: unknown): Problem =>
  problem(
    'ServiceNodeResourceDrainError',
    { message: 'The model process stopped and is being restarted; try again', retryAfter: 1 },
    cause,
  );

const exceedsMemory = (): Problem =>
  problem('ServiceNodeResourceDrainError', { message: TOO_MUCH_MEMORY, retryAfter: 1 });

export function startModelChild({ id, maxBytes, log, onMemory, onEnd }: ModelChildOptions): ModelChild {
  const child = forkProgram();
  const pending = new Map<number, PendingRequest>();
  let lastId = 0;
  let hasEnded = false;
  /** Set when the process is killed. */
  let failure: (() => Problem) | undefined;
  let finish = () => {};
  const ended = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const watch = setInterval(() => void checkMemory(), WATCH_MS).unref();

  function handleEnd(code: number | null, signal: NodeJS.Signals | null): void {
    clearInterval(watch);
    hasEnded = true;
    onEnd();
    const failureOf = failure ?? (() => drained(new Error(`the process ended: ${signal ?? code}`)));
    if (!failure) log.warn({ model: id, code, signal }, 'model process ended unexpectedly');
    for (const { reject } of pending.values()) reject(failureOf());
    pending.clear();
    finish();
  }

  function handleReply(reply: Reply): void {
    const request = pending.get(reply.id);
    pending.delete(reply.id);
    if (pending.size === 0) unref();
    if ('failure' in reply) request?.reject(new Error(reply.failure));
    else request?.resolve(reply.result);
  }

  /** An idle process must not keep the server alive. */
  function unref(): void {
    child.unref();
    child.channel?.unref();
  }

  function kill(reason: () => Problem = drained): void {
    failure ??= reason;
    child.kill('SIGKILL');
  }

  async function checkMemory(): Promise<void> {
    const bytes = await residentBytes(child.pid);
    if (!hasEnded) onMemory(bytes);
    if (bytes <= maxBytes || failure) return;
    log.warn({ model: id, bytes, maxBytes }, 'model process exceeds its memory limit and is killed');
    kill(exceedsMemory);
  }

  child.once('exit', handleEnd);
  child.once('error', () => {
    if (child.pid === undefined) handleEnd(null, null);
    else child.kill('SIGKILL');
  });
  child.on('message', handleReply);
  unref();

  return {
    ended,
    checkMemory,
    get pid() {
      return child.pid;
    },
    get isEnding() {
      return failure !== undefined;
    },
    failure: () => failure?.(),
    send: (request, timeoutMs) =>
      new Promise((resolve, reject) => {
        const message: RequestMessage = { id: ++lastId, request };
        const timer = setTimeout(() => {
          pending.delete(message.id);
          reject(problem('ServiceTimeoutError', { message: `The model did not respond within ${timeoutMs / 1000} s` }));
          kill();
        }, timeoutMs);
        pending.set(message.id, {
          resolve: (result) => {
            clearTimeout(timer);
            resolve(result);
          },
          reject: (error) => {
            clearTimeout(timer);
            reject(error);
          },
        });
        child.ref();
        child.channel?.ref();
        child.send(message, (error) => {
          if (error) kill();
        });
      }),
    kill: () => kill(),
    async stop() {
      // The event loop must not end before the process does.
      child.ref();
      kill();
      await ended;
    },
  };
}

function forkProgram() {
  // When run from source (tests, development), the child process needs the TypeScript loader.
  const loader = PROGRAM.pathname.endsWith('.ts') ? ['--conditions=source', '--import', 'tsx'] : [];
  return fork(PROGRAM, [], {
    execArgv: loader,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: childEnvironment(),
  });
}
