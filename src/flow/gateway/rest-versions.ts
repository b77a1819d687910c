/**
 * The three REST versions share their paths. A format reads and writes the bodies of one version
 * (docs/reference/wire/flow.md, Generations).
 */

import type { Document } from '../document.ts';
import { BODY, invalidAt, malformed, readRequest, requestJson } from '../json/index.ts';
import type { DataRequest } from '../request.ts';
import { isObject, isShallow, type JsonObject, type JsonValue } from '../values.ts';
import { type QueryLanguage, type V1Kind, v1Answer } from './rest-v1.ts';
import { DEFAULT_PART_SIZE, readMimeType, readV1Data } from './rest-v1-data.ts';
import { v2DocumentsAnswer, v2MessageAnswer } from './rest-v2.ts';

export interface BodyContext {
  /** The endpoint of the route. If it is missing, the body specifies the endpoint. */
  readonly endpoint?: string | undefined;
  /** Key of the documents in version 1. */
  readonly kind?: V1Kind;
}

export interface ReadBody {
  readonly request: DataRequest;
  /** Number of documents sent through the flow at once; all by default. */
  readonly partSize?: number | undefined;
  readonly kind: V1Kind;
  readonly queryset: readonly QueryLanguage[];
  /**
   * Ids of documents that were sent as objects. Version 1 always returns the `tags` of these documents, even if empty.
   */
  readonly objectIds?: ReadonlySet<string>;
}

export interface RestFormat {
  /** Throws SubmittedDataMalformedError with `facts.detail`. */
  read(body: unknown, context: BodyContext): ReadBody;
  write(answer: DataRequest, reading: ReadBody, context: BodyContext): string;
}

function readPartSize(body: unknown): number | undefined {
  const size = isObject(body) ? body.request_size : undefined;
  if (size === undefined || size === null) return undefined;
  if (typeof size === 'number' && Number.isSafeInteger(size) && size > 0) return size;
  throw malformed([
    { loc: ['body', 'request_size'], msg: 'ensure this value is greater than 0', type: 'value_error.number.not_gt' },
  ]);
}

function readBody(body: unknown, { endpoint, kind = 'search' }: BodyContext): ReadBody {
  const request = readRequest(body, { ...(endpoint && { endpoint }), stringsAreIds: kind === 'delete' });
  return { request, kind, queryset: [], partSize: endpoint ? readPartSize(body) : undefined };
}

export const REST_V3: RestFormat = { read: readBody, write: requestJson };

export const REST_V2: RestFormat = {
  read(body, context) {
    const named = isObject(body) ? (body.execEndpoint ?? body.exec_endpoint) : undefined;
    if (isObject(body) && !context.endpoint && named === undefined) {
      throw invalidAt({ parent: BODY, key: 'execEndpoint' }, 'missing');
    }
    return readBody(body, context);
  },
  write: (answer, _body, { endpoint }) => (endpoint ? v2DocumentsAnswer(answer) : v2MessageAnswer(answer)),
};

/** Adds the two query-language entries for which `top_k` is a shorthand. */
function readQueryset(body: Record<string, unknown>): QueryLanguage[] {
  const location = { parent: BODY, key: 'queryset' };
  const given = body.queryset ?? [];
  if (!Array.isArray(given)) throw invalidAt(location, 'list');
  const queryset = given.map((entry, at): QueryLanguage => {
    if (!isObject(entry)) throw invalidAt({ parent: location, key: at }, 'dict');
    const { name, parameters, priority } = entry;
    return {
      name: String(name ?? ''),
      ...(isObject(parameters) && isShallow(parameters) && { parameters: parameters as JsonObject }),
      ...(typeof priority === 'number' && priority !== 0 && { priority }),
    };
  });
  if (body.top_k === undefined || body.top_k === null) return queryset;
  if (!Number.isSafeInteger(body.top_k)) throw invalidAt({ parent: BODY, key: 'top_k' }, 'integer');
  return [
    ...queryset,
    { name: 'SliceQL', parameters: { end: body.top_k as number }, priority: 1 },
    { name: 'VectorSearchDriver', parameters: { top_k: body.top_k as number }, priority: 1 },
  ];
}

/** Reads a message of version 1: a body with `data`. */
export function readV1Body(body: Record<string, unknown>, { endpoint, kind = 'search' }: BodyContext): ReadBody {
  // Version 1 has no `header`.
  const { header: _, ...rest } = body;
  const reading = readBody({ ...rest, data: readV1Data(body, kind) }, { endpoint, kind });
  const extra: Record<string, JsonValue> = {};
  if (typeof body.top_k === 'number') extra.top_k = body.top_k;
  if (Array.isArray(body.queryset) && isShallow(body.queryset)) extra.queryset = body.queryset as JsonValue;
  reading.request.parameters = { ...extra, ...reading.request.parameters };
  return { ...reading, partSize: reading.partSize ?? DEFAULT_PART_SIZE, queryset: readQueryset(body) };
}

function collectIds(documents: readonly Document[], ids: Set<string>): void {
  const waiting = [...documents];
  for (let document = waiting.pop(); document; document = waiting.pop()) {
    ids.add(document.id);
    waiting.push(...document.chunks, ...document.matches);
  }
}

export const REST_V1: RestFormat = {
  read(body, context) {
    if (!isObject(body)) throw invalidAt(BODY, 'dict');
    const data = readV1Data(body, context.kind ?? 'search');
    const reading = readV1Body({ ...body, data, data_type: undefined }, context);
    const mimeType = readMimeType(body);
    const objectIds = new Set<string>();
    for (const [at, document] of reading.request.docs.entries()) {
      const isObject = !Array.isArray(data) || typeof data[at] !== 'string';
      document.mimeType ||= mimeType || (!isObject && document.text ? 'text/plain' : '');
      document.weight ||= 1;
      if (isObject) collectIds([document], objectIds);
    }
    return { ...reading, objectIds };
  },
  write: (answer, reading) => JSON.stringify(v1Answer(answer, reading), undefined, 2),
};

export const REST_FORMATS = { '1': REST_V1, '2': REST_V2, '3': REST_V3 } as const;
