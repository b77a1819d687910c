/** One WebSocket connection: limits the requests that run at once and the answers that wait to be sent. */
import type { IncomingHttpHeaders } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { asProblem, type Problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import type { Flow } from '../flow.ts';
import type { FlowObserver } from '../observer.ts';
import { isUnavailableProblem } from '../runtime/unavailable.ts';
import type { SocketLimits } from './websocket.ts';
import type { FrameCodec, RequestFrame } from './websocket-frames.ts';

export interface ConnectionTools {
  readonly flow: Flow;
  readonly codec: FrameCodec;
  readonly headers: IncomingHttpHeaders;
  /** Maximum number of concurrent requests; 0 for no limit. */
  readonly prefetch: number;
  readonly limits: SocketLimits;
  readonly observe?: FlowObserver | undefined;
  readonly log?: Log | undefined;
}

interface ReceivedFrame {
  readonly bytes: Buffer;
  readonly isBinary: boolean;
}

type WriteFailure = (failure: Problem) => string | Uint8Array | undefined;

export interface Connection {
  readonly closed: Promise<void>;
  /** Ends the stream as if the client had ended it. The connection is closed after `graceMs` at the latest. */
  end(graceMs: number): Promise<void>;
}

const NORMAL = 1000;
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
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

export function openConnection(socket: WebSocket, tools: ConnectionTools): Connection {
  const { flow, codec, headers, prefetch, limits, observe, log } = tools;
  const maxInWork = prefetch > 0 ? prefetch : Number.POSITIVE_INFINITY;
  const waiting: ReceivedFrame[] = [];
  /** One controller for each running request, so that its listeners are released with it. */
  const inWork = new Set<AbortController>();
  let inWorkBytes = 0;
  /** Set once no more requests are read: the code for the close frame after all answers. */
  let endCode: number | undefined;
  /** Whether requests of generation 1 came: their clients end the connection themselves. */
  let hasV1Requests = false;
  /** Resolves when all requests of generation 1 so far are answered. */
  let v1Answered: Promise<void> = Promise.resolve();
  /** Number of answers handed to the network. */
  let sentCount = 0;

  const hasCapacity = (): boolean =>
    inWork.size < maxInWork && inWorkBytes < limits.maxInWorkBytes && socket.bufferedAmount < limits.maxUnreadBytes;

  /** Starts waiting requests, pauses or resumes reading, and closes the connection when everything is done. */
  function update(): void {
    if (socket.readyState !== socket.OPEN) return;
    while (waiting.length > 0 && hasCapacity()) start(waiting.shift()!);
    if (endCode !== undefined) {
      if (inWork.size === 0 && waiting.length === 0) close(endCode);
    } else if (waiting.length > 0 || !hasCapacity()) {
      socket.pause();
    } else if (socket.isPaused) {
      socket.resume();
    }
  }

  function close(code: number, reason = ''): void {
    // Resume reading, because the client's close frame must still be received.
    if (socket.isPaused) socket.resume();
    socket.close(code, reason);
  }

  function start(received: ReceivedFrame): void {
    const controller = new AbortController();
    inWork.add(controller);
    inWorkBytes += received.bytes.length;
    void answer(received, controller.signal).finally(() => {
      inWork.delete(controller);
      inWorkBytes -= received.bytes.length;
      update();
    });
  }

  async function answer({ bytes, isBinary }: ReceivedFrame, signal: AbortSignal): Promise<void> {
    let writeFailure: WriteFailure = (failure) => codec.writeUnreadable(failure, bytes, isBinary);
    try {
      const frame = codec.read(bytes, isBinary);
      writeFailure = frame.writeFailure;
      const written = await (frame.generation === 1 ? runInOrder(frame, signal) : run(frame, signal));
      send(written);
      observe?.transferred?.({ receivedBytes: bytes.length, sentBytes: Buffer.byteLength(written) });
    } catch (error) {
      if (!signal.aborted) fail(asProblem(error), writeFailure);
    }
  }

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

  function fail(failure: Problem, write: WriteFailure): void {
    if (failure.code === 500) log?.error({ err: failure.cause ?? failure });
    if (isUnavailableProblem(failure)) {
      close(INTERNAL, unavailableReason(failure));
      return;
    }
    const written = write(failure);
    if (written === undefined) close(INVALID_PAYLOAD, fitReason(failure.message, 'The frame is not a request'));
    else send(written);
  }

  function send(data: string | Uint8Array): void {
    if (socket.readyState !== socket.OPEN) return;
    socket.send(data, { binary: typeof data !== 'string' }, () => {
      sentCount++;
      if (socket.isPaused) update();
    });
  }

  socket.on('message', (data: RawData, isBinary) => {
    if (endCode !== undefined || socket.readyState !== socket.OPEN) return;
    const bytes = data as Buffer;
    const refusal = codec.refuse(bytes, isBinary);
    if (refusal !== undefined) {
      close(UNSUPPORTED_DATA, refusal);
      return;
    }
    if (!codec.isEnd(bytes, isBinary)) waiting.push({ bytes, isBinary });
    else if (!(isBinary && hasV1Requests)) {
      endCode = NORMAL;
      socket.pause();
    }
    update();
  });

  const stopPings = startPings(socket, limits, {
    sentCount: () => sentCount,
    isBusy: () => inWork.size > 0 && socket.isPaused,
  });
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      stopPings();
      waiting.length = 0;
      for (const gone of inWork) gone.abort();
      resolve();
    });
  });
  // The socket closes itself with the right code: too large, not UTF-8, or not WebSocket.
  socket.on('error', () => {});

  return {
    closed,
    async end(graceMs) {
      endCode ??= GOING_AWAY;
      update();
      const cut = setTimeout(() => socket.terminate(), graceMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

/**
 * Closes a connection whose client neither answers pings nor reads answers. While reading is paused because requests
 * are running, pongs cannot arrive, so silence is ignored.
 */
function startPings(
  socket: WebSocket,
  { pingMs, pongMs }: SocketLimits,
  progress: { sentCount(): number; isBusy(): boolean },
): () => void {
  let deadline: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    if (deadline || socket.readyState !== socket.OPEN) return;
    const before = progress.sentCount();
    socket.ping();
    deadline = setTimeout(() => {
      deadline = undefined;
      if (progress.sentCount() === before && !progress.isBusy()) socket.terminate();
    }, pongMs);
  }, pingMs);
  socket.on('pong', () => {
    clearTimeout(deadline);
    deadline = undefined;
  });
  return () => {
    clearInterval(timer);
    clearTimeout(deadline);
  };
}
