/** Runs a built server in its own process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface ServerProcess {
  readonly child: ChildProcess;
  /** The lines printed so far. */
  readonly lines: string[];
  /** The URL of an API, from the line that announces it. */
  urlOf(label: string): string;
  /** Sends SIGTERM, waits, and returns the exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts `lectern serve` and waits until it prints its URLs or exits. `through` is a command line to which the command
 * is appended, and which runs it.
 */
export async function serveProgram(
  program: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  through: readonly string[] = [],
): Promise<ServerProcess> {
  const ports = ['READER', 'SEARCH', 'MODEL', 'COMPAT', 'FLOW', 'FLOW_GRPC'].map((name) => [
    `LECTERN_${name}_PORT`,
    '0',
  ]);
  const [command, ...rest] = [...through, process.execPath, program, 'serve', ...args];
  const child = spawn(command!, rest, {
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
  await Promise.race([ended, printedUrls(lines)]);
  return {
    child,
    lines,
    urlOf: (label) => lines.find((line) => line.startsWith(`lectern: ${label}`))!.match(/http:\/\/\S+/)![0],
    async stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}

/** The URLs are printed together. The gRPC URL is the last one. */
async function printedUrls(lines: readonly string[]): Promise<void> {
  while (!lines.some((line) => line.includes('(gRPC)'))) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 50));
}
