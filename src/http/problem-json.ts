/** Failures as problem details (RFC 9457), for clients whose Accept header names `application/problem+json`. */
import { STATUS_CODES } from 'node:http';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Type of the problem of an exceeded rate limit (draft-ietf-httpapi-ratelimit-headers-11, section 5.1). */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
/** Type of a problem that is described by its status alone (RFC 9457, section 4.2.1). */
const NO_TYPE = 'about:blank';

export interface ProblemDetails {
  /** The HTTP status. */
  readonly status: number;
  readonly detail: string;
  readonly requestId: string;
  /** Names of the rate limits that were exceeded. */
  readonly exceeded?: readonly string[] | undefined;
  /** Further members. Those that this format defines are left out. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
}

export function problemJson({ status, detail, requestId, exceeded, more }: ProblemDetails): string {
  return JSON.stringify({
    ...more,
    type: exceeded ? QUOTA_EXCEEDED : NO_TYPE,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    request_id: requestId,
    ...(exceeded && { 'violated-policies': exceeded }),
  });
}
