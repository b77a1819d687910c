/** Errors in TEI's format. Its OpenAI endpoints have another one. */
import type { ErrorWriter } from '#http/server.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';

const STATUSES: StatusTable = {
  ParamValidationError: 422,
  TokenLimitExceededError: 422,
  ModelNotFoundError: 404,
  InsufficientBalanceError: 429,
  TierFeatureConstraintError: 403,
  DownstreamServiceFailureError: 424,
  DownstreamServiceError: 424,
  ServiceTimeoutError: 424,
};

const TYPES: Readonly<Partial<Record<number, string>>> = {
  424: 'Backend',
  429: 'Overloaded',
  500: 'Backend',
  503: 'Unhealthy',
};

export const writeTeiError: ErrorWriter = (failure, request, reply) => {
  const isEmpty = failure.facts.isEmpty === true;
  const status = isEmpty ? 400 : statusOf(failure, STATUSES);
  const type = isEmpty ? 'Empty' : (TYPES[status] ?? 'Validation');
  const isOpenAi = /\/embeddings\/?(?:\?|$)/.test(request.originalUrl);
  const body = isOpenAi
    ? { message: failure.message, code: status, type }
    : { error: failure.message, error_type: type };
  return sendJson(reply.code(status), body);
};
