/**
 * Decodes Zstandard (RFC 8878) one block at a time, on Node versions that do not support it. Frames and blocks are
 * parsed here, so that the window size is checked before memory is allocated, and no call decodes more than one block.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Base-2 logarithm of the largest window allowed on the web (RFC 9659). */
export const MAX_WINDOW_LOG = 23;

const MAX_WINDOW_BYTES = 2 ** MAX_WINDOW_LOG;
const MAX_BLOCK_BYTES = 128 * 1024;
const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;

/**
 * Work that is always allowed, measured in bytes moved. Each block moves its window, even if it produces little output.
 */
const FREE_WORK_BYTES = 4 * 1024 ** 3;
/** Work allowed for each byte of output: the work per byte for a full block with the largest window. */
const WORK_PER_BYTE = MAX_WINDOW_BYTES / MAX_BLOCK_BYTES;
/** Yields to the event loop after this much work. */
const YIELD_AFTER_BYTES = 64 * 1024 ** 2;

/** Throws the source's errors, or an Error for invalid or truncated data, after yielding all preceding bytes. */
export async function* unzstd(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = reader(source);
  try {
    yield* frames(input);
  } finally {
    await input.close();
  }
}

async function* frames(input: Reader): AsyncGenerator<Uint8Array> {
  const { Decompress } = await import('fzstd');
  let work = 0;
  let produced = 0;
  let sinceYield = 0;
  for (let count = 0; ; count++) {
    const magic = await input.take(4, 'may end');
    if (!magic) {
      if (count) return;
      throw invalid('empty');
    }
    const word = wordOf(magic);
    if ((word & 0xfffffff0) >>> 0 === SKIPPABLE) {
      await input.skip(wordOf((await input.take(4))!));
      continue;
    }
    if (word !== MAGIC) throw invalid('not a frame');
    const { header, windowBytes, hasChecksum } = await frameHeader(input);
    let made: Uint8Array[] = [];
    const decoder = new Decompress((piece) => void made.push(piece));
    decoder.push(Buffer.concat([magic, header]));
    for (let isLast = false; !isLast; ) {
      const block = await blockOf(input);
      isLast = block.isLast;
      const end = isLast && hasChecksum ? (await input.take(4))! : new Uint8Array();
      decoder.push(Buffer.concat([block.bytes, end]), isLast);
      for (const piece of made) {
        produced += piece.length;
        sinceYield += piece.length;
        if (piece.length) yield piece;
      }
      made = [];
      work += windowBytes;
      sinceYield += windowBytes;
      if (work > FREE_WORK_BYTES + WORK_PER_BYTE * produced) throw invalid('too many small blocks');
      if (sinceYield > YIELD_AFTER_BYTES) {
        sinceYield = 0;
        await yieldToEventLoop();
      }
    }
  }
}

const invalid = (what: string) => new Error(`invalid Zstandard data: ${what}`);

const wordOf = (bytes: Uint8Array) => Buffer.from(bytes).readUInt32LE();

type Reader = ReturnType<typeof reader>;

/** RFC 8878, section 3.1.1.1. */
async function frameHeader(input: Reader) {
  const descriptor = (await input.take(1))!;
  const flags = descriptor[0]!;
  const isSingle = (flags & 0x20) !== 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6]!;
  if (flags & 0x08) throw invalid('reserved');
  if (flags & 0x03) throw invalid('dictionary');
  const rest = Buffer.from((await input.take((isSingle ? 0 : 1) + sizeBytes))!);
  const windowBytes = isSingle ? contentSize(rest) : windowSize(rest[0]!);
  if (windowBytes > MAX_WINDOW_BYTES) throw invalid('window');
  return { header: Buffer.concat([descriptor, rest]), windowBytes, hasChecksum: (flags & 0x04) !== 0 };
}

const windowSize = (descriptor: number) => 2 ** (10 + (descriptor >> 3)) * (1 + (descriptor & 7) / 8);

function contentSize(bytes: Buffer): number {
  if (bytes.length === 8) return Number(bytes.readBigUInt64LE());
  return bytes.readUIntLE(0, bytes.length) + (bytes.length === 2 ? 256 : 0);
}

/** RFC 8878, section 3.1.1.2. */
async function blockOf(input: Reader): Promise<{ bytes: Uint8Array; isLast: boolean }> {
  const header = (await input.take(3))!;
  const word = header[0]! | (header[1]! << 8) | (header[2]! << 16);
  const kind = (word >> 1) & 3;
  const size = word >> 3;
  if (kind === 3 || size > MAX_BLOCK_BYTES) throw invalid('block');
  const body = (await input.take(kind === 1 ? 1 : size))!;
  return { bytes: Buffer.concat([header, body]), isLast: (word & 1) === 1 };
}

/** Reads exact numbers of bytes from a source. */
function reader(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]();
  let chunk: Uint8Array = new Uint8Array();

  const next = async () => {
    const step = await iterator.next();
    chunk = step.done ? new Uint8Array() : step.value;
    return !step.done;
  };

  const take = async (count: number, end?: 'may end'): Promise<Uint8Array | undefined> => {
    const taken = Buffer.alloc(count);
    for (let length = 0; length < count; ) {
      if (!chunk.length) {
        if (await next()) continue;
        if (end && !length) return undefined;
        throw invalid('truncated');
      }
      const part = chunk.subarray(0, count - length);
      taken.set(part, length);
      length += part.length;
      chunk = chunk.subarray(part.length);
    }
    return taken;
  };

  return {
    take,
    close: async () => void (await iterator.return?.()),
    async skip(count: number) {
      for (let left = count; left > 0; ) {
        if (!chunk.length && !(await next())) throw invalid('truncated');
        const part = Math.min(left, chunk.length);
        chunk = chunk.subarray(part);
        left -= part;
      }
    },
  };
}
