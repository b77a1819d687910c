/** Options that are mappings, written as `KEY: VALUE` on a command line. */
import { parse } from 'yaml';
import { setKey } from '#own.ts';

/** The values of all pairs in one mapping. Throws an Error that shows the one that is no pair. */
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
      throw new Error(`${pair} is not KEY: VALUE`);
    for (const [key, one] of Object.entries(value)) setKey(all, key, one);
  }
  return all;
}
