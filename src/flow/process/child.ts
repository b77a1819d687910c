/** Spawns a child process, writes to it, watches it, and kills it together with its own children. */
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
  /** Name of the executor. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Limit on resident memory; 0 for none. */
  readonly maxMemoryBytes: number;
  readonly log: Log | undefined;
  readonly onFrame: OnFrame;
  /** Called once with the reason why the process ended. */
  readonly onEnd: (reason: string) => void;
}

export interface Child {
  readonly pid: number | undefined;
  send(kind: number, id: number, ...parts: readonly Uint8Array[]): void;
  /** Kills the process and its children. Only the first reason is reported. */
  end(reason: string): void;
  /** Sets whether a running process keeps the parent alive. */
  keepAlive(isHeld: boolean): void;
}

const HOST = new URL(`./host.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
const MEMORY_CHECK_MS = 200;
/** Share of the memory limit for the V8 heap. The rest is for buffers, code and threads. */
const HEAP_SHARE = 0.75;
/** Maximum time to wait for output after the process has ended. */
const OUTPUT_MS = 1000;
/** Matches the ways in which V8 ends a process that runs out of memory. */
const OUT_OF_MEMORY = /SIGABRT|SIGILL|SIGTRAP|exit code 13[234]/;

/** Node options that affect how modules are loaded. */
const LOADING_OPTIONS = [
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

function loadingOptions(args: readonly string[]): string[] {
  return args.flatMap((option, at) => {
    const [name] = option.split('=');
    if (!LOADING_OPTIONS.includes(name!)) return [];
    const next = args[at + 1];
    return option.includes('=') || next === undefined || next.startsWith('-') ? [option] : [option, next];
  });
}

export function startChild({ name, env, maxMemoryBytes, log, onFrame, onEnd }: ChildOptions): Child {
  const heapMb = Math.floor((maxMemoryBytes * HEAP_SHARE) / 2 ** 20);
  const limits = maxMemoryBytes > 0 ? [`--max-old-space-size=${heapMb}`] : [];
  const written = log ? 'pipe' : 'inherit';
  const child = spawn(process.execPath, [...loadingOptions(process.execArgv), ...limits, fileURLToPath(HOST)], {
    stdio: ['ignore', written, written, 'pipe', log ? 'pipe' : 'ignore'],
    env: executorEnvironment(env),
    // Its own process group, so that Ctrl-C on the server does not interrupt running calls and its children can be
    // killed with it.
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
    // Kill it now: its exit handlers might never finish.
    if (kind === FRAME.uncaught) end(`an uncaught ${payload.toString('utf8', 0, 1000)}`);
    else onFrame(kind, id, payload);
  });
  channel.on('data', (chunk: Buffer) => {
    if (hasEnded) return;
    try {
      read(chunk);
    } catch (error) {
      end(`it sent an invalid frame: ${(error as Error).message}`);
    }
  });
  for (const stream of child.stdio) (stream as Socket | null)?.unref?.();
  // Errors mean that the process is ending; its exit event reports that.
  channel.on('error', () => {});

  async function finish(how: string): Promise<void> {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(watch);
    killGroup(child);
    // V8 writes the reason before it aborts.
    if (output && OUT_OF_MEMORY.test(how)) await within(OUTPUT_MS, output.ended).catch(() => {});
    const isHeapFull = /heap out of memory|heap limit/i.test(output?.lastErrors() ?? '');
    onEnd(reason ?? (isHeapFull ? memoryReason(maxMemoryBytes) : how));
  }
  child.once('exit', (code, signal) => void finish(signal ? `signal ${signal}` : `exit code ${code}`));
  child.once('error', (error) => {
    if (child.pid === undefined) void finish(`it could not be started: ${error.message}`);
  });

  const watch = setInterval(async () => {
    if ((await residentBytes(child.pid)) > maxMemoryBytes) end(memoryReason(maxMemoryBytes));
  }, MEMORY_CHECK_MS).unref();
  if (maxMemoryBytes === 0) clearInterval(watch);

  return {
    pid: child.pid,
    send: (kind, id, ...parts) => {
      if (!hasEnded) writeFrame(channel, kind, id, ...parts);
    },
    end,
    keepAlive(isHeld) {
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

const memoryReason = (maxMemoryBytes: number): string =>
  `it used more than the ${maxMemoryBytes} bytes of max_memory_bytes`;

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // The whole group has ended already.
  }
}
