/** Writes failures as problem details (docs/reference/wire/http.md, Problem details). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '#errors.ts';
import { PROBLEM_TYPE, problemJson } from '#http/problem-json.ts';

/** The status and text of a failure, if a host has others than the error table. */
export interface HostFailure {
  readonly status: number;
  readonly detail: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

export function writeProblemJson(
  failure: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, detail, more }: HostFailure = { status: failure.code, detail: failure.message },
): unknown {
  const { limitedBy, ...facts } = failure.facts;
  const body = problemJson({
    status,
    detail,
    requestId: request.id,
    exceeded: typeof limitedBy === 'string' ? [policyOf(limitedBy)] : undefined,
    more: { ...facts, name: failure.name, ...more },
  });
  return reply.code(status).type(PROBLEM_TYPE).send(body);
}

/** The name of a limit in the RateLimit-Policy header. The limit of a client IP counts requests. */
const policyOf = (limitedBy: string) => (limitedBy === 'address' ? 'requests' : limitedBy);
