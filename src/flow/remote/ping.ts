/** Checks whether a gRPC server responds. */
import { CODE } from '../grpc/failures.ts';
import { METHODS } from '../grpc/names.ts';
import { decodeStatus } from '../proto/codec.ts';
import { SUCCESS } from '../request.ts';
import { type Channel, type ChannelTools, openChannel, RemoteCallError } from './channel.ts';

/** Calls the health method, or the info method if there is none. Rejects with a RemoteCallError. */
export async function pingChannel(channel: Channel, signal: AbortSignal, metadata = {}): Promise<void> {
  try {
    await channel.callUnary(METHODS.check, new Uint8Array(), metadata, signal);
  } catch (error) {
    if (!(error instanceof RemoteCallError) || error.code !== CODE.unimplemented) throw error;
    await channel.callUnary(METHODS.info, new Uint8Array(), metadata, signal);
  }
}

export interface PingTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/**
 * Pings a gateway or executor. With `whole`, it also checks that all executors of a gateway respond. Rejects with an
 * Error that gives the cause.
 */
export async function pingGrpc(
  target: PingTarget,
  { whole, signal, tools }: { readonly whole: boolean; readonly signal: AbortSignal; readonly tools?: ChannelTools },
): Promise<void> {
  const channel = openChannel({ ...target, compression: 'none' }, tools);
  try {
    if (!whole) return await pingChannel(channel, signal);
    const { bytes } = await channel.callUnary(METHODS.dryRun, new Uint8Array(), {}, signal);
    const status = decodeStatus(bytes);
    if (status.code !== SUCCESS) throw new Error(status.description);
  } finally {
    channel.close();
  }
}
