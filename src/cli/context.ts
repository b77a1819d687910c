/** The parts of the process that a command may use. Tests pass their own. */
import type { Readable, Writable } from 'node:stream';
import type { Log } from '#telemetry/log.ts';

/** Reports an error that no part of the program has handled. */
export type ReportFault = (error: unknown, message: string) => void;

export const reportFaultsTo =
  (log: Log): ReportFault =>
  (err, message) =>
    log.error({ err }, message);

export interface CliContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
  /** Prints a line to standard error. */
  readonly note: (line: string) => void;
  /** Reads standard input to its end. */
  readonly readInput: () => Promise<string>;
  readonly input: Readable & { readonly isTTY?: boolean };
  /** Standard output, for results that are not line-oriented. */
  readonly output: Writable & { readonly isTTY?: boolean };
  /** Overwrites the last line of the terminal; an empty string clears it. `undefined` without a terminal. */
  readonly rewrite: ((line: string) => void) | undefined;
  /** Replaces the content of the terminal of standard output; `undefined` if that is not a terminal. */
  readonly redraw: ((lines: readonly string[]) => void) | undefined;
  /** Asks the user a question and returns the answer; `undefined` if no user is at a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Width of the terminal in columns. */
  readonly width: () => number;
  /** Aborted when the process is asked to stop. Listeners must save their state and finish quickly. */
  readonly signal: AbortSignal;
  /** Registers `stop` to be called when the process is asked to stop; the exit code is then 0. */
  readonly onStop: (stop: () => Promise<void>) => void;
  /** Starts reporting unhandled errors. The process survives a rejected promise, but not an uncaught exception. */
  readonly onFault: (tell: ReportFault) => void;
}
