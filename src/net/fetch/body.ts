/** A body whose bytes stop coming: a failure for those who need all of it, a part for those who can use that. */
import { type FileHandle, open } from 'node:fs/promises';
import { diskFull, isDiskFull, problem } from '#errors.ts';
import { AbortedError, type Truncation } from './body-limits.ts';

export interface Collected {
  readonly bytes: Uint8Array;
  readonly truncated?: Truncation;
}

/** The same bytes, for those who can do nothing with half a body: a Cut is a failure. */
export async function* failIfTruncated(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw error instanceof AbortedError ? brokenOff(error) : error;
  }
}

export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Collected> {
  const pile = createPile();
  try {
    for await (const chunk of bytes) pile.add(chunk);
    return { bytes: pile.bytes() };
  } catch (error) {
    if (!(error instanceof AbortedError)) throw error;
    if (!pile.bytes().length) throw brokenOff(error);
    return { bytes: pile.bytes(), truncated: error.truncation };
  }
}

export interface Saved {
  readonly size: number;
  readonly truncated?: Truncation;
}

/**
 * Writes a body into a new file that only its owner can read. ServiceNodeResourceDrainError: the disk is full.
 * AssertionFailureError: it ended before its first byte.
 */
export async function save(bytes: AsyncIterable<Uint8Array>, path: string): Promise<Saved> {
  const file = await open(path, 'wx', 0o600);
  let size = 0;
  try {
    for await (const chunk of bytes) {
      await written(file, chunk);
      size += chunk.length;
    }
    return { size };
  } catch (error) {
    if (!(error instanceof AbortedError)) throw error;
    if (!size) throw brokenOff(error);
    return { size, truncated: error.truncation };
  } finally {
    await file.close();
  }
}

async function written(file: FileHandle, chunk: Uint8Array): Promise<void> {
  try {
    await file.writeFile(chunk);
  } catch (error) {
    throw isDiskFull(error) ? diskFull(error) : error;
  }
}

/** The first bytes of a body, and the body with them, which throws what it threw by then; it must be read on or returned. */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  count: number,
): Promise<{ readonly start: Uint8Array; readonly bytes: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  const pile = createPile();
  let end: { readonly error?: unknown } | undefined;
  while (!end && pile.bytes().length < count) {
    try {
      const step = await iterator.next();
      if (step.done) end = {};
      else pile.add(step.value);
    } catch (error) {
      end = { error };
    }
  }
  const start = pile.bytes();
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

/** Chunks in one buffer as they come: kept apart, millions of small ones would take far more memory than they hold. */
function createPile() {
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

const CUT_MESSAGES: Record<Truncation, string> = {
  time: 'The target did not send its content in time',
  slow: 'The target sends its content too slowly',
  broken: 'The content of the target broke off',
};

const brokenOff = (cut: AbortedError) =>
  problem('AssertionFailureError', { message: CUT_MESSAGES[cut.truncation] }, cut.cause ?? cut);
