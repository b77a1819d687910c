/** Adapts methods to the handlers of the gRPC library: authorization, cancellation and failures. */
import type { handleUnaryCall, Metadata, UntypedHandleCall } from '@grpc/grpc-js';
import { asBuffer } from './bytes.ts';
import { CODE, createRpcFailure, type RpcFailure, toRpcFailure } from './failures.ts';
import type { GrpcLibrary } from './library.ts';
import { type BidiStream, type CallInfo, failStream, type Method } from './method.ts';

export interface HandlerTools {
  readonly isAllowed?: ((authorization: string | undefined) => boolean) | undefined;
  /** Called for internal errors. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

interface AnyCall {
  readonly metadata: Metadata;
  on(event: 'cancelled', listener: () => void): unknown;
}

function createCallInfo({ metadata }: AnyCall, signal: AbortSignal): CallInfo {
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

export function createHandlerFactory({
  isAllowed,
  onError,
}: HandlerTools): (library: GrpcLibrary, method: Method) => UntypedHandleCall {
  /** The reason for refusing a call before it starts; `undefined` to accept it. */
  function refuseCall(method: Method, info: CallInfo): RpcFailure | undefined {
    if (method.isPublic || !isAllowed || isAllowed(info.metadata('authorization'))) return undefined;
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
      const info = createCallInfo(call, controller.signal);
      try {
        const refused = refuseCall(method, info);
        if (refused) return callback(refused);
        const { bytes, trailers } = await method.run(call.request, info);
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
    (method: Method, run: (stream: BidiStream, info: CallInfo) => void) =>
    (stream: BidiStream & AnyCall): void => {
      const controller = new AbortController();
      // A finished stream is not cancelled.
      stream.on('cancelled', () => stream.writableFinished || controller.abort());
      const info = createCallInfo(stream, controller.signal);
      const refused = refuseCall(method, info);
      if (refused) {
        failStream(stream, refused);
        return;
      }
      try {
        run(stream, info);
      } catch (error) {
        failStream(stream, reportFailure(error));
      }
    };

  function createHandler(library: GrpcLibrary, method: Method): UntypedHandleCall {
    if (method.kind === 'unary') return createUnaryHandler(library, method);
    const run =
      method.kind === 'bidi-stream'
        ? method.run
        : (stream: BidiStream, info: CallInfo) =>
            method.run((stream as unknown as { request: Buffer }).request, stream, info);
    return createStreamHandler(method, run) as unknown as UntypedHandleCall;
  }

  return createHandler;
}
