/**
 * Writes responses and failures of the reader and search hosts (docs/reference/wire/reader.md, JSON answers and
 * Errors).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '#errors.ts';
import { errorKind, namesProblemJson } from '#http/negotiate.ts';
import { type Event, eventText } from '#http/sse.ts';
import { writeProblemJson } from './problem.ts';

export const success = (data: unknown, meta: Record<string, unknown>) => ({ code: 200, status: 20_000, data, meta });

/** The error object of JSON bodies and stream events. Bodies also have the key `data`. */
export function errorObject(failure: Problem): Record<string, unknown> {
  return {
    ...failure.facts,
    ...(typeof failure.facts.retryAfter === 'number' && {
      retryAfterDate: new Date(Date.now() + failure.facts.retryAfter * 1000).toISOString(),
    }),
    code: failure.code,
    name: failure.name,
    status: failure.status,
    message: failure.message,
    readableMessage: failure.readableMessage,
  };
}

/** The complete JSON body of a failure. */
export const errorBody = (failure: Problem) => ({ data: null, ...errorObject(failure) });

export const errorEvent = (failure: Problem): Event => ({ event: 'error', data: errorObject(failure) });

/** Writes a failure in the format that the client accepts. */
export function writeReaderError(failure: Problem, request: FastifyRequest, reply: FastifyReply): unknown {
  reply.code(failure.code);
  if (typeof failure.facts.retryAfter === 'number') reply.header('retry-after', String(failure.facts.retryAfter));
  if (failure.code === 405) reply.header('allow', 'GET, HEAD, POST, OPTIONS');
  if (namesProblemJson(request.headers.accept)) return writeProblemJson(failure, request, reply);
  switch (errorKind(request.headers.accept)) {
    case 'text':
      return reply.type('text/plain; charset=utf-8').send(`${failure.readableMessage}\n`);
    case 'stream':
      return reply
        .type('text/event-stream; charset=utf-8')
        .send(eventText({ event: 'error', data: failure.readableMessage }));
    case 'json':
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(errorBody(failure)));
  }
}
