/**
 * Limits on the size and speed of a response body. `fetch.ts` applies them to the received bytes and again to the
 * decoded bytes.
 */
import { problem } from '#errors.ts';

/** Why a body is incomplete: the timeout expired, the transfer was too slow, or the connection was lost. */
export type Truncation = 'time' | 'slow' | 'broken';

/** Thrown if the body is incomplete. Use the bytes received so far, or fail; `truncation` contains the reason. */
export class AbortedError extends Error {
  readonly truncation: Truncation;

  constructor(truncation: Truncation, cause?: unknown) {
    super(truncation, { cause });
    this.truncation = truncation;
  }
}

/**
 * Length of the window over which the speed is measured. Only time spent waiting for bytes counts, not the consumer's
 * processing time.
 */
const WINDOW_MS = 5_000;

/** Passes bytes through. Throws AbortedError if five seconds of waiting yield less than `minBytesPerSecond`. */
export async function* enforceMinSpeed(
  source: AsyncIterable<Uint8Array>,
  minBytesPerSecond: number,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  let waitedMs = 0;
  let bytes = 0;
  try {
    for (;;) {
      const startedAt = performance.now();
      let timer: NodeJS.Timeout | undefined;
      const tooSlow = new Promise<never>((_, reject) => {
        const checkSpeed = () => {
          if (bytes < (minBytesPerSecond * WINDOW_MS) / 1_000) return reject(new AbortedError('slow'));
          waitedMs -= WINDOW_MS;
          bytes = 0;
          timer = setTimeout(checkSpeed, WINDOW_MS);
        };
        timer = setTimeout(checkSpeed, Math.max(0, WINDOW_MS - waitedMs));
      });
      const step = await Promise.race([iterator.next(), tooSlow]).finally(() => clearTimeout(timer));
      if (step.done) return;
      waitedMs = Math.max(0, waitedMs + performance.now() - startedAt);
      bytes += step.value.length;
      yield step.value;
    }
  } finally {
    // Not awaited: if a source is waiting for bytes, its `return` resolves only when they arrive.
    iterator.return?.()?.catch(() => {});
  }
}

/** Passes bytes through. Throws TargetFileTooLargeError if they exceed `maxBytes`. */
export async function* limitBytes(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

export const tooLarge = (maxBytes: number) =>
  problem('TargetFileTooLargeError', { message: `The target is larger than ${maxBytes} bytes` });
