/** Errors in Firecrawl's format: clients print `error`, and some read `code` and `details`. */
import { type Problem, problem } from '#errors.ts';
import type { ErrorWriter } from '#http/server.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';

const STATUSES: StatusTable = {
  TierFeatureConstraintError: 403,
  ResourcePolicyDenyError: 403,
  HarmfulContentError: 403,
  SecurityCompromiseError: 400,
  SubmittedDataMalformedError: 400,
  DownstreamServiceFailureError: 500,
  AssertionFailureError: 500,
  ServiceTimeoutError: 408,
};

const MISSING_KEY = 'Unauthorized: Token missing';
const WRONG_KEY = 'Unauthorized: Invalid token';

/** The failure of a target, by what its message says. Clients look at these codes. */
const TARGET_CODES: readonly (readonly [pattern: RegExp, code: string])[] = [
  [/\bin time\b|within the timeout|time limit/i, 'SCRAPE_TIMEOUT'],
  [/certificate|secure connection/i, 'SCRAPE_SSL_ERROR'],
  [/host name/i, 'SCRAPE_DNS_RESOLUTION_ERROR'],
  [/file type|kind of file|format of the file/i, 'SCRAPE_UNSUPPORTED_FILE_ERROR'],
  [/cannot be reached|refused|connection|did not send|headers of the target|redirects/i, 'SCRAPE_SITE_ERROR'],
];
const OTHER_CODE = 'SCRAPE_ALL_ENGINES_FAILED';
const TIMEOUT_CODE = 'SCRAPE_TIMEOUT';

/** The code for a page that could not be read. */
export function targetCode({ name, message }: Pick<Problem, 'name' | 'message'>): string {
  if (name === 'ServiceTimeoutError') return TIMEOUT_CODE;
  return TARGET_CODES.find(([pattern]) => pattern.test(message))?.[1] ?? OTHER_CODE;
}

/** Marks a problem with the code for clients. */
export const withCode = (failure: Problem, code: string): Problem =>
  problem(failure.name, { ...failure.facts, message: failure.message, firecrawlCode: code }, failure.cause);

/**
 * A problem of a read whose URL was valid: a host name that does not exist is a failure of the target, and not an
 * invalid field.
 */
export function targetFailure(failure: Problem): Problem {
  const isTarget = failure.name === 'AssertionFailureError' || failure.name === 'ServiceTimeoutError';
  if (isTarget && typeof failure.facts.path !== 'string') return withCode(failure, targetCode(failure));
  if (failure.name !== 'ParamValidationError' || failure.facts.path !== 'url') return failure;
  const { message } = failure;
  return withCode(problem('AssertionFailureError', { message }, failure.cause), targetCode({ ...failure, message }));
}

export const writeFirecrawlError: ErrorWriter = (failure, _, reply) => {
  const { path, firecrawlCode } = failure.facts;
  const status = firecrawlCode === TIMEOUT_CODE ? 408 : statusOf(failure, STATUSES);
  const details = status === 400 && typeof path === 'string' ? detailsOf(path, failure.message) : undefined;
  return sendJson(reply.code(status), {
    success: false,
    error: messageOf(failure),
    ...(details ? { code: 'BAD_REQUEST', details } : typeof firecrawlCode === 'string' && { code: firecrawlCode }),
  });
};

const detailsOf = (path: string, message: string) => [{ path: path.split('.'), message, code: 'custom' }];

function messageOf({ name, message }: Problem): string {
  if (name === 'AuthenticationRequiredError') return MISSING_KEY;
  return name === 'AuthenticationFailedError' || name === 'AuthenticationFormatError' ? WRONG_KEY : message;
}
