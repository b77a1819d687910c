/** Helpers for parsing untrusted JSON. */
import { problem } from '#errors.ts';

export const malformed = (what: string) =>
  problem('DownstreamServiceFailureError', { message: `The response from the model server is invalid: ${what}` });

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, otherwise an empty object. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(`the list of ${what} is missing`);
  return value;
}

export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
