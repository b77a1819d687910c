/** Runs command lines in the process of the test. */
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { EXIT_CODES } from '#cli/exit-codes.ts';
import { run } from '#cli/program.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
}

export interface ProgramResult {
  readonly out: string;
  readonly error: string;
  readonly code: number | null;
}

/**
 * Runs a command line in this process. Everything except the process is real. Text that commander itself prints, such
 * as help and errors about unknown options, is not captured.
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
    redraw: undefined,
    ask: undefined,
    width: () => 80,
    signal,
    onStop: () => {},
    onFault: () => {},
  });
  return { out, error, code: EXIT_CODES[exit].code };
}
