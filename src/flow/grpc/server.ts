/**
 * A gRPC server for methods that exchange raw bytes: authorization, limits, connection lifetime and shutdown. The
 * methods interpret the bytes.
 */
import { readFile } from 'node:fs/promises';
import type { Server, ServerCredentials, ServerOptions } from '@grpc/grpc-js';
import { problem } from '#errors.ts';
import { createHandlerFactory } from './handlers.ts';
import { type GrpcLibrary, loadGrpc } from './library.ts';
import type { Method } from './method.ts';
import { pathOf } from './names.ts';

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
  /** Options of the library that override the defaults. */
  readonly options?: Readonly<Record<string, string | number>> | undefined;
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
  options: own,
  isAllowed,
  onError,
}: RpcServerOptions): RpcServer {
  let server: Server | undefined;
  const createHandler = createHandlerFactory({ isAllowed, onError });

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
        ...own,
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
