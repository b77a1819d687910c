/** Lines of a stream of bytes, one at a time: of what is too long no more is held than a line may have. */

export interface Line {
  /** From 1, blank lines counted. */
  readonly number: number;
  /** Without its end; undefined when the line is longer than `maxLineBytes`. */
  readonly bytes: Uint8Array | undefined;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/** Blank lines are left out. The last line needs no end. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxLineBytes }: { readonly maxLineBytes: number },
): AsyncGenerator<Line> {
  const pile = createPile(maxLineBytes);
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

/** The parts of one line, in one buffer: kept apart, millions of small ones would take far more than they hold. */
function createPile(maxBytes: number) {
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
