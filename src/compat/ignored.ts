/**
 * Tells callers which fields of their request have no effect, and what is missing from a result, in dialects whose
 * responses have no place for a warning.
 */
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

const MAX_HEADER_CHARACTERS = 2_000;

/** The warnings of a page or of a list, on one line, in plain ASCII. */
export function showWarning(reply: FastifyReply, { warning }: { readonly warning?: string | undefined }): void {
  if (!warning) return;
  const line = warning.replaceAll('\n', ' | ').replace(/[^\x20-\x7e]+/g, '?');
  reply.header('x-warning', line.slice(0, MAX_HEADER_CHARACTERS));
}
