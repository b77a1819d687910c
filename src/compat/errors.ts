/** The error responses of the compat API: the dialect of the request writes them (docs/reference/wire/compat.md, Errors). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { writeProblemJson } from '#api/envelopes/problem.ts';
import type { Problem } from '#errors.ts';
import { namesProblemJson } from '#http/negotiate.ts';
import type { ErrorWriter } from '#http/server.ts';
import type { Dialect } from './dialect.ts';

const dialects = new WeakMap<FastifyRequest, Dialect>();

/** Sets the dialect whose format the errors of a request have. */
export const setDialect = (request: FastifyRequest, dialect: Dialect): void => void dialects.set(request, dialect);

/** Finds the dialect of a request that reached no route. */
export type DialectOfPath = (path: string) => Dialect | undefined;

/** `otherwise` writes the errors of requests of no dialect. */
export const createErrorWriter =
  (dialectOfPath: DialectOfPath, otherwise: ErrorWriter = writePlainError): ErrorWriter =>
  (failure, request, reply) => {
    if (typeof failure.facts.retryAfter === 'number') reply.header('retry-after', String(failure.facts.retryAfter));
    const dialect = dialects.get(request) ?? dialectOfPath(request.originalUrl.split('?', 1)[0]!);
    if (dialect) return dialect.writeError(failure, request, reply);
    return otherwise(failure, request, reply);
  };

/** An error for clients of no known dialect: it has the fields in which most programs look for the message. */
export const plainError = (failure: Problem) => ({ error: failure.message, detail: failure.message });

export const sendJson = (reply: FastifyReply, value: unknown): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(JSON.stringify(value));

/** Statuses of a dialect that differ from those of the error table, by the name of the problem. */
export type StatusTable = Partial<Readonly<Record<Problem['name'], number>>>;

export const statusOf = (failure: Problem, table: StatusTable): number => table[failure.name] ?? failure.code;

const writePlainError: ErrorWriter = (failure, request, reply) =>
  namesProblemJson(request.headers.accept)
    ? writeProblemJson(failure, request, reply)
    : sendJson(reply.code(failure.code), plainError(failure));
