/** Reads and writes docarray.NdArrayProto. Arrays keep their bytes, shape and dtype. */
import { type DenseArray, NdArray, type SparseArray } from '../ndarray.ts';
import type { JsonObject } from '../values.ts';
import { readStruct, writeStruct } from './struct.ts';
import {
  BYTES,
  type FieldReaders,
  openNested,
  type Reader,
  readNested,
  tagOf,
  VARINT,
  type Writer,
  writeText,
  writeUnknown,
} from './wire.ts';

interface Writable<T extends { shape: readonly number[] }> {
  value: { -readonly [K in keyof T]: T[K] } & { shape: number[] };
}

type Dense = Writable<DenseArray>['value'];
type Sparse = Writable<SparseArray>['value'];

interface Parts {
  dense?: DenseArray;
  sparse?: SparseArray;
  clsName: string;
  parameters?: JsonObject;
}

/** Accepts packed and unpacked encoding; both are valid. */
const shapeAt = (number: number): FieldReaders<{ shape: number[] }> => ({
  [tagOf(number, VARINT)]: (reader, { shape }) => {
    shape.push(reader.uint32());
  },
  [tagOf(number, BYTES)]: (reader, { shape }) => {
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) shape.push(reader.uint32());
  },
});

const DENSE: FieldReaders<Dense> = {
  [tagOf(1, BYTES)]: (reader, dense) => {
    dense.buffer = reader.bytes();
  },
  ...shapeAt(2),
  [tagOf(3, BYTES)]: (reader, dense) => {
    dense.dtype = reader.string();
  },
};

function readDense(reader: Reader, depth: number): DenseArray {
  const dense: Dense = { buffer: new Uint8Array(), shape: [], dtype: '' };
  const unknown = readNested(reader, dense, DENSE, depth);
  return unknown ? { ...dense, unknown } : dense;
}

const SPARSE: FieldReaders<Sparse> = {
  [tagOf(1, BYTES)]: (reader, sparse, depth) => {
    sparse.indices = readDense(reader, depth);
  },
  [tagOf(2, BYTES)]: (reader, sparse, depth) => {
    sparse.values = readDense(reader, depth);
  },
  ...shapeAt(3),
};

const PARTS: FieldReaders<Parts> = {
  [tagOf(1, BYTES)]: (reader, parts, depth) => {
    parts.dense = readDense(reader, depth);
    delete parts.sparse;
  },
  [tagOf(2, BYTES)]: (reader, parts, depth) => {
    const sparse: Sparse = { shape: [] };
    const unknown = readNested(reader, sparse, SPARSE, depth);
    parts.sparse = unknown ? { ...sparse, unknown } : sparse;
    delete parts.dense;
  },
  [tagOf(3, BYTES)]: (reader, parts) => {
    parts.clsName = reader.string();
  },
  [tagOf(4, BYTES)]: (reader, parts) => {
    parts.parameters = readStruct(reader, parts.parameters);
  },
};

const NOTHING: DenseArray = { buffer: new Uint8Array(), shape: [0], dtype: '<f8' };

/** Reads an array without copying its bytes. A message without content is an empty array. */
export function readNdArray(reader: Reader, depth: number): NdArray {
  const parts: Parts = { clsName: '' };
  const unknown = readNested(reader, parts, PARTS, depth);
  const rest = { clsName: parts.clsName, parameters: parts.parameters, unknown };
  return parts.sparse ? NdArray.fromSparse(parts.sparse, rest) : NdArray.fromDense(parts.dense ?? NOTHING, rest);
}

function writeShape(writer: Writer, number: number, shape: readonly number[]): void {
  if (shape.length === 0) return;
  openNested(writer, number);
  for (const length of shape) writer.uint32(length);
  writer.ldelim();
}

function writeDense(writer: Writer, number: number, { buffer, shape, dtype, unknown }: DenseArray): void {
  openNested(writer, number);
  if (buffer.length > 0) writer.uint32(tagOf(1, BYTES)).bytes(buffer);
  writeShape(writer, 2, shape);
  writeText(writer, 3, dtype);
  writeUnknown(writer, unknown);
  writer.ldelim();
}

function writeSparse(writer: Writer, number: number, { indices, values, shape, unknown }: SparseArray): void {
  openNested(writer, number);
  if (indices) writeDense(writer, 1, indices);
  if (values) writeDense(writer, 2, values);
  writeShape(writer, 3, shape);
  writeUnknown(writer, unknown);
  writer.ldelim();
}

export function writeNdArray(writer: Writer, number: number, array: NdArray): void {
  openNested(writer, number);
  if (array.sparse) writeSparse(writer, 2, array.sparse);
  else writeDense(writer, 1, array.dense!);
  writeText(writer, 3, array.clsName);
  if (array.parameters) writeStruct(writer, 4, array.parameters);
  writeUnknown(writer, array.unknown);
  writer.ldelim();
}
