/** Merges the parts of a join into one request (docs/reference/wire/flow.md, Branches and joins). */
import type { Document, Scores } from '../document.ts';
import type { DataRequest, Route } from '../request.ts';
import { isObject, type JsonObject, MAX_DOCUMENT_DEPTH } from '../values.ts';
import { RESULTS } from './parameters.ts';

const isEmpty = (record: object): boolean => Object.keys(record).length === 0;
const PLAIN_FIELDS = ['mimeType', 'weight', 'uri', 'offset', 'modality', 'granularity', 'adjacency'] as const;

/** Fills empty fields of `target` from `other`: whole fields, without merging keys. */
function fill(target: Document, other: Document, depth: number): void {
  if (depth > MAX_DOCUMENT_DEPTH) throw new RangeError('chunks or matches are nested too deeply');
  for (const key of PLAIN_FIELDS)
    if (!target[key]) (target as Record<string, unknown> & Document)[key] = other[key] as never;
  if (target.content === undefined || target.content === '') target.content = other.content;
  if (!target.embedding) target.embedding = other.embedding;
  if (target.location.length === 0) target.location = other.location;
  if (isEmpty(target.tags)) target.tags = other.tags;
  for (const key of ['scores', 'evaluations'] as const) {
    if (isEmpty(target[key])) target[key] = other[key] as Scores;
  }
  if (!target.metadata || isEmpty(target.metadata)) target.metadata = other.metadata;
  if (other.chunks.length || other.matches.length) {
    target.keepNested(
      reduceDocuments([target.chunks, other.chunks], depth + 1),
      reduceDocuments([target.matches, other.matches], depth + 1),
    );
  }
}

/**
 * Appends documents with new ids to the first list. A document with a known id fills empty fields of the first document
 * with this id.
 */
export function reduceDocuments(parts: readonly (readonly Document[])[], depth = 0): Document[] {
  const [first = [], ...others] = parts;
  const all = [...first];
  const byId = new Map<string, Document>();
  for (const document of first) if (!byId.has(document.id)) byId.set(document.id, document);
  for (const part of others) {
    for (const document of part) {
      const target = byId.get(document.id);
      if (target === undefined) {
        byId.set(document.id, document);
        all.push(document);
      } else if (target !== document) {
        fill(target, document, depth);
      }
    }
  }
  return all;
}

export function mergeRoutes(parts: readonly (readonly Route[])[]): Route[] {
  const byName = new Map<string, Route>();
  for (const route of parts.flat()) if (!byName.has(route.executor)) byName.set(route.executor, route);
  return [...byName.values()];
}

/** The parameters of the first part, with the `__results__` of all parts. */
function mergeResults(parts: readonly DataRequest[]): JsonObject {
  const parameters = parts[0]?.parameters ?? {};
  let results = parameters[RESULTS];
  for (const other of parts.slice(1)) {
    const more = other.parameters[RESULTS];
    if (isObject(more)) results = { ...(isObject(results) ? (results as JsonObject) : {}), ...(more as JsonObject) };
  }
  return results === undefined ? parameters : { ...parameters, [RESULTS]: results };
}

/** Returns the first request, with the documents, routes and results of all parts. */
export function reduceRequests(parts: readonly DataRequest[]): DataRequest {
  const [first] = parts;
  if (!first) throw new RangeError('there are no requests to merge');
  if (parts.length === 1) return first;
  return {
    ...first,
    parameters: mergeResults(parts),
    routes: mergeRoutes(parts.map(({ routes }) => routes)),
    docs: reduceDocuments(parts.map(({ docs }) => docs)),
  };
}
