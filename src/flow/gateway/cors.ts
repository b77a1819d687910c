/** CORS responses, identical to those of the original framework (docs/reference/wire/flow.md, CORS). */
import type { IncomingMessage } from 'node:http';
import type { Answer } from './answer.ts';

const METHODS = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT';
const MAX_AGE_SECONDS = '600';

/** The response to a preflight request; `undefined` for any other request. */
export function preflight({ method, headers }: IncomingMessage): Answer | undefined {
  const { origin } = headers;
  if (method !== 'OPTIONS' || !origin || !headers['access-control-request-method']) return undefined;
  const requestedHeaders = headers['access-control-request-headers'];
  return {
    code: 200,
    body: 'OK',
    type: 'text/plain; charset=utf-8',
    headers: {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': METHODS,
      'access-control-max-age': MAX_AGE_SECONDS,
      ...(requestedHeaders && { 'access-control-allow-headers': requestedHeaders }),
      vary: 'Origin',
    },
  };
}

export const CORS_HEADERS = { 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' } as const;
