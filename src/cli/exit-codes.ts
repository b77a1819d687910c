/** The table of exit codes, and the mapping from errors to them. */

export const EXIT_CODES = {
  ok: { code: 0, meaning: 'Success.' },
  failed: { code: 1, meaning: 'Failure; standard error says why.' },
  usage: { code: 2, meaning: 'Invalid command line, setting or option value.' },
  someFailed: { code: 3, meaning: 'Some of several targets failed.' },
  notAllowed: { code: 4, meaning: 'The server requires an API key or refuses this one (401, 402, 403).' },
  unreachable: { code: 5, meaning: 'The server or the database is unreachable.' },
  targetStatus: { code: 22, meaning: 'With `--fail`: a target responded with 4xx or 5xx and nothing else failed.' },
  interrupted: { code: 130, meaning: 'Stopped by Ctrl-C or SIGTERM. Finished work is kept.' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type ExitName = keyof typeof EXIT_CODES;

/** An error with its exit code. The message is one line that tells the user what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandFailed';
  readonly exit: ExitName;

  constructor(exit: ExitName, message: string) {
    super(message);
    this.exit = exit;
  }
}

export const usageError = (message: string): CommandError => new CommandError('usage', message);

interface ErrorFields {
  readonly name?: unknown;
  readonly status?: unknown;
  readonly exit?: unknown;
  readonly code?: unknown;
}

const NOT_ALLOWED: readonly unknown[] = [401, 402, 403];
const UNREACHABLE = ['LecternUnreachable', 'DatabaseUnavailableError', 'FlowUnreachable'];
const USAGE = ['ConfigError', 'ParamValidationError', 'CommanderError', 'InvalidArgumentError'];

/** Maps an error to its exit. Recognizes errors by name, since importing their classes would slow down every start. */
export function exitOf(error: unknown): ExitName {
  if (error === null || typeof error !== 'object') return 'failed';
  const { name, status, exit, code } = error as ErrorFields;
  if (error instanceof CommandError) return exit as ExitName;
  const known = [name, (error as Error).constructor.name, code].map(String);
  if (UNREACHABLE.some((one) => known.includes(one))) return 'unreachable';
  if (USAGE.some((one) => known.includes(one))) return 'usage';
  return NOT_ALLOWED.includes(status) ? 'notAllowed' : 'failed';
}

export interface RunCounts {
  readonly done: number;
  readonly failed: number;
  /** Number of targets that responded with an error status, if that counts as a failure (`--fail`). */
  readonly refused?: number;
}

/** The exit of a run over several targets. */
export function exitOfMany({ done, failed, refused = 0 }: RunCounts): ExitName {
  if (failed === 0) return refused > 0 ? 'targetStatus' : 'ok';
  return done + refused > 0 ? 'someFailed' : 'failed';
}
