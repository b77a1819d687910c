/**
 * Writes failures of the model host in its own envelope, or in the envelope of OpenAI's chat completions
 * (docs/reference/wire/models.md, Errors and Chat completion errors).
 */
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PROBLEMS, type Problem, type ProblemName, problem } from '#errors.ts';
import { namesProblemJson } from '#http/negotiate.ts';
import { writeProblemJson } from './problem.ts';

interface ModelCode {
  readonly code: string;
  readonly status: number;
  readonly detail?: string;
  readonly title?: string;
}

const UNAVAILABLE = 'Service temporarily unavailable';

/**
 * The code and status of each problem on the model host. Problems without a row have no code. `detail` replaces the
 * problem's message; `title` comes before it.
 */
export const MODEL_CODES = {
  ModelNotFoundError: { code: 'INPUT_MODEL_NOT_FOUND', status: 400 },
  TokenLimitExceededError: { code: 'INPUT_TOKEN_LIMIT_EXCEEDED', status: 400 },
  InvalidLabelsError: { code: 'INPUT_INVALID_LABELS', status: 400 },
  LabelLimitExceededError: { code: 'INPUT_LABEL_LIMIT_EXCEEDED', status: 400 },
  AuthenticationRequiredError: { code: 'AUTH_MISSING_API_KEY', status: 401, detail: 'Authentication required' },
  AuthenticationFormatError: { code: 'AUTH_INVALID_FORMAT', status: 401, detail: 'Invalid authorization format' },
  AuthenticationFailedError: { code: 'AUTH_INVALID_API_KEY', status: 401, detail: 'Invalid API key' },
  InsufficientBalanceError: {
    code: 'AUTHZ_INSUFFICIENT_BALANCE',
    status: 403,
    detail: 'Insufficient account balance',
  },
  ResourceLimitExceededError: { code: 'AUTHZ_RESOURCE_LIMIT_EXCEEDED', status: 403 },
  TierFeatureConstraintError: {
    code: 'AUTHZ_RESOURCE_LIMIT_EXCEEDED',
    status: 403,
    title: 'Resource limit exceeded for the plan',
  },
  ResourceNotFoundError: { code: 'RESOURCE_NOT_FOUND', status: 404 },
  RouteNotFoundError: { code: 'RESOURCE_NOT_FOUND', status: 404 },
  ResourceBusyError: { code: 'CONFLICT_RESOURCE_BUSY', status: 409 },
  RateLimitTriggeredError: { code: 'RATE_REQUEST_LIMIT_EXCEEDED', status: 429 },
  InternalError: { code: 'INTERNAL_ERROR', status: 500, detail: 'An unexpected error occurred' },
  DownstreamServiceError: { code: 'INTERNAL_ERROR', status: 500, title: 'An unexpected error occurred' },
  // A model cannot be downloaded or loaded, or a model server is broken.
  DownstreamServiceFailureError: { code: 'SERVICE_UNAVAILABLE', status: 503, title: UNAVAILABLE },
  ServiceNodeResourceDrainError: { code: 'SERVICE_UNAVAILABLE', status: 503, title: UNAVAILABLE },
  ServiceAwayError: { code: 'SERVICE_UNAVAILABLE', status: 503, detail: UNAVAILABLE },
  FaceNotReadyError: { code: 'SERVICE_UNAVAILABLE', status: 503, title: UNAVAILABLE },
  ServiceTimeoutError: { code: 'SERVICE_TIMEOUT', status: 504, title: 'Service request timed out' },
} as const satisfies Partial<Record<ProblemName, ModelCode>>;

/** Codes of RateLimitTriggeredError, keyed by its detail `limitedBy`. */
export const RATE_CODES = {
  address: 'RATE_IP_LIMIT_EXCEEDED',
  concurrency: 'RATE_CONCURRENCY_LIMIT_EXCEEDED',
  requests: 'RATE_REQUEST_LIMIT_EXCEEDED',
  tokens: 'RATE_TOKEN_LIMIT_EXCEEDED',
} as const;

/**
 * One invalid field of a request (docs/reference/wire/models.md, Validation errors). On this host, the `errors` of a
 * ParamValidationError have this type.
 */
export interface FieldError {
  /** Path of the field, such as `body -> input -> 0`. */
  readonly field: string;
  readonly message: string;
  readonly type: string;
  readonly input?: unknown;
}

export interface ModelFailure {
  readonly status: number;
  readonly detail: string;
  readonly code: string | null;
  readonly errors?: readonly FieldError[] | undefined;
}

/** The status, code and text of a problem on this host. */
export function modelFailure({ name, code: standard, message, facts }: Problem): ModelFailure {
  if (name === 'ParamValidationError' || name === 'SubmittedDataMalformedError') {
    const errors = (facts.errors as readonly FieldError[] | undefined) ?? [
      { field: fieldOf(facts.path), message, type: 'value_error' },
    ];
    return { status: 422, code: null, detail: validationDetail(errors), errors };
  }
  const row: ModelCode | undefined = MODEL_CODES[name as keyof typeof MODEL_CODES];
  if (!row) return { status: standard, code: null, detail: message };
  const limited = facts.limitedBy as keyof typeof RATE_CODES | undefined;
  const detail = row.detail ?? (row.title ? titled(row.title, message, name) : message);
  return { status: row.status, code: (limited && RATE_CODES[limited]) ?? row.code, detail };
}

/** The title and the message. Only the title if the message is the default one, because both say the same. */
const titled = (title: string, message: string, name: ProblemName) =>
  message === PROBLEMS[name].message ? title : `${title}: ${message}`;

const fieldOf = (path: unknown) => (typeof path !== 'string' || path === 'body' ? 'body' : `body -> ${path}`);

function validationDetail(errors: readonly FieldError[]): string {
  const [first] = errors;
  const described = `'${first?.field}' ${first?.message}`;
  return errors.length > 1
    ? `${errors.length} validation errors, the first: ${described}`
    : `Validation error: ${described}`;
}

/** Failures of chat completions have the format of OpenAI's API. */
const isChat = ({ originalUrl }: FastifyRequest) => /^\/v1\/chat\/completions\/?(?:\?|$)/.test(originalUrl);

const CHAT_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

/** Path prefixes, each with the name that the OpenAPI document gives to the parameter after it. */
const PATH_PARAMETERS = { '/v1/models/': 'model_id', '/v1/batch/': 'batch_id' } as const;

/** Names the path parameter if a URL cannot be decoded. On this host, no other failure has `path` set to `url`. */
function atPathParameter(failure: Problem, url: string): Problem {
  if (failure.name !== 'ParamValidationError' || failure.facts.path !== 'url') return failure;
  const [, parameter] = Object.entries(PATH_PARAMETERS).find(([start]) => url.startsWith(start)) ?? [];
  const field = parameter ? `path -> ${parameter}` : 'path';
  const error: FieldError = { field, message: 'cannot be decoded', type: 'value_error' };
  return problem('ParamValidationError', { message: failure.message, errors: [error] });
}

/** Retry-After, in seconds, for 503 responses whose problem has no `retryAfter`. */
const DEFAULT_RETRY_AFTER_S = 30;

/** The body of these failures is fixed, so the realm of the challenge says what to do (RFC 9110, section 11.5). */
const KEY_HINT = 'Lectern. The operator creates keys with: lectern keys mint';

export function writeModelError(given: Problem, request: FastifyRequest, reply: FastifyReply): unknown {
  const failure = atPathParameter(given, request.originalUrl);
  const { status, detail, code, errors } = modelFailure(failure);
  const { retryAfter = status === 503 ? DEFAULT_RETRY_AFTER_S : undefined } = failure.facts;
  if (typeof retryAfter === 'number') reply.header('retry-after', String(retryAfter));
  if (status === 401) reply.header('www-authenticate', `Bearer realm="${KEY_HINT}"`);
  if (status === 405 && !reply.hasHeader('allow')) reply.header('allow', 'GET, POST, DELETE, OPTIONS');
  if (namesProblemJson(request.headers.accept)) {
    const more = {
      ...(code && { code }),
      ...(status === 401 && { hint: KEY_HINT }),
      ...(errors && { errors: errors.map(errorJson) }),
    };
    return writeProblemJson(failure, request, reply, { status, detail, more });
  }
  const chat = isChat(request);
  const body = chat
    ? { error: chatError({ status, detail, code, errors }, request.id) }
    : {
        detail,
        ...(code && { code }),
        request_id: request.id,
        ...(errors && { errors: errors.map(errorJson) }),
      };
  return reply
    .code(chat && status === 422 ? 400 : status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

/** The body of a failure that occurs before the request was parsed. */
export const bareModelError = (failure: Problem) => ({
  detail: failure.message,
  request_id: randomUUID().replaceAll('-', ''),
});

/** The body of a failure in a chat stream that has already begun. */
export const chatErrorBody = (failure: Problem, requestId: string) => ({
  error: chatError(modelFailure(failure), requestId),
});

function chatError({ status, detail, code, errors }: ModelFailure, requestId: string) {
  const type = CHAT_TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return {
    message: detail,
    type,
    param: errors?.[0] ? dottedPath(errors[0].field) : null,
    code,
    request_id: requestId,
  };
}

/** Converts `body -> messages -> 0 -> content` to `messages[0].content`. */
const dottedPath = (field: string) =>
  field
    .split(' -> ')
    .slice(1)
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), '') || null;

const MAX_SHOWN_CHARACTERS = 200;

/** Truncates long texts, so that a response never repeats a whole document. */
function errorJson({ field, message, type, input }: FieldError) {
  const shown =
    typeof input === 'string' && input.length > MAX_SHOWN_CHARACTERS ? input.slice(0, MAX_SHOWN_CHARACTERS) : input;
  return { field, message, type, ...(shown !== undefined && { input: shown }) };
}
