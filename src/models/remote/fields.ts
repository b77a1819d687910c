/** Reading JSON that nobody has promised anything about. */
import { problem } from '#errors.ts';

export const malformed = (what: string) =>
  problem('DownstreamServiceFailureError', { message: `The answer of the model server is not right: ${what}` });

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none for anything else. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(`it has no list of ${what}`);
  return value;
}

export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
