/** Runs command lines: as the real program in a process of its own, or in the process of the test, which is faster. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { EXIT_CODES } from '#cli/exit-codes.ts';
import { run } from '#cli/program.ts';
import { programFile } from './program.ts';

// Built on import, so that no test's time limit includes it.
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
  // A program that has already failed does not read its input.
  child.stdin.on('error', () => {}).end(options.input ?? '');
  return waitForExit(child);
}

/**
 * Runs a command line in this process: everything but the process itself is real. What commander prints, such as help and
 * unknown options, is not captured.
 */
export async function runHere(
  args: readonly string[],
  { env = {}, input = '' }: ProgramOptions = {},
): Promise<ProgramResult> {
  let out = '';
  let error = '';
  const { LECTERN_URL: _, LECTERN_API_KEY: __, ...inherited } = process.env;
  const { signal } = new AbortController();
  // One listener for each concurrent call, as in the program.
  setMaxListeners(0, signal);
  const exit = await run(args, {
    environment: { ...inherited, ...env },
    version: JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).version,
    print: (line) => {
      out += `${line}\n`;
    },
    note: (line) => {
      error += `${line}\n`;
    },
    readInput: async () => Buffer.from(input).toString(),
    input: Readable.from([Buffer.from(input)]),
    output: new Writable({
      write(chunk, _encoding, done) {
        out += chunk;
        done();
      },
    }),
    rewrite: undefined,
    width: () => 80,
    signal,
    onStop: () => {},
    onFault: () => {},
  });
  return { out, error, code: EXIT_CODES[exit].code };
}
