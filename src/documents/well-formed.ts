/**
 * Makes all text of a document well-formed Unicode. Files can contain halves of surrogate pairs, and limits can cut a
 * pair, but neither UTF-8 nor JSON can represent half a pair.
 */
const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Replaces lone surrogates with U+FFFD in every string of plain data, including keys. */
export function wellFormed<T>(data: T): T {
  if (typeof data === 'string')
    return (LONE_SURROGATE.test(data) ? data.replace(LONE_SURROGATES, '\ufffd') : data) as T;
  if (Array.isArray(data)) return data.map(wellFormed) as T;
  if (data === null || typeof data !== 'object') return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [wellFormed(key), wellFormed(value)])) as T;
}
