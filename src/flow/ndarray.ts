/**
 * Arrays of numbers as they are transmitted: raw bytes, shape and NumPy dtype (docs/reference/wire/flow.md, Arrays). An
 * array that is only forwarded keeps its bytes, so half floats and big-endian numbers stay exact.
 */
import { Buffer } from 'node:buffer';
import os from 'node:os';
import { ownValue } from '#own-value.ts';
import type { JsonObject } from './values.ts';

export type NestedList = number | boolean | readonly NestedList[];
export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array;

/** Bytes in C order. An empty buffer with a non-empty shape means all zeros. */
export interface DenseArray {
  readonly buffer: Uint8Array;
  readonly shape: readonly number[];
  readonly dtype: string;
  /** Unknown protobuf fields, kept as received. */
  readonly unknown?: readonly Uint8Array[];
}

export interface SparseArray {
  /** N rows with one index for each dimension. */
  readonly indices?: DenseArray;
  readonly values?: DenseArray;
  readonly shape: readonly number[];
  readonly unknown?: readonly Uint8Array[];
}

export interface NdArrayExtras {
  /** Array library of the sender. Python clients ignore arrays whose library they do not know. */
  readonly clsName?: string;
  readonly parameters?: JsonObject | undefined;
  readonly unknown?: readonly Uint8Array[] | undefined;
}

interface NumberType {
  readonly bytes: number;
  read(view: DataView, at: number, little: boolean): number | boolean;
}

const NUMBER_TYPES: Record<string, NumberType> = {
  f2: { bytes: 2, read: (view, at, little) => decodeHalfFloat(view.getUint16(at, little)) },
  f4: { bytes: 4, read: (view, at, little) => view.getFloat32(at, little) },
  f8: { bytes: 8, read: (view, at, little) => view.getFloat64(at, little) },
  i1: { bytes: 1, read: (view, at) => view.getInt8(at) },
  i2: { bytes: 2, read: (view, at, little) => view.getInt16(at, little) },
  i4: { bytes: 4, read: (view, at, little) => view.getInt32(at, little) },
  i8: { bytes: 8, read: (view, at, little) => Number(view.getBigInt64(at, little)) },
  u1: { bytes: 1, read: (view, at) => view.getUint8(at) },
  u2: { bytes: 2, read: (view, at, little) => view.getUint16(at, little) },
  u4: { bytes: 4, read: (view, at, little) => view.getUint32(at, little) },
  u8: { bytes: 8, read: (view, at, little) => Number(view.getBigUint64(at, little)) },
  b1: { bytes: 1, read: (view, at) => view.getUint8(at) !== 0 },
};

/** IEEE 754 binary16. */
function decodeHalfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function numberType(dtype: string): NumberType & { readonly little: boolean } {
  const type = /^[<>|=]?[a-z]\d$/.test(dtype) ? ownValue(NUMBER_TYPES, dtype.slice(-2)) : undefined;
  if (!type) throw new TypeError(`arrays of the type ${JSON.stringify(dtype.slice(0, 20))} cannot be read`);
  return { ...type, little: !dtype.startsWith('>') };
}

const DTYPES = new Map<unknown, string>([
  [Float32Array, '<f4'],
  [Float64Array, '<f8'],
  [Int8Array, '|i1'],
  [Int16Array, '<i2'],
  [Int32Array, '<i4'],
  [BigInt64Array, '<i8'],
  [Uint8Array, '|u1'],
  [Uint16Array, '<u2'],
  [Uint32Array, '<u4'],
  [BigUint64Array, '<u8'],
]);

export const sizeOf = (shape: readonly number[]): number => shape.reduce((size, length) => size * length, 1);

/** Maximum number of entries of a list. A sender can declare any shape, because zeros need no bytes. */
const MAX_LIST_ENTRIES = 2 ** 26;

/** Maximum number of dimensions, as in NumPy. */
const MAX_DIMENSIONS = 32;

function checkShape(shape: readonly number[]): number {
  if (shape.length > MAX_DIMENSIONS) throw new TypeError(`an array has more than ${MAX_DIMENSIONS} dimensions`);
  const size = sizeOf(shape);
  if (size > MAX_LIST_ENTRIES) throw new RangeError(`an array of ${size} entries is too large to write out`);
  return size;
}

/** Throws a TypeError or RangeError when the bytes do not match the shape and dtype. */
export function checkDense({ buffer, shape, dtype }: DenseArray): void {
  const { bytes } = numberType(dtype);
  const size = checkShape(shape);
  if (buffer.length > 0 && buffer.length !== size * bytes) {
    throw new RangeError(`an array with shape [${shape}] and dtype ${dtype} cannot have ${buffer.length} bytes`);
  }
}

function readDense(array: DenseArray): (number | boolean)[] {
  checkDense(array);
  const { buffer, shape, dtype } = array;
  const type = numberType(dtype);
  const size = sizeOf(shape);
  if (buffer.length === 0) return new Array(size).fill(dtype.endsWith('b1') ? false : 0);
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const values = new Array<number | boolean>(size);
  for (let at = 0; at < size; at++) values[at] = type.read(view, at * type.bytes, type.little);
  return values;
}

function nest(values: (number | boolean)[], shape: readonly number[]): NestedList {
  if (shape.length === 0) return values[0] ?? 0;
  let level: NestedList[] = values;
  for (let axis = shape.length - 1; axis > 0; axis--) {
    const length = shape[axis]!;
    const rows: NestedList[] = [];
    for (let at = 0; at < level.length; at += length) rows.push(level.slice(at, at + length));
    level = rows;
  }
  return level;
}

function scatter({ indices, values, shape }: SparseArray): NestedList {
  const size = checkShape(shape);
  const all = new Array<number | boolean>(size).fill(0);
  const entries = values ? readDense(values) : [];
  const places = indices ? readDense(indices) : [];
  const axes = shape.length;
  for (let entry = 0; entry < entries.length; entry++) {
    let at = 0;
    for (let axis = 0; axis < axes; axis++) at = at * shape[axis]! + Number(places[entry * axes + axis] ?? 0);
    if (at >= 0 && at < size) all[at] = entries[entry]!;
  }
  return nest(all, shape);
}

/**
 * Shape and dtype of a nested list. Throws a TypeError when rows differ in length or values are not numbers or
 * booleans.
 */
function inspectList(list: NestedList): { shape: number[]; dtype: string } {
  const shape: number[] = [];
  for (let part: NestedList | undefined = list; Array.isArray(part); part = part[0]) shape.push(part.length);
  if (shape.length > MAX_DIMENSIONS) throw new TypeError(`an array has more than ${MAX_DIMENSIONS} dimensions`);
  const kinds = { booleans: false, numbers: false, fractions: false };
  inspectRows(list, shape, 0, kinds);
  if (kinds.booleans && kinds.numbers) throw new TypeError('an array mixes numbers and booleans');
  return { shape, dtype: kinds.booleans ? '|b1' : kinds.fractions || !kinds.numbers ? '<f8' : '<i8' };
}

interface ValueKinds {
  booleans: boolean;
  numbers: boolean;
  fractions: boolean;
}

function inspectRows(list: NestedList, shape: readonly number[], axis: number, kinds: ValueKinds): void {
  if (!Array.isArray(list)) {
    recordKind(list, kinds);
    return;
  }
  if (list.length !== shape[axis]) throw new TypeError('an array has rows of different lengths');
  const last = axis === shape.length - 1;
  for (const part of list as readonly NestedList[]) {
    if (Array.isArray(part) === last) throw new TypeError('an array has rows of different lengths');
    if (last) recordKind(part, kinds);
    else inspectRows(part, shape, axis + 1, kinds);
  }
}

function recordKind(value: unknown, kinds: ValueKinds): void {
  if (typeof value === 'number') {
    kinds.numbers = true;
    // Integers beyond 2^53 are not exact, so they count as floats.
    if (!Number.isSafeInteger(value)) kinds.fractions = true;
  } else if (typeof value === 'boolean') {
    kinds.booleans = true;
  } else {
    throw new TypeError('an array contains a value that is neither a number nor a boolean');
  }
}

function encodeList(list: NestedList, dtype: string): Uint8Array {
  const flat = (Array.isArray(list) ? list.flat(Number.POSITIVE_INFINITY) : [list]) as (number | boolean)[];
  if (dtype === '|b1') return Uint8Array.from(flat, Number);
  const bytes = new Uint8Array(flat.length * 8);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < flat.length; at++) {
    const value = flat[at] as number;
    if (dtype === '<f8') {
      view.setFloat64(at * 8, value, true);
    } else {
      view.setUint32(at * 8, value >>> 0, true);
      view.setInt32(at * 8 + 4, Math.floor(value / 2 ** 32), true);
    }
  }
  return bytes;
}

export class NdArray {
  readonly clsName: string;
  readonly parameters: JsonObject | undefined;
  readonly unknown: readonly Uint8Array[] | undefined;
  readonly sparse: SparseArray | undefined;
  #dense: DenseArray | undefined;
  /** The list that the array was created from. Its bytes are computed on first use. */
  #list: NestedList | undefined;
  /** The JSON text that the array was created from. It is parsed on first use. */
  #text: string | undefined;
  #shape: readonly number[];
  #dtype: string;

  private constructor(
    content:
      | { dense: DenseArray }
      | { sparse: SparseArray }
      | { list: NestedList; shape: readonly number[]; dtype: string }
      | { text: string; shape: readonly number[]; dtype: string },
    { clsName = 'numpy', parameters, unknown }: NdArrayExtras = {},
  ) {
    this.clsName = clsName;
    this.parameters = parameters;
    this.unknown = unknown;
    this.sparse = 'sparse' in content ? content.sparse : undefined;
    this.#dense = 'dense' in content ? content.dense : undefined;
    this.#list = 'list' in content ? content.list : undefined;
    this.#text = 'text' in content ? content.text : undefined;
    const described = 'sparse' in content ? content.sparse : 'dense' in content ? content.dense : content;
    this.#shape = described.shape;
    this.#dtype = 'sparse' in content ? (content.sparse.values?.dtype ?? '<f8') : (described as DenseArray).dtype;
  }

  /** Throws a TypeError when rows differ in length, or values are not all numbers or all booleans. */
  static fromList(list: NestedList, rest?: NdArrayExtras): NdArray {
    return new NdArray({ list, ...inspectList(list) }, rest);
  }

  /** `text` must be the JSON of a list of `length` numbers. Use `<i8` if all are integers, else `<f8`. */
  static fromJson(text: string, length: number, dtype: '<i8' | '<f8'): NdArray {
    return new NdArray({ text, shape: [length], dtype });
  }

  /** Shares the memory of the typed array. */
  static fromTyped(values: TypedArray, shape: readonly number[] = [values.length]): NdArray {
    const dtype = DTYPES.get(values.constructor) ?? '|u1';
    if (sizeOf(shape) !== values.length)
      throw new RangeError(`${values.length} entries do not fill the shape [${shape}]`);
    const buffer = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    return new NdArray({ dense: { buffer, shape, dtype } });
  }

  static fromDense(dense: DenseArray, rest?: NdArrayExtras): NdArray {
    return new NdArray({ dense }, rest);
  }

  static fromSparse(sparse: SparseArray, rest?: NdArrayExtras): NdArray {
    return new NdArray({ sparse }, rest);
  }

  /** Copies the bytes. */
  clone(): NdArray {
    const [shape, dtype] = [this.#shape, this.#dtype];
    if (this.#text !== undefined) return new NdArray({ text: this.#text, shape, dtype }, this);
    if (this.#list !== undefined) return new NdArray({ list: this.#list, shape, dtype }, this);
    if (this.sparse) return this;
    return new NdArray({ dense: { ...this.#dense!, buffer: this.#dense!.buffer.slice() } }, this);
  }

  get shape(): readonly number[] {
    return this.#shape;
  }

  /** The NumPy dtype: `<f4`, `|b1`, ... */
  get dtype(): string {
    return this.#dtype;
  }

  /** `undefined` for a sparse array. */
  get dense(): DenseArray | undefined {
    const list = this.#dense ? undefined : this.#parsedList();
    if (list !== undefined) {
      this.#dense = { buffer: encodeList(list, this.#dtype), shape: this.#shape, dtype: this.#dtype };
      // The caller may change the bytes, so they replace the list and the text.
      this.#list = undefined;
      this.#text = undefined;
    }
    return this.#dense;
  }

  /** Raw bytes in the byte order of `dtype`; empty for a sparse array. */
  get buffer(): Uint8Array {
    return this.dense?.buffer ?? new Uint8Array();
  }

  /**
   * A nested list. It is `[]` if a dimension is zero, and a bare value if there are none. Throws a RangeError when the
   * bytes do not fit the shape.
   */
  toList(): NestedList {
    if (this.#shape.includes(0)) return [];
    const list = this.#parsedList();
    if (list !== undefined) return list;
    if (this.sparse) return scatter(this.sparse);
    return nest(readDense(this.#dense!), this.#shape);
  }

  #parsedList(): NestedList | undefined {
    if (this.#text !== undefined) {
      this.#list = JSON.parse(this.#text) as NestedList;
      this.#text = undefined;
    }
    return this.#list;
  }

  /** All entries in C order; booleans become 0 and 1. */
  toFloat32(): Float32Array {
    const bytes = this.#bytesAs('<f4');
    if (bytes) return new Float32Array(bytes);
    return Float32Array.from(this.#flat(), Number);
  }

  toFloat64(): Float64Array {
    const bytes = this.#bytesAs('<f8');
    if (bytes) return new Float64Array(bytes);
    return Float64Array.from(this.#flat(), Number);
  }

  /** A copy of the bytes if they already have the machine's format for this type. */
  #bytesAs(dtype: string): ArrayBuffer | undefined {
    const dense = this.#dense;
    if (dense?.dtype !== dtype || os.endianness() !== 'LE') return undefined;
    const width = Number(dtype.at(-1));
    if (dense.buffer.length === 0 || dense.buffer.length !== sizeOf(dense.shape) * width) return undefined;
    return new Uint8Array(dense.buffer).buffer;
  }

  #flat(): (number | boolean)[] {
    if (this.#dense) return readDense(this.#dense);
    const list = this.toList();
    return (Array.isArray(list) ? list.flat(Number.POSITIVE_INFINITY) : [list]) as (number | boolean)[];
  }

  /** JSON text of a nested list. NaN and infinities become null. */
  toJson(): string {
    return this.#text ?? JSON.stringify(this.toList());
  }
}

export const decodeBase64 = (text: string): Uint8Array => {
  const bytes = Buffer.from(text, 'base64');
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};
