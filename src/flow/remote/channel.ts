/** gRPC calls to one server. Connects on first use, drops a connection that fails and reconnects on the next call. */
import type { CallOptions, Client, ClientOptions, Metadata, StatusObject } from '@grpc/grpc-js';
import { asBuffer } from '../grpc/bytes.ts';
import { CODE } from '../grpc/failures.ts';
import { type GrpcLibrary, loadGrpc } from '../grpc/library.ts';
import { type MethodName, pathOf } from '../grpc/names.ts';
import type { RemoteTarget } from '../runtime/worker.ts';

export type ChannelTarget = Pick<RemoteTarget, 'host' | 'port' | 'tls' | 'compression' | 'options'>;

export interface ChannelTools {
  /** PEM; the system's certificates by default. */
  readonly rootCertificates?: Buffer | undefined;
}

/** Strings, or bytes for names that end in `-bin`. */
export type CallMetadata = Readonly<Record<string, string | Buffer>>;

export interface Answer {
  readonly bytes: Buffer;
  /** A value of the trailing metadata. */
  trailer(name: string): string | undefined;
}

/** A gRPC call that failed. */
export class RemoteCallError extends Error {
  readonly code: number;

  constructor(code: number, details: string) {
    super(details);
    this.code = code;
  }
}

export interface Channel {
  readonly address: string;
  /** Unary call. Rejects with a RemoteCallError. */
  callUnary(method: MethodName, bytes: Uint8Array, metadata?: CallMetadata, signal?: AbortSignal): Promise<Answer>;
  /** Streaming call with one message; resolves with the first response. */
  callStream(method: MethodName, bytes: Uint8Array, metadata?: CallMetadata, signal?: AbortSignal): Promise<Answer>;
  close(): void;
}

const identity = (bytes: Buffer): Buffer => bytes;

/**
 * Interval between keepalive pings. By default, gRPC servers close connections that are pinged more often than every
 * five minutes, which would end long calls.
 */
const KEEPALIVE_MS = 310_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

const COMPRESSIONS = { none: 0, deflate: 1, gzip: 2 } as const;
/** A name may resolve to several machines: spread the calls over them. */
const ROUND_ROBIN = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });

const isName = (host: string): boolean => !/^[\d.]+$|:/.test(host) && host !== 'localhost';

const optionsFor = ({ host, compression, options }: ChannelTarget): ClientOptions => ({
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2000,
  // A new channel opens its own connections and does not wait for those of a dropped one.
  'grpc.use_local_subchannel_pool': 1,
  // Retries are decided by `replicas.ts`.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
  'grpc-node.flow_control_window': 4 * 2 ** 20,
  ...(compression !== 'none' && { 'grpc.default_compression_algorithm': COMPRESSIONS[compression] }),
  ...(isName(host) && { 'grpc.service_config': ROUND_ROBIN }),
  ...options,
});

const addressOf = ({ host, port }: ChannelTarget): string =>
  `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;

function metadataOf({ Metadata }: GrpcLibrary, entries: CallMetadata): Metadata {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
  return metadata;
}

function trailerOf(status: StatusObject, name: string): string | undefined {
  const [value] = status.metadata.get(name);
  return typeof value === 'string' ? value : undefined;
}

interface Cancellable {
  cancel(): void;
}

/** Runs a call and cancels it when the signal is aborted. */
async function runCall<T>(
  signal: AbortSignal | undefined,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => Cancellable,
): Promise<T> {
  if (signal?.aborted) throw new RemoteCallError(CODE.cancelled, 'Cancelled');
  let stop: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const call = start(resolve, reject);
      stop = () => call.cancel();
      signal?.addEventListener('abort', stop);
    });
  } finally {
    if (stop) signal?.removeEventListener('abort', stop);
  }
}

export function openChannel(target: ChannelTarget, { rootCertificates }: ChannelTools = {}): Channel {
  const address = addressOf(target);
  let library: GrpcLibrary | undefined;
  let client: Client | undefined;
  let isClosed = false;

  function connect({ Client, credentials }: GrpcLibrary): Client {
    if (isClosed) throw new RemoteCallError(CODE.unavailable, `The connection to ${address} is closed`);
    client ??= new Client(
      address,
      target.tls ? credentials.createSsl(rootCertificates ?? null) : credentials.createInsecure(),
      optionsFor(target),
    );
    return client;
  }

  async function withClient<T>(work: (client: Client, library: GrpcLibrary) => Promise<T>): Promise<T> {
    library ??= await loadGrpc();
    const used = connect(library);
    try {
      return await work(used, library);
    } catch (error) {
      if (error instanceof RemoteCallError && error.code === CODE.unavailable && client === used) {
        client = undefined;
        used.close();
      }
      throw error;
    }
  }

  const toError = ({ code, details }: StatusObject) => new RemoteCallError(code, details);
  const NO_OPTIONS: CallOptions = {};

  return {
    address,
    callUnary: (method, bytes, metadata = {}, signal) =>
      withClient((used, loaded) =>
        runCall(signal, (resolve, reject) => {
          let value: Buffer | undefined;
          const call = used.makeUnaryRequest(
            pathOf(method),
            identity,
            identity,
            asBuffer(bytes),
            metadataOf(loaded, metadata),
            NO_OPTIONS,
            (_, answer) => {
              value = answer;
            },
          );
          call.on('status', (status: StatusObject) => {
            if (status.code !== CODE.ok || !value) reject(toError(status));
            else resolve({ bytes: value, trailer: (name) => trailerOf(status, name) });
          });
          return call;
        }),
      ),
    callStream: (method, bytes, metadata = {}, signal) =>
      withClient((used, loaded) =>
        runCall(signal, (resolve, reject) => {
          let value: Buffer | undefined;
          const call = used.makeBidiStreamRequest(
            pathOf(method),
            identity,
            identity,
            metadataOf(loaded, metadata),
            NO_OPTIONS,
          );
          call.on('data', (answer: Buffer) => {
            value ??= answer;
          });
          call.on('error', () => {});
          call.on('status', (status: StatusObject) => {
            if (status.code !== CODE.ok) reject(toError(status));
            else if (!value) reject(new RemoteCallError(CODE.internal, 'The call ended without an answer'));
            else resolve({ bytes: value, trailer: (name) => trailerOf(status, name) });
          });
          call.write(asBuffer(bytes));
          call.end();
          return call;
        }),
      ),
    close() {
      isClosed = true;
      client?.close();
      client = undefined;
    },
  };
}
