/** HTTP responses of the gateway, including failures (docs/reference/wire/flow.md, Failures). */
import { asProblem, type Problem } from '#errors.ts';
import { entityTag } from '#http/etag.ts';
import { PROBLEM_TYPE, problemJson } from '#http/problem-json.ts';
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
  /** Why the request failed. */
  readonly reason?: string | readonly Issue[];
}

export const ok = (body: string): Answer => ({ code: 200, body });

/** Adds the entity tag to a response that does not change while the gateway runs. */
export const tagged = (answer: Answer): Answer => ({
  ...answer,
  headers: { ...answer.headers, etag: entityTag(answer.body), 'cache-control': 'no-cache' },
});

export const detailAnswer = (
  code: number,
  reason: string | readonly Issue[],
  headers: Record<string, string> = {},
): Answer => ({
  code,
  body: JSON.stringify({ detail: reason }),
  headers,
  reason,
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
  if (isUnavailableProblem(failure)) {
    return { code: failure.code, body: unavailableBody(failure, facts), headers, reason: failure.message };
  }
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

/** A failure as problem details (docs/reference/wire/http.md, Problem details); other responses are returned unchanged. */
export function asProblemDetails(answer: Answer, requestId: string): Answer {
  const { code, reason, headers } = answer;
  if (reason === undefined) return answer;
  const issues = typeof reason === 'string' ? undefined : reason;
  const detail = issues ? issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ') : String(reason);
  const body = problemJson({ status: code, detail, requestId, more: issues && { errors: issues } });
  return { code, body, type: PROBLEM_TYPE, ...(headers && { headers }) };
}
