/** Runs command lines with the real program in a separate process. `run-here.ts` is faster. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { programFile } from './program.ts';
import type { ProgramOptions, ProgramResult } from './run-here.ts';

export { type ProgramOptions, type ProgramResult, runHere } from './run-here.ts';

// Built on import, so that the build does not count against any test's time limit.
const PROGRAM = await programFile();
const ROOT = path.resolve(import.meta.dirname, '../..');

/** Starts the program. */
export function startProgram(args: readonly string[], { env = {}, cwd = ROOT }: ProgramOptions = {}) {
  const { LECTERN_URL: _, LECTERN_API_KEY: __, ...inherited } = process.env;
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...inherited, ...env },
  });
}

export async function waitForExit(child: ChildProcessWithoutNullStreams): Promise<ProgramResult> {
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, error, code: code as number | null };
}

/** Runs the program until it exits. */
export async function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const child = startProgram(args, options);
  // A program that has already failed does not read its input.
  child.stdin.on('error', () => {}).end(options.input ?? '');
  return waitForExit(child);
}
