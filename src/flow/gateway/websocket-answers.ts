/** Handles the frames of one WebSocket connection: responds to each with one frame, or closes the connection. */
import type { IncomingHttpHeaders } from 'node:http';
import { asProblem, type Problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import type { Flow } from '../flow.ts';
import { isUnavailableProblem } from '../runtime/unavailable.ts';
import type { FrameCodec, RequestFrame } from './websocket-frames.ts';

export interface ReceivedFrame {
  readonly bytes: Buffer;
  readonly isBinary: boolean;
}

/** Text is sent as a text frame, bytes as a binary frame. */
export type FrameAnswer =
  | { readonly frame: string | Uint8Array }
  | { readonly closeCode: number; readonly reason: string };

export interface FrameAnswers {
  /** Never rejects. `undefined` if the signal was aborted before the response was complete. */
  answer(received: ReceivedFrame, signal: AbortSignal): Promise<FrameAnswer | undefined>;
  /** Whether the frame ends the stream; `ignored` if only the client may close the connection. */
  readEnd(received: ReceivedFrame): boolean | 'ignored';
}

export interface FrameAnswersTools {
  readonly flow: Flow;
  readonly codec: FrameCodec;
  readonly headers: IncomingHttpHeaders;
  readonly log?: Log | undefined;
}

const INVALID_PAYLOAD = 1007;
const INTERNAL = 1011;

/** Size limit of a close reason (RFC 6455, section 5.5). */
const MAX_REASON_BYTES = 123;

const fitReason = (reason: string, instead: string): string =>
  Buffer.byteLength(reason) <= MAX_REASON_BYTES ? reason : instead;

function unavailableReason(failure: Problem): string {
  const { addresses } = failure.facts;
  const where =
    Array.isArray(addresses) && addresses.length ? `deployment at {'${addresses.join("', '")}'}` : 'a deployment';
  const instead = `Network error while connecting to ${where}. It may be down.`;
  return fitReason(
    failure.message,
    fitReason(instead, 'Network error while connecting to a deployment. It may be down.'),
  );
}

type WriteFailure = (failure: Problem) => string | Uint8Array | undefined;

export function createFrameAnswers({ flow, codec, headers, log }: FrameAnswersTools): FrameAnswers {
  /** Whether requests of generation 1 have arrived. Their clients close the connection themselves. */
  let hasV1Requests = false;
  /** Resolves when all requests of generation 1 received so far have been answered. */
  let v1Answered: Promise<void> = Promise.resolve();

  const run = (frame: RequestFrame, signal: AbortSignal) => frame.run(flow, { signal, headers });

  function runInOrder(frame: RequestFrame, signal: AbortSignal): ReturnType<RequestFrame['run']> {
    hasV1Requests = true;
    const written = v1Answered.then(() => run(frame, signal));
    v1Answered = written.then(
      () => {},
      () => {},
    );
    return written;
  }

  function answerFailure(failure: Problem, write: WriteFailure): FrameAnswer {
    if (failure.code === 500) log?.error({ err: failure.cause ?? failure });
    if (isUnavailableProblem(failure)) return { closeCode: INTERNAL, reason: unavailableReason(failure) };
    const frame = write(failure);
    if (frame !== undefined) return { frame };
    return { closeCode: INVALID_PAYLOAD, reason: fitReason(failure.message, 'The frame is not a request') };
  }

  return {
    async answer({ bytes, isBinary }, signal) {
      let writeFailure: WriteFailure = (failure) => codec.writeUnreadable(failure, bytes, isBinary);
      try {
        const frame = codec.read(bytes, isBinary);
        writeFailure = frame.writeFailure;
        return { frame: await (frame.generation === 1 ? runInOrder(frame, signal) : run(frame, signal)) };
      } catch (error) {
        return signal.aborted ? undefined : answerFailure(asProblem(error), writeFailure);
      }
    },
    readEnd({ bytes, isBinary }) {
      if (!codec.isEnd(bytes, isBinary)) return false;
      return isBinary && hasV1Requests ? 'ignored' : true;
    },
  };
}
