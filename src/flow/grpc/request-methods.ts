/** The methods that carry requests, shared by gateways and standalone executors. */

import { asProblem } from '#errors.ts';
import type { FlowObserver } from '../observer.ts';
import { decodeSingleDocument, encodeSingleDocument } from '../proto/codec.ts';
import { failed } from '../request.ts';
import { asBuffer } from './bytes.ts';
import { CODE, createRpcFailure, toRpcFailure } from './failures.ts';
import { type BidiStream, type CallInfo, failStream, type Method, type Reply, type ResponseStream } from './method.ts';
import { METADATA, METHODS } from './names.ts';
import {
  answerRequest,
  answerStreamMessage,
  type EncodedAnswer,
  type Handle,
  type OldForms,
  readRequest,
} from './requests.ts';
import { type CallStream, STREAM_LIMITS, type StreamAnswer, type StreamLimits, serveStream } from './stream.ts';

export interface RequestMethodsTools {
  readonly handle: Handle;
  /** Maximum number of concurrent requests of one call; 0 for no limit. */
  readonly prefetch: number;
  readonly limits?: Partial<StreamLimits> | undefined;
  /** Whether failure responses are marked in the trailing metadata, which gateways check. */
  readonly marksErrors?: boolean;
  /** `undefined`: only current requests are supported. */
  readonly oldForms?: OldForms | undefined;
  /** Receives the sizes of requests and responses. */
  readonly observe?: FlowObserver | undefined;
}

export interface RequestMethods {
  readonly methods: readonly Method[];
  /** The encoded response, with the error mark if needed. */
  reply(answered: EncodedAnswer): Reply;
  /** Refuses new calls. Streams stop reading and end once all their requests have been answered. */
  stop(): void;
}

const ERROR_MARK = { [METADATA.isError]: 'true' };

/** The smaller of two limits, where 0 means no limit. */
const stricterLimit = (one: number, other: number): number => (one && other ? Math.min(one, other) : one || other);

function prefetchOf(info: CallInfo): number {
  const requested = Number(info.metadata(METADATA.prefetch) ?? 0);
  return Number.isSafeInteger(requested) && requested > 0 ? requested : 0;
}

export function createRequestMethods({
  handle,
  prefetch,
  limits,
  marksErrors = false,
  oldForms,
  observe,
}: RequestMethodsTools): RequestMethods {
  const open = new Set<CallStream>();
  const closingFailure = createRpcFailure(CODE.unavailable, 'The server is closing');
  let isStopped = false;

  async function runSingle(bytes: Buffer, info: CallInfo): Promise<Reply> {
    const answered = await answerRequest(handle, readRequest(bytes, info), info);
    observe?.transferred?.({ receivedBytes: bytes.length, sentBytes: answered.bytes.length }, answered.answer);
    return reply(answered);
  }

  async function runMessage(message: Buffer, info: CallInfo): Promise<StreamAnswer> {
    // The decoded response is not retained while the message waits for earlier ones.
    const { request, ...answer } = await answerStreamMessage(handle, message, info, oldForms);
    const sentBytes = answer.message?.length ?? 0;
    observe?.transferred?.({ receivedBytes: message.length, sentBytes }, request);
    return answer;
  }

  const reply = ({ answer, bytes }: EncodedAnswer): Reply =>
    marksErrors && failed(answer) ? { bytes, trailers: ERROR_MARK } : { bytes };

  function runStream(stream: BidiStream, info: CallInfo): void {
    if (isStopped) {
      failStream(stream, closingFailure);
      return;
    }
    const served = serveStream(stream, {
      answer: (message) => runMessage(message, info),
      prefetch: stricterLimit(prefetch, prefetchOf(info)),
      inOrder: info.metadata(METADATA.inOrder)?.toLowerCase() === 'true',
      limits: { ...STREAM_LIMITS, ...limits },
    });
    open.add(served);
    stream.on('close', () => open.delete(served));
  }

  /**
   * Processes one document and sends one message for each resulting document, or one empty message if there is none.
   */
  async function runDocument(bytes: Buffer, stream: ResponseStream, info: CallInfo): Promise<void> {
    try {
      const { answer } = await answerRequest(handle, decodeSingleDocument(bytes), info);
      let sentBytes = 0;
      const parts = answer.docs.length > 0 ? answer.docs.map((one) => ({ ...answer, docs: [one] })) : [answer];
      for (const part of parts) {
        if (stream.destroyed) return;
        const message = asBuffer(encodeSingleDocument(part));
        sentBytes += message.length;
        if (!stream.write(message)) await waitForDrain(stream);
      }
      observe?.transferred?.({ receivedBytes: bytes.length, sentBytes }, answer);
      stream.end();
    } catch (error) {
      failStream(stream, toRpcFailure(asProblem(error)));
    }
  }

  return {
    methods: [
      { ...METHODS.single, kind: 'unary', run: runSingle },
      { ...METHODS.call, kind: 'bidi-stream', run: runStream },
      {
        ...METHODS.document,
        kind: 'server-stream',
        run: (bytes, stream, info) => void runDocument(bytes, stream, info),
      },
    ],
    reply,
    stop() {
      isStopped = true;
      for (const stream of open) stream.end(closingFailure);
    },
  };
}

const waitForDrain = (stream: ResponseStream): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
