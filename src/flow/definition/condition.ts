/** Conditions that choose which documents a branch receives (docs/reference/wire/flow.md, Conditions). */
import { problem } from '#errors.ts';
import { ownValue } from '#own-value.ts';
import type { Document } from '../document.ts';
import { NdArray } from '../ndarray.ts';
import { isObject, type JsonObject } from '../values.ts';

export type Condition = (document: Document) => boolean;
type Comparison = (value: unknown, other: unknown) => boolean;
type TextTest = (text: string) => boolean;
/** Compiles a pattern to a search function. Throws if the pattern is invalid. */
export type CompileSearch = (pattern: string) => TextTest;

const sameType = (a: unknown, b: unknown): boolean =>
  typeof a === typeof b && (typeof a === 'number' || typeof a === 'string' || typeof a === 'boolean');

const isIn: Comparison = (value, list) =>
  Array.isArray(list)
    ? list.some((one) => isEqual(value, one))
    : typeof list === 'string' && list.includes(String(value));

function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof NdArray) return value.shape[0] ?? 0;
  return isObject(value) ? Object.keys(value).length : undefined;
}

const COMPARISONS: Record<string, Comparison> = {
  $eq: (value, other) => isEqual(value, other),
  $neq: (value, other) => !isEqual(value, other),
  $lt: (value, other) => sameType(value, other) && (value as number) < (other as number),
  $gt: (value, other) => sameType(value, other) && (value as number) > (other as number),
  $lte: (value, other) => sameType(value, other) && (value as number) <= (other as number),
  $gte: (value, other) => sameType(value, other) && (value as number) >= (other as number),
  $in: isIn,
  $nin: (value, other) => !isIn(value, other),
  $size: (value, other) => sizeOf(value) === other,
};

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b);
}

const FIELDS: Record<string, (document: Document) => unknown> = {
  id: (document) => document.id,
  parent_id: (document) => document.parentId,
  granularity: (document) => document.granularity,
  adjacency: (document) => document.adjacency,
  blob: (document) => document.blob,
  tensor: (document) => document.tensor,
  mime_type: (document) => document.mimeType,
  text: (document) => document.text,
  content: (document) => document.content,
  weight: (document) => document.weight,
  uri: (document) => document.uri,
  tags: (document) => document.tags,
  offset: (document) => document.offset,
  location: (document) => document.location,
  embedding: (document) => document.embedding,
  modality: (document) => document.modality,
  evaluations: (document) => document.evaluations,
  scores: (document) => document.scores,
  chunks: (document) => document.chunks,
  matches: (document) => document.matches,
};

const invalidCondition = (message: string) => problem('ParamValidationError', { message, path: 'when' });

/** Returns a getter for a field path such as `tags__a__b`. A missing field is undefined. */
function fieldGetter(path: string): (document: Document) => unknown {
  const [name = '', ...keys] = path.split('__');
  const field = ownValue(FIELDS, name);
  if (!field) throw invalidCondition(`a condition names the field ${path}, which documents do not have`);
  return (document) => {
    let value = field(document);
    for (const key of keys) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      value = (value as Record<string, unknown>)[key];
    }
    return value ?? undefined;
  };
}

/** The value itself, or the document field that it names in braces, such as `{weight}`. */
function operandGetter(value: unknown): (document: Document) => unknown {
  const named = typeof value === 'string' ? /^\{(\w+)\}$/.exec(value)?.[1] : undefined;
  return named ? fieldGetter(named) : () => value;
}

const isSet = (value: unknown): boolean => value !== undefined && value !== '' && value !== 0 && sizeOf(value) !== 0;

function compileComparison(path: string, operator: string, value: unknown, search: CompileSearch): Condition {
  const read = fieldGetter(path);
  if (operator === '$exists') {
    if (typeof value !== 'boolean') throw invalidCondition(`$exists of ${path} expects true or false`);
    const inTags = path.includes('__');
    return (document) => (inTags ? read(document) !== undefined : isSet(read(document))) === value;
  }
  if (operator === '$regex') {
    if (typeof value !== 'string') throw invalidCondition(`$regex of ${path} expects a pattern`);
    const test = search(value);
    return (document) => {
      const text = read(document);
      return typeof text === 'string' && test(text);
    };
  }
  const comparison = ownValue(COMPARISONS, operator);
  if (!comparison) throw invalidCondition(`a condition uses the unknown operator ${operator}`);
  const other = operandGetter(value);
  return (document) => {
    const own = read(document);
    const otherValue = other(document);
    return own !== undefined && otherValue !== undefined && comparison(own, otherValue);
  };
}

const every =
  (conditions: readonly Condition[]): Condition =>
  (document) =>
    conditions.every((condition) => condition(document));

/** `$and` and `$or` accept a list of conditions, or one object whose entries are the conditions. */
function compileList(value: unknown, operator: string, search: CompileSearch): Condition[] {
  if (Array.isArray(value)) return value.map((part) => compileCondition(part, search));
  if (!isObject(value)) throw invalidCondition(`${operator} expects conditions`);
  return Object.entries(value).map(([key, part]) => compileEntry(key, part, search));
}

function compileEntry(key: string, value: unknown, search: CompileSearch): Condition {
  if (key === '$and') return every(compileList(value, key, search));
  if (key === '$or') {
    const either = compileList(value, key, search);
    return (document) => either.some((condition) => condition(document));
  }
  if (key === '$not') {
    const condition = compileCondition(value, search);
    return (document) => !condition(document);
  }
  if (key.startsWith('$')) throw invalidCondition(`a condition uses the unknown operator ${key}`);
  if (!isObject(value)) throw invalidCondition(`the condition on ${key} expects an operator such as {"$eq": ...}`);
  return every(Object.entries(value).map(([operator, other]) => compileComparison(key, operator, other, search)));
}

/** Compiles a condition. `{}` matches every document. Throws a ParamValidationError if it is invalid. */
export function compileCondition(when: unknown, search: CompileSearch): Condition {
  if (!isObject(when)) throw invalidCondition('a condition must be an object');
  return every(Object.entries(when).map(([key, value]) => compileEntry(key, value, search)));
}

/** Checks a condition without compiling its patterns. */
export const checkCondition = (when: unknown): JsonObject => {
  compileCondition(when, () => () => true);
  return when as JsonObject;
};
