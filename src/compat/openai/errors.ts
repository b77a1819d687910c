/** Errors in the format of OpenAI's API, which vLLM has too. */
import { modelFailure } from '#api/envelopes/model.ts';
import type { ErrorWriter } from '#http/server.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';

const STATUSES: StatusTable = {
  ModelNotFoundError: 404,
  TierFeatureConstraintError: 403,
  SubmittedDataMalformedError: 400,
  DownstreamServiceFailureError: 503,
};

const TYPES: Readonly<Partial<Record<number, string>>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

export const writeOpenAiError: ErrorWriter = (failure, request, reply) => {
  const status = statusOf(failure, STATUSES);
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  const { path } = failure.facts;
  return sendJson(reply.code(status), {
    error: {
      message: withoutBody(failure.message),
      type,
      param: typeof path === 'string' ? withoutBody(path) : null,
      code: modelFailure(failure).code,
      request_id: request.id,
    },
  });
};

/** Chat completions name the model with its place in the body. */
const withoutBody = (text: string): string => text.replace(/^body -> /, '');
