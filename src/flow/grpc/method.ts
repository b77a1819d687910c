/** A gRPC method of this server, which receives and returns raw bytes. */
import type { Duplex, Writable } from 'node:stream';
import type { RpcFailure } from './failures.ts';
import type { MethodName } from './names.ts';

export interface CallInfo {
  /** Text metadata by lower-case name. */
  metadata(name: string): string | undefined;
  /** All text metadata. */
  headers(): Record<string, string>;
  /** Binary metadata, whose names end in `-bin`. */
  bytes(name: string): Buffer | undefined;
  /** Aborted when the client disconnects or its deadline passes before the call ends. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly bytes: Uint8Array;
  readonly trailers?: Readonly<Record<string, string>>;
}

/** A stream of Buffers, one per message. To fail the call, use `failStream`. */
export type ResponseStream = Writable & { readonly cancelled: boolean };
export type BidiStream = Duplex & ResponseStream;

export type Method = MethodName & { /** Needs no token. */ readonly isPublic?: boolean } & (
    | { readonly kind: 'unary'; readonly run: (bytes: Buffer, info: CallInfo) => Promise<Reply> | Reply }
    | { readonly kind: 'server-stream'; readonly run: (bytes: Buffer, stream: ResponseStream, info: CallInfo) => void }
    | { readonly kind: 'bidi-stream'; readonly run: (stream: BidiStream, info: CallInfo) => void }
  );

/** Ends a stream with a failure, after everything already written. */
export function failStream(stream: ResponseStream, failure: RpcFailure): void {
  if (!stream.destroyed) stream.emit('error', failure);
}
