/**
 * Reads and writes requests of generations 1 and 2, both named RequestProto (docs/reference/wire/flow.md, Old
 * messages).
 */
import { Problem, problem } from '#errors.ts';
import { Document } from '../document.ts';
import { type DataRequest, ERROR, type Route, type Status } from '../request.ts';
import type { JsonObject } from '../values.ts';
import { type OldGeneration, readOldDocument, writeOldDocument } from './old-document.ts';
import { encodeWith, writeStatus, writeTimestamp } from './request.ts';
import { readStruct, writeStruct } from './struct.ts';
import {
  BYTES,
  createReader,
  type FieldReaders,
  openNested,
  type Reader,
  readFields,
  readNested,
  tagOf,
  VARINT,
  type Writer,
  writeText,
  writeUnknown,
} from './wire.ts';

/** Kinds of generation 1 requests, with the field number of their body. */
export const OLD_KINDS = { train: 2, index: 3, search: 4, delete: 9, update: 10 } as const;
export type OldKind = keyof typeof OLD_KINDS;

/** Commands of control requests; clients cannot run the others. */
export const STATUS_COMMAND = 1;

/** Status codes that differ from those of current messages. */
const OLD_READY = 2;
const OLD_ERROR = 3;

export interface OldQueryLanguage {
  name: string;
  parameters: JsonObject;
  priority: number;
}

export interface OldRequest {
  readonly generation: OldGeneration;
  requestId: string;
  /** `data` in generation 2. `undefined`: the message has no body. */
  kind?: OldKind | 'data' | 'control';
  /** The documents. For a deletion, one document for each id. */
  docs: Document[];
  /** Ground truths, which are sent back as received. */
  rest?: readonly Uint8Array[] | undefined;
  /** The command of a control request, and the whole control message. */
  command: number;
  control: Uint8Array;
  execEndpoint: string;
  targetExecutor: string;
  parameters: JsonObject;
  readonly queryset: OldQueryLanguage[];
  /** Fields that are sent back as received: the query set in generation 1, and unknown ones. */
  unknown: Uint8Array[];
}

const emptyRequest = (generation: OldGeneration): OldRequest => ({
  generation,
  requestId: '',
  docs: [],
  command: 0,
  control: new Uint8Array(),
  execEndpoint: '',
  targetExecutor: '',
  parameters: {},
  queryset: [],
  unknown: [],
});

const DOCUMENTS: FieldReaders<OldRequest> = {
  [tagOf(1, BYTES)]: (reader, { docs }, depth) => {
    docs.push(readOldDocument(reader, depth));
  },
};

const IDS: FieldReaders<OldRequest> = {
  [tagOf(1, BYTES)]: (reader, { docs }) => {
    docs.push(new Document({ id: reader.string() }));
  },
};

const COMMAND: FieldReaders<OldRequest> = {
  [tagOf(1, VARINT)]: (reader, request) => {
    request.command = reader.int32();
  },
};

/** Reads a body. Only one body is set; the last one counts, as in every oneof. */
const bodyReader =
  (kind: OldRequest['kind'], fields: FieldReaders<OldRequest>) =>
  (reader: Reader, request: OldRequest, depth: number) => {
    if (request.kind !== kind) request.docs = [];
    request.kind = kind!;
    const start = reader.pos;
    request.rest = readNested(reader, request, fields, depth);
    if (kind !== 'control') return;
    const whole = createReader(reader.buf.subarray(start, reader.pos));
    request.control = whole.bytes();
  };

const readId = (reader: Reader, request: OldRequest): void => {
  request.requestId = reader.string();
};

const QUERY_LANGUAGE: FieldReaders<OldQueryLanguage> = {
  [tagOf(1, BYTES)]: (reader, query) => {
    query.name = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, query) => {
    readStruct(reader, query.parameters);
  },
  [tagOf(4, VARINT)]: (reader, query) => {
    query.priority = reader.int32();
  },
};

function readQueryLanguage(reader: Reader, request: OldRequest, depth: number): void {
  const start = reader.pos;
  const query = { name: '', parameters: {}, priority: 0 };
  readNested(reader, query, QUERY_LANGUAGE, depth);
  request.queryset.push(query);
  // Sent back as received, with its tag.
  request.unknown.push(Buffer.concat([Buffer.from([tagOf(7, BYTES)]), reader.buf.subarray(start, reader.pos)]));
}

const skip = (reader: Reader): void => {
  reader.skipType(BYTES);
};

/** Field readers. The request's status and routes are dropped, because those of the response replace them. */
const REQUEST_1: FieldReaders<OldRequest> = {
  [tagOf(1, BYTES)]: readId,
  [tagOf(OLD_KINDS.train, BYTES)]: bodyReader('train', DOCUMENTS),
  [tagOf(OLD_KINDS.index, BYTES)]: bodyReader('index', DOCUMENTS),
  [tagOf(OLD_KINDS.search, BYTES)]: bodyReader('search', DOCUMENTS),
  [tagOf(5, BYTES)]: bodyReader('control', COMMAND),
  [tagOf(6, BYTES)]: skip,
  [tagOf(7, BYTES)]: readQueryLanguage,
  [tagOf(8, BYTES)]: skip,
  [tagOf(OLD_KINDS.delete, BYTES)]: bodyReader('delete', IDS),
  [tagOf(OLD_KINDS.update, BYTES)]: bodyReader('update', DOCUMENTS),
};

const HEADER_2: FieldReaders<OldRequest> = {
  [tagOf(1, BYTES)]: (reader, request) => {
    request.execEndpoint = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, request) => {
    request.targetExecutor = reader.string();
  },
};

const REQUEST_2: FieldReaders<OldRequest> = {
  [tagOf(1, BYTES)]: readId,
  [tagOf(2, BYTES)]: bodyReader('control', COMMAND),
  [tagOf(3, BYTES)]: bodyReader('data', DOCUMENTS),
  [tagOf(4, BYTES)]: (reader, request, depth) => {
    readNested(reader, request, HEADER_2, depth);
  },
  [tagOf(5, BYTES)]: (reader, { parameters }) => {
    readStruct(reader, parameters);
  },
  [tagOf(6, BYTES)]: skip,
  [tagOf(7, BYTES)]: skip,
};

/** Throws a SubmittedDataMalformedError for invalid bytes and for arrays that cannot be read. */
export function decodeOldRequest(bytes: Uint8Array, generation: OldGeneration): OldRequest {
  const request = emptyRequest(generation);
  try {
    const reader = createReader(bytes);
    const unknown = readFields(reader, reader.len, request, generation === 1 ? REQUEST_1 : REQUEST_2, 0);
    request.unknown.push(...(unknown ?? []));
    return request;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw problem('SubmittedDataMalformedError', { message: 'The bytes are not a RequestProto' }, error);
  }
}

const oldStatus = (status: Status | undefined): Status =>
  status?.code === ERROR ? { ...status, code: OLD_ERROR } : { code: 0, description: '' };

/** Old routes always have an end time. For a skipped node, it is the start time. */
function writeRoute(writer: Writer, number: number, { executor, startTime, endTime = startTime, status }: Route): void {
  openNested(writer, number);
  writeText(writer, 1, executor);
  writeText(writer, 2, executor);
  if (startTime) writeTimestamp(writer, 3, startTime);
  if (endTime) writeTimestamp(writer, 4, endTime);
  if (status?.code === ERROR) writeStatus(writer, 5, oldStatus(status));
  writer.ldelim();
}

function writeDocuments(
  writer: Writer,
  number: number,
  { generation, kind, rest }: OldRequest,
  docs: readonly Document[],
) {
  openNested(writer, number);
  for (const document of docs) {
    if (kind === 'delete') writer.uint32(tagOf(1, BYTES)).string(document.id);
    else writeOldDocument(writer, 1, document, generation);
  }
  writeUnknown(writer, rest);
  writer.ldelim();
}

function writeOldAnswer1(writer: Writer, old: OldRequest, { docs, header, routes }: DataRequest): void {
  if (old.kind && old.kind !== 'control' && old.kind !== 'data') writeDocuments(writer, OLD_KINDS[old.kind], old, docs);
  if (old.kind === 'control') writer.uint32(tagOf(5, BYTES)).bytes(old.control);
  writeStatus(writer, 6, statusFor(old, header.status));
  // The gateway comes first and last.
  for (const route of [...routes, ...routes.slice(0, 1)]) writeRoute(writer, 8, route);
}

function writeOldAnswer2(writer: Writer, old: OldRequest, { docs, header, parameters, routes }: DataRequest): void {
  if (old.kind === 'control') writer.uint32(tagOf(2, BYTES)).bytes(old.control);
  else writeDocuments(writer, 3, old, docs);
  openNested(writer, 4);
  writeText(writer, 1, header.execEndpoint ?? '');
  writeText(writer, 2, header.targetExecutor ?? '');
  writer.ldelim();
  if (Object.keys(parameters).length > 0) writeStruct(writer, 5, parameters);
  for (const route of routes) writeRoute(writer, 6, route);
  writeStatus(writer, 7, statusFor(old, header.status));
}

const statusFor = ({ kind }: OldRequest, status: Status | undefined): Status =>
  kind === 'control' && status?.code !== ERROR ? { code: OLD_READY, description: '' } : oldStatus(status);

/** The response to `old` in the same format, with its request id. */
export const encodeOldAnswer = (old: OldRequest, answer: DataRequest): Uint8Array =>
  encodeWith((writer) => {
    writeText(writer, 1, old.requestId);
    if (old.generation === 1) writeOldAnswer1(writer, old, answer);
    else writeOldAnswer2(writer, old, answer);
    writeUnknown(writer, old.unknown);
  });
