/** A body whose bytes stop coming: a failure for those who need all of it, a part for those who can use that. */
import { problem } from '#errors.ts';
import { Cut, type Truncation } from './pace.ts';

export interface Collected {
  readonly bytes: Uint8Array;
  readonly truncated?: Truncation;
}

/** The same bytes, for those who can do nothing with half a body: a Cut is a failure. */
export async function* whole(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw error instanceof Cut ? brokenOff(error) : error;
  }
}

export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Collected> {
  const pile = createPile();
  try {
    for await (const chunk of bytes) pile.add(chunk);
    return { bytes: pile.bytes() };
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
    if (!pile.bytes().length) throw brokenOff(error);
    return { bytes: pile.bytes(), truncated: error.truncation };
  }
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

const brokenOff = (cut: Cut) =>
  problem('AssertionFailureError', { message: CUT_MESSAGES[cut.truncation] }, cut.cause ?? cut);
