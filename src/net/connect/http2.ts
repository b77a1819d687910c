/** HTTP/2 (RFC 9113) over an open TLS connection that has negotiated it. */
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
/** Flow control window of a stream and of the connection. It equals the size of the read buffer. */
const WINDOW_BYTES = 1024 * 1024;

/**
 * Connection-specific headers of HTTP/1.1 (RFC 9113, section 8.2.2), and `host`, which HTTP/2 replaces with
 * `:authority`.
 */
const HTTP1_HEADERS = new Set([
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

/** Reasons why the server did not process a request. */
export type UnprocessedReason = 'refused' | 'http/1.1 required';

/** The server did not process the request. Retry it on another connection (RFC 9113, section 8.7). */
export class UnprocessedRequestError extends Error {
  readonly reason: UnprocessedReason;

  constructor(reason: UnprocessedReason, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

export function openHttp2(socket: TLSSocket, { origin, onGoAway, onEnd }: ChannelFacts): Channel {
  const session = connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_BYTES },
    maxHeaderListPairs: MAX_HEADERS,
  });
  session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
  // Each stream reports its own errors.
  session.on('error', () => {});
  let isGoingAway = false;
  session.once('goaway', () => {
    isGoingAway = true;
    onGoAway();
  });
  session.once('close', onEnd);
  const { host } = new URL(origin);
  return {
    request: (request) => send(session, host, request),
    isOpen: () => !isGoingAway && !session.closed && !session.destroyed,
    markIdle: () => session.unref(),
    markBusy: () => session.ref(),
    end: () => session.destroy(),
  };
}

function send(session: ClientHttp2Session, host: string, request: ChannelRequest): Promise<ChannelResponse> {
  const { method, path, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const allowed = Object.entries(headers).filter(([name]) => !HTTP1_HEADERS.has(name.toLowerCase()));
    const stream = session.request(
      { ':method': method, ':scheme': 'https', ':authority': host, ':path': path, ...Object.fromEntries(allowed) },
      { endStream: body === null },
    );
    const leave = () => session.destroy(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    stream.once('close', () => {
      signal.removeEventListener('abort', leave);
      reject(failureOf(stream));
    });
    stream.on('error', (error) => reject(signal.aborted ? signal.reason : failureOf(stream, error)));
    stream.once('response', (received) => resolve(responseOf(stream, received)));
    if (body !== null) stream.end(body);
  });
}

function responseOf(
  stream: ClientHttp2Stream,
  received: IncomingHttpHeaders & { ':status'?: number },
): ChannelResponse {
  const headers = Object.fromEntries(Object.entries(received).filter(([name]) => !name.startsWith(':')));
  const statusCode = received[':status'] ?? 0;
  // HTTP/2 has no reason phrases, so the standard ones are used.
  const statusText = STATUS_CODES[statusCode] ?? '';
  // A reset stream or a closed connection ends the body without an error.
  return { statusCode, statusText, headers, body: stream, isTruncated: () => stream.rstCode !== NGHTTP2_NO_ERROR };
}

function failureOf(stream: ClientHttp2Stream, cause?: Error): Error {
  if (stream.rstCode === NGHTTP2_REFUSED_STREAM) return new UnprocessedRequestError('refused', cause);
  if (stream.rstCode === NGHTTP2_HTTP_1_1_REQUIRED) return new UnprocessedRequestError('http/1.1 required', cause);
  return cause ?? Object.assign(new Error('closed'), { code: 'ECONNRESET' });
}
