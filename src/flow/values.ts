/** JSON values, which tags, parameters and returned objects may contain. A protobuf Struct contains the same values. */
import { setOwnValue } from '#own-value.ts';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Maximum nesting of lists and objects, so that recursive walks are safe. */
export const MAX_VALUE_DEPTH = 200;
/** Maximum nesting of documents, for the same reason. */
export const MAX_DOCUMENT_DEPTH = 200;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Object literals and results of JSON.parse or Object.create(null), not class instances. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Whether lists and objects are nested at most MAX_VALUE_DEPTH levels deep. */
export function isShallow(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= MAX_VALUE_DEPTH) return false;
  if (Array.isArray(value)) {
    for (const part of value) if (!isShallow(part, depth + 1)) return false;
    return true;
  }
  for (const key in value) if (!isShallow((value as Record<string, unknown>)[key], depth + 1)) return false;
  return true;
}

/** A deep copy. Throws a RangeError when the value is nested too deeply. */
export function copyValue<T extends JsonValue>(value: T, depth = 0): T {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_VALUE_DEPTH) throw new RangeError('a value is nested too deeply');
  if (Array.isArray(value)) return value.map((part) => copyValue(part, depth + 1)) as JsonValue as T;
  const copy: JsonObject = {};
  for (const key in value as JsonObject) setOwnValue(copy, key, copyValue((value as JsonObject)[key]!, depth + 1));
  return copy as T;
}

/** A deep copy as JSON. Throws a TypeError for anything that is not JSON, such as a function or a cycle. */
export function toJsonValue(value: unknown, depth = 0): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (depth > MAX_VALUE_DEPTH) throw new TypeError('a value is nested too deeply');
  if (Array.isArray(value)) return value.map((part) => toJsonValue(part ?? null, depth + 1));
  if (!isPlainObject(value))
    throw new TypeError(`${typeof value === 'object' ? value?.constructor?.name : typeof value} is not a JSON value`);
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined) setOwnValue(copy, key, toJsonValue(value[key], depth + 1));
  }
  return copy;
}
