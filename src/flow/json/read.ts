/**
 * Reads requests and documents from parsed JSON, in the current form and in every older form that is unambiguous
 * (docs/reference/wire/flow.md, Requests).
 */
import { ownValue, setOwnValue } from '#own-value.ts';
import { createId, Document, type Score, type Scores } from '../document.ts';
import { checkDense, type DenseArray, decodeBase64, NdArray, type NestedList, sizeOf } from '../ndarray.ts';
import type { DataRequest } from '../request.ts';
import { isObject, isShallow, type JsonObject, type JsonValue, MAX_DOCUMENT_DEPTH } from '../values.ts';
import { BODY, invalidAt, invalidValueAt, type JsonLocation } from './issues.ts';

type Field = (document: Reading, value: NonNullable<unknown>, location: JsonLocation) => void;

/** A document being read, with the values that are applied once all keys are known. */
interface Reading {
  readonly document: Document;
  readonly depth: number;
  readonly counts: ArrayCounts;
  content?: string;
  extraFields?: [string, JsonValue][];
  chunks?: readonly Document[];
  matches?: readonly Document[];
}

function readText(value: unknown, location: JsonLocation): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw invalidAt(location, 'string');
}

function readInteger(value: unknown, location: JsonLocation): number {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') throw invalidAt(location, 'integer');
  const whole = Math.trunc(number);
  if (!(whole >= 0 && whole < 2 ** 32)) throw invalidAt(location, 'integer');
  return whole;
}

/** Reads a number and rounds it to single precision as protobuf does, so that it is the same over every protocol. */
function readFloat(value: unknown, location: JsonLocation): number {
  const number = typeof value === 'string' && /^[-+\d.eE]{1,30}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) throw invalidAt(location, 'float');
  return Math.fround(number);
}

function readBase64(value: unknown, location: JsonLocation): Uint8Array {
  if (typeof value !== 'string') throw invalidAt(location, 'string');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(value) || value.replace(/=+$/, '').length % 4 === 1)
    throw invalidAt(location, 'base64');
  return decodeBase64(value);
}

function readStruct(value: unknown, location: JsonLocation): JsonObject {
  if (!isObject(value)) throw invalidAt(location, 'dict');
  if (!isShallow(value)) throw invalidAt(location, 'deep');
  return value as JsonObject;
}

/**
 * Counts array entries that a request declares without sending a byte for each (zeros and sparse arrays). The response
 * contains all of them, so a hundred bytes could produce a hundred megabytes.
 */
interface ArrayCounts {
  entries: number;
  /**
   * Number of nested lists to which arrays of bytes are expanded: each list uses far more memory than the single byte
   * that it may contain.
   */
  lists: number;
}

const createArrayCounts = (): ArrayCounts => ({ entries: 0, lists: 0 });

const MAX_UNSENT_ENTRIES = 2 ** 20;
const MAX_ARRAY_ROWS = 2 ** 20;

function countRows(counts: ArrayCounts, shape: readonly number[], location: JsonLocation): void {
  let lists = 1;
  for (const length of shape.slice(0, -1)) {
    lists *= length;
    counts.lists += lists;
  }
  if (!(counts.lists <= MAX_ARRAY_ROWS)) throw invalidValueAt(location, `arrays of more than ${MAX_ARRAY_ROWS} rows`);
}

function countUnsentEntries(counts: ArrayCounts, shape: readonly number[], location: JsonLocation): void {
  counts.entries += sizeOf(shape);
  if (counts.entries <= MAX_UNSENT_ENTRIES) return;
  throw invalidValueAt(location, `arrays of more than ${MAX_UNSENT_ENTRIES} entries that were not sent`);
}

function readDense(value: unknown, location: JsonLocation, counts: ArrayCounts): DenseArray {
  if (!isObject(value)) throw invalidAt(location, 'dict');
  const buffer = readBase64(value.buffer ?? '', { parent: location, key: 'buffer' });
  const lengths = value.shape ?? [];
  if (!Array.isArray(lengths)) throw invalidAt({ parent: location, key: 'shape' }, 'list');
  const shape = lengths.map((length, at) =>
    readInteger(length, { parent: { parent: location, key: 'shape' }, key: at }),
  );
  const dense = { buffer, shape, dtype: readText(value.dtype ?? '<f8', { parent: location, key: 'dtype' }) };
  if (dense.buffer.length === 0) countUnsentEntries(counts, shape, location);
  countRows(counts, shape, location);
  try {
    checkDense(dense);
  } catch (error) {
    throw invalidValueAt(location, (error as Error).message);
  }
  return dense;
}

/** Reads a nested list or the object form of older clients. `parseWithArrays` may already have made it an NdArray. */
function readArray(value: unknown, location: JsonLocation, counts: ArrayCounts): NdArray {
  if (value instanceof NdArray) return value;
  if (Array.isArray(value)) {
    try {
      return NdArray.fromList(value as NestedList);
    } catch (error) {
      throw invalidValueAt(location, (error as Error).message);
    }
  }
  if (isObject(value) && (value.dense || value.sparse)) {
    const rest = { clsName: readText(value.clsName ?? value.cls_name ?? 'numpy', location) || 'numpy' };
    if (value.dense) return NdArray.fromDense(readDense(value.dense, { parent: location, key: 'dense' }, counts), rest);
    return readSparse(value.sparse, { parent: location, key: 'sparse' }, counts, rest);
  }
  throw invalidAt(location, 'list');
}

function readSparse(value: unknown, location: JsonLocation, counts: ArrayCounts, rest: { clsName: string }): NdArray {
  if (!isObject(value)) throw invalidAt(location, 'dict');
  if (!Array.isArray(value.shape)) throw invalidAt({ parent: location, key: 'shape' }, 'list');
  const shape = value.shape.map((length) => readInteger(length, { parent: location, key: 'shape' }));
  countUnsentEntries(counts, shape, location);
  countRows(counts, shape, location);
  const read = NdArray.fromSparse(
    {
      indices: readDense(value.indices, { parent: location, key: 'indices' }, counts),
      values: readDense(value.values, { parent: location, key: 'values' }, counts),
      shape,
    },
    rest,
  );
  try {
    read.toList();
  } catch (error) {
    throw invalidValueAt(location, (error as Error).message);
  }
  return read;
}

function readScore(value: unknown, location: JsonLocation): Score {
  if (!isObject(value)) throw invalidAt(location, 'dict');
  const named = {
    opName: value.op_name ?? value.opName,
    description: value.description,
    refId: value.ref_id ?? value.refId,
  };
  const read: { value: number; opName?: string; description?: string; refId?: string } = {
    value:
      value.value === undefined || value.value === null
        ? 0
        : readFloat(value.value, { parent: location, key: 'value' }),
  };
  for (const key of ['opName', 'description', 'refId'] as const) {
    if (named[key] !== undefined && named[key] !== null) read[key] = readText(named[key], { parent: location, key });
  }
  return read;
}

/** Scores by name. Older clients send a list in which each entry contains its name. */
function readScores(value: unknown, location: JsonLocation): Scores {
  const read: Scores = {};
  if (Array.isArray(value)) {
    for (const [at, part] of value.entries()) {
      const one = readScore(part, { parent: location, key: at });
      setOwnValue(read, one.opName || String(at), one);
    }
    return read;
  }
  if (!isObject(value)) throw invalidAt(location, 'dict');
  for (const name of Object.keys(value))
    setOwnValue(read, name, readScore(value[name], { parent: location, key: name }));
  return read;
}

function setContent(
  reading: Reading,
  key: string,
  location: JsonLocation,
  content: string | Uint8Array | NdArray,
): void {
  if (content instanceof NdArray ? false : content.length === 0) return;
  if (reading.content !== undefined) {
    throw invalidValueAt(
      location.parent ?? location,
      `only one field among [${reading.content}, ${key}] can be set for key content!`,
    );
  }
  reading.content = key;
  reading.document.content = content;
}

/** `blob` has two meanings: a string is bytes, anything else is an array. */
const blobOrArray: Field = (reading, value, location) => {
  if (typeof value === 'string') setContent(reading, 'blob', location, readBase64(value, location));
  else setTensor(reading, value, location);
};

const setTensor: Field = (reading, value, location) => {
  const tensor = readArray(value, location, reading.counts);
  // Any other content takes precedence over an empty tensor.
  if (!tensor.shape.includes(0)) setContent(reading, 'tensor', location, tensor);
  else reading.document.content ??= tensor;
};

const readNested = (reading: Reading, value: unknown, location: JsonLocation): readonly Document[] => {
  if (!Array.isArray(value)) throw invalidAt(location, 'list');
  return value.map((part, at) => readDocument(part, { parent: location, key: at }, reading.depth + 1, reading.counts));
};

const FIELDS: Record<string, Field> = Object.assign(Object.create(null) as Record<string, Field>, {
  id: ({ document }, value, location) => {
    document.id = readText(value, location);
  },
  parent_id: ({ document }, value, location) => {
    document.parentId = readText(value, location);
  },
  granularity: ({ document }, value, location) => {
    document.granularity = readInteger(value, location);
  },
  adjacency: ({ document }, value, location) => {
    document.adjacency = readInteger(value, location);
  },
  blob: blobOrArray,
  buffer: (reading, value, location) => setContent(reading, 'buffer', location, readBase64(value, location)),
  tensor: setTensor,
  mime_type: ({ document }, value, location) => {
    document.mimeType = readText(value, location);
  },
  text: (reading, value, location) => setContent(reading, 'text', location, readText(value, location)),
  weight: ({ document }, value, location) => {
    document.weight = readFloat(value, location);
  },
  uri: ({ document }, value, location) => {
    document.uri = readText(value, location);
  },
  tags: ({ document }, value, location) => {
    document.tags = readStruct(value, location);
  },
  offset: ({ document }, value, location) => {
    document.offset = readFloat(value, location);
  },
  location: ({ document }, value, location) => {
    if (!Array.isArray(value)) throw invalidAt(location, 'list');
    document.location = value.map((part, at) => readFloat(part, { parent: location, key: at }));
  },
  embedding: ({ document, counts }, value, location) => {
    document.embedding = readArray(value, location, counts);
  },
  modality: ({ document }, value, location) => {
    document.modality = readText(value, location);
  },
  evaluations: ({ document }, value, location) => {
    document.evaluations = readScores(value, location);
  },
  scores: ({ document }, value, location) => {
    document.scores = readScores(value, location);
  },
  score: ({ document }, value, location) => {
    document.scores = { ...document.scores, score: readScore(value, location) };
  },
  chunks: (reading, value, location) => {
    reading.chunks = readNested(reading, value, location);
  },
  matches: (reading, value, location) => {
    reading.matches = readNested(reading, value, location);
  },
  _metadata: ({ document }, value, location) => {
    document.metadata = readStruct(value, location);
  },
} satisfies Record<string, Field>);
FIELDS.parentId = FIELDS.parent_id!;
FIELDS.mimeType = FIELDS.mime_type!;

/** Fields of the oldest documents, which are dropped. */
const DROPPED_FIELDS = new Set(['content_hash', 'contentHash', 'level_name', 'levelName', 'siblings']);

/** Reads a document. Unknown keys become tags unless the tag already exists. */
export function readDocument(
  value: unknown,
  location: JsonLocation = BODY,
  depth = 0,
  counts = createArrayCounts(),
): Document {
  if (!isObject(value)) throw invalidAt(location, 'dict');
  if (depth > MAX_DOCUMENT_DEPTH) throw invalidAt(location, 'deep');
  const reading: Reading = { document: new Document(''), depth, counts };
  for (const key in value) {
    const part = value[key];
    const field = ownValue(FIELDS, key);
    if (field) {
      if (part !== null && part !== undefined) field(reading, part, { parent: location, key });
    } else if (!DROPPED_FIELDS.has(key)) {
      if (!isShallow(part)) throw invalidAt({ parent: location, key }, 'deep');
      reading.extraFields ??= [];
      reading.extraFields.push([key, part as JsonValue]);
    }
  }
  return finishDocument(reading);
}

function finishDocument({ document, extraFields, chunks, matches, depth }: Reading): Document {
  if (!document.id) document.id = createId();
  if (extraFields) {
    const tags: JsonObject = { ...document.tags };
    for (const [key, value] of extraFields) if (!Object.hasOwn(tags, key)) setOwnValue(tags, key, value);
    document.tags = tags;
  }
  if (chunks || matches) document.keepNested(chunks ?? [], matches ?? []);
  if (depth === 0) {
    if (chunks) document.chunks = chunks;
    if (matches) document.matches = matches;
  }
  return document;
}

/**
 * A URL becomes the URI, anything else the text. It is never used as a file name, because untrusted strings must not be
 * used as paths.
 */
export function documentFromString(value: string): Document {
  const document = new Document();
  if (/^(?:data:|https?:\/\/)/i.test(value)) document.uri = value;
  else document.text = value;
  return document;
}

export interface ReadOptions {
  /** The endpoint of the route. If it is missing, as at /post, the body specifies the endpoint. */
  readonly endpoint?: string;
  /** Treats strings in `data` as document ids. Older clients send them to /delete. */
  readonly stringsAreIds?: boolean;
  /** Keeps the request id of the body, for WebSocket. Otherwise every request is assigned a new id. */
  readonly keepsId?: boolean;
}

function readDocuments(data: unknown, location: JsonLocation, stringsAreIds: boolean): Document[] {
  if (data === null || data === undefined) return [];
  if (Array.isArray(data)) {
    const counts = createArrayCounts();
    return data.map((part, at) => {
      if (typeof part !== 'string') return readDocument(part, { parent: location, key: at }, 0, counts);
      return stringsAreIds ? new Document({ id: part }) : documentFromString(part);
    });
  }
  if (!isObject(data)) throw invalidAt(location, 'list', 'dict');
  if (!('docs' in data)) throw invalidAt({ parent: location, key: 'docs' }, 'missing');
  const docs = data.docs;
  if (docs !== null && !Array.isArray(docs)) throw invalidAt({ parent: location, key: 'docs' }, 'list');
  return readDocuments(docs, { parent: location, key: 'docs' }, stringsAreIds);
}

function optionalText(value: unknown, key: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  return readText(value, { parent: BODY, key });
}

const firstGiven = (body: Record<string, unknown>, ...keys: string[]): [string, unknown] => {
  const key = keys.find((one) => body[one] !== undefined && body[one] !== null) ?? keys[0]!;
  return [key, body[key]];
};

/**
 * Reads a request from the JSON of an HTTP body or WebSocket frame. Throws SubmittedDataMalformedError; its
 * `facts.detail` is a list of {loc, msg, type}.
 */
export function readRequest(
  body: unknown,
  { endpoint, stringsAreIds = false, keepsId = false }: ReadOptions = {},
): DataRequest {
  if (!isObject(body)) throw invalidAt(BODY, 'dict');
  const [targetKey, target] = firstGiven(body, 'targetExecutor', 'target_executor', 'targetPeapod', 'target_peapod');
  const { parameters } = body;
  const header = isObject(body.header) ? body.header : {};
  const given = keepsId ? (header.request_id ?? header.requestId ?? body.request_id ?? body.requestId) : undefined;
  return {
    header: {
      requestId: typeof given === 'string' && given ? given : createId(),
      execEndpoint: endpoint ?? readEndpoint(body, header),
      targetExecutor: optionalText(target, targetKey) || undefined,
      ...(header.timeout !== undefined && header.timeout !== null && { timeout: readTimeout(header.timeout) }),
    },
    parameters:
      parameters === undefined || parameters === null
        ? {}
        : readStruct(parameters, { parent: BODY, key: 'parameters' }),
    routes: [],
    docs: readDocuments(body.data, { parent: BODY, key: 'data' }, stringsAreIds),
  };
}

const readTimeout = (value: unknown): number =>
  readInteger(value, { parent: { parent: BODY, key: 'header' }, key: 'timeout' });

function readEndpoint(body: Record<string, unknown>, header: Record<string, unknown>): string {
  for (const key of ['execEndpoint', 'exec_endpoint']) {
    if (body[key] === null) throw invalidAt({ parent: BODY, key }, 'null');
    if (body[key] !== undefined) return readText(body[key], { parent: BODY, key });
  }
  const inner = header.exec_endpoint ?? header.execEndpoint;
  return typeof inner === 'string' && inner ? inner : '/';
}
