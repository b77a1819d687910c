/** One WebSocket connection: limits the number of concurrent requests and the size of unsent responses. */
import type { RawData, WebSocket } from 'ws';
import type { FlowObserver } from '../observer.ts';
import type { SocketLimits } from './websocket.ts';
import { createFrameAnswers, type FrameAnswersTools, type ReceivedFrame } from './websocket-answers.ts';

export interface ConnectionTools extends FrameAnswersTools {
  /** Maximum number of concurrent requests; 0 for no limit. */
  readonly prefetch: number;
  readonly limits: SocketLimits;
  readonly observe?: FlowObserver | undefined;
}

export interface Connection {
  readonly closed: Promise<void>;
  /** Ends the stream as if the client had ended it. The connection is closed after `graceMs` at the latest. */
  end(graceMs: number): Promise<void>;
}

const NORMAL = 1000;
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;

export function openConnection(socket: WebSocket, tools: ConnectionTools): Connection {
  const { codec, prefetch, limits, observe } = tools;
  const answers = createFrameAnswers(tools);
  const maxInWork = prefetch > 0 ? prefetch : Number.POSITIVE_INFINITY;
  const waiting: ReceivedFrame[] = [];
  /** One controller for each running request, so that its listeners are released with it. */
  const inWork = new Set<AbortController>();
  let inWorkBytes = 0;
  /** The code of the close frame that follows all responses. Set once no more requests are read. */
  let endCode: number | undefined;
  /** Number of responses passed to the network. */
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

  async function answer(received: ReceivedFrame, signal: AbortSignal): Promise<void> {
    const answered = await answers.answer(received, signal);
    if (!answered) return;
    if ('closeCode' in answered) {
      close(answered.closeCode, answered.reason);
      return;
    }
    send(answered.frame);
    const sentBytes = Buffer.byteLength(answered.frame);
    observe?.transferred?.({ receivedBytes: received.bytes.length, sentBytes });
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
    const received = { bytes: data as Buffer, isBinary };
    const refusal = codec.refuse(received.bytes, isBinary);
    if (refusal !== undefined) {
      close(UNSUPPORTED_DATA, refusal);
      return;
    }
    const end = answers.readEnd(received);
    if (end === true) {
      endCode = NORMAL;
      socket.pause();
    } else if (end === false) waiting.push(received);
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
 * Closes the connection if its client neither responds to pings nor reads responses. While reading is paused because
 * requests are running, pongs cannot arrive, so missing pongs are ignored.
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
