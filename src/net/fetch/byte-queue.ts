/**
 * Buffers the bytes of a stream. A failed Node stream discards its buffered bytes; this queue delivers them before it
 * throws the error.
 */
import type { Readable } from 'node:stream';

export interface ByteQueue {
  /** Yields chunks until the stream ends, or until the queue is empty and `isDone` returns true. */
  take(isDone?: () => boolean): AsyncGenerator<Uint8Array>;
  /** Evaluates `isDone` again. */
  wake(): void;
  hasEnded(): boolean;
}

/** The stream is paused while the queue contains more bytes or chunks than this. */
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
        // Join the chunks. Otherwise, a sender of single bytes would cause one iteration per byte.
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
