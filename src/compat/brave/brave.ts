/** Brave's search API: web, news and images. */
import type { ErrorWriter } from '#http/server.ts';
import type { CompatRoute, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { BRAVE_FIELDS } from './fields.ts';
import { search } from './search.ts';

const STATUSES: StatusTable = { ParamValidationError: 422, SecurityCompromiseError: 422 };

const CODES: Readonly<Record<number, string>> = {
  401: 'SUBSCRIPTION_TOKEN_INVALID',
  402: 'QUOTA_LIMITED',
  403: 'OPTION_NOT_IN_PLAN',
  404: 'NOT_FOUND',
  422: 'VALIDATION',
  429: 'RATE_LIMITED',
};

const writeError: ErrorWriter = (failure, request, reply) => {
  const status = statusOf(failure, STATUSES);
  const error = { id: request.id, code: CODES[status] ?? 'INTERNAL', detail: failure.message, status };
  return sendJson(reply.code(status), { type: 'ErrorResponse', error, time: Math.floor(Date.now() / 1_000) });
};

const route = (kind: 'web' | 'news' | 'images'): CompatRoute => ({
  method: 'GET',
  url: `/res/v1/${kind}/search`,
  access: 'search',
  summary: `Searches (${kind}) without reading pages.`,
  fields: BRAVE_FIELDS,
  handler: search(kind),
});

export const brave: Dialect = {
  name: 'brave',
  title: 'Brave Search',
  keyPlaces: [{ header: 'x-subscription-token' }],
  writeError,
  routes: [route('web'), route('news'), route('images')],
};
