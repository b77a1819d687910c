/** Reads response bodies. An incomplete body is either a failure, or the part that arrived is used. */
import { type FileHandle, open } from 'node:fs/promises';
import { diskFull, isDiskFull, problem } from '#errors.ts';
import { AbortedError, type Truncation } from './body-limits.ts';

export interface Collected {
  readonly bytes: Uint8Array;
  readonly truncated?: Truncation;
}

/**
 * Passes bytes through. Converts AbortedError into AssertionFailureError, for consumers that need the complete body.
 */
export async function* failIfTruncated(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw error instanceof AbortedError ? truncatedBody(error) : error;
  }
}

export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Collected> {
  const buffer = createGrowingBuffer();
  try {
    for await (const chunk of bytes) buffer.add(chunk);
    return { bytes: buffer.bytes() };
  } catch (error) {
    if (!(error instanceof AbortedError)) throw error;
    if (!buffer.bytes().length) throw truncatedBody(error);
    return { bytes: buffer.bytes(), truncated: error.truncation };
  }
}

export interface Saved {
  readonly size: number;
  readonly truncated?: Truncation;
}

/**
 * Writes a body to a new file that only its owner can read. Throws ServiceNodeResourceDrainError if the disk is full,
 * and AssertionFailureError if the body ended before its first byte.
 */
export async function save(bytes: AsyncIterable<Uint8Array>, path: string): Promise<Saved> {
  const file = await open(path, 'wx', 0o600);
  let size = 0;
  try {
    for await (const chunk of bytes) {
      await writeChunk(file, chunk);
      size += chunk.length;
    }
    return { size };
  } catch (error) {
    if (!(error instanceof AbortedError)) throw error;
    if (!size) throw truncatedBody(error);
    return { size, truncated: error.truncation };
  } finally {
    await file.close();
  }
}

async function writeChunk(file: FileHandle, chunk: Uint8Array): Promise<void> {
  try {
    await file.writeFile(chunk);
  } catch (error) {
    throw isDiskFull(error) ? diskFull(error) : error;
  }
}

/** Reads the first `count` bytes of a body. The returned `bytes` include them and must be read or closed. */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  count: number,
): Promise<{ readonly start: Uint8Array; readonly bytes: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  const buffer = createGrowingBuffer();
  let end: { readonly error?: unknown } | undefined;
  while (!end && buffer.bytes().length < count) {
    try {
      const step = await iterator.next();
      if (step.done) end = {};
      else buffer.add(step.value);
    } catch (error) {
      end = { error };
    }
  }
  const start = buffer.bytes();
  async function* all() {
    try {
      if (start.length) yield start;
      if (end?.error) throw end.error;
      if (!end) yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await iterator.return?.();
    }
  }
  return { start, bytes: all() };
}

/** Copies chunks into one growing buffer, because millions of small chunks would use far more memory. */
function createGrowingBuffer() {
  let buffer = Buffer.allocUnsafe(64 * 1024);
  let length = 0;
  return {
    add(chunk: Uint8Array) {
      if (length + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + chunk.length));
        larger.set(buffer.subarray(0, length));
        buffer = larger;
      }
      buffer.set(chunk, length);
      length += chunk.length;
    },
    bytes: () => buffer.subarray(0, length),
  };
}

const TRUNCATION_MESSAGES: Record<Truncation, string> = {
  time: 'The target did not send its content in time',
  slow: 'The target sent its content too slowly',
  broken: 'The target closed the connection before its content was complete',
};

const truncatedBody = (error: AbortedError) =>
  problem('AssertionFailureError', { message: TRUNCATION_MESSAGES[error.truncation] }, error.cause ?? error);
