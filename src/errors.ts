/**
 * Every way a request can fail, one row each: the name callers match on, the five-digit status, the HTTP code, and
 * the message used when the place that fails has no better one. A failure leaves a room as `problem(name, facts)`;
 * the doors write it down in their own envelope.
 */

export const PROBLEMS = {
  ParamValidationError: { status: 40001, code: 400, message: 'A parameter is not valid' },
  DataStreamBrokenError: { status: 40003, code: 400, message: 'The data stream broke before its end' },
  ModelNotFoundError: { status: 40004, code: 400, message: 'This model is not served here' },
  TokenLimitExceededError: { status: 40005, code: 400, message: 'The input is longer than the model takes' },
  AuthenticationFormatError: { status: 40101, code: 401, message: 'Invalid authorization format' },
  AuthenticationFailedError: { status: 40102, code: 401, message: 'The API key is not known' },
  AuthenticationRequiredError: { status: 40103, code: 401, message: 'An API key is required' },
  TierFeatureConstraintError: { status: 40202, code: 402, message: 'Your plan does not include this feature' },
  InsufficientBalanceError: { status: 40203, code: 402, message: 'The balance of this account is used up' },
  OperationNotAllowedError: { status: 40301, code: 403, message: 'This operation is not allowed' },
  ResourceLimitExceededError: { status: 40302, code: 403, message: 'Resource limit exceeded for the plan' },
  AbuseAlleviationError: { status: 40305, code: 403, message: 'This request was refused to stop abuse' },
  RouteNotFoundError: { status: 40400, code: 404, message: 'There is nothing at this address' },
  ResourceNotFoundError: { status: 40401, code: 404, message: 'This is not found, or access is denied' },
  MethodNotAllowedError: { status: 40500, code: 405, message: 'This method is not allowed here' },
  ResourcePolicyDenyError: { status: 40902, code: 409, message: 'The policy of the resource forbids this' },
  ResourceBusyError: { status: 40903, code: 409, message: 'This is being modified' },
  BudgetExceededError: { status: 40904, code: 409, message: 'The answer costs more tokens than the budget allows' },
  RequestPayloadTooLargeError: { status: 41301, code: 413, message: 'The request body is too large' },
  TargetFileTooLargeError: { status: 41302, code: 413, message: 'The target is too large' },
  UnsupportedMediaTypeError: { status: 41500, code: 415, message: 'A body of this kind is not read here' },
  RequestHeaderFieldsTooLargeError: { status: 43100, code: 431, message: 'The address or a header is too long' },
  SubmittedDataMalformedError: { status: 42203, code: 422, message: 'The submitted data could not be decoded' },
  DownstreamServiceFailureError: { status: 42205, code: 422, message: 'A service needed for this request failed' },
  AssertionFailureError: { status: 42206, code: 422, message: 'The page could not be read' },
  RateLimitTriggeredError: { status: 42903, code: 429, message: 'Too many requests' },
  HarmfulContentError: { status: 45101, code: 451, message: 'The content was found harmful' },
  SecurityCompromiseError: { status: 45102, code: 451, message: 'This address is not allowed' },
  InternalError: { status: 50000, code: 500, message: 'Something went wrong on our side' },
  DownstreamServiceError: { status: 50002, code: 500, message: 'A service needed for this request is broken' },
  FaceNotReadyError: { status: 50300, code: 503, message: 'This part of the server is not available yet' },
  ServiceNodeResourceDrainError: { status: 50303, code: 503, message: 'The server has no capacity left, try again' },
  ServiceAwayError: { status: 50306, code: 503, message: 'A part of the server is away for the moment, try again' },
  ServiceTimeoutError: { status: 50400, code: 504, message: 'The request took too long' },
} as const satisfies Record<string, { status: number; code: number; message: string }>;

export type ProblemName = keyof typeof PROBLEMS;

/** What is told to the caller beside name and message; keys appear in the error body in this order of giving. */
export interface Facts {
  /** Safe to show: no stack, file path, host name or address of ours. */
  message?: string;
  /** The option at fault (ParamValidationError, BudgetExceededError, ...). */
  path?: string;
  /** Seconds until it makes sense to ask again. */
  retryAfter?: number;
  [key: string]: unknown;
}

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

  /** `Name: message`, with the option in brackets when there is one. */
  get readableMessage(): string {
    const { path } = this.facts;
    return typeof path === 'string' ? `${this.name}(${path}): ${this.message}` : `${this.name}: ${this.message}`;
  }
}

/** A failure with a row of its own; `cause` stays in the log and never reaches the caller. */
export const problem = (name: ProblemName, facts?: Facts, cause?: unknown): Problem => new Problem(name, facts, cause);

/**
 * The problem that an unknown failure is to the caller: itself when it is one, ServiceNodeResourceDrainError when the disk
 * is full, else InternalError.
 */
export const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  return isDiskFull(error) ? diskFull(error) : problem('InternalError', {}, error);
};

const SQLITE_FULL = 13;
const POSTGRES_FULL = '53100';
const MAX_CAUSES = 5;

/** Whether a failure, or what it came of, says that there is no room left to write. */
export function isDiskFull(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++, cause = cause.cause) {
    const { code, errcode } = cause as { code?: unknown; errcode?: unknown };
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === POSTGRES_FULL) return true;
    // The package for Node 20 gives no number when a statement that reads fails.
    if ((Number(errcode) & 0xff) === SQLITE_FULL || cause.message === 'database or disk is full') return true;
  }
  return false;
}

/** Room is made by the operator, which takes a while. */
const DISK_RETRY_S = 60;

export const diskFull = (cause?: unknown): Problem =>
  problem(
    'ServiceNodeResourceDrainError',
    { message: 'The disk of the server is full', retryAfter: DISK_RETRY_S },
    cause,
  );
