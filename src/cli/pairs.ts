/** Parses options written as `KEY: VALUE` on the command line. */
import { parse } from 'yaml';
import { setOwnValue } from '#own-value.ts';
import { usageError } from './exit-codes.ts';

/** Merges all pairs into one mapping. Throws an Error that quotes an invalid pair. */
export function readPairs(pairs: readonly string[] | undefined): Record<string, unknown> | undefined {
  if (!pairs) return undefined;
  const all: Record<string, unknown> = {};
  for (const pair of pairs) {
    let value: unknown;
    try {
      value = parse(pair);
    } catch {
      value = undefined;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw usageError(`${pair} is not KEY: VALUE`);
    for (const [key, one] of Object.entries(value)) setOwnValue(all, key, one);
  }
  return all;
}
