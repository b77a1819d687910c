/** An HTTP connection that carries one request at a time, over HTTP/1.1 or HTTP/2. */
import type { Readable } from 'node:stream';

export interface ChannelRequest {
  readonly method: string;
  /** Path and query, or the full URL if a proxy processes the request. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal;
}

export interface ChannelResponse {
  readonly statusCode: number;
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  /** Whether a body that has ended is incomplete. Some streams end without an error in that case. */
  readonly isTruncated?: () => boolean;
}

export interface Channel {
  request(request: ChannelRequest): Promise<ChannelResponse>;
  /** Whether the connection can carry another request. */
  isOpen(): boolean;
  /** Marks the connection as idle: it no longer keeps the process running. */
  markIdle(): void;
  markBusy(): void;
  /** Closes the connection immediately and aborts its request. */
  end(): void;
}

export interface ChannelFacts {
  /** The origin of the server. */
  readonly origin: string;
  /** Called when the server finishes the current request but accepts no more (GOAWAY). */
  readonly onGoAway: () => void;
  readonly onEnd: () => void;
}

/** The limit that browsers apply to response headers. */
export const MAX_HEADER_BYTES = 256 * 1024;
