/** The one place where the gRPC library is loaded, when somebody wants to speak it. */
import type * as Grpc from '@grpc/grpc-js';

export type GrpcLibrary = typeof Grpc;

export const loadGrpc = (): Promise<GrpcLibrary> => import('@grpc/grpc-js');
