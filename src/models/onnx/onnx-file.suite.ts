/** Writes ONNX files: graphs of nodes over named tensors (onnx.proto3 of the ONNX project). */

/** A length-delimited or varint field, already encoded. */
type Field = Uint8Array;

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

const integer = (field: number, value: number | bigint): Field =>
  Uint8Array.from([...varint((field << 3) | VARINT), ...varint(value)]);

const bytes = (field: number, value: Uint8Array): Field =>
  Buffer.concat([Uint8Array.from([...varint((field << 3) | LENGTH_DELIMITED), ...varint(value.length)]), value]);

const text = (field: number, value: string): Field => bytes(field, encoder.encode(value));

const message = (field: number, fields: readonly Field[]): Field => bytes(field, Buffer.concat(fields));

const TYPES = { float: 1, int8: 3, int64: 7, float16: 10 } as const;
type ElementType = keyof typeof TYPES;

type Attribute = number | readonly number[];

export interface Graph {
  /** Adds a node. Returns the name of its first output. */
  node(
    op: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, Attribute>>,
    outputs?: number,
  ): string;
  /** A constant tensor. */
  tensor(name: string, dims: readonly number[], values: Float32Array | Int8Array | BigInt64Array): string;
  input(name: string, type: ElementType, dims: readonly (string | number)[]): string;
  output(name: string, from: string, dims: readonly (string | number)[], type?: ElementType): void;
  /** The bytes of the ONNX file. */
  bytes(): Buffer;
}

const OPSET = 17;
const IR_VERSION = 8;
const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;

export function createGraph(): Graph {
  const nodes: Field[] = [];
  const tensors: Field[] = [];
  const inputs: Field[] = [];
  const outputs: Field[] = [];
  let count = 0;

  const addNode = (op: string, from: readonly string[], to: readonly string[], attributes: readonly Field[]) => {
    const fields = [...from.map((name) => text(1, name)), ...to.map((name) => text(2, name))];
    nodes.push(message(1, [...fields, text(3, `${op}_${count}`), text(4, op), ...attributes]));
  };

  return {
    node(op, from, attributes = {}, outs = 1) {
      count++;
      const to = Array.from({ length: outs }, (_, at) => `${op}_${count}_${at}`);
      addNode(
        op,
        from,
        to,
        Object.entries(attributes).map(([name, value]) => attribute(name, value)),
      );
      return to[0]!;
    },
    tensor(name, dims, values) {
      const type = values instanceof Float32Array ? 'float' : values instanceof Int8Array ? 'int8' : 'int64';
      const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      tensors.push(
        message(5, [...dims.map((size) => integer(1, size)), integer(2, TYPES[type]), text(8, name), bytes(9, raw)]),
      );
      return name;
    },
    input(name, type, dims) {
      inputs.push(message(11, valueInfo(name, type, dims)));
      return name;
    },
    output(name, from, dims, type = 'float') {
      count++;
      addNode('Identity', [from], [name], []);
      outputs.push(message(12, valueInfo(name, type, dims)));
    },
    bytes: () =>
      Buffer.concat([
        integer(1, IR_VERSION),
        message(7, [...nodes, text(2, 'graph'), ...tensors, ...inputs, ...outputs]),
        message(8, [text(1, ''), integer(2, OPSET)]),
      ]),
  };
}

function attribute(name: string, value: Attribute): Field {
  if (Array.isArray(value)) {
    const list = value as readonly number[];
    return message(5, [text(1, name), ...list.map((one) => integer(8, one)), integer(20, ATTRIBUTE_INTS)]);
  }
  if (Number.isInteger(value))
    return message(5, [text(1, name), integer(3, value as number), integer(20, ATTRIBUTE_INT)]);
  const float = Buffer.alloc(5);
  float[0] = (2 << 3) | 5;
  float.writeFloatLE(value as number, 1);
  return message(5, [text(1, name), float, integer(20, ATTRIBUTE_FLOAT)]);
}

function valueInfo(name: string, type: ElementType, dims: readonly (string | number)[]): Field[] {
  const shape = dims.map((dim) => message(1, [typeof dim === 'string' ? text(2, dim) : integer(1, dim)]));
  return [text(1, name), message(2, [message(1, [integer(1, TYPES[type]), message(2, shape)])])];
}
