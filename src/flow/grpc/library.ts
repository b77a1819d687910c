/** Loads the gRPC library on first use. */
import type * as Grpc from '@grpc/grpc-js';

export type GrpcLibrary = typeof Grpc;

export async function loadGrpc(): Promise<GrpcLibrary> {
  const library = await import('@grpc/grpc-js');
  // Problems are also reported as errors; the library's own output would clutter the log.
  library.setLogVerbosity(library.logVerbosity.NONE);
  return library;
}
