/**
 * A streaming call (docs/reference/wire/flow.md, gRPC) with many concurrent requests. If a client does not read its
 * responses, its requests are not read either.
 */
import type { DataRequest } from '../request.ts';
import type { RpcFailure } from './failures.ts';
import { type BidiStream, failStream } from './method.ts';

export interface StreamLimits {
  /** Maximum total size of messages that are running or waiting for earlier responses. */
  readonly maxInWorkBytes: number;
  /** Maximum size of responses that the client has not read. Above it, no more requests are read. */
  readonly maxUnreadBytes: number;
  /** A client that reads none of its responses for this long is disconnected. */
  readonly unreadMs: number;
}

const MIB = 2 ** 20;
export const STREAM_LIMITS: StreamLimits = {
  maxInWorkBytes: 64 * MIB,
  maxUnreadBytes: 4 * MIB,
  unreadMs: 300_000,
};

/** A failure ends the call once all running requests have been answered. */
export interface StreamAnswer {
  readonly message?: Buffer;
  /** The response in the message. */
  readonly request?: DataRequest;
  readonly failure?: RpcFailure;
}

export interface StreamTools {
  /** Never rejects. */
  readonly answer: (message: Buffer) => Promise<StreamAnswer>;
  /** Maximum number of concurrent requests; 0 for no limit. */
  readonly prefetch: number;
  /** Whether responses keep the order of their requests. */
  readonly inOrder: boolean;
  readonly limits: StreamLimits;
}

export interface CallStream {
  /** Stops reading and ends the call with the failure once all running requests have been answered. */
  end(failure: RpcFailure): void;
}

interface Slot {
  readonly bytes: number;
  answer?: StreamAnswer;
}

export function serveStream(stream: BidiStream, { answer, prefetch, inOrder, limits }: StreamTools): CallStream {
  const maxInWork = prefetch > 0 ? prefetch : Number.POSITIVE_INFINITY;
  /** Requests without a response, or with a response that waits for earlier ones. */
  const slots = new Set<Slot>();
  let inWorkBytes = 0;
  let unreadBytes = 0;
  let isEnded = false;
  let failure: RpcFailure | undefined;
  let unreadTimer: NodeJS.Timeout | undefined;

  const hasCapacity = (): boolean =>
    slots.size < maxInWork && inWorkBytes < limits.maxInWorkBytes && unreadBytes < limits.maxUnreadBytes;

  /** Pauses or resumes reading, and ends the call when everything is done. */
  function update(): void {
    if (stream.destroyed || stream.writableEnded) return;
    if (failure || isEnded) {
      if (slots.size > 0) return;
      if (failure) failStream(stream, failure);
      else stream.end();
    } else if (!hasCapacity()) {
      stream.pause();
    } else if (stream.isPaused()) {
      stream.resume();
    }
  }

  function send(message: Buffer): void {
    if (stream.destroyed || stream.cancelled) return;
    unreadBytes += message.length;
    unreadTimer ??= setTimeout(disconnect, limits.unreadMs);
    stream.write(message, () => {
      unreadBytes -= message.length;
      clearTimeout(unreadTimer);
      unreadTimer = unreadBytes > 0 ? setTimeout(disconnect, limits.unreadMs) : undefined;
      update();
    });
  }

  function disconnect(): void {
    stream.destroy();
  }

  function release(slot: Slot): void {
    slots.delete(slot);
    inWorkBytes -= slot.bytes;
    const { message, failure: why } = slot.answer!;
    failure ??= why;
    if (message) send(message);
  }

  function settle(slot: Slot): void {
    if (!inOrder) release(slot);
    else {
      for (const next of slots) {
        if (!next.answer) break;
        release(next);
      }
    }
    update();
  }

  stream.on('data', (message: Buffer) => {
    if (failure) return;
    const slot: Slot = { bytes: message.length };
    slots.add(slot);
    inWorkBytes += slot.bytes;
    answer(message).then((answered) => {
      slot.answer = answered;
      settle(slot);
    });
    update();
  });
  stream.on('end', () => {
    isEnded = true;
    update();
  });
  stream.on('close', () => clearTimeout(unreadTimer));

  return {
    end(why) {
      failure ??= why;
      stream.pause();
      update();
    },
  };
}
