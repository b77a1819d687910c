/** Runs an executor at a network address as a worker, over gRPC (docs/reference/wire/flow.md, Executors over gRPC). */

import { writeTraceParent } from '#telemetry/trace.ts';
import { CATCH_ALL } from '../executor.ts';
import { CODE } from '../grpc/failures.ts';
import { METADATA, METHODS } from '../grpc/names.ts';
import type { FlowObserver } from '../observer.ts';
import { decodeRequest, encodeRequest, encodeRequestList, endpointsProto } from '../proto/codec.ts';
import { type DataRequest, ERROR, failed } from '../request.ts';
import {
  type Connect,
  type RemoteTarget,
  type UnavailableReason,
  type Worker,
  type WorkerCall,
  WorkerUnavailableError,
} from '../runtime/worker.ts';
import { type Answer, type CallMetadata, type ChannelTools, openChannel, RemoteCallError } from './channel.ts';
import { pingChannel } from './ping.ts';

/** Returns the function that connects a flow to external executors. */
export const createConnect =
  (tools: ChannelTools = {}): Connect =>
  (target, observe) =>
    createRemoteWorker(target, tools, observe);

const REASONS: Readonly<Record<number, UnavailableReason>> = {
  [CODE.unavailable]: 'unreachable',
  [CODE.cancelled]: 'cancelled',
  [CODE.deadlineExceeded]: 'timeout',
};

const toUnavailable = (error: unknown): unknown =>
  error instanceof RemoteCallError
    ? new WorkerUnavailableError(REASONS[error.code] ?? 'other', error.message, error)
    : error;

const isUnknownMethod = (error: unknown): boolean =>
  error instanceof RemoteCallError && error.code === CODE.unimplemented;

/** Matches the characters allowed in metadata. Others would make the call fail. */
const PRINTABLE = /^[ -~]*$/;

function metadataOf({ metadata }: RemoteTarget, { requests, headers, trace }: WorkerCall): CallMetadata {
  const [{ header }] = requests as [DataRequest];
  const { execEndpoint = '', requestId } = header;
  return {
    ...metadata,
    ...(execEndpoint && PRINTABLE.test(execEndpoint) && { [METADATA.endpoint]: execEndpoint }),
    ...(requestId && PRINTABLE.test(requestId) && { [METADATA.requestId]: requestId }),
    ...(trace && { [METADATA.traceParent]: writeTraceParent(trace) }),
    ...(Object.keys(headers).length > 0 && { [METADATA.headers]: Buffer.from(JSON.stringify(headers)) }),
  };
}

/** Connects on first use. */
function createRemoteWorker(target: RemoteTarget, tools: ChannelTools, observe: FlowObserver | undefined): Worker {
  const channel = openChannel(target, tools);
  let endpoints: ReadonlySet<string> | undefined;
  let isDiscovering = false;
  /** Whether the target is an older gateway that only offers the streaming method. */
  let onlyStreams = false;

  /**
   * Requests the list of endpoints that the executor serves. Repeated after an outage, because another executor may
   * have replaced it.
   */
  async function discoverEndpoints(): Promise<void> {
    isDiscovering = true;
    try {
      const { bytes } = await channel.callUnary(METHODS.discovery, new Uint8Array(), target.metadata);
      endpoints = new Set(endpointsProto.decode(bytes).endpoints);
    } catch (error) {
      if (isUnknownMethod(error)) endpoints = new Set([CATCH_ALL]);
    } finally {
      isDiscovering = false;
    }
  }

  async function send(call: WorkerCall): Promise<Answer> {
    const bytes = call.requests.length > 1 ? encodeRequestList(call.requests) : encodeRequest(call.requests[0]!);
    const answer = await sendBytes(bytes, call);
    const { deployment } = target;
    const [sentBytes, receivedBytes] = [bytes.length, answer.bytes.length];
    observe?.exchanged?.({ deployment, address: channel.address, sentBytes, receivedBytes });
    return answer;
  }

  async function sendBytes(bytes: Uint8Array, call: WorkerCall): Promise<Answer> {
    const { requests, signal } = call;
    const metadata = metadataOf(target, call);
    if (requests.length > 1) return channel.callUnary(METHODS.list, bytes, metadata, signal);
    if (!onlyStreams) {
      try {
        return await channel.callUnary(METHODS.single, bytes, metadata, signal);
      } catch (error) {
        if (!isUnknownMethod(error)) throw error;
      }
    }
    const answer = await channel.callStream(METHODS.call, bytes, metadata, signal);
    onlyStreams = true;
    return answer;
  }

  return {
    address: channel.address,
    endpoints: () => endpoints,
    async process(call) {
      let answer: Answer;
      try {
        answer = await send(call);
      } catch (error) {
        const reason = toUnavailable(error);
        if (reason instanceof WorkerUnavailableError && reason.reason === 'unreachable') {
          endpoints = undefined;
          onlyStreams = false;
        }
        throw reason;
      }
      if (!endpoints && !isDiscovering) void discoverEndpoints();
      return decodeAnswer(answer);
    },
    async ping(signal) {
      await pingChannel(channel, signal, target.metadata).catch((error) => {
        throw toUnavailable(error);
      });
    },
    async close() {
      channel.close();
    },
  };
}

/** Failures are marked in the trailing metadata, even if the response itself has no error status. */
function decodeAnswer({ bytes, trailer }: Answer): DataRequest {
  let request: DataRequest;
  try {
    request = decodeRequest(bytes);
  } catch (error) {
    throw new WorkerUnavailableError('other', 'The answer is not a DataRequestProto', error);
  }
  if (trailer(METADATA.isError) === 'true' && !failed(request)) {
    const { description = 'The executor failed', ...rest } = request.header.status ?? {};
    request.header.status = { ...rest, code: ERROR, description };
  }
  return request;
}
