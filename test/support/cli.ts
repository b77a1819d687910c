/** Runs the program in its own process. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { programFile } from './program.ts';

// Built here, so that no test's time limit includes the build.
const PROGRAM = await programFile();
const ROOT = path.resolve(import.meta.dirname, '../..');

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
}

/** Starts the program. */
export function startProgram(args: readonly string[], { env = {}, cwd = ROOT }: ProgramOptions = {}) {
  const { LECTERN_URL: _, LECTERN_API_KEY: __, ...inherited } = process.env;
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...inherited, ...env },
  });
}

export interface ProgramResult {
  readonly out: string;
  readonly error: string;
  readonly code: number | null;
}

export async function waitForExit(child: ChildProcessWithoutNullStreams): Promise<ProgramResult> {
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, error, code: code as number | null };
}

/** Runs the program until it exits. */
export async function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const child = startProgram(args, options);
  // Writing to a program that has already failed raises an error.
  child.stdin.on('error', () => {}).end(options.input ?? '');
  return waitForExit(child);
}
