/** Tells callers which fields of their request have no effect, in dialects whose responses have no place for a warning. */
import type { FastifyReply } from 'fastify';

const IGNORED = 'x-lectern-ignored';

export function showIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length > 0) reply.header(IGNORED, [...new Set(names)].join(', '));
}

/** The names of the fields that were sent with another value than the one that turns them off. */
export const sentFields = (given: Readonly<Record<string, unknown>>, names: readonly string[]): string[] =>
  names.filter((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return value !== undefined && value !== null && value !== false && value !== '';
  });
