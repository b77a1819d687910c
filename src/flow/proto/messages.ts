/** The small messages besides requests, each defined by a table of its fields. */
import type { Header } from '../request.ts';
import type { JsonObject } from '../values.ts';
import { decodeWith, encodeWith, readHeader, writeHeader } from './request.ts';
import { readStruct, writeStruct } from './struct.ts';
import {
  BYTES,
  type FieldReaders,
  openNested,
  type Reader,
  readFields,
  readNested,
  tagOf,
  VARINT,
  type Writer,
  writeText,
  writeUint,
  writeUnknown,
} from './wire.ts';

interface Field<V> {
  readonly wire: number;
  readonly empty: () => V;
  /** `known` is the value read so far, for repeated fields. */
  read(reader: Reader, known: V, depth: number): V;
  write(writer: Writer, number: number, value: V): void;
}

type Values<F> = { [K in keyof F]: F[K] extends readonly [number, Field<infer V>] ? V : never };
type Message<F> = Values<F> & { unknown?: readonly Uint8Array[] };

interface Codec<T> {
  readonly name: string;
  encode(message: T): Uint8Array;
  /** Throws a SubmittedDataMalformedError when the bytes are not a valid message. */
  decode(bytes: Uint8Array): T;
}

interface Inner<T> extends Codec<T> {
  readonly empty: () => T;
  readonly readers: FieldReaders<T>;
  write(writer: Writer, message: T): void;
}

const text: Field<string> = {
  wire: BYTES,
  empty: () => '',
  read: (reader) => reader.string(),
  write: writeText,
};

const uint: Field<number> = {
  wire: VARINT,
  empty: () => 0,
  read: (reader) => reader.uint32(),
  write: writeUint,
};

const optionalUint: Field<number | undefined> = {
  wire: VARINT,
  empty: () => undefined,
  read: (reader) => reader.uint32(),
  write: (writer, number, value) => {
    if (value !== undefined) writer.uint32(tagOf(number, VARINT)).uint32(value);
  },
};

const texts: Field<string[]> = {
  wire: BYTES,
  empty: () => [],
  read: (reader, known) => {
    known.push(reader.string());
    return known;
  },
  write: (writer, number, values) => {
    for (const value of values) writer.uint32(tagOf(number, BYTES)).string(value);
  },
};

const struct: Field<JsonObject | undefined> = {
  wire: BYTES,
  empty: () => undefined,
  read: (reader, known) => readStruct(reader, known),
  write: (writer, number, value) => {
    if (value) writeStruct(writer, number, value);
  },
};

const header: Field<Header | undefined> = {
  wire: BYTES,
  empty: () => undefined,
  read: (reader, known, depth) => {
    const read = known ?? { requestId: '' };
    readHeader(reader, read, depth);
    return read;
  },
  write: (writer, _, value) => {
    if (value) writeHeader(writer, value);
  },
};

const TEXT_ENTRY: FieldReaders<{ key: string; value: string }> = {
  [tagOf(1, BYTES)]: (reader, entry) => {
    entry.key = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, entry) => {
    entry.value = reader.string();
  },
};

const textMap: Field<Map<string, string>> = {
  wire: BYTES,
  empty: () => new Map(),
  read: (reader, known, depth) => {
    const entry = { key: '', value: '' };
    readNested(reader, entry, TEXT_ENTRY, depth);
    return known.set(entry.key, entry.value);
  },
  write: (writer, number, entries) => {
    for (const [key, value] of entries) {
      openNested(writer, number);
      writeText(writer, 1, key);
      writeText(writer, 2, value);
      writer.ldelim();
    }
  },
};

const nested = <T>(inner: Inner<T>): Field<T | undefined> => ({
  wire: BYTES,
  empty: () => undefined,
  read: (reader, known, depth) => {
    const message = known ?? inner.empty();
    readNested(reader, message, inner.readers, depth);
    return message;
  },
  write: (writer, number, value) => {
    if (!value) return;
    openNested(writer, number);
    inner.write(writer, value);
    writer.ldelim();
  },
});

const repeated = <T>(inner: Inner<T>): Field<T[]> => ({
  wire: BYTES,
  empty: () => [],
  read: (reader, known, depth) => {
    const message = inner.empty();
    readNested(reader, message, inner.readers, depth);
    known.push(message);
    return known;
  },
  write: (writer, number, values) => {
    for (const value of values) {
      openNested(writer, number);
      inner.write(writer, value);
      writer.ldelim();
    }
  },
});

// biome-ignore lint/suspicious/noExplicitAny: each field has its own type, which Values recovers.
type Fields = Readonly<Record<string, readonly [number, Field<any>]>>;

function createCodec<const F extends Fields>(name: string, fields: F): Inner<Message<F>> {
  type Any = Record<string, unknown>;
  const entries = Object.entries(fields);
  const empty = () => Object.fromEntries(entries.map(([key, [, field]]) => [key, field.empty()])) as Message<F>;
  const readers: FieldReaders<Message<F>> = Object.fromEntries(
    entries.map(([key, [number, field]]) => [
      tagOf(number, field.wire),
      (reader: Reader, message: Any, depth: number) => {
        message[key] = field.read(reader, message[key], depth);
      },
    ]),
  );
  const write = (writer: Writer, message: Message<F>): void => {
    for (const [key, [number, field]] of entries) field.write(writer, number, (message as Any)[key]);
    writeUnknown(writer, message.unknown);
  };
  return {
    name,
    empty,
    readers,
    write,
    encode: (message) => encodeWith((writer) => write(writer, message)),
    decode: (bytes) =>
      decodeWith(bytes, name, (reader) => {
        const message = empty();
        const unknown = readFields(reader, reader.len, message, readers, 0);
        if (unknown) message.unknown = unknown;
        return message;
      }),
  };
}

export const endpointsProto = createCodec('EndpointsProto', {
  endpoints: [1, texts],
  writeEndpoints: [2, texts],
  schemas: [3, struct],
});

export const infoProto = createCodec('JinaInfoProto', { jina: [1, textMap], envs: [2, textMap] });

const relatedEntityProto = createCodec('RelatedEntity', {
  id: [1, text],
  address: [2, text],
  port: [3, uint],
  shardId: [4, optionalUint],
});

/** Commands: 0 STATUS, 1 ACTIVATE, 2 DEACTIVATE. */
export const controlRequestProto = createCodec('ControlRequestProto', {
  header: [1, header],
  command: [2, uint],
  relatedEntities: [3, repeated(relatedEntityProto)],
});

const snapshotId = createCodec('SnapshotId', { value: [1, text] });
const restoreId = createCodec('RestoreId', { value: [1, text] });

/** States: 0 unspecified, 1 queued, 2 scheduled, 3 running, 4 succeeded, 5 failed, 6 not found. */
export const snapshotStatusProto = createCodec('SnapshotStatusProto', {
  id: [1, nested(snapshotId)],
  status: [2, uint],
  snapshotFile: [3, text],
});

/** States: 0 unspecified, 1 running, 2 succeeded, 3 failed, 6 not found. */
export const restoreSnapshotStatusProto = createCodec('RestoreSnapshotStatusProto', {
  id: [1, nested(restoreId)],
  status: [2, uint],
});

export const restoreSnapshotCommand = createCodec('RestoreSnapshotCommand', { snapshotFile: [1, text] });
