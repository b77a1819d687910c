/**
 * Reads requests and documents from parsed JSON, in the current form and in every older form that is unambiguous
 * (docs/reference/wire/flow.md, Bodies).
 */
import { own, setKey } from '#own.ts';
import { createId, Document, type Score, type Scores } from '../document.ts';
import { checkDense, type DenseArray, decodeBase64, NdArray, type NestedList, sizeOf } from '../ndarray.ts';
import type { DataRequest } from '../request.ts';
import { isObject, isShallow, type JsonObject, type JsonValue, MAX_DOCUMENT_DEPTH } from '../values.ts';
import { BODY, type Place, wrong, wrongValue } from './issues.ts';

type Field = (document: Reading, value: NonNullable<unknown>, place: Place) => void;

/** A document being read, with the values that are applied once all keys are known. */
interface Reading {
  readonly document: Document;
  readonly depth: number;
  readonly claims: Claims;
  content?: string;
  strays?: [string, JsonValue][];
  chunks?: readonly Document[];
  matches?: readonly Document[];
}

function text(value: unknown, place: Place): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw wrong(place, 'string');
}

function integer(value: unknown, place: Place): number {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') throw wrong(place, 'integer');
  const whole = Math.trunc(number);
  if (!(whole >= 0 && whole < 2 ** 32)) throw wrong(place, 'integer');
  return whole;
}

/** Rounded to single precision as in protobuf, so a number is the same over every protocol. */
function float(value: unknown, place: Place): number {
  const number = typeof value === 'string' && /^[-+\d.eE]{1,30}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) throw wrong(place, 'float');
  return Math.fround(number);
}

function base64(value: unknown, place: Place): Uint8Array {
  if (typeof value !== 'string') throw wrong(place, 'string');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(value) || value.replace(/=+$/, '').length % 4 === 1)
    throw wrong(place, 'base64');
  return decodeBase64(value);
}

function struct(value: unknown, place: Place): JsonObject {
  if (!isObject(value)) throw wrong(place, 'dict');
  if (!isShallow(value)) throw wrong(place, 'deep');
  return value as JsonObject;
}

/**
 * Counts array entries that a request declares without sending a byte for each (zeros and sparse arrays). The answer
 * writes them all out, so a hundred bytes could produce a hundred megabytes.
 */
interface Claims {
  entries: number;
  /** Nested lists that arrays of bytes turn into: each takes far more memory than the single byte it may hold. */
  lists: number;
}

const noClaims = (): Claims => ({ entries: 0, lists: 0 });

const MAX_CLAIMED_ENTRIES = 2 ** 20;
const MAX_CLAIMED_LISTS = 2 ** 20;

function claimLists(claims: Claims, shape: readonly number[], place: Place): void {
  let lists = 1;
  for (const length of shape.slice(0, -1)) {
    lists *= length;
    claims.lists += lists;
  }
  if (!(claims.lists <= MAX_CLAIMED_LISTS)) throw wrongValue(place, `arrays of more than ${MAX_CLAIMED_LISTS} rows`);
}

function claim(claims: Claims, shape: readonly number[], place: Place): void {
  claims.entries += sizeOf(shape);
  if (claims.entries <= MAX_CLAIMED_ENTRIES) return;
  throw wrongValue(place, `arrays of more than ${MAX_CLAIMED_ENTRIES} entries that were not sent`);
}

function dense(value: unknown, place: Place, claims: Claims): DenseArray {
  if (!isObject(value)) throw wrong(place, 'dict');
  const buffer = base64(value.buffer ?? '', { up: place, key: 'buffer' });
  const lengths = value.shape ?? [];
  if (!Array.isArray(lengths)) throw wrong({ up: place, key: 'shape' }, 'list');
  const shape = lengths.map((length, at) => integer(length, { up: { up: place, key: 'shape' }, key: at }));
  const array = { buffer, shape, dtype: text(value.dtype ?? '<f8', { up: place, key: 'dtype' }) };
  if (array.buffer.length === 0) claim(claims, shape, place);
  claimLists(claims, shape, place);
  try {
    checkDense(array);
  } catch (error) {
    throw wrongValue(place, (error as Error).message);
  }
  return array;
}

/** Reads a nested list or the object form of older clients. `parseWithArrays` may already have made it an NdArray. */
function array(value: unknown, place: Place, claims: Claims): NdArray {
  if (value instanceof NdArray) return value;
  if (Array.isArray(value)) {
    try {
      return NdArray.fromList(value as NestedList);
    } catch (error) {
      throw wrongValue(place, (error as Error).message);
    }
  }
  if (isObject(value) && (value.dense || value.sparse)) {
    const rest = { clsName: text(value.clsName ?? value.cls_name ?? 'numpy', place) || 'numpy' };
    if (value.dense) return NdArray.fromDense(dense(value.dense, { up: place, key: 'dense' }, claims), rest);
    return sparse(value.sparse, { up: place, key: 'sparse' }, claims, rest);
  }
  throw wrong(place, 'list');
}

function sparse(value: unknown, place: Place, claims: Claims, rest: { clsName: string }): NdArray {
  if (!isObject(value)) throw wrong(place, 'dict');
  if (!Array.isArray(value.shape)) throw wrong({ up: place, key: 'shape' }, 'list');
  const shape = value.shape.map((length) => integer(length, { up: place, key: 'shape' }));
  claim(claims, shape, place);
  claimLists(claims, shape, place);
  const read = NdArray.fromSparse(
    {
      indices: dense(value.indices, { up: place, key: 'indices' }, claims),
      values: dense(value.values, { up: place, key: 'values' }, claims),
      shape,
    },
    rest,
  );
  try {
    read.toList();
  } catch (error) {
    throw wrongValue(place, (error as Error).message);
  }
  return read;
}

function score(value: unknown, place: Place): Score {
  if (!isObject(value)) throw wrong(place, 'dict');
  const named = {
    opName: value.op_name ?? value.opName,
    description: value.description,
    refId: value.ref_id ?? value.refId,
  };
  const read: { value: number; opName?: string; description?: string; refId?: string } = {
    value: value.value === undefined || value.value === null ? 0 : float(value.value, { up: place, key: 'value' }),
  };
  for (const key of ['opName', 'description', 'refId'] as const) {
    if (named[key] !== undefined && named[key] !== null) read[key] = text(named[key], { up: place, key });
  }
  return read;
}

/** Scores by name. Older clients send a list whose entries carry their name. */
function scores(value: unknown, place: Place): Scores {
  const read: Scores = {};
  if (Array.isArray(value)) {
    for (const [at, part] of value.entries()) {
      const one = score(part, { up: place, key: at });
      setKey(read, one.opName || String(at), one);
    }
    return read;
  }
  if (!isObject(value)) throw wrong(place, 'dict');
  for (const name of Object.keys(value)) setKey(read, name, score(value[name], { up: place, key: name }));
  return read;
}

function setContent(reading: Reading, key: string, place: Place, content: string | Uint8Array | NdArray): void {
  if (content instanceof NdArray ? false : content.length === 0) return;
  if (reading.content !== undefined) {
    throw wrongValue(
      place.up ?? place,
      `only one field among [${reading.content}, ${key}] can be set for key content!`,
    );
  }
  reading.content = key;
  reading.document.content = content;
}

/** `blob` has had two meanings: a string is bytes, anything else is an array. */
const blobOrArray: Field = (reading, value, place) => {
  if (typeof value === 'string') setContent(reading, 'blob', place, base64(value, place));
  else setTensor(reading, value, place);
};

const setTensor: Field = (reading, value, place) => {
  const tensor = array(value, place, reading.claims);
  // An empty tensor yields to any other content.
  if (!tensor.shape.includes(0)) setContent(reading, 'tensor', place, tensor);
  else reading.document.content ??= tensor;
};

const nested = (reading: Reading, value: unknown, place: Place): readonly Document[] => {
  if (!Array.isArray(value)) throw wrong(place, 'list');
  return value.map((part, at) => readDocument(part, { up: place, key: at }, reading.depth + 1, reading.claims));
};

const FIELDS: Record<string, Field> = Object.assign(Object.create(null) as Record<string, Field>, {
  id: ({ document }, value, place) => {
    document.id = text(value, place);
  },
  parent_id: ({ document }, value, place) => {
    document.parentId = text(value, place);
  },
  granularity: ({ document }, value, place) => {
    document.granularity = integer(value, place);
  },
  adjacency: ({ document }, value, place) => {
    document.adjacency = integer(value, place);
  },
  blob: blobOrArray,
  buffer: (reading, value, place) => setContent(reading, 'buffer', place, base64(value, place)),
  tensor: setTensor,
  mime_type: ({ document }, value, place) => {
    document.mimeType = text(value, place);
  },
  text: (reading, value, place) => setContent(reading, 'text', place, text(value, place)),
  weight: ({ document }, value, place) => {
    document.weight = float(value, place);
  },
  uri: ({ document }, value, place) => {
    document.uri = text(value, place);
  },
  tags: ({ document }, value, place) => {
    document.tags = struct(value, place);
  },
  offset: ({ document }, value, place) => {
    document.offset = float(value, place);
  },
  location: ({ document }, value, place) => {
    if (!Array.isArray(value)) throw wrong(place, 'list');
    document.location = value.map((part, at) => float(part, { up: place, key: at }));
  },
  embedding: ({ document, claims }, value, place) => {
    document.embedding = array(value, place, claims);
  },
  modality: ({ document }, value, place) => {
    document.modality = text(value, place);
  },
  evaluations: ({ document }, value, place) => {
    document.evaluations = scores(value, place);
  },
  scores: ({ document }, value, place) => {
    document.scores = scores(value, place);
  },
  score: ({ document }, value, place) => {
    document.scores = { ...document.scores, score: score(value, place) };
  },
  chunks: (reading, value, place) => {
    reading.chunks = nested(reading, value, place);
  },
  matches: (reading, value, place) => {
    reading.matches = nested(reading, value, place);
  },
  _metadata: ({ document }, value, place) => {
    document.metadata = struct(value, place);
  },
} satisfies Record<string, Field>);
FIELDS.parentId = FIELDS.parent_id!;
FIELDS.mimeType = FIELDS.mime_type!;

/** Fields of the oldest documents, which are dropped. */
const GONE = new Set(['content_hash', 'contentHash', 'level_name', 'levelName', 'siblings']);

/** Reads a document. Unknown keys become tags unless the tag exists already. */
export function readDocument(value: unknown, place: Place = BODY, depth = 0, claims = noClaims()): Document {
  if (!isObject(value)) throw wrong(place, 'dict');
  if (depth > MAX_DOCUMENT_DEPTH) throw wrong(place, 'deep');
  const reading: Reading = { document: new Document(''), depth, claims };
  for (const key in value) {
    const part = value[key];
    const field = own(FIELDS, key);
    if (field) {
      if (part !== null && part !== undefined) field(reading, part, { up: place, key });
    } else if (!GONE.has(key)) {
      if (!isShallow(part)) throw wrong({ up: place, key }, 'deep');
      reading.strays ??= [];
      reading.strays.push([key, part as JsonValue]);
    }
  }
  return finish(reading);
}

function finish({ document, strays, chunks, matches, depth }: Reading): Document {
  if (!document.id) document.id = createId();
  if (strays) {
    const tags: JsonObject = { ...document.tags };
    for (const [key, value] of strays) if (!Object.hasOwn(tags, key)) setKey(tags, key, value);
    document.tags = tags;
  }
  if (chunks || matches) document.keepNested(chunks ?? [], matches ?? []);
  if (depth === 0) {
    if (chunks) document.chunks = chunks;
    if (matches) document.matches = matches;
  }
  return document;
}

/** A URL becomes the URI, anything else the text. Never a file name: strings from outside must not reach the disk. */
export function documentOfString(value: string): Document {
  const document = new Document();
  if (/^(?:data:|https?:\/\/)/i.test(value)) document.uri = value;
  else document.text = value;
  return document;
}

export interface ReadOptions {
  /** The endpoint of the route. Without it the body names the endpoint, as on /post. */
  readonly endpoint?: string;
  /** Treats strings in `data` as document ids. Older clients send them to /delete. */
  readonly stringsAreIds?: boolean;
  /** Keeps the request id of the body, for WebSocket. Otherwise every request gets a new id. */
  readonly keepsId?: boolean;
}

function readDocuments(data: unknown, place: Place, stringsAreIds: boolean): Document[] {
  if (data === null || data === undefined) return [];
  if (Array.isArray(data)) {
    const claims = noClaims();
    return data.map((part, at) => {
      if (typeof part !== 'string') return readDocument(part, { up: place, key: at }, 0, claims);
      return stringsAreIds ? new Document({ id: part }) : documentOfString(part);
    });
  }
  if (!isObject(data)) throw wrong(place, 'list', 'dict');
  if (!('docs' in data)) throw wrong({ up: place, key: 'docs' }, 'missing');
  const docs = data.docs;
  if (docs !== null && !Array.isArray(docs)) throw wrong({ up: place, key: 'docs' }, 'list');
  return readDocuments(docs, { up: place, key: 'docs' }, stringsAreIds);
}

function optionalText(value: unknown, key: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  return text(value, { up: BODY, key });
}

const firstOf = (body: Record<string, unknown>, ...keys: string[]): [string, unknown] => {
  const key = keys.find((one) => body[one] !== undefined && body[one] !== null) ?? keys[0]!;
  return [key, body[key]];
};

/**
 * Reads a request from the JSON of an HTTP body or WebSocket frame. Throws SubmittedDataMalformedError; its fact
 * `detail` is a list of {loc, msg, type}.
 */
export function readRequest(
  body: unknown,
  { endpoint, stringsAreIds = false, keepsId = false }: ReadOptions = {},
): DataRequest {
  if (!isObject(body)) throw wrong(BODY, 'dict');
  const [targetKey, target] = firstOf(body, 'targetExecutor', 'target_executor', 'targetPeapod', 'target_peapod');
  const { parameters } = body;
  const header = isObject(body.header) ? body.header : {};
  const given = keepsId ? (header.request_id ?? header.requestId ?? body.request_id ?? body.requestId) : undefined;
  return {
    header: {
      requestId: typeof given === 'string' && given ? given : createId(),
      execEndpoint: endpoint ?? readEndpoint(body, header),
      targetExecutor: optionalText(target, targetKey) || undefined,
    },
    parameters:
      parameters === undefined || parameters === null ? {} : struct(parameters, { up: BODY, key: 'parameters' }),
    routes: [],
    docs: readDocuments(body.data, { up: BODY, key: 'data' }, stringsAreIds),
  };
}

function readEndpoint(body: Record<string, unknown>, header: Record<string, unknown>): string {
  for (const key of ['execEndpoint', 'exec_endpoint']) {
    if (body[key] === null) throw wrong({ up: BODY, key }, 'null');
    if (body[key] !== undefined) return text(body[key], { up: BODY, key });
  }
  const inner = header.exec_endpoint ?? header.execEndpoint;
  return typeof inner === 'string' && inner ? inner : '/';
}
