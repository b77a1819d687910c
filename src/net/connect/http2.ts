/** HTTP/2 over a connection that stands and on which both ends agreed to speak it (RFC 9113). */
import { STATUS_CODES } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import {
  type Channel,
  type ChannelFacts,
  type ChannelRequest,
  type ChannelResponse,
  MAX_HEADER_BYTES,
} from './channel.ts';

const MAX_HEADERS = 1_000;
/** What may be under way in one body, and in all of a connection: as much as is held here before it is read. */
const WINDOW_BYTES = 1024 * 1024;

/** Headers that are about a connection of HTTP/1.1 (RFC 9113, section 8.2.2), and the host, which has a name of its own. */
const OF_HTTP1 = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

const NGHTTP2_NO_ERROR = 0;
const NGHTTP2_REFUSED_STREAM = 7;
const NGHTTP2_HTTP_1_1_REQUIRED = 13;

/** Why the other side did not look at a request: the same may be asked again elsewhere (RFC 9113, section 8.7). */
export type UnprocessedReason = 'refused' | 'http/1.1 required';

export class UnprocessedRequestError extends Error {
  readonly reason: UnprocessedReason;

  constructor(reason: UnprocessedReason, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

export function openHttp2(socket: TLSSocket, { origin, onLeaving, onEnd }: ChannelFacts): Channel {
  const session = connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_BYTES },
    maxHeaderListPairs: MAX_HEADERS,
  });
  session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
  // Whatever goes wrong is told to the stream that it happens to.
  session.on('error', () => {});
  let isLeaving = false;
  session.once('goaway', () => {
    isLeaving = true;
    onLeaving();
  });
  session.once('close', onEnd);
  const { host } = new URL(origin);
  return {
    request: (request) => ask(session, host, request),
    isOpen: () => !isLeaving && !session.closed && !session.destroyed,
    rest: () => session.unref(),
    wake: () => session.ref(),
    end: () => session.destroy(),
  };
}

function ask(session: ClientHttp2Session, host: string, request: ChannelRequest): Promise<ChannelResponse> {
  const { method, path, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const kept = Object.entries(headers).filter(([name]) => !OF_HTTP1.has(name.toLowerCase()));
    const stream = session.request(
      { ':method': method, ':scheme': 'https', ':authority': host, ':path': path, ...Object.fromEntries(kept) },
      { endStream: body === null },
    );
    const leave = () => session.destroy(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    stream.once('close', () => {
      signal.removeEventListener('abort', leave);
      reject(failureOf(stream));
    });
    stream.on('error', (error) => reject(signal.aborted ? signal.reason : failureOf(stream, error)));
    stream.once('response', (answered) => resolve(answerOf(stream, answered)));
    if (body !== null) stream.end(body);
  });
}

function answerOf(stream: ClientHttp2Stream, answered: IncomingHttpHeaders & { ':status'?: number }): ChannelResponse {
  const headers = Object.fromEntries(Object.entries(answered).filter(([name]) => !name.startsWith(':')));
  const statusCode = answered[':status'] ?? 0;
  // The protocol has no reason phrases: these are the words that belong to the numbers.
  const statusText = STATUS_CODES[statusCode] ?? '';
  // A stream that was reset, or whose connection is gone, ends as if that were its end.
  return { statusCode, statusText, headers, body: stream, isCut: () => stream.rstCode !== NGHTTP2_NO_ERROR };
}

function failureOf(stream: ClientHttp2Stream, cause?: Error): Error {
  if (stream.rstCode === NGHTTP2_REFUSED_STREAM) return new UnprocessedRequestError('refused', cause);
  if (stream.rstCode === NGHTTP2_HTTP_1_1_REQUIRED) return new UnprocessedRequestError('http/1.1 required', cause);
  return cause ?? Object.assign(new Error('closed'), { code: 'ECONNRESET' });
}
