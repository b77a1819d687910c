/** An executor elsewhere, as a worker of a deployment: asked over gRPC (contract, section 8.5). */

import { CATCH_ALL } from '../executor.ts';
import { CODE } from '../grpc/failures.ts';
import { METADATA, METHODS } from '../grpc/names.ts';
import { decodeRequest, encodeRequest, encodeRequestList, endpointsProto } from '../proto/codec.ts';
import { type DataRequest, ERROR, failed } from '../request.ts';
import {
  type Connect,
  type LostBecause,
  type RemoteTarget,
  type Worker,
  type WorkerCall,
  WorkerUnavailableError,
} from '../worker.ts';
import { type Answer, type CallMetadata, type ChannelTools, openChannel, RemoteCallError } from './channel.ts';
import { pingChannel } from './ping.ts';

/** Opens external executors for a flow. */
export const createConnect =
  (tools: ChannelTools = {}): Connect =>
  (target) =>
    createRemoteWorker(target, tools);

const BECAUSE: Readonly<Record<number, LostBecause>> = {
  [CODE.unavailable]: 'unreachable',
  [CODE.cancelled]: 'cancelled',
  [CODE.deadlineExceeded]: 'timeout',
};

const lost = (error: unknown): unknown =>
  error instanceof RemoteCallError
    ? new WorkerUnavailableError(BECAUSE[error.code] ?? 'other', error.message, error)
    : error;

const isUnknownMethod = (error: unknown): boolean =>
  error instanceof RemoteCallError && error.code === CODE.unimplemented;

/** What may stand in metadata: anything else would fail the call. */
const PRINTABLE = /^[ -~]*$/;

function metadataOf({ metadata }: RemoteTarget, { requests, headers }: WorkerCall): CallMetadata {
  const [{ header }] = requests as [DataRequest];
  const { execEndpoint = '', requestId } = header;
  return {
    ...metadata,
    ...(execEndpoint && PRINTABLE.test(execEndpoint) && { [METADATA.endpoint]: execEndpoint }),
    ...(requestId && PRINTABLE.test(requestId) && { [METADATA.requestId]: requestId }),
    ...(Object.keys(headers).length > 0 && { [METADATA.headers]: Buffer.from(JSON.stringify(headers)) }),
  };
}

/** Opens no connection yet. */
export function createRemoteWorker(target: RemoteTarget, tools: ChannelTools = {}): Worker {
  const channel = openChannel(target, tools);
  let endpoints: ReadonlySet<string> | undefined;
  let isLearning = false;
  /** Whether it is a gateway of the kind that knows streams alone. */
  let knowsOnlyStreams = false;

  /** Which endpoints it serves; asked again after it has been away, since another may have come in its place. */
  async function learn(): Promise<void> {
    isLearning = true;
    try {
      const { bytes } = await channel.ask(METHODS.discovery, new Uint8Array(), target.metadata);
      endpoints = new Set(endpointsProto.decode(bytes).endpoints);
    } catch (error) {
      if (isUnknownMethod(error)) endpoints = new Set([CATCH_ALL]);
    } finally {
      isLearning = false;
    }
  }

  async function send(call: WorkerCall): Promise<Answer> {
    const { requests, signal } = call;
    const metadata = metadataOf(target, call);
    if (requests.length > 1) return channel.ask(METHODS.list, encodeRequestList(requests), metadata, signal);
    const bytes = encodeRequest(requests[0]!);
    if (!knowsOnlyStreams) {
      try {
        return await channel.ask(METHODS.single, bytes, metadata, signal);
      } catch (error) {
        if (!isUnknownMethod(error)) throw error;
      }
    }
    const answer = await channel.askStream(METHODS.call, bytes, metadata, signal);
    knowsOnlyStreams = true;
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
        const reason = lost(error);
        if (reason instanceof WorkerUnavailableError && reason.because === 'unreachable') {
          endpoints = undefined;
          knowsOnlyStreams = false;
        }
        throw reason;
      }
      if (!endpoints && !isLearning) void learn();
      return decoded(answer);
    },
    async ping(signal) {
      await pingChannel(channel, signal, target.metadata).catch((error) => {
        throw lost(error);
      });
    },
    async close() {
      channel.close();
    },
  };
}

/** A failure is told by the metadata at the end; an answer that says nothing of it is one all the same. */
function decoded({ bytes, trailer }: Answer): DataRequest {
  let request: DataRequest;
  try {
    request = decodeRequest(bytes);
  } catch (error) {
    throw new WorkerUnavailableError('other', 'The answer is not a DataRequestProto', error);
  }
  if (trailer(METADATA.isError) === 'true' && !failed(request)) {
    const { description = 'The executor has failed', ...rest } = request.header.status ?? {};
    request.header.status = { ...rest, code: ERROR, description };
  }
  return request;
}
