#!/usr/bin/env node
/** Arguments in, exit code out: the only file that touches the process. */
import { setMaxListeners } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { CliContext, ReportFault } from '#cli/context.ts';
import { EXIT_CODES } from '#cli/exit-codes.ts';
import { run } from '#cli/program.ts';
import { guardTerminal, sanitizeForTerminal } from '#cli/terminal.ts';

export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Runs a command line; the promise ends when its work does, and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const ending = watchEnding();
  const { stdin, stdout, stderr, env } = process;
  const terminal = stderr.isTTY && env.TERM !== 'dumb';
  const shown = (stream: { readonly isTTY?: boolean }, line: string) =>
    stream.isTTY ? sanitizeForTerminal(line) : line;
  const exit = await run(argv, {
    environment: env,
    version: VERSION,
    print: (line) => void stdout.write(`${shown(stdout, line)}\n`),
    // Whoever reads no more of the answer wants to hear nothing either.
    note: (line) => void (ending.code() === EXIT_CODES.ok.code || stderr.write(`${shown(stderr, line)}\n`)),
    readInput: () => text(stdin),
    input: stdin,
    output: guardTerminal(stdout),
    rewrite: terminal ? (line) => void stderr.write(`\r\x1b[K${sanitizeForTerminal(line)}`) : undefined,
    width: () => stderr.columns || 80,
    get signal() {
      return ending.signal();
    },
    onStop: ending.onStop,
    onFault: watchFaults,
  });
  process.exitCode = ending.code() ?? EXIT_CODES[exit].code;
}

interface Ending extends Pick<CliContext, 'onStop'> {
  /** Aborted by SIGINT, SIGTERM or a reader that is gone. Who never asks for it is ended at once. */
  signal(): AbortSignal;
  /** The exit code, when it is not the command's own. */
  code(): number | undefined;
}

function watchEnding(): Ending {
  const controller = new AbortController();
  // As many as there are calls at once.
  setMaxListeners(0, controller.signal);
  const stops: (() => Promise<void>)[] = [];
  let isHeard = false;
  let code: number | undefined;

  function end(exitCode: number, reason: string): void {
    if (code !== undefined || (!isHeard && stops.length === 0)) process.exit(exitCode);
    code = exitCode;
    controller.abort(new Error(reason));
    if (stops.length === 0) return;
    // A server that is told to end and does has done what it was told.
    Promise.all(stops.map((stop) => stop())).then(
      () => process.exit(EXIT_CODES.ok.code),
      (error: unknown) => {
        console.error(error);
        process.exit(EXIT_CODES.failed.code);
      },
    );
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => end(EXIT_CODES.interrupted.code, 'interrupted'));
  // `lectern read … | head -1` has what it wanted.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (code === undefined) end(EXIT_CODES.ok.code, 'nobody reads the output any more');
  });
  process.stderr.on('error', () => {});
  return {
    signal() {
      isHeard = true;
      return controller.signal;
    },
    onStop: (stop) => void stops.push(stop),
    code: () => code,
  };
}

/**
 * For commands that serve many callers. A promise whose failure nobody handles belongs to one request at most, so the
 * others go on; after an error that nobody caught, the state is unknown and the process ends for its supervisor to start
 * it again. Other commands end with either, which is what Node does.
 */
function watchFaults(tell: ReportFault): void {
  process.on('unhandledRejection', (reason) => tell(reason, 'a promise was rejected and nobody handled it'));
  process.on('uncaughtException', (error) => {
    tell(error, 'an uncaught error ends the process');
    process.exit(EXIT_CODES.failed.code);
  });
}

const invoked = process.argv[1];
// An installed command is a link to this file.
if (invoked && realpathSync(invoked) === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
