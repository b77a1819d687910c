/**
 * Objects as tables whose keys come from elsewhere: a request, a page, a file. Every object inherits `constructor`,
 * `toString`, `__proto__` and others, so such a key is neither looked up nor set with plain brackets.
 */

/** The value under a key of the object itself; undefined for a key that it inherits or does not have. */
export const own = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Sets a key that may be `__proto__`, which becomes a key like any other. */
export function setKey<Value>(target: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}
