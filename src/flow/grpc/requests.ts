/** Decodes requests, runs them and encodes responses, for all gRPC methods that carry requests. */
import { asProblem, type Problem, problem } from '#errors.ts';
import { type OldCall, readOldCall } from '../gateway/old-requests.ts';
import { decodeRequest, encodeRequest } from '../proto/codec.ts';
import { createRequest, type DataRequest, type Status } from '../request.ts';
import { isUnavailableProblem } from '../runtime/unavailable.ts';
import { refusalStatus } from '../status.ts';
import { asBuffer } from './bytes.ts';
import { toRpcFailure } from './failures.ts';
import type { CallInfo } from './method.ts';
import { METADATA } from './names.ts';
import type { StreamAnswer } from './stream.ts';

/** Throws like `Flow.handle`. */
export type Handle = (request: DataRequest, info: CallInfo) => Promise<DataRequest>;

/** An empty message is a valid request with default values. */
export function readRequest(bytes: Buffer, info: CallInfo): DataRequest {
  const request = decodeRequest(bytes);
  if (bytes.length === 0) request.header.execEndpoint = '/';
  request.header.requestId ||= info.metadata(METADATA.requestId) ?? '';
  return request;
}

/** Returns a failure caused by the request as its response. */
function refusedAnswer({ header: { requestId }, parameters }: DataRequest, failure: Problem): DataRequest {
  const answer = createRequest({ parameters });
  answer.header = { requestId, status: refusalStatus(failure) };
  return answer;
}

export interface EncodedAnswer {
  readonly answer: DataRequest;
  readonly bytes: Buffer;
}

const encodeAnswer = (answer: DataRequest): EncodedAnswer => ({ answer, bytes: asBuffer(encodeRequest(answer)) });

/** Throws only when the flow or an executor is unavailable. */
export async function answerRequest(handle: Handle, request: DataRequest, info: CallInfo): Promise<EncodedAnswer> {
  const { header, parameters } = request;
  const withoutDocs = { ...request, header: { ...header }, parameters, docs: [] };
  try {
    return encodeAnswer(await handle(request, info));
  } catch (error) {
    const failure = asProblem(error);
    if (isUnavailableProblem(failure)) throw failure;
    return encodeAnswer(refusedAnswer(withoutDocs, failure));
  }
}

/** How to respond to requests of generations 1 and 2, which old clients send to the streaming method. */
export interface OldForms {
  /** Whether ambiguous messages, which could be old or current, count as old. */
  readonly prefersOld: boolean;
  dryRun(signal: AbortSignal): Promise<Status>;
}

/**
 * Like `answerRequest`, for one message of a stream. Invalid bytes end the stream. An unavailable executor ends it too,
 * after a response with the id of the request.
 */
export async function answerStreamMessage(
  handle: Handle,
  bytes: Buffer,
  info: CallInfo,
  oldForms: OldForms | undefined,
): Promise<StreamAnswer> {
  let requestId: string | undefined;
  try {
    const old = oldForms && readOldCall(bytes, oldForms.prefersOld);
    if (old) return await answerOldCall(handle, old, info, oldForms);
    const request = readRequest(bytes, info);
    requestId = request.header.requestId;
    const { bytes: message, answer } = await answerRequest(handle, request, info);
    return { message, request: answer };
  } catch (error) {
    const failure = toRpcFailure(error);
    if (requestId === undefined) return { failure };
    const answer: DataRequest = { header: { requestId }, parameters: {}, routes: [], docs: [] };
    return { message: asBuffer(encodeRequest(answer)), failure };
  }
}

async function answerOldCall(
  handle: Handle,
  old: OldCall,
  info: CallInfo,
  { dryRun }: OldForms,
): Promise<StreamAnswer> {
  try {
    const tools = { handle: (request: DataRequest) => handle(request, info), dryRun: () => dryRun(info.signal) };
    return { message: asBuffer(await old.run(tools)) };
  } catch (error) {
    const failure = asProblem(error);
    const message = asBuffer(old.writeFailure(refusalStatus(failure)));
    return isUnavailableProblem(failure) ? { message, failure: toRpcFailure(failure) } : { message };
  }
}

/** Throws a ServiceTimeoutError and aborts the call when it takes longer than `timeoutMs`. */
export function withTimeout(handle: Handle, timeoutMs: number | undefined): Handle {
  if (timeoutMs === undefined) return handle;
  return async (request, info) => {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(problem('ServiceTimeoutError', { message: `The request took longer than ${timeoutMs} ms` }));
        controller.abort();
      }, timeoutMs);
    });
    try {
      const signal = AbortSignal.any([info.signal, controller.signal]);
      return await Promise.race([handle(request, { ...info, signal }), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Reports internal errors, whose details are hidden from the caller. */
export const reportingErrors =
  (handle: Handle, report: (error: unknown) => void): Handle =>
  async (request, info) => {
    try {
      return await handle(request, info);
    } catch (error) {
      const failure = asProblem(error);
      if (failure.code === 500 && !info.signal.aborted) report(failure.cause ?? failure);
      throw failure;
    }
  };
