/**
 * Takes bytes from a stream as they come and keeps them until they are asked for. A stream that fails forgets what it
 * still held, and an iteration over it with it; here the failure is told after the last byte.
 */
import type { Readable } from 'node:stream';

export interface ByteQueue {
  /** Gives chunks until the stream has ended, or until `isDone` says so when none is at hand. */
  take(isDone?: () => boolean): AsyncGenerator<Uint8Array>;
  /** Looks at `isDone` again. */
  wake(): void;
  hasEnded(): boolean;
}

/** What may be held before the stream is told to pause. */
const MAX_HELD_BYTES = 1024 * 1024;
const MAX_HELD_CHUNKS = 16 * 1024;

export function createByteQueue(stream: Readable): ByteQueue {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let ended = false;
  let failure: unknown;
  let wake = () => {};

  stream.on('data', (chunk: Uint8Array) => {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes >= MAX_HELD_BYTES || held.length >= MAX_HELD_CHUNKS) stream.pause();
    wake();
  });
  stream.on('end', () => {
    ended = true;
    wake();
  });
  stream.on('error', (error) => {
    failure ??= error;
    wake();
  });
  stream.on('close', () => {
    if (!ended) failure ??= new Error('The stream was closed');
    wake();
  });

  return {
    async *take(isDone = () => false) {
      for (;;) {
        // One piece at a time, however many it came in: a sender of single bytes would keep everybody busy.
        if (held.length) {
          const taken = held.length === 1 ? held[0]! : Buffer.concat(held, heldBytes);
          held = [];
          heldBytes = 0;
          yield taken;
          continue;
        }
        if (ended) return;
        if (failure) throw failure;
        if (isDone()) return;
        stream.resume();
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (held.length || ended || failure || isDone()) resolve();
        });
      }
    },
    wake: () => wake(),
    hasEnded: () => ended,
  };
}
