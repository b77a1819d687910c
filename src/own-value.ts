/**
 * Safe access to objects by untrusted keys (from a request, a page or a file). Every object inherits `constructor`,
 * `toString`, `__proto__` and others, so plain bracket access would read or change inherited properties.
 */

/** Returns the value of an own property; `undefined` for inherited and missing keys. */
export const ownValue = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Sets an own property, even for the key `__proto__`. */
export function setOwnValue<Value>(target: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}
