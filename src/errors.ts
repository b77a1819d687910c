/**
 * The error table. Each row has the name and the five-digit status that clients use to identify the error, the HTTP
 * status code, and the default message. Modules throw `problem(name, facts)`. Each API writes the problem in its own
 * envelope.
 */

export const PROBLEMS = {
  ParamValidationError: { status: 40001, code: 400, message: 'A parameter is invalid' },
  DataStreamBrokenError: { status: 40003, code: 400, message: 'The data stream ended early' },
  ModelNotFoundError: { status: 40004, code: 400, message: 'This server does not offer the requested model' },
  TokenLimitExceededError: { status: 40005, code: 400, message: 'The input is longer than the model accepts' },
  InvalidLabelsError: { status: 40006, code: 400, message: 'Invalid training labels' },
  LabelLimitExceededError: { status: 40007, code: 400, message: 'Label count exceeds the plan maximum' },
  AuthenticationFormatError: { status: 40101, code: 401, message: 'Invalid authorization format' },
  AuthenticationFailedError: {
    status: 40102,
    code: 401,
    message: 'The API key is unknown; the operator creates keys with `lectern keys mint`',
  },
  AuthenticationRequiredError: {
    status: 40103,
    code: 401,
    message: 'An API key is required; the operator creates one with `lectern keys mint`',
  },
  TierFeatureConstraintError: { status: 40202, code: 402, message: 'Your plan does not include this feature' },
  InsufficientBalanceError: { status: 40203, code: 402, message: 'The account has no balance left' },
  OperationNotAllowedError: { status: 40301, code: 403, message: 'This operation is not allowed' },
  ResourceLimitExceededError: { status: 40302, code: 403, message: 'Resource limit exceeded for the plan' },
  AbuseAlleviationError: { status: 40305, code: 403, message: 'The request was refused to prevent abuse' },
  RouteNotFoundError: { status: 40400, code: 404, message: 'There is no such endpoint' },
  ResourceNotFoundError: {
    status: 40401,
    code: 404,
    message: 'The resource does not exist, or access to it is denied',
  },
  MethodNotAllowedError: { status: 40500, code: 405, message: 'This endpoint does not support the HTTP method' },
  ResourcePolicyDenyError: { status: 40902, code: 409, message: 'The policy of the resource forbids the operation' },
  ResourceBusyError: {
    status: 40903,
    code: 409,
    message: 'The resource is being modified by another request; try again',
  },
  BudgetExceededError: {
    status: 40904,
    code: 409,
    message: 'The response would cost more tokens than the budget allows',
  },
  RequestPayloadTooLargeError: { status: 41301, code: 413, message: 'The request body is too large' },
  TargetFileTooLargeError: { status: 41302, code: 413, message: 'The file or page to read is too large' },
  UnsupportedMediaTypeError: {
    status: 41500,
    code: 415,
    message: 'This endpoint does not accept the content type of the request body',
  },
  RequestHeaderFieldsTooLargeError: { status: 43100, code: 431, message: 'The URL or a header is too long' },
  SubmittedDataMalformedError: { status: 42203, code: 422, message: 'The submitted data could not be decoded' },
  DownstreamServiceFailureError: {
    status: 42205,
    code: 422,
    message: 'An external service needed for the request failed',
  },
  AssertionFailureError: { status: 42206, code: 422, message: 'The page could not be read' },
  BlockedPageError: { status: 42207, code: 422, message: 'The target sent another page in place of the content' },
  RateLimitTriggeredError: { status: 42903, code: 429, message: 'Too many requests' },
  HarmfulContentError: { status: 45101, code: 451, message: 'The operator of this server blocks this URL' },
  SecurityCompromiseError: { status: 45102, code: 451, message: 'Access to this URL is not allowed' },
  InternalError: { status: 50000, code: 500, message: 'Internal server error' },
  DownstreamServiceError: { status: 50002, code: 500, message: 'A service needed for the request is not working' },
  FaceNotReadyError: { status: 50300, code: 503, message: 'This API is not available yet' },
  ServiceNodeResourceDrainError: { status: 50303, code: 503, message: 'The server is at capacity; try again later' },
  ServiceAwayError: {
    status: 50306,
    code: 503,
    message: 'A part of the server is temporarily unavailable; try again later',
  },
  ServiceTimeoutError: { status: 50400, code: 504, message: 'The request took too long' },
} as const satisfies Record<string, { status: number; code: number; message: string }>;

export type ProblemName = keyof typeof PROBLEMS;

/** Details for the caller, in addition to name and message. The error body lists them in insertion order. */
export interface Facts {
  /** Shown to the caller, so it must not contain stack traces, file paths, or internal host names and IP addresses. */
  message?: string;
  /** The invalid option (ParamValidationError, BudgetExceededError, ...). */
  path?: string;
  /** Seconds to wait before a retry. */
  retryAfter?: number;
  [key: string]: unknown;
}

/**
 * A failure that is reported to the caller. It must not be retried within the request. The API writes it as the
 * response.
 */
export class Problem extends Error {
  override readonly name: ProblemName;
  readonly status: number;
  readonly code: number;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(name: ProblemName, { message, ...facts }: Facts = {}, cause?: unknown) {
    super(message ?? PROBLEMS[name].message, cause === undefined ? undefined : { cause });
    this.name = name;
    this.status = PROBLEMS[name].status;
    this.code = PROBLEMS[name].code;
    this.facts = facts;
  }

  /** `Name: message`, or `Name(option): message` if the problem names an option. */
  get readableMessage(): string {
    const { path } = this.facts;
    return typeof path === 'string' ? `${this.name}(${path}): ${this.message}` : `${this.name}: ${this.message}`;
  }
}

/** Creates a problem from a row of the table. `cause` is only logged and never sent to the caller. */
export const problem = (name: ProblemName, facts?: Facts, cause?: unknown): Problem => new Problem(name, facts, cause);

/** Converts any error to a Problem: a full disk to ServiceNodeResourceDrainError, other errors to InternalError. */
export const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  return isDiskFull(error) ? diskFull(error) : problem('InternalError', {}, error);
};

const SQLITE_FULL = 13;
const POSTGRES_FULL = '53100';
const MAX_CAUSES = 5;

/** Whether an error or one of its causes reports a full disk. */
export function isDiskFull(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++, cause = cause.cause) {
    const { code, errcode } = cause as { code?: unknown; errcode?: unknown };
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === POSTGRES_FULL) return true;
    // Errors of @photostructure/sqlite have no `errcode` if the failed statement only reads data.
    if ((Number(errcode) & 0xff) === SQLITE_FULL || cause.message === 'database or disk is full') return true;
  }
  return false;
}

/** Seconds before a retry after a full disk, because an operator must free disk space first. */
const DISK_RETRY_S = 60;

export const diskFull = (cause?: unknown): Problem =>
  problem('ServiceNodeResourceDrainError', { message: "The server's disk is full", retryAfter: DISK_RETRY_S }, cause);
