/** The one place where the gRPC library is loaded, when somebody wants to speak it. */
import type * as Grpc from '@grpc/grpc-js';

export type GrpcLibrary = typeof Grpc;

export async function loadGrpc(): Promise<GrpcLibrary> {
  const library = await import('@grpc/grpc-js');
  // What goes wrong comes as errors, too; its lines would stand between those of the log.
  library.setLogVerbosity(library.logVerbosity.NONE);
  return library;
}
