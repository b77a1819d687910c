/** Reads and writes requests: DataRequestProto and its parts (docs/reference/wire/flow.md, gRPC). */
import { problem } from '#errors.ts';
import type { Document } from '../document.ts';
import type { DataRequest, ExceptionInfo, Header, Route, Status, Timestamp } from '../request.ts';
import { readDocument, writeDocument } from './document.ts';
import { readStruct, writeStruct } from './struct.ts';
import {
  BYTES,
  createExactWriter,
  createReader,
  createWriter,
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

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const TIMESTAMP: FieldReaders<Writable<Timestamp>> = {
  [tagOf(1, VARINT)]: (reader, time) => {
    time.seconds = Number(reader.int64());
  },
  [tagOf(2, VARINT)]: (reader, time) => {
    time.nanos = reader.int32();
  },
};

function readTimestamp(reader: Reader, depth: number): Timestamp {
  const time = { seconds: 0, nanos: 0 };
  readNested(reader, time, TIMESTAMP, depth);
  return time;
}

export function writeTimestamp(writer: Writer, number: number, { seconds, nanos }: Timestamp): void {
  openNested(writer, number);
  if (seconds) writer.uint32(tagOf(1, VARINT)).int64(seconds);
  if (nanos) writer.uint32(tagOf(2, VARINT)).int32(nanos);
  writer.ldelim();
}

type WritableException = Writable<ExceptionInfo> & { args: string[]; stacks: string[] };

const EXCEPTION: FieldReaders<WritableException> = {
  [tagOf(1, BYTES)]: (reader, exception) => {
    exception.name = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, { args }) => {
    args.push(reader.string());
  },
  [tagOf(3, BYTES)]: (reader, { stacks }) => {
    stacks.push(reader.string());
  },
  [tagOf(4, BYTES)]: (reader, exception) => {
    exception.executor = reader.string();
  },
};

const STATUS: FieldReaders<Writable<Status>> = {
  [tagOf(1, VARINT)]: (reader, status) => {
    status.code = reader.int32();
  },
  [tagOf(2, BYTES)]: (reader, status) => {
    status.description = reader.string();
  },
  [tagOf(3, BYTES)]: (reader, status, depth) => {
    const exception: WritableException = { name: '', args: [], stacks: [], executor: '' };
    const unknown = readNested(reader, exception, EXCEPTION, depth);
    status.exception = unknown ? { ...exception, unknown } : exception;
  },
};

function readStatus(reader: Reader, depth: number): Status {
  const status: Writable<Status> = { code: 0, description: '' };
  const unknown = readNested(reader, status, STATUS, depth);
  if (unknown) status.unknown = unknown;
  return status;
}

function writeStatusFields(writer: Writer, { code, description, exception, unknown }: Status): void {
  if (code) writer.uint32(tagOf(1, VARINT)).int32(code);
  writeText(writer, 2, description);
  if (exception) {
    openNested(writer, 3);
    writeText(writer, 1, exception.name);
    for (const arg of exception.args) writer.uint32(tagOf(2, BYTES)).string(arg);
    for (const line of exception.stacks) writer.uint32(tagOf(3, BYTES)).string(line);
    writeText(writer, 4, exception.executor);
    writeUnknown(writer, exception.unknown);
    writer.ldelim();
  }
  writeUnknown(writer, unknown);
}

export function writeStatus(writer: Writer, number: number, status: Status | undefined): void {
  if (!status) return;
  openNested(writer, number);
  writeStatusFields(writer, status);
  writer.ldelim();
}

const HEADER: FieldReaders<Header> = {
  [tagOf(1, BYTES)]: (reader, header) => {
    header.requestId = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, header, depth) => {
    header.status = readStatus(reader, depth);
  },
  [tagOf(3, BYTES)]: (reader, header) => {
    header.execEndpoint = reader.string();
  },
  [tagOf(4, BYTES)]: (reader, header) => {
    header.targetExecutor = reader.string();
  },
  [tagOf(5, VARINT)]: (reader, header) => {
    header.timeout = reader.uint32();
  },
};

export function writeHeader(writer: Writer, header: Header): void {
  const { requestId, status, execEndpoint, targetExecutor, timeout, unknown } = header;
  openNested(writer, 1);
  writeText(writer, 1, requestId);
  writeStatus(writer, 2, status);
  // For optional fields, an empty value differs from an unset one.
  if (execEndpoint !== undefined) writer.uint32(tagOf(3, BYTES)).string(execEndpoint);
  if (targetExecutor !== undefined) writer.uint32(tagOf(4, BYTES)).string(targetExecutor);
  if (timeout !== undefined) writer.uint32(tagOf(5, VARINT)).uint32(timeout);
  writeUnknown(writer, unknown);
  writer.ldelim();
}

const ROUTE: FieldReaders<Route> = {
  [tagOf(1, BYTES)]: (reader, route) => {
    route.executor = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, route, depth) => {
    route.startTime = readTimestamp(reader, depth);
  },
  [tagOf(3, BYTES)]: (reader, route, depth) => {
    route.endTime = readTimestamp(reader, depth);
  },
  [tagOf(4, BYTES)]: (reader, route, depth) => {
    route.status = readStatus(reader, depth);
  },
};

function writeRoute(writer: Writer, { executor, startTime, endTime, status, unknown }: Route): void {
  openNested(writer, 3);
  writeText(writer, 1, executor);
  if (startTime) writeTimestamp(writer, 2, startTime);
  if (endTime) writeTimestamp(writer, 3, endTime);
  writeStatus(writer, 4, status);
  writeUnknown(writer, unknown);
  writer.ldelim();
}

type Content = Pick<DataRequest, 'docs' | 'docsBytes'>;

const DOCUMENTS: FieldReaders<Document[]> = {
  [tagOf(1, BYTES)]: (reader, docs, depth) => {
    docs.push(readDocument(reader, depth));
  },
};

/** Unknown fields of the content are dropped, because they may describe a replaced list. */
const CONTENT: FieldReaders<Content> = {
  [tagOf(1, BYTES)]: (reader, content, depth) => {
    if (content.docsBytes) {
      delete content.docsBytes;
      content.docs = [];
    }
    readNested(reader, content.docs, DOCUMENTS, depth);
  },
  [tagOf(2, BYTES)]: (reader, content) => {
    content.docsBytes = reader.bytes();
    content.docs = [];
  },
};

/** Header, parameters and routes, shared by all request messages. */
const ENVELOPE: FieldReaders<DataRequest> = {
  [tagOf(1, BYTES)]: (reader, { header }, depth) => readHeader(reader, header, depth),
  [tagOf(2, BYTES)]: (reader, { parameters }) => {
    readStruct(reader, parameters);
  },
  [tagOf(3, BYTES)]: (reader, { routes }, depth) => {
    const route: Route = { executor: '' };
    const unknown = readNested(reader, route, ROUTE, depth);
    if (unknown) route.unknown = unknown;
    routes.push(route);
  },
};

const REQUEST: FieldReaders<DataRequest> = {
  ...ENVELOPE,
  [tagOf(4, BYTES)]: (reader, request, depth) => {
    readNested(reader, request, CONTENT, depth);
  },
};

const SINGLE: FieldReaders<DataRequest> = {
  ...ENVELOPE,
  [tagOf(4, BYTES)]: (reader, { docs }, depth) => {
    docs[0] = readDocument(reader, depth);
  },
};

const emptyRequest = (): DataRequest => ({ header: { requestId: '' }, parameters: {}, routes: [], docs: [] });

function readRequest(reader: Reader, end: number, fields: FieldReaders<DataRequest>, depth: number): DataRequest {
  const request = emptyRequest();
  const unknown = readFields(reader, end, request, fields, depth);
  if (unknown) request.unknown = unknown;
  return request;
}

/** Decodes bytes, turning any error into a SubmittedDataMalformedError. */
export function decodeWith<T>(bytes: Uint8Array, what: string, decode: (reader: Reader) => T): T {
  try {
    return decode(createReader(bytes));
  } catch (error) {
    throw problem('SubmittedDataMalformedError', { message: `The bytes are not a ${what}` }, error);
  }
}

export function readHeader(reader: Reader, header: Header, depth: number): void {
  const unknown = readNested(reader, header, HEADER, depth);
  if (unknown) header.unknown = [...(header.unknown ?? []), ...unknown];
}

/** Whether non-empty bytes are a header that begins with a known field. */
export function isHeader(bytes: Uint8Array): boolean {
  const reader = createReader(bytes);
  try {
    if (!HEADER[reader.uint32()]) return false;
    reader.pos = 0;
    readFields(reader, reader.len, { requestId: '' }, HEADER, 0);
    return true;
  } catch {
    return false;
  }
}

/** Throws a SubmittedDataMalformedError for invalid bytes. Arrays and blobs are views of the bytes, not copies. */
export const decodeRequest = (bytes: Uint8Array): DataRequest =>
  decodeWith(bytes, 'DataRequestProto', (reader) => readRequest(reader, reader.len, REQUEST, 0));

/** Decodes a SingleDocumentRequestProto: a request with at most one document. */
export const decodeSingleDocument = (bytes: Uint8Array): DataRequest =>
  decodeWith(bytes, 'SingleDocumentRequestProto', (reader) => readRequest(reader, reader.len, SINGLE, 0));

const LIST: FieldReaders<DataRequest[]> = {
  [tagOf(1, BYTES)]: (reader, requests, depth) => {
    const length = reader.uint32();
    requests.push(readRequest(reader, reader.pos + length, REQUEST, depth + 1));
  },
};

export const decodeRequestList = (bytes: Uint8Array): DataRequest[] =>
  decodeWith(bytes, 'DataRequestListProto', (reader) => {
    const requests: DataRequest[] = [];
    readFields(reader, reader.len, requests, LIST, 0);
    return requests;
  });

export const decodeStatus = (bytes: Uint8Array): Status =>
  decodeWith(bytes, 'StatusProto', (reader) => {
    const status: Writable<Status> = { code: 0, description: '' };
    const unknown = readFields(reader, reader.len, status, STATUS, 0);
    return unknown ? { ...status, unknown } : status;
  });

function writeEnvelope(writer: Writer, { header, parameters, routes }: DataRequest): void {
  writeHeader(writer, header);
  if (Object.keys(parameters).length > 0) writeStruct(writer, 2, parameters);
  for (const route of routes) writeRoute(writer, route);
}

function writeRequest(writer: Writer, request: DataRequest): void {
  writeEnvelope(writer, request);
  openNested(writer, 4);
  if (request.docsBytes) {
    writer.uint32(tagOf(2, BYTES)).bytes(request.docsBytes);
  } else {
    openNested(writer, 1);
    for (const document of request.docs) writeDocument(writer, 1, document);
    writer.ldelim();
  }
  writer.ldelim();
  writeUnknown(writer, request.unknown);
}

export function encodeWith(write: (writer: Writer) => void): Uint8Array {
  const writer = createWriter();
  write(writer);
  // The writer is not reused, so its memory can be returned without a copy.
  return writer.finish(true);
}

/** Throws a RangeError when documents or values are nested too deeply. */
export const encodeRequest = (request: DataRequest): Uint8Array =>
  encodeWith((writer) => writeRequest(writer, request));

function writeRequestList(writer: Writer, requests: readonly DataRequest[]): void {
  for (const request of requests) {
    openNested(writer, 1);
    writeRequest(writer, request);
    writer.ldelim();
  }
}

export const encodeRequestList = (requests: readonly DataRequest[]): Uint8Array =>
  encodeWith((writer) => writeRequestList(writer, requests));

/** Keeps full precision of numbers that protobuf floats would round. Only for processes of the same program. */
export function encodeRequestListExactly(requests: readonly DataRequest[]): Uint8Array {
  const writer = createExactWriter();
  writeRequestList(writer, requests);
  return writer.finish(true);
}

/** Encodes the first document of the request, if any. */
export const encodeSingleDocument = (request: DataRequest): Uint8Array =>
  encodeWith((writer) => {
    writeEnvelope(writer, request);
    if (request.docs[0]) writeDocument(writer, 4, request.docs[0]);
    writeUnknown(writer, request.unknown);
  });

/** DataRequestProtoWoData: the request without documents. */
export const encodeWithoutData = (request: DataRequest): Uint8Array =>
  encodeWith((writer) => writeEnvelope(writer, request));

export const encodeStatus = (status: Status): Uint8Array => encodeWith((writer) => writeStatusFields(writer, status));
