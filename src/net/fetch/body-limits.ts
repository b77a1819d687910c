/** Reading under limits: a body that is too large, too slow or too late is cut off where the limit is passed. */
import { problem } from '#errors.ts';

/** Why a body ended before its end. */
export type Truncation = 'time' | 'slow' | 'broken';

export class AbortedError extends Error {
  readonly truncation: Truncation;

  constructor(truncation: Truncation, cause?: unknown) {
    super(truncation, { cause });
    this.truncation = truncation;
  }
}

/** The pace is judged over so much time spent waiting; the time that the reader takes itself does not count. */
const WINDOW_MS = 5_000;

/** Gives what comes, and throws a Cut as soon as five seconds of waiting brought less than `minBytesPerSecond`. */
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
        const judge = () => {
          if (bytes < (minBytesPerSecond * WINDOW_MS) / 1_000) return reject(new AbortedError('slow'));
          waitedMs -= WINDOW_MS;
          bytes = 0;
          timer = setTimeout(judge, WINDOW_MS);
        };
        timer = setTimeout(judge, Math.max(0, WINDOW_MS - waitedMs));
      });
      const step = await Promise.race([iterator.next(), tooSlow]).finally(() => clearTimeout(timer));
      if (step.done) return;
      waitedMs = Math.max(0, waitedMs + performance.now() - startedAt);
      bytes += step.value.length;
      yield step.value;
    }
  } finally {
    // Not awaited: a source that is waiting for its next bytes could not answer before they come.
    iterator.return?.()?.catch(() => {});
  }
}

/** Gives what comes and throws TargetFileTooLargeError with the first byte too many. */
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
