/**
 * A gRPC server for methods that exchange raw bytes: authorization, limits, connection lifetime and shutdown. The
 * methods interpret the bytes.
 */
import { readFile } from 'node:fs/promises';
import type { Duplex, Writable } from 'node:stream';
import type {
  handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  ServerOptions,
  UntypedHandleCall,
} from '@grpc/grpc-js';
import { problem } from '#errors.ts';
import { asBuffer } from './bytes.ts';
import { CODE, createRpcFailure, type RpcFailure, toRpcFailure } from './failures.ts';
import { type GrpcLibrary, loadGrpc } from './library.ts';
import { type MethodName, pathOf } from './names.ts';

export interface CallInfo {
  /** Text metadata by lower-case name. */
  metadata(name: string): string | undefined;
  /** All text metadata. */
  headers(): Record<string, string>;
  /** Binary metadata, whose names end in `-bin`. */
  bytes(name: string): Buffer | undefined;
  /** Aborted when the client disconnects or its deadline passes before the answer. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly bytes: Uint8Array;
  readonly trailers?: Readonly<Record<string, string>>;
}

/** Messages are Buffers. To fail the call use `failStream`. */
export type ResponseStream = Writable & { readonly cancelled: boolean };
export type BidiStream = Duplex & ResponseStream;

export type Method = MethodName & { /** Needs no token. */ readonly isPublic?: boolean } & (
    | { readonly kind: 'unary'; readonly run: (bytes: Buffer, facts: CallInfo) => Promise<Reply> | Reply }
    | { readonly kind: 'server-stream'; readonly run: (bytes: Buffer, stream: ResponseStream, facts: CallInfo) => void }
    | { readonly kind: 'bidi-stream'; readonly run: (stream: BidiStream, facts: CallInfo) => void }
  );

export interface TlsFiles {
  readonly certfile?: string | undefined;
  readonly keyfile?: string | undefined;
}

export interface RpcServerOptions {
  readonly methods: readonly Method[];
  readonly tls: TlsFiles;
  /** Maximum size of a received message, decompressed. */
  readonly maxMessageBytes: number;
  /**
   * Connections are closed after this time, once their calls have ended, so that clients resolve the host name again.
   */
  readonly maxConnectionAgeMs?: number | undefined;
  readonly isAllowed?: ((authorization: string | undefined) => boolean) | undefined;
  /** Called for internal errors. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface RpcServer {
  /** Opens the port; 0 for any free port. Rejects when it is in use. */
  listen(port: number, host: string): Promise<number>;
  /** Refuses new calls and waits up to `graceMs` for running ones. */
  close(graceMs: number): Promise<void>;
}

/** Keepalive detects peers that disappeared without closing the connection. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
const MAX_STREAMS = 10_000;

/** Ends a stream with a failure, after everything already written. */
export function failStream(stream: ResponseStream, failure: RpcFailure): void {
  if (!stream.destroyed) stream.emit('error', failure);
}

interface AnyCall {
  readonly metadata: Metadata;
  on(event: 'cancelled', listener: () => void): unknown;
}

function callInfoOf({ metadata }: AnyCall, signal: AbortSignal): CallInfo {
  const first = (name: string) => metadata.get(name)[0];
  return {
    signal,
    metadata(name) {
      const value = first(name);
      return typeof value === 'string' ? value : undefined;
    },
    bytes(name) {
      const value = first(name);
      return typeof value === 'object' ? value : undefined;
    },
    headers: () =>
      Object.fromEntries(
        Object.entries(metadata.getMap()).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      ),
  };
}

async function credentialsOf(
  { ServerCredentials }: GrpcLibrary,
  { certfile, keyfile }: TlsFiles,
): Promise<ServerCredentials> {
  if (!certfile && !keyfile) return ServerCredentials.createInsecure();
  if (!certfile || !keyfile) {
    throw problem('ParamValidationError', {
      path: certfile ? 'ssl_keyfile' : 'ssl_certfile',
      message: 'set ssl_certfile and ssl_keyfile together or not at all',
    });
  }
  const [cert_chain, private_key] = await Promise.all([readFile(certfile), readFile(keyfile)]);
  return ServerCredentials.createSsl(null, [{ cert_chain, private_key }]);
}

/** Converts the library's error to a Node system error; the code is in its message. */
function systemError(error: Error, port: number): Error {
  const [code] = /\bE[A-Z]{4,}\b/.exec(error.message) ?? [];
  return code
    ? Object.assign(new Error(`port ${port} cannot be opened: ${code}`, { cause: error }), { code, port })
    : error;
}

export function createRpcServer({
  methods,
  tls,
  maxMessageBytes,
  maxConnectionAgeMs,
  isAllowed,
  onError,
}: RpcServerOptions): RpcServer {
  let server: Server | undefined;

  /** Why a call is refused before it starts. */
  function refuseCall(method: Method, facts: CallInfo): RpcFailure | undefined {
    if (method.isPublic || !isAllowed || isAllowed(facts.metadata('authorization'))) return undefined;
    return createRpcFailure(CODE.unauthenticated, 'Not authenticated');
  }

  const reportFailure = (error: unknown): RpcFailure => {
    const failure = toRpcFailure(error);
    if (failure.code === CODE.internal) onError?.(error);
    return failure;
  };

  function createUnaryHandler(
    { Metadata }: GrpcLibrary,
    method: Method & { kind: 'unary' },
  ): handleUnaryCall<Buffer, Buffer> {
    return async (call, callback) => {
      const controller = new AbortController();
      let answered = false;
      // The library also emits `cancelled` after a normal end.
      call.on('cancelled', () => answered || controller.abort());
      const facts = callInfoOf(call, controller.signal);
      try {
        const refused = refuseCall(method, facts);
        if (refused) return callback(refused);
        const { bytes, trailers } = await method.run(call.request, facts);
        answered = true;
        const metadata = trailers && new Metadata();
        for (const [key, value] of Object.entries(trailers ?? {})) metadata!.set(key, value);
        callback(null, asBuffer(bytes), metadata);
      } catch (error) {
        answered = true;
        callback(reportFailure(error));
      }
    };
  }

  const createStreamHandler =
    (method: Method, run: (stream: BidiStream, facts: CallInfo) => void) =>
    (stream: BidiStream & AnyCall): void => {
      const controller = new AbortController();
      // A finished stream is not cancelled.
      stream.on('cancelled', () => stream.writableFinished || controller.abort());
      const facts = callInfoOf(stream, controller.signal);
      const refused = refuseCall(method, facts);
      if (refused) {
        failStream(stream, refused);
        return;
      }
      try {
        run(stream, facts);
      } catch (error) {
        failStream(stream, reportFailure(error));
      }
    };

  function createHandler(library: GrpcLibrary, method: Method): UntypedHandleCall {
    if (method.kind === 'unary') return createUnaryHandler(library, method);
    const run =
      method.kind === 'bidi-stream'
        ? method.run
        : (stream: BidiStream, facts: CallInfo) =>
            method.run((stream as unknown as { request: Buffer }).request, stream, facts);
    return createStreamHandler(method, run) as unknown as UntypedHandleCall;
  }

  function register(library: GrpcLibrary, to: Server): void {
    const same = (bytes: Buffer) => bytes;
    for (const method of methods) {
      const { name, kind } = method;
      const definition = {
        path: pathOf(method),
        requestStream: kind === 'bidi-stream',
        responseStream: kind !== 'unary',
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      };
      to.addService({ [name]: definition }, { [name]: createHandler(library, method) });
    }
  }

  return {
    async listen(port, host) {
      const library = await loadGrpc();
      const credentials = await credentialsOf(library, tls);
      const options: ServerOptions = {
        'grpc.max_receive_message_length': maxMessageBytes,
        'grpc.max_send_message_length': -1,
        'grpc.max_concurrent_streams': MAX_STREAMS,
        'grpc.keepalive_time_ms': KEEPALIVE_MS,
        'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
        'grpc.enable_channelz': 0,
        ...(maxConnectionAgeMs !== undefined && { 'grpc.max_connection_age_ms': maxConnectionAgeMs }),
      };
      server = new library.Server(options);
      register(library, server);
      const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
      return new Promise((resolve, reject) => {
        server!.bindAsync(address, credentials, (error, opened) =>
          error ? reject(systemError(error, port)) : resolve(opened),
        );
      });
    },
    async close(graceMs) {
      if (!server) return;
      const closing = server;
      const cut = setTimeout(() => closing.forceShutdown(), graceMs);
      await new Promise<void>((resolve) => closing.tryShutdown(() => resolve()));
      clearTimeout(cut);
    },
  };
}
