/** Requests as bytes in, answers as bytes out: what all methods that carry requests have in common. */
import { asProblem, type Problem, problem } from '#errors.ts';
import { isLost } from '../lost.ts';
import { decodeRequest, encodeRequest } from '../proto/codec.ts';
import { createRequest, type DataRequest, ERROR, type Status } from '../request.ts';
import { asBuffer } from './bytes.ts';
import { failureOf } from './failures.ts';
import { METADATA } from './names.ts';
import type { CallFacts } from './server.ts';
import type { StreamAnswer } from './stream.ts';

/** Throws as Flow.handle does. */
export type Handle = (request: DataRequest, facts: CallFacts) => Promise<DataRequest>;

/** A message without a byte is one whose fields all have their defaults. */
export function readRequest(bytes: Buffer, facts: CallFacts): DataRequest {
  const request = decodeRequest(bytes);
  if (bytes.length === 0) request.header.execEndpoint = '/';
  request.header.requestId ||= facts.metadata(METADATA.requestId) ?? '';
  return request;
}

/** The name that clients know for requests that are not valid. */
const VALIDATION = 'ValidationError';

const statusOf = ({ code, name, message }: Problem): Status => ({
  code: ERROR,
  description: message,
  exception: { name: code === 422 || code === 400 ? VALIDATION : name, args: [message], stacks: [], executor: '' },
});

/** A failure that is the request's own, as the answer to it. */
function refusedAnswer({ header: { requestId }, parameters }: DataRequest, failure: Problem): DataRequest {
  const answer = createRequest({ parameters });
  answer.header = { requestId, status: statusOf(failure) };
  return answer;
}

export interface Answered {
  readonly answer: DataRequest;
  readonly bytes: Buffer;
}

const written = (answer: DataRequest): Answered => ({ answer, bytes: asBuffer(encodeRequest(answer)) });

/** Throws only when the request is lost. */
export async function answerRequest(handle: Handle, request: DataRequest, facts: CallFacts): Promise<Answered> {
  const { header, parameters } = request;
  const asked = { ...request, header: { ...header }, parameters, docs: [] };
  try {
    return written(await handle(request, facts));
  } catch (error) {
    const failure = asProblem(error);
    if (isLost(failure)) throw failure;
    return written(refusedAnswer(asked, failure));
  }
}

/** The same in a stream: bytes that are no request end it, and so does a request that is lost, with its id as the answer. */
export async function streamAnswer(handle: Handle, bytes: Buffer, facts: CallFacts): Promise<StreamAnswer> {
  let requestId: string | undefined;
  try {
    const request = readRequest(bytes, facts);
    requestId = request.header.requestId;
    return { message: (await answerRequest(handle, request, facts)).bytes };
  } catch (error) {
    const failure = failureOf(error);
    if (requestId === undefined) return { failure };
    const answer: DataRequest = { header: { requestId }, parameters: {}, routes: [], docs: [] };
    return { message: asBuffer(encodeRequest(answer)), failure };
  }
}

/** Throws a ServiceTimeoutError when it takes longer; the call's signal is aborted then. */
export function inTime(handle: Handle, timeoutMs: number | undefined): Handle {
  if (timeoutMs === undefined) return handle;
  return async (request, facts) => {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(problem('ServiceTimeoutError', { message: `The request took longer than ${timeoutMs} ms` }));
        controller.abort();
      }, timeoutMs);
    });
    try {
      const signal = AbortSignal.any([facts.signal, controller.signal]);
      return await Promise.race([handle(request, { ...facts, signal }), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Tells of failures that are nobody's but ours, which the caller learns nothing of. */
export const told =
  (handle: Handle, tell: (error: unknown) => void): Handle =>
  async (request, facts) => {
    try {
      return await handle(request, facts);
    } catch (error) {
      const failure = asProblem(error);
      if (failure.code === 500 && !facts.signal.aborted) tell(failure.cause ?? failure);
      throw failure;
    }
  };
