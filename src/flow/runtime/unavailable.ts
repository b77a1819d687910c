/**
 * Reports an unavailable executor with the wording that existing clients match on (docs/reference/wire/flow.md,
 * Failures).
 */
import { type Problem, problem } from '#errors.ts';
import type { UnavailableReason, WorkerUnavailableError } from './worker.ts';

const pythonSet = (addresses: readonly string[]): string =>
  `{${addresses.map((address) => `'${address}'`).join(', ')}}`;

function describe(
  reason: UnavailableReason,
  details: string,
  deployment: string,
  addresses: readonly string[],
): string {
  const where = `deployment ${deployment} at address(es) ${pythonSet(addresses)}`;
  if (reason === 'timeout') {
    return `Deadline Exceeded|Gateway: Connection with ${where} could be established, but timed out. You can increase the allowed time by setting \`timeout_send\` in your Flow YAML \`with\` block or Flow \`__init__()\` method.`;
  }
  if (reason === 'other') return `${details}|Gateway: Communication error with ${where}.`;
  return `failed to connect to all addresses|Gateway: Communication error with ${where}. Head or worker(s) may be down.`;
}

const PROBLEM_NAMES = {
  unreachable: 'ServiceAwayError',
  cancelled: 'ServiceAwayError',
  timeout: 'ServiceTimeoutError',
  other: 'DownstreamServiceError',
} as const;

export const unavailableProblem = (
  error: WorkerUnavailableError,
  deployment: string,
  addresses: readonly string[],
): Problem =>
  problem(
    PROBLEM_NAMES[error.reason],
    { message: describe(error.reason, error.message, deployment, addresses), deployment, addresses },
    error,
  );

const UNAVAILABLE = [
  ...Object.values(PROBLEM_NAMES),
  'ServiceNodeResourceDrainError',
  'FaceNotReadyError',
] as readonly string[];

/** Whether the request failed because the flow or an executor was unavailable. */
export const isUnavailableProblem = ({ name }: Problem): boolean => UNAVAILABLE.includes(name);
