/** Runs the lines of a job, and distinguishes failures caused by a line from failures of the model. */
import { asProblem, type Problem } from '#errors.ts';
import type { ModelRuntime } from '#models/index.ts';
import { RetryLaterError } from './errors.ts';
import type { JobOptions } from './job.ts';
import type { StoredLine } from './line.ts';
import { type FailureOf, failedLine, INVALID_LINE, type Outcome, runLine, type ServedEmbedding } from './run-line.ts';
import type { JobRow } from './schema.ts';

/** A test line. It is run after a line has failed, to find out whether the model works. */
const PROBE: Extract<StoredLine, { readonly texts: readonly string[] }> = {
  line: 0,
  id: '',
  texts: ['tea'],
  options: {},
};

export function lineRunner(
  { row, model }: { readonly row: Pick<JobRow, 'options'>; readonly model: ServedEmbedding },
  { models, failureOf }: { readonly models: ModelRuntime; readonly failureOf: FailureOf },
  signal: AbortSignal,
): (line: StoredLine) => Promise<Outcome> {
  const options = JSON.parse(row.options) as JobOptions;
  const running = { models, model, options, signal };

  async function works(): Promise<boolean> {
    try {
      await runLine(PROBE, { ...running, options: {} });
      return true;
    } catch {
      return false;
    }
  }

  return async (line) => {
    if (line.fault !== undefined) return failedLine(line, { code: INVALID_LINE, message: line.fault });
    for (let isSecond = false; ; isSecond = true) {
      try {
        return await runLine(line, running);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const failure = asProblem(error);
        if (isOfLine(failure)) return failedLine(line, failureOf(failure));
        if (failure.code === 503 || !(await works())) throw new RetryLaterError(failure);
        if (isSecond) return failedLine(line, failureOf(failure));
      }
    }
  };
}

/** Whether the failure was definitely caused by the line. */
const isOfLine = ({ name, code }: Problem): boolean => code < 500 && name !== 'DownstreamServiceFailureError';
