/** One process of an executor: started, written to, watched, and ended with all that it has started itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { within } from '#concurrency/deadline.ts';
import { residentBytes } from '#concurrency/resident.ts';
import type { Log } from '#telemetry/log.ts';
import { executorEnvironment } from './environment.ts';
import { createFrameReader, FRAME, type OnFrame, writeFrame } from './frames.ts';
import { forwardOutput, type Output } from './output.ts';

export interface ChildOptions {
  /** Of the executor. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Resident memory; 0 for no limit. */
  readonly maxMemoryBytes: number;
  readonly log: Log | undefined;
  readonly onFrame: OnFrame;
  /** Called once, with why it has ended. */
  readonly onEnd: (reason: string) => void;
}

export interface Child {
  readonly pid: number | undefined;
  send(kind: number, id: number, ...parts: readonly Uint8Array[]): void;
  /** Kills it, its children too. The first reason given counts. */
  end(reason: string): void;
  /** Whether the program that uses it goes on for as long as it runs. */
  hold(isHeld: boolean): void;
}

const HOST = new URL(`./host.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
const WATCH_MS = 200;
/** Part of the memory that the heap of V8 may take: the rest is for buffers, code and threads. */
const HEAP_PART = 0.75;
/** How long output may take to arrive after the process has ended. */
const OUTPUT_MS = 1000;
/** How V8 ends a process that has no memory left. */
const GIVEN_UP = /SIGABRT|SIGILL|SIGTRAP|exit code 13[234]/;

/** Options of Node that decide which modules can be loaded, and how. */
const LOADING = [
  '--import',
  '--require',
  '-r',
  '--loader',
  '--experimental-loader',
  '--conditions',
  '-C',
  '--experimental-strip-types',
  '--experimental-transform-types',
  '--enable-source-maps',
];

function loadingOptions(given: readonly string[]): string[] {
  return given.flatMap((option, at) => {
    const [name] = option.split('=');
    if (!LOADING.includes(name!)) return [];
    const next = given[at + 1];
    return option.includes('=') || next === undefined || next.startsWith('-') ? [option] : [option, next];
  });
}

export function startChild({ name, env, maxMemoryBytes, log, onFrame, onEnd }: ChildOptions): Child {
  const heapMb = Math.floor((maxMemoryBytes * HEAP_PART) / 2 ** 20);
  const limits = maxMemoryBytes > 0 ? [`--max-old-space-size=${heapMb}`] : [];
  const written = log ? 'pipe' : 'inherit';
  const child = spawn(process.execPath, [...loadingOptions(process.execArgv), ...limits, fileURLToPath(HOST)], {
    stdio: ['ignore', written, written, 'pipe', log ? 'pipe' : 'ignore'],
    env: executorEnvironment(env),
    // A group of its own: a key press that ends the server must not end calls in work, and its children end with it.
    detached: process.platform !== 'win32',
  });
  const channel = child.stdio[3] as Socket;
  const output: Output | undefined =
    log && forwardOutput({ stdout: child.stdout!, stderr: child.stderr!, log: child.stdio[4] as Readable }, name, log);
  let reason: string | undefined;
  let hasEnded = false;

  function end(why: string): void {
    if (hasEnded) return;
    reason ??= why;
    killGroup(child);
  }

  const read = createFrameReader((kind, id, payload) => {
    // Its own handlers of the exit might never come to an end.
    if (kind === FRAME.uncaught) end(`an uncaught ${payload.toString('utf8', 0, 1000)}`);
    else onFrame(kind, id, payload);
  });
  channel.on('data', (chunk: Buffer) => {
    if (hasEnded) return;
    try {
      read(chunk);
    } catch (error) {
      end(`it sent what it must not send: ${(error as Error).message}`);
    }
  });
  for (const stream of child.stdio) (stream as Socket | null)?.unref?.();
  // The process is ending, which its exit tells.
  channel.on('error', () => {});

  async function finish(how: string): Promise<void> {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(watch);
    killGroup(child);
    // V8 writes why it gives up before it does.
    if (output && GIVEN_UP.test(how)) await within(OUTPUT_MS, output.ended).catch(() => {});
    const isHeapFull = /heap out of memory|heap limit/i.test(output?.lastErrors() ?? '');
    onEnd(reason ?? (isHeapFull ? tooMuch(maxMemoryBytes) : how));
  }
  child.once('exit', (code, signal) => void finish(signal ? `signal ${signal}` : `exit code ${code}`));
  child.once('error', (error) => {
    if (child.pid === undefined) void finish(`it could not be started: ${error.message}`);
  });

  const watch = setInterval(async () => {
    if ((await residentBytes(child.pid)) > maxMemoryBytes) end(tooMuch(maxMemoryBytes));
  }, WATCH_MS).unref();
  if (maxMemoryBytes === 0) clearInterval(watch);

  return {
    pid: child.pid,
    send: (kind, id, ...parts) => {
      if (!hasEnded) writeFrame(channel, kind, id, ...parts);
    },
    end,
    hold(isHeld) {
      if (isHeld) {
        child.ref();
        channel.ref();
      } else {
        child.unref();
        channel.unref();
      }
    },
  };
}

const tooMuch = (maxMemoryBytes: number): string => `it took more than the ${maxMemoryBytes} bytes of max_memory_bytes`;

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has ended, and all of its group.
  }
}
