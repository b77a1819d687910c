/** HTTP responses of the gateway, including failures (docs/reference/wire/flow.md, Failures). */
import { asProblem, type Problem } from '#errors.ts';
import type { Document } from '../document.ts';
import { documentJson, type Issue, statusObject } from '../json/index.ts';
import { ERROR, type Status } from '../request.ts';
import { isUnavailableProblem } from '../runtime/unavailable.ts';

export interface Answer {
  readonly code: number;
  readonly body: string;
  /** Content type; JSON by default. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (body: string): Answer => ({ code: 200, body });

export const detailAnswer = (
  code: number,
  reason: string | readonly Issue[],
  headers: Record<string, string> = {},
): Answer => ({
  code,
  body: JSON.stringify({ detail: reason }),
  headers,
});

export const notFound = (): Answer => detailAnswer(404, 'Not Found');

/** The exception name that clients expect when an executor is unavailable. */
const NETWORK_EXCEPTION = "<class 'jina.excepts.InternalNetworkError'>";

export const unavailableStatus = ({ message }: Problem): Status => ({
  code: ERROR,
  description: message,
  exception: { name: NETWORK_EXCEPTION, args: [], stacks: [], executor: '' },
});

export const issuesOf = (failure: Problem): readonly Issue[] =>
  Array.isArray(failure.facts.detail)
    ? (failure.facts.detail as Issue[])
    : [{ loc: ['body'], msg: failure.message, type: 'value_error' }];

export interface RequestFacts {
  readonly requestId: string;
  /** The request's documents, returned with the failure; `undefined` if they were not parsed. */
  readonly docs?: readonly Document[];
}

export function failureAnswer(error: unknown, facts: RequestFacts): Answer {
  const failure = asProblem(error);
  const { retryAfter } = failure.facts;
  const headers: Record<string, string> = typeof retryAfter === 'number' ? { 'retry-after': String(retryAfter) } : {};
  if (isUnavailableProblem(failure)) return { code: failure.code, body: unavailableBody(failure, facts), headers };
  const listed = failure.code === 422 || Array.isArray(failure.facts.detail);
  return detailAnswer(failure.code, listed ? issuesOf(failure) : failure.message, headers);
}

/** Clients read the description from the header and reject other formats. */
function unavailableBody(failure: Problem, { requestId, docs }: RequestFacts): string {
  const status = statusObject(unavailableStatus(failure));
  const header = JSON.stringify({ requestId, status, execEndpoint: '', targetExecutor: '' });
  const data = docs?.map((document) => documentJson(document)).join(',') ?? '';
  const reason = docs ? '' : `,"detail":${JSON.stringify(issuesOf(failure))}`;
  return `{"header":${header},"parameters":null,"routes":null,"data":[${data}]${reason}}`;
}
