/** The records of binary workbook parts (MS-XLSB 2.1.4): a type and a size of seven bits per byte, then the fields. */

const MAX_TYPE_BYTES = 2;
const MAX_SIZE_BYTES = 4;
/** Length of a string that is absent. */
const NO_STRING = 0xffff_ffff;

/** Reads the fields of a record in order. Reading beyond its end throws RangeError. */
export class Fields {
  private readonly view: DataView;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  skip(bytes: number): this {
    this.at += bytes;
    return this;
  }

  u8(): number {
    return this.view.getUint8(this.move(1));
  }

  u16(): number {
    return this.view.getUint16(this.move(2), true);
  }

  i16(): number {
    return this.view.getInt16(this.move(2), true);
  }

  u32(): number {
    return this.view.getUint32(this.move(4), true);
  }

  double(): number {
    return this.view.getFloat64(this.move(8), true);
  }

  /** A number in 30 bits (MS-XLSB 2.5.122): an integer or the start of a double, possibly divided by 100. */
  rk(): number {
    const bits = this.view.getInt32(this.move(4), true);
    let value = bits >> 2;
    if ((bits & 2) === 0) {
      const whole = new DataView(new ArrayBuffer(8));
      whole.setInt32(4, bits & ~3, true);
      value = whole.getFloat64(0, true);
    }
    return (bits & 1) === 0 ? value : value / 100;
  }

  /** A string in UTF-16; '' if it is absent. */
  string(): string {
    const length = this.u32();
    if (length === NO_STRING) return '';
    const start = this.move(length * 2);
    if (start + length * 2 > this.view.byteLength) throw new RangeError('The string is longer than its record');
    return Buffer.from(this.view.buffer, this.view.byteOffset + start, length * 2).toString('utf16le');
  }

  private move(bytes: number): number {
    const at = this.at;
    this.at += bytes;
    return at;
  }
}

/** Calls `take` with each record. Returns false if the part is cut off. */
export function readRecords(bytes: Uint8Array, take: (type: number, fields: Fields) => void): boolean {
  let at = 0;
  const number = (maxBytes: number): number | undefined => {
    let value = 0;
    for (let place = 0; place < maxBytes; place++) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * 2 ** (7 * place);
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const type = number(MAX_TYPE_BYTES);
    const size = number(MAX_SIZE_BYTES);
    if (type === undefined || size === undefined || at + size > bytes.length) return false;
    take(type, new Fields(bytes.subarray(at, at + size)));
    at += size;
  }
  return true;
}
