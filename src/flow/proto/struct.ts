/** Reads and writes google.protobuf.Struct: JSON values whose numbers are doubles. */
import { setOwnValue } from '#own-value.ts';
import { isObject, type JsonObject, type JsonValue, MAX_VALUE_DEPTH } from '../values.ts';
import {
  BYTES,
  FIXED64,
  type FieldReaders,
  openNested,
  type Reader,
  readNested,
  tagOf,
  VARINT,
  type Writer,
} from './wire.ts';

interface Entry {
  key: string;
  value: JsonValue;
}

interface Box {
  value: JsonValue;
}

function checkDepth(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) throw new RangeError('a value is nested too deeply');
}

/**
 * Each level of a value requires two nested messages. The depth is counted from the value, not the enclosing message.
 */
function readValue(reader: Reader, depth: number): JsonValue {
  checkDepth(depth);
  const box: Box = { value: null };
  readNested(reader, box, VALUE, depth);
  return box.value;
}

const VALUE: FieldReaders<Box> = {
  [tagOf(1, VARINT)]: (reader, box) => {
    reader.int32();
    box.value = null;
  },
  [tagOf(2, FIXED64)]: (reader, box) => {
    box.value = reader.double();
  },
  [tagOf(3, BYTES)]: (reader, box) => {
    box.value = reader.string();
  },
  [tagOf(4, VARINT)]: (reader, box) => {
    box.value = reader.bool();
  },
  [tagOf(5, BYTES)]: (reader, box, depth) => {
    const object: JsonObject = {};
    readNested(reader, object, STRUCT, depth - 1);
    box.value = object;
  },
  [tagOf(6, BYTES)]: (reader, box, depth) => {
    const list: JsonValue[] = [];
    readNested(reader, list, LIST, depth - 1);
    box.value = list;
  },
};

const LIST: FieldReaders<JsonValue[]> = {
  [tagOf(1, BYTES)]: (reader, list, depth) => {
    list.push(readValue(reader, depth));
  },
};

const ENTRY: FieldReaders<Entry> = {
  [tagOf(1, BYTES)]: (reader, entry) => {
    entry.key = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, entry, depth) => {
    entry.value = readValue(reader, depth - 1);
  },
};

const STRUCT: FieldReaders<JsonObject> = {
  [tagOf(1, BYTES)]: (reader, object, depth) => {
    const entry: Entry = { key: '', value: null };
    readNested(reader, entry, ENTRY, depth);
    setOwnValue(object, entry.key, entry.value);
  },
};

/** Reads a length-prefixed Struct. Throws a RangeError when it is nested too deeply. */
export function readStruct(reader: Reader, into: JsonObject = {}): JsonObject {
  readNested(reader, into, STRUCT, 0);
  return into;
}

/** Applies toJSON(), as JSON.stringify does, for dates and similar objects. */
const applyToJson = (value: unknown): unknown =>
  isObject(value) && typeof value.toJSON === 'function' ? value.toJSON() : value;

function writeValue(writer: Writer, number: number, given: unknown, depth: number): void {
  checkDepth(depth);
  const value = applyToJson(given);
  openNested(writer, number);
  if (typeof value === 'string') writer.uint32(tagOf(3, BYTES)).string(value);
  else if (typeof value === 'number' || typeof value === 'bigint')
    writer.uint32(tagOf(2, FIXED64)).double(Number(value));
  else if (typeof value === 'boolean') writer.uint32(tagOf(4, VARINT)).bool(value);
  else if (Array.isArray(value)) writeList(writer, value, depth);
  else if (isObject(value)) writeStruct(writer, 5, value as JsonObject, depth);
  else writer.uint32(tagOf(1, VARINT)).int32(0);
  writer.ldelim();
}

function writeList(writer: Writer, values: readonly unknown[], depth: number): void {
  openNested(writer, 6);
  for (const value of values) writeValue(writer, 1, value, depth + 1);
  writer.ldelim();
}

const hasValue = (value: unknown): boolean =>
  value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';

/** Writes an object as field `number`. Keys without a value are left out. */
export function writeStruct(writer: Writer, number: number, object: Readonly<JsonObject>, depth = 0): void {
  openNested(writer, number);
  for (const key of Object.keys(object)) {
    if (!hasValue(object[key])) continue;
    openNested(writer, 1);
    writer.uint32(tagOf(1, BYTES)).string(key);
    writeValue(writer, 2, object[key], depth + 1);
    writer.ldelim();
  }
  writer.ldelim();
}
