/** For tests of parsers: names that every object inherits must be treated like any other name. */
import { expect } from 'vitest';

export const INHERITED_NAMES: readonly string[] = Object.getOwnPropertyNames(Object.prototype);

/** JSON of an object with these pairs. Keeps `__proto__`, which an object literal would lose. */
export const jsonOf = (pairs: readonly (readonly [string, unknown])[]): string =>
  JSON.stringify(Object.fromEntries(pairs));

/** A similar name that no object inherits. */
const standIn = (name: string): string => name.replace(/[a-z]/, 'x');

/** Expects that `read` returns the same result for each inherited name as for an ordinary name. */
export async function expectPlainNames(read: (name: string) => unknown): Promise<void> {
  for (const name of INHERITED_NAMES) {
    const other = standIn(name);
    // Underscores may have been escaped.
    const [from, to] = [other.replaceAll('_', ''), name.replaceAll('_', '')];
    const expected = JSON.stringify(await read(other))
      .replaceAll(from, to)
      .replaceAll(from.toLowerCase(), to.toLowerCase());
    expect(JSON.parse(JSON.stringify(await read(name))), name).toEqual(JSON.parse(expected));
  }
}
