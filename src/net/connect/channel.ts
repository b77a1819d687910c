/** A connection that carries one request at a time, in whatever version of HTTP both ends agreed on. */
import type { Readable } from 'node:stream';

export interface ChannelRequest {
  readonly method: string;
  /** Of the address; the whole of it when a proxy reads the request. */
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
  /** Whether a body that has ended did so before its time, where the stream itself does not say. */
  readonly isCut?: () => boolean;
}

export interface Channel {
  request(request: ChannelRequest): Promise<ChannelResponse>;
  /** Whether it may carry another request. */
  isOpen(): boolean;
  /** While it rests it does not keep the process up. */
  rest(): void;
  wake(): void;
  /** Ends it and what it carries at once. */
  end(): void;
}

export interface ChannelFacts {
  /** Where the connection leads. */
  readonly origin: string;
  /** It carries what it carries to the end, and nothing after that. */
  readonly onLeaving: () => void;
  readonly onEnd: () => void;
}

/** As much as browsers take. */
export const MAX_HEADER_BYTES = 256 * 1024;
