/** What tags, parameters and returned objects may hold: the values of a protobuf Struct, which are those of JSON. */
import { setKey } from '#own.ts';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Nested lists and objects deeper than this are refused: every walk over them may then recurse. */
export const MAX_VALUE_DEPTH = 200;
/** Documents within documents deeper than this are refused, for the same reason. */
export const MAX_DOCUMENT_DEPTH = 200;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects made by literals, JSON.parse or Object.create(null): not instances of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Whether lists and objects are nested no deeper than MAX_VALUE_DEPTH. */
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

/** A copy of a value all the way down. Throws a RangeError when it is nested without end. */
export function copyValue<T extends JsonValue>(value: T, depth = 0): T {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_VALUE_DEPTH) throw new RangeError('a value is nested too deeply');
  if (Array.isArray(value)) return value.map((part) => copyValue(part, depth + 1)) as JsonValue as T;
  const copy: JsonObject = {};
  for (const key in value as JsonObject) setKey(copy, key, copyValue((value as JsonObject)[key]!, depth + 1));
  return copy as T;
}

/** A copy that is JSON all the way down. Throws a TypeError for anything that is not, such as a function or a cycle. */
export function asJson(value: unknown, depth = 0): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (depth > MAX_VALUE_DEPTH) throw new TypeError('a value is nested too deeply');
  if (Array.isArray(value)) return value.map((part) => asJson(part ?? null, depth + 1));
  if (!isPlainObject(value))
    throw new TypeError(`${typeof value === 'object' ? value?.constructor?.name : typeof value} is not a JSON value`);
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined) setKey(copy, key, asJson(value[key], depth + 1));
  }
  return copy;
}
