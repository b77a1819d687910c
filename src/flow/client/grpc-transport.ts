/** Sends each request as a call on one gRPC connection. */
import { METHODS } from '../grpc/names.ts';
import { decodeRequest, decodeStatus, encodeRequest } from '../proto/codec.ts';
import { openChannel, RemoteCallError } from '../remote/channel.ts';
import { SUCCESS } from '../request.ts';
import { authorizationOf, type Transport, type TransportTarget, unreachable } from './transport.ts';

const NOTHING = new Uint8Array();

export function openGrpcTransport(target: TransportTarget): Transport {
  const { host, port, tls } = target;
  const channel = openChannel({ host, port, tls, compression: 'none' });
  const metadata = authorizationOf(target);
  return {
    async send(request, signal) {
      try {
        return decodeRequest((await channel.callStream(METHODS.call, encodeRequest(request), metadata, signal)).bytes);
      } catch (error) {
        signal?.throwIfAborted();
        throw error instanceof RemoteCallError ? unreachable(error.message, error) : error;
      }
    },
    async ready(signal) {
      try {
        return (
          decodeStatus((await channel.callUnary(METHODS.dryRun, NOTHING, metadata, signal)).bytes).code === SUCCESS
        );
      } catch {
        return false;
      }
    },
    close: () => channel.close(),
  };
}
