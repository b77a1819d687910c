/** The methods that carry requests, the same for a gateway and for an executor that stands alone. */

import { asProblem } from '#errors.ts';
import type { FlowObserver } from '../observer.ts';
import { decodeSingleDocument, encodeSingleDocument } from '../proto/codec.ts';
import { failed } from '../request.ts';
import { asBuffer } from './bytes.ts';
import { CODE, failureOf, rpcFailure } from './failures.ts';
import { METADATA, METHODS } from './names.ts';
import { type Answered, answerRequest, type Handle, readRequest, streamAnswer } from './requests.ts';
import { type Both, type CallFacts, fail, type Method, type Outgoing, type Reply } from './server.ts';
import { type CallStream, STREAM_LIMITS, type StreamAnswer, type StreamLimits, serveStream } from './stream.ts';

export interface RequestMethodsTools {
  readonly handle: Handle;
  /** Requests of one call in work at a time; 0 for no limit. */
  readonly prefetch: number;
  readonly limits?: Partial<StreamLimits> | undefined;
  /** Whether a failed answer is marked in the metadata at its end, which a gateway looks at. */
  readonly marksErrors?: boolean;
  /** Told how much went to and fro. */
  readonly observe?: FlowObserver | undefined;
}

export interface RequestMethods {
  readonly methods: readonly Method[];
  /** With its mark, when there is to be one. */
  reply(answered: Answered): Reply;
  /** Streams read no more and end when all that is in work has been answered; new calls are refused. */
  stop(): void;
}

const MARK = { [METADATA.isError]: 'true' };

/** The stricter of two limits, of which 0 is none. */
const stricter = (one: number, other: number): number => (one && other ? Math.min(one, other) : one || other);

function prefetchOf(facts: CallFacts): number {
  const asked = Number(facts.metadata(METADATA.prefetch) ?? 0);
  return Number.isSafeInteger(asked) && asked > 0 ? asked : 0;
}

export function createRequestMethods({
  handle,
  prefetch,
  limits,
  marksErrors = false,
  observe,
}: RequestMethodsTools): RequestMethods {
  const open = new Set<CallStream>();
  const closing = rpcFailure(CODE.unavailable, 'The server is closing');
  let isStopped = false;

  async function single(bytes: Buffer, facts: CallFacts): Promise<Reply> {
    const answered = await answerRequest(handle, readRequest(bytes, facts), facts);
    observe?.transferred?.({ receivedBytes: bytes.length, sentBytes: answered.bytes.length });
    return reply(answered);
  }

  async function ofStream(message: Buffer, facts: CallFacts): Promise<StreamAnswer> {
    const answer = await streamAnswer(handle, message, facts);
    observe?.transferred?.({ receivedBytes: message.length, sentBytes: answer.message?.length ?? 0 });
    return answer;
  }

  const reply = ({ answer, bytes }: Answered): Reply =>
    marksErrors && failed(answer) ? { bytes, trailers: MARK } : { bytes };

  function call(stream: Both, facts: CallFacts): void {
    if (isStopped) {
      fail(stream, closing);
      return;
    }
    const served = serveStream(stream, {
      answer: (message) => ofStream(message, facts),
      prefetch: stricter(prefetch, prefetchOf(facts)),
      inOrder: facts.metadata(METADATA.inOrder)?.toLowerCase() === 'true',
      limits: { ...STREAM_LIMITS, ...limits },
    });
    open.add(served);
    stream.on('close', () => open.delete(served));
  }

  /** One document in, as many messages out as documents come of it; one without a document when none does. */
  async function document(bytes: Buffer, stream: Outgoing, facts: CallFacts): Promise<void> {
    try {
      const { answer } = await answerRequest(handle, decodeSingleDocument(bytes), facts);
      const parts = answer.docs.length > 0 ? answer.docs.map((one) => ({ ...answer, docs: [one] })) : [answer];
      for (const part of parts) {
        if (stream.destroyed) return;
        if (!stream.write(asBuffer(encodeSingleDocument(part)))) await drained(stream);
      }
      stream.end();
    } catch (error) {
      fail(stream, failureOf(asProblem(error)));
    }
  }

  return {
    methods: [
      { ...METHODS.single, kind: 'unary', run: single },
      { ...METHODS.call, kind: 'both', run: call },
      { ...METHODS.document, kind: 'answers', run: (bytes, stream, facts) => void document(bytes, stream, facts) },
    ],
    reply,
    stop() {
      isStopped = true;
      for (const stream of open) stream.end(closing);
    },
  };
}

const drained = (stream: Outgoing): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
