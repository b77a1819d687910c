/** The server as a process of its own, as users start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { programFile } from './program.ts';

// Made before any test's time begins.
const PROGRAM = await programFile();
const ROOT = path.resolve(import.meta.dirname, '../..');

export interface ServerProcess {
  readonly child: ChildProcess;
  /** Lines printed so far. */
  readonly lines: string[];
  /** The address of a face, from its line. */
  place(label: string): string;
  /** Sends SIGTERM, waits, and gives the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `lectern serve` and waits for its greeting, or for its end. */
export async function startProcess(environment: Record<string, string>, ...args: string[]): Promise<ServerProcess> {
  const ports = ['READER', 'SEARCH', 'MODEL', 'FLOW', 'FLOW_GRPC'].map((name) => [`LECTERN_${name}_PORT`, '0']);
  const child = spawn(process.execPath, [PROGRAM, 'serve', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...Object.fromEntries(ports), LECTERN_HOST: '127.0.0.1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const listen = (stream: NodeJS.ReadableStream) => {
    let rest = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop()!;
      lines.push(...parts);
    });
  };
  listen(child.stdout!);
  listen(child.stderr!);
  const ended = once(child, 'exit');
  await Promise.race([ended, greeted(lines)]);
  return {
    child,
    lines,
    place: (label) => lines.find((line) => line.startsWith(`lectern: ${label}`))!.match(/http:\/\/\S+/)![0],
    async stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}

/** The greeting is printed in one go; its last face is the gRPC one. */
async function greeted(lines: readonly string[]): Promise<void> {
  while (!lines.some((line) => line.includes('(gRPC)'))) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The running processes whose command line contains a text. */
export const pidsWith = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
