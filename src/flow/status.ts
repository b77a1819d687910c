/**
 * Reports failures of executors in the format that existing clients match on (docs/reference/wire/flow.md, Failures).
 */
import type { Problem } from '#errors.ts';
import { type DataRequest, ERROR, joinRequests, type Status } from './request.ts';

/** Python's repr() of a string. */
function repr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

const reprValue = (value: unknown): string => (typeof value === 'string' ? repr(value) : String(value));

interface Thrown {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly stack: string;
}

/** Reads a thrown value. Thrown values can be any object, so accessing its properties may throw too. */
function readError(error: unknown): Thrown {
  try {
    const thrown = readThrown(error);
    thrown.args.forEach(String);
    return thrown;
  } catch {
    return { name: 'Error', args: ['an error that cannot be read'], stack: '' };
  }
}

/** Uses the error's own `args` if it has them, else its message. */
function readThrown(error: unknown): Thrown {
  if (!(error instanceof Error)) return { name: 'Error', args: [error], stack: '' };
  const own = (error as { args?: unknown }).args;
  const args = Array.isArray(own) ? own : error.message ? [error.message] : [];
  const name = error.name && error.name !== 'Error' ? String(error.name) : error.constructor.name || 'Error';
  return { name, args, stack: String(error.stack ?? '') };
}

export const errorName = (error: unknown): string => readError(error).name;

const MAX_LOGGED_LENGTH = 10_000;

/** Describes any thrown value for the log. */
export function describeError(error: unknown): { type: string; message: string; stack: string } {
  const { name, args, stack } = readError(error);
  return {
    type: name,
    message: args.map(String).join(', ').slice(0, MAX_LOGGED_LENGTH),
    stack: stack.slice(0, MAX_LOGGED_LENGTH),
  };
}

/** A Python-style traceback, most recent call last. */
function traceback({ name, args, stack }: Thrown): string[] {
  const calls = stack.split('\n').filter((line) => /^\s+at /.test(line));
  const last = args.length === 1 ? String(args[0]) : `(${args.map(reprValue).join(', ')})`;
  return ['Traceback (most recent call last):\n', ...calls.reverse().map((line) => `${line}\n`), `${name}: ${last}\n`];
}

/** Set `withStacks` only if the caller may see file paths. */
export function statusOf(error: unknown, executor: string, withStacks: boolean): Status {
  const thrown = readError(error);
  return {
    code: ERROR,
    description: `${thrown.name}(${thrown.args.map(reprValue).join(', ')})`,
    exception: {
      name: thrown.name,
      args: thrown.args.map(String),
      stacks: withStacks ? traceback(thrown) : [],
      executor,
    },
  };
}

/** The exception name that clients expect for invalid requests. */
const VALIDATION_ERROR = 'ValidationError';

/**
 * The status for a failure caused by the request, for interfaces that return a response to such requests instead of
 * rejecting the call.
 */
export const refusalStatus = ({ code, name, message }: Problem): Status => ({
  code: ERROR,
  description: message,
  exception: {
    name: code === 422 || code === 400 ? VALIDATION_ERROR : name,
    args: [message],
    stacks: [],
    executor: '',
  },
});

/** Returns the joined request, with the failure as its status. */
export function failedRequest(
  requests: readonly DataRequest[],
  error: unknown,
  executor: string,
  withStacks: boolean,
): DataRequest {
  const request = joinRequests(requests);
  return { ...request, header: { ...request.header, status: statusOf(error, executor, withStacks) } };
}
