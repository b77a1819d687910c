/** Exa's API: `/search` and `/contents`. */
import type { ErrorWriter } from '#http/server.ts';
import type { Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { contents } from './contents.ts';
import { CONTENTS_FIELDS, SEARCH_FIELDS } from './fields.ts';
import { search } from './search.ts';

const STATUSES: StatusTable = { SecurityCompromiseError: 400, HarmfulContentError: 403 };

const TAGS: Readonly<Record<number, string>> = {
  400: 'INVALID_REQUEST_BODY',
  401: 'INVALID_API_KEY',
  402: 'NO_MORE_CREDITS',
  403: 'ACCESS_DENIED',
  404: 'NOT_FOUND',
  429: 'RATE_LIMIT_EXCEEDED',
};

const writeError: ErrorWriter = (failure, request, reply) => {
  const status = statusOf(failure, STATUSES);
  const tag = TAGS[status] ?? 'DEFAULT_ERROR';
  return sendJson(reply.code(status), { error: failure.message, requestId: request.id, tag });
};

export const exa: Dialect = {
  name: 'exa',
  title: 'Exa',
  keyPlaces: [{ header: 'x-api-key' }, 'bearer'],
  writeError,
  routes: [
    {
      method: 'POST',
      url: '/search',
      access: 'search',
      summary: 'Searches; reads the pages if `contents` asks for text or highlights.',
      fields: SEARCH_FIELDS,
      handler: search,
    },
    {
      method: 'POST',
      url: '/contents',
      access: 'read',
      summary: 'Reads up to 100 URLs.',
      fields: CONTENTS_FIELDS,
      handler: contents,
    },
  ],
};
