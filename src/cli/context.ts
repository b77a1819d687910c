/** What a command may touch of the process. Tests hand in their own. */
import type { Readable, Writable } from 'node:stream';
import type { Log } from '#telemetry/log.ts';

/** Writes down a failure that no part of the program has handled. */
export type ReportFault = (error: unknown, message: string) => void;

export const reportFaultsTo =
  (log: Log): ReportFault =>
  (err, message) =>
    log.error({ err }, message);

export interface CliContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** A line of the answer. */
  readonly print: (line: string) => void;
  /** A line beside the answer, that no program should take for it. */
  readonly note: (line: string) => void;
  /** All that is given to the command as its input. */
  readonly readInput: () => Promise<string>;
  readonly input: Readable & { readonly isTTY?: boolean };
  /** Where answers go that are no lines. */
  readonly output: Writable & { readonly isTTY?: boolean };
  /** Writes over the last line of a terminal; undefined where there is none. An empty text clears it. */
  readonly rewrite: ((line: string) => void) | undefined;
  /** Columns of that terminal. */
  readonly width: () => number;
  /** Aborted when the process is told to end; who listens keeps the state and comes to an end soon. */
  readonly signal: AbortSignal;
  /** Arranges for `stop` to be called when the process is told to end, after which it has ended well. */
  readonly onStop: (stop: () => Promise<void>) => void;
  /** Tells stray failures from now on: the process survives a rejected promise, and not an uncaught error. */
  readonly onFault: (tell: ReportFault) => void;
}
