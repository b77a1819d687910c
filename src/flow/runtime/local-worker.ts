/** Runs an executor in this process: finds the handler of the endpoint, calls it and applies its result. */
import { Problem } from '#errors.ts';
import { setOwnValue } from '#own-value.ts';
import type { Log } from '#telemetry/log.ts';
import type { Batching } from '../definition/definition.ts';
import { Document } from '../document.ts';
import {
  type Answer,
  type Bindings,
  bindHandlers,
  CATCH_ALL,
  type Call,
  DRY_RUN,
  type Executor,
  type Handler,
} from '../executor.ts';
import { NdArray } from '../ndarray.ts';
import type { FlowObserver } from '../observer.ts';
import { type DataRequest, joinRequests } from '../request.ts';
import { describeError, errorName, statusOf } from '../status.ts';
import { isObject, isPlainObject, type JsonObject, toJsonValue } from '../values.ts';
import { createBatchedHandler } from './batching.ts';
import { RESULTS } from './parameters.ts';
import { type Worker, type WorkerCall, WorkerUnavailableError } from './worker.ts';

export interface LocalWorkerOptions {
  readonly executor: Executor;
  /** Maps endpoints to methods, overriding the bindings of the class. */
  readonly requests: Bindings;
  readonly batching: Readonly<Record<string, Batching>>;
  /** Names of errors after which the executor is closed. */
  readonly exitOnExceptions: readonly string[];
  readonly outputArrayType: 'list' | 'numpy' | undefined;
  /** Called after the executor has closed, even if closing failed. */
  readonly closed?: (() => Promise<void>) | undefined;
  readonly stacks: boolean;
  readonly log?: Log | undefined;
  readonly observe?: Pick<FlowObserver, 'processed'> | undefined;
}

/** Handles one request. */
type Work = (call: Call) => Promise<Answer> | Answer;

const isDocumentList = (answer: unknown): answer is readonly Document[] =>
  Array.isArray(answer) && answer.every((one) => one instanceof Document);

export function createLocalWorker(options: LocalWorkerOptions): Worker {
  const { executor, stacks, exitOnExceptions, observe } = options;
  const type = executor.constructor.name;
  const { name } = executor.context;
  const bound: ReadonlyMap<string, Handler> = bindHandlers(executor, options.requests);
  const served: ReadonlySet<string> = new Set(bound.keys());
  const batched = new Map<string, Work>();
  for (const [endpoint, batching] of Object.entries(options.batching)) {
    const handler = bound.get(endpoint);
    if (handler) batched.set(endpoint, createBatchedHandler(handler, batching));
  }
  let closing: Promise<void> | undefined;

  const close = (): Promise<void> => {
    closing ??= (async () => {
      try {
        await executor.close();
      } finally {
        await options.closed?.();
      }
    })();
    return closing;
  };

  function applyAnswer(request: DataRequest, answer: unknown): void {
    if (answer === undefined || answer === null) return;
    if (isDocumentList(answer)) {
      request.docs = answer as Document[];
    } else if (isPlainObject(answer)) {
      const known = request.parameters[RESULTS];
      const results: JsonObject = isObject(known) ? { ...(known as JsonObject) } : {};
      setOwnValue(results, name, toJsonValue(answer));
      request.parameters = { ...request.parameters, [RESULTS]: results };
    } else {
      throw new TypeError(
        `The return type must be a list of documents, an object or nothing, but getting ${describeType(answer)}`,
      );
    }
  }

  function logFailure(error: unknown, endpoint: string, { header: { requestId } }: DataRequest): void {
    const facts = { executor: name, endpoint, requestId };
    // A Problem is a normal response to a request; serious ones were logged where they occurred.
    if (error instanceof Problem) options.log?.info({ ...facts, failure: error.name }, 'an executor refused a request');
    else options.log?.error({ ...facts, error: describeError(error) }, 'an executor failed');
  }

  async function process(call: WorkerCall): Promise<DataRequest> {
    if (closing) throw new WorkerUnavailableError('unreachable', `${name} is closed`);
    const request = joinRequests(call.requests);
    const requestedEndpoint = request.header.execEndpoint ?? '';
    const endpoint = bound.has(requestedEndpoint) ? requestedEndpoint : CATCH_ALL;
    const work = batched.get(endpoint) ?? bound.get(endpoint);
    if (!work) return request;
    const started = performance.now();
    let failed = false;
    try {
      const answer = work(createCall(request, call));
      applyAnswer(request, answer instanceof Promise ? await answer : answer);
      if (options.outputArrayType) convertArrays(request.docs, options.outputArrayType);
    } catch (error) {
      failed = true;
      logFailure(error, endpoint, request);
      request.header.status = statusOf(error, type, stacks);
      if (exitOnExceptions.includes(errorName(error)))
        close().catch((failure) => options.log?.error(failure, `${name} could not be closed`));
    }
    if (endpoint !== DRY_RUN) {
      const ms = performance.now() - started;
      const documents = request.docs.length;
      observe?.processed?.(
        { runtime: name, executor: type, endpoint, asked: requestedEndpoint, ms, documents, failed },
        request,
      );
    }
    return request;
  }

  return {
    address: 'in-process',
    endpoints: () => served,
    process,
    async ping() {
      if (closing) throw new WorkerUnavailableError('unreachable', `${name} is closed`);
    },
    close,
  };
}

const describeType = (value: unknown): string =>
  Array.isArray(value) ? 'a list with other values in it' : (value?.constructor?.name ?? typeof value);

function createCall(request: DataRequest, { requests, sources, headers, signal }: WorkerCall): Call {
  const lists = requests.length === 1 ? [request.docs] : requests.map(({ docs }) => docs);
  const some = lists.some((docs) => docs.length > 0);
  const docsMap: Record<string, Document[]> = {};
  for (let at = 0; at < sources.length; at++) setOwnValue(docsMap, sources[at]!, lists[at] ?? []);
  return {
    docs: request.docs,
    parameters: request.parameters,
    docsMatrix: some ? lists : undefined,
    docsMap: some ? docsMap : undefined,
    endpoint: request.header.execEndpoint ?? '',
    requestId: request.header.requestId,
    headers,
    signal,
  };
}

function convertArrays(documents: readonly Document[], type: 'list' | 'numpy'): void {
  for (const document of documents) {
    if (document.embedding) document.embedding = convertArray(document.embedding, type);
    if (document.tensor) document.tensor = convertArray(document.tensor, type);
  }
}

const convertArray = (array: NdArray, clsName: string): NdArray =>
  array.clsName === clsName && !array.sparse
    ? array
    : array.dense
      ? NdArray.fromDense(array.dense, { clsName })
      : NdArray.fromList(array.toList(), { clsName });
