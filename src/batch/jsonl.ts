/** Splits a byte stream into lines. Never buffers more than the maximum line length. */

export interface Line {
  /** Line number, counted from 1, including blank lines. */
  readonly number: number;
  /** The line without its line break; undefined if it is longer than `maxLineBytes`. */
  readonly bytes: Uint8Array | undefined;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/** Skips blank lines. The last line does not need a line break. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxLineBytes }: { readonly maxLineBytes: number },
): AsyncGenerator<Line> {
  const pile = createLineBuffer(maxLineBytes);
  let number = 0;
  const finish = (): Line | undefined => {
    number++;
    const bytes = pile.take();
    const trimmed = bytes && (number === 1 ? withoutMark(bytes) : bytes);
    return trimmed && isBlank(trimmed) ? undefined : { number, bytes: trimmed };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      pile.add(chunk.subarray(from, end));
      from = end + 1;
      const line = finish();
      if (line) yield line;
    }
    pile.add(chunk.subarray(from));
  }
  if (pile.empty) return;
  const line = finish();
  if (line) yield line;
}

/** Collects one line in a single growing buffer, because millions of small chunks would use far more memory. */
function createLineBuffer(maxBytes: number) {
  let buffer = Buffer.allocUnsafe(FIRST_BYTES);
  let length = 0;
  return {
    add(part: Uint8Array) {
      const end = length + part.length;
      if (end <= maxBytes) {
        if (end > buffer.length) {
          const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, end));
          larger.set(buffer.subarray(0, length));
          buffer = larger;
        }
        buffer.set(part, length);
      }
      length = end;
    },
    take(): Uint8Array | undefined {
      const bytes = length > maxBytes ? undefined : Uint8Array.from(withoutReturn(buffer.subarray(0, length)));
      if (buffer.length > KEPT_BYTES) buffer = Buffer.allocUnsafe(FIRST_BYTES);
      length = 0;
      return bytes;
    },
    get empty() {
      return length === 0;
    },
  };
}

const FIRST_BYTES = 4_096;
const KEPT_BYTES = 256 * 1024;

const withoutReturn = (bytes: Uint8Array): Uint8Array => (bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes);
const withoutMark = (bytes: Uint8Array) =>
  BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;

/** JSON's white space: https://www.rfc-editor.org/rfc/rfc8259#section-2 */
const isBlank = (bytes: Uint8Array) => bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === RETURN);
