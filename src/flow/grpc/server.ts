/**
 * A gRPC server of methods that take and give bytes: who may call, how long calls live, how it ends. What the bytes mean
 * is the methods' business.
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
import { CODE, failureOf, type RpcFailure, rpcFailure } from './failures.ts';
import { type GrpcLibrary, loadGrpc } from './library.ts';
import { type MethodName, pathOf } from './names.ts';

export interface CallFacts {
  /** Metadata with this name, in lower case; text only. */
  metadata(name: string): string | undefined;
  /** All metadata that is text. */
  headers(): Record<string, string>;
  /** Binary metadata with this name, which ends in `-bin`. */
  bytes(name: string): Buffer | undefined;
  /** Aborted when the client has gone, or its deadline is over, before the answer. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly bytes: Uint8Array;
  readonly trailers?: Readonly<Record<string, string>>;
}

/** Messages are Buffers. A failed call ends by `fail`. */
export type Outgoing = Writable & { readonly cancelled: boolean };
export type Both = Duplex & Outgoing;

export type Method = MethodName & { /** Needs no token. */ readonly open?: boolean } & (
    | { readonly kind: 'unary'; readonly run: (bytes: Buffer, facts: CallFacts) => Promise<Reply> | Reply }
    | { readonly kind: 'answers'; readonly run: (bytes: Buffer, stream: Outgoing, facts: CallFacts) => void }
    | { readonly kind: 'both'; readonly run: (stream: Both, facts: CallFacts) => void }
  );

export interface TlsFiles {
  readonly certfile?: string | undefined;
  readonly keyfile?: string | undefined;
}

export interface RpcServerOptions {
  readonly methods: readonly Method[];
  readonly tls: TlsFiles;
  /** Of one message that comes in, decompressed. */
  readonly maxMessageBytes: number;
  /** Connections are closed after this time, calls in work aside, so that clients look for new addresses. */
  readonly maxConnectionAgeMs?: number | undefined;
  readonly isAllowed?: ((authorization: string | undefined) => boolean) | undefined;
  /** Called for failures that are nobody's but ours. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface RpcServer {
  /** Opens the port, 0 for any free one. Rejects when it is taken. */
  listen(port: number, host: string): Promise<number>;
  /** Takes no new calls, lets those in work end, at most for `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** A connection whose other side is gone without a word is found out this way. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
const MAX_STREAMS = 10_000;

/** Ends a stream with a failure, after what has been written. */
export function fail(stream: Outgoing, failure: RpcFailure): void {
  if (!stream.destroyed) stream.emit('error', failure);
}

interface AnyCall {
  readonly metadata: Metadata;
  on(event: 'cancelled', listener: () => void): unknown;
}

function factsOf({ metadata }: AnyCall, signal: AbortSignal): CallFacts {
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
      message: 'ssl_certfile and ssl_keyfile are given together or not at all',
    });
  }
  const [cert_chain, private_key] = await Promise.all([readFile(certfile), readFile(keyfile)]);
  return ServerCredentials.createSsl(null, [{ cert_chain, private_key }]);
}

/** In the form of the system's own errors, which the library keeps in its text. */
function openFailure(error: Error, port: number): Error {
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

  /** The failure that a call ends with before it begins. */
  function refusal(method: Method, facts: CallFacts): RpcFailure | undefined {
    if (method.open || !isAllowed || isAllowed(facts.metadata('authorization'))) return undefined;
    return rpcFailure(CODE.unauthenticated, 'Not authenticated');
  }

  const failed = (error: unknown): RpcFailure => {
    const failure = failureOf(error);
    if (failure.code === CODE.internal) onError?.(error);
    return failure;
  };

  function unary({ Metadata }: GrpcLibrary, method: Method & { kind: 'unary' }): handleUnaryCall<Buffer, Buffer> {
    return async (call, callback) => {
      const controller = new AbortController();
      let answered = false;
      // The library also says so when a call has ended as it should.
      call.on('cancelled', () => answered || controller.abort());
      const facts = factsOf(call, controller.signal);
      try {
        const refused = refusal(method, facts);
        if (refused) return callback(refused);
        const { bytes, trailers } = await method.run(call.request, facts);
        answered = true;
        const metadata = trailers && new Metadata();
        for (const [key, value] of Object.entries(trailers ?? {})) metadata!.set(key, value);
        callback(null, asBuffer(bytes), metadata);
      } catch (error) {
        answered = true;
        callback(failed(error));
      }
    };
  }

  const streaming =
    (method: Method, run: (stream: Both, facts: CallFacts) => void) =>
    (stream: Both & AnyCall): void => {
      const controller = new AbortController();
      // A stream that has come to its end is not cancelled.
      stream.on('cancelled', () => stream.writableFinished || controller.abort());
      const facts = factsOf(stream, controller.signal);
      const refused = refusal(method, facts);
      if (refused) {
        fail(stream, refused);
        return;
      }
      try {
        run(stream, facts);
      } catch (error) {
        fail(stream, failed(error));
      }
    };

  function handlerOf(library: GrpcLibrary, method: Method): UntypedHandleCall {
    if (method.kind === 'unary') return unary(library, method);
    const run =
      method.kind === 'both'
        ? method.run
        : (stream: Both, facts: CallFacts) =>
            method.run((stream as unknown as { request: Buffer }).request, stream, facts);
    return streaming(method, run) as unknown as UntypedHandleCall;
  }

  function register(library: GrpcLibrary, to: Server): void {
    const same = (bytes: Buffer) => bytes;
    for (const method of methods) {
      const { name, kind } = method;
      const definition = {
        path: pathOf(method),
        requestStream: kind === 'both',
        responseStream: kind !== 'unary',
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      };
      to.addService({ [name]: definition }, { [name]: handlerOf(library, method) });
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
          error ? reject(openFailure(error, port)) : resolve(opened),
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
