/** For tests: the names that every object has by itself, and what a reader makes of them beside names that mean nothing. */
import { expect } from 'vitest';

export const INHERITED_NAMES: readonly string[] = Object.getOwnPropertyNames(Object.prototype);

/** JSON of an object of these pairs; `__proto__` is a key like any other, which an object literal would lose. */
export const jsonOf = (pairs: readonly (readonly [string, unknown])[]): string =>
  JSON.stringify(Object.fromEntries(pairs));

/** A name of the same form that no object has. */
const standIn = (name: string): string => name.replace(/[a-z]/, 'x');

/** For each name: what is read of a text with it is what is read of it with another name in its place. */
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
