/** Failures of executors as data, in the words that clients of the original look for (contract, section 6.2). */
import { type DataRequest, ERROR, joinedRequest, type Status } from './request.ts';

/** As Python writes a string. */
function repr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

const reprOf = (value: unknown): string => (typeof value === 'string' ? repr(value) : String(value));

interface Thrown {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly stack: string;
}

/** Errors are strangers' objects: reading one may fail as well. */
function describe(error: unknown): Thrown {
  try {
    const thrown = read(error);
    thrown.args.forEach(String);
    return thrown;
  } catch {
    return { name: 'Error', args: ['an error that cannot be read'], stack: '' };
  }
}

/** `args` of an error are those that it carries itself, else its message. */
function read(error: unknown): Thrown {
  if (!(error instanceof Error)) return { name: 'Error', args: [error], stack: '' };
  const own = (error as { args?: unknown }).args;
  const args = Array.isArray(own) ? own : error.message ? [error.message] : [];
  const name = error.name && error.name !== 'Error' ? String(error.name) : error.constructor.name || 'Error';
  return { name, args, stack: String(error.stack ?? '') };
}

export const nameOf = (error: unknown): string => describe(error).name;

const MAX_LOGGED = 10_000;

/** An error for the log, whatever was thrown. */
export function describeError(error: unknown): { type: string; message: string; stack: string } {
  const { name, args, stack } = describe(error);
  return { type: name, message: args.map(String).join(', ').slice(0, MAX_LOGGED), stack: stack.slice(0, MAX_LOGGED) };
}

/** The calls that led there, the latest last. */
function frames({ name, args, stack }: Thrown): string[] {
  const calls = stack.split('\n').filter((line) => /^\s+at /.test(line));
  const last = args.length === 1 ? String(args[0]) : `(${args.map(reprOf).join(', ')})`;
  return ['Traceback (most recent call last):\n', ...calls.reverse().map((line) => `${line}\n`), `${name}: ${last}\n`];
}

/** `withStacks` only where who asks may see file paths. */
export function statusOf(error: unknown, executor: string, withStacks: boolean): Status {
  const thrown = describe(error);
  return {
    code: ERROR,
    description: `${thrown.name}(${thrown.args.map(reprOf).join(', ')})`,
    exception: {
      name: thrown.name,
      args: thrown.args.map(String),
      stacks: withStacks ? frames(thrown) : [],
      executor,
    },
  };
}

/** Requests that an executor could not answer, as one whose status is the failure. */
export function failedRequest(
  requests: readonly DataRequest[],
  error: unknown,
  executor: string,
  withStacks: boolean,
): DataRequest {
  const request = joinedRequest(requests);
  return { ...request, header: { ...request.header, status: statusOf(error, executor, withStacks) } };
}
