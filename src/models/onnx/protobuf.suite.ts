/** Encodes the part of the protobuf wire format that ONNX files need. */

/** A length-delimited or varint field, already encoded. */
export type Field = Uint8Array;

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const encoder = new TextEncoder();

function varint(value: number | bigint): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return bytes;
}

export const integer = (field: number, value: number | bigint): Field =>
  Uint8Array.from([...varint((field << 3) | VARINT), ...varint(value)]);

export const bytes = (field: number, value: Uint8Array): Field =>
  Buffer.concat([Uint8Array.from([...varint((field << 3) | LENGTH_DELIMITED), ...varint(value.length)]), value]);

export const text = (field: number, value: string): Field => bytes(field, encoder.encode(value));

export const message = (field: number, fields: readonly Field[]): Field => bytes(field, Buffer.concat(fields));
