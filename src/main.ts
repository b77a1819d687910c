#!/usr/bin/env node
/**
 * Program entry point: receives the arguments and sets the exit code. This is the only file that reads and changes
 * `process`.
 */
import { setMaxListeners } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { CliContext, ReportFault } from '#cli/context.ts';
import { EXIT_CODES } from '#cli/exit-codes.ts';
import { run } from '#cli/program.ts';
import { guardTerminal, sanitizeForTerminal } from '#cli/terminal.ts';

export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Runs a command line and sets the exit code. Resolves when the command has finished. */
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
    // Once the output pipe has been closed, messages are suppressed too.
    note: (line) => void (ending.code() === EXIT_CODES.ok.code || stderr.write(`${shown(stderr, line)}\n`)),
    readInput: () => text(stdin),
    input: stdin,
    output: guardTerminal(stdout),
    rewrite: terminal ? createRewrite() : undefined,
    redraw: stdout.isTTY && env.TERM !== 'dumb' ? redraw : undefined,
    ask: terminal && stdin.isTTY ? askUser : undefined,
    width: () => stderr.columns || 80,
    get signal() {
      return ending.signal();
    },
    onStop: ending.onStop,
    onFault: watchFaults,
  });
  process.exitCode = ending.code() ?? EXIT_CODES[exit].code;
}

/** Writes the lines from the top of the cleared terminal. */
const redraw = (lines: readonly string[]): void =>
  void process.stdout.write(`\x1b[H\x1b[2J${lines.map(sanitizeForTerminal).join('\n')}\n`);

/** Writes over the last line of the terminal. The line is cleared if the process ends before the command clears it. */
function createRewrite(): (line: string) => void {
  let shown = '';
  const rewrite = (line: string) => {
    shown = line;
    process.stderr.write(`\r\x1b[K${sanitizeForTerminal(line)}`);
  };
  process.on('exit', () => {
    if (shown) rewrite('');
  });
  return rewrite;
}

async function askUser(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Reading a line takes over Ctrl-C, which must still stop the program.
  terminal.on('SIGINT', () => process.emit('SIGINT'));
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

interface Ending extends Pick<CliContext, 'onStop'> {
  /**
   * Aborted by SIGINT, SIGTERM or a closed output pipe. A command that never calls this function is terminated
   * immediately instead.
   */
  signal(): AbortSignal;
  /** The exit code that overrides the one of the command, if any. */
  code(): number | undefined;
}

/** On Windows, closing the window and Ctrl-Break arrive as signals, and SIGTERM never does. */
const ENDING_SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];

function watchEnding(): Ending {
  const controller = new AbortController();
  // No limit on the number of listeners, because each concurrent call adds one.
  setMaxListeners(0, controller.signal);
  const stops: (() => Promise<void>)[] = [];
  let isUsed = false;
  let code: number | undefined;

  function end(exitCode: number, reason: string): void {
    if (code !== undefined || (!isUsed && stops.length === 0)) process.exit(exitCode);
    code = exitCode;
    controller.abort(new Error(reason));
    if (stops.length === 0) return;
    // A server that shuts down on a signal has succeeded.
    Promise.all(stops.map((stop) => stop())).then(
      () => process.exit(EXIT_CODES.ok.code),
      (error: unknown) => {
        console.error(error);
        process.exit(EXIT_CODES.failed.code);
      },
    );
  }

  for (const signal of ENDING_SIGNALS) process.on(signal, () => end(EXIT_CODES.interrupted.code, 'interrupted'));
  // `lectern read … | head -1` closes the pipe early, which is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (code === undefined) end(EXIT_CODES.ok.code, 'the output was closed');
  });
  process.stderr.on('error', () => {});
  return {
    signal() {
      isUsed = true;
      return controller.signal;
    },
    onStop: (stop) => void stops.push(stop),
    code: () => code,
  };
}

/**
 * For commands that serve many callers. An unhandled rejection affects at most one request, so it is only reported.
 * After an uncaught exception, the state is unknown, so the process exits and its supervisor restarts it. Other
 * commands exit in both cases, which is Node's default.
 */
function watchFaults(tell: ReportFault): void {
  process.on('unhandledRejection', (reason) => tell(reason, 'unhandled promise rejection'));
  process.on('uncaughtException', (error) => {
    tell(error, 'uncaught exception, the process exits');
    process.exit(EXIT_CODES.failed.code);
  });
}

const invoked = process.argv[1];
// An installed command is a symbolic link to this file.
if (invoked && realpathSync(invoked) === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
