/** Reads and writes protobuf messages field by field. Unknown fields are kept as received. */
import protobuf from 'protobufjs/minimal.js';

export type Reader = protobuf.Reader;
export type Writer = protobuf.Writer;

export const createReader = (bytes: Uint8Array): Reader => protobuf.Reader.create(bytes);
export const createWriter = (): Writer => protobuf.Writer.create();

const exact = new WeakSet<Writer>();

/** Creates a writer that encodes a float as a double if it would lose precision. Only our own reader accepts that. */
export function createExactWriter(): Writer {
  const writer = createWriter();
  exact.add(writer);
  return writer;
}

/** Whether a number must be written as a double. */
export const needsDouble = (writer: Writer, value: number): boolean =>
  Math.fround(value) !== value && exact.has(writer);

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

/** Field number and wire type, as encoded before each field. */
export const tagOf = (number: number, wire: number): number => ((number << 3) | wire) >>> 0;

/** Readers of field values, by tag. */
export type FieldReaders<T> = Readonly<Record<number, (reader: Reader, target: T, depth: number) => void>>;

/** Maximum nesting of messages. */
const MAX_DEPTH = 1000;

/**
 * Reads fields up to `end`. Returns the bytes of unknown fields. Throws an Error when the bytes are not a valid
 * message.
 */
export function readFields<T>(
  reader: Reader,
  end: number,
  target: T,
  fields: FieldReaders<T>,
  depth: number,
): Uint8Array[] | undefined {
  if (depth > MAX_DEPTH) throw new RangeError('messages are nested too deeply');
  if (end > reader.len) throw new RangeError('a message is truncated');
  let unknown: Uint8Array[] | undefined;
  while (reader.pos < end) {
    const start = reader.pos;
    const tag = reader.uint32();
    const read = fields[tag];
    if (read) {
      read(reader, target, depth);
    } else {
      if (tag >>> 3 === 0) throw new RangeError('a field has the number 0');
      reader.skipType(tag & 7);
      unknown ??= [];
      unknown.push(reader.buf.subarray(start, reader.pos));
    }
  }
  if (reader.pos !== end) throw new RangeError('a field is longer than its message');
  return unknown;
}

/** Reads a length-prefixed message. */
export function readNested<T>(
  reader: Reader,
  target: T,
  fields: FieldReaders<T>,
  depth: number,
): Uint8Array[] | undefined {
  const length = reader.uint32();
  return readFields(reader, reader.pos + length, target, fields, depth + 1);
}

export function writeUnknown(writer: Writer, unknown: readonly Uint8Array[] | undefined): void {
  if (unknown) for (const bytes of unknown) writer.raw(bytes);
}

export function writeText(writer: Writer, number: number, value: string): void {
  if (value) writer.uint32(tagOf(number, BYTES)).string(value);
}

export function writeUint(writer: Writer, number: number, value: number): void {
  if (value) writer.uint32(tagOf(number, VARINT)).uint32(value);
}

/** Writes a float. Zero is the default and is not written; minus zero is written, as in other implementations. */
export function writeFloat(writer: Writer, number: number, value: number): void {
  if (!value && !Object.is(value, -0)) return;
  if (needsDouble(writer, value)) writer.uint32(tagOf(number, FIXED64)).double(value);
  else writer.uint32(tagOf(number, FIXED32)).float(value);
}

/** Starts a nested message. The writer's `ldelim()` ends it. */
export const openNested = (writer: Writer, number: number): Writer => writer.uint32(tagOf(number, BYTES)).fork();
