/**
 * The message that passes through a flow, in the same form for every protocol (docs/reference/wire/flow.md, Requests).
 */
import { cloneDocuments, createId, type Document } from './document.ts';
import type { JsonObject } from './values.ts';

/** A time in the wire format. `nanos` is 0 to 999,999,999. */
export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

export const SUCCESS = 0;
export const ERROR = 1;

export interface ExceptionInfo {
  readonly name: string;
  readonly args: readonly string[];
  readonly stacks: readonly string[];
  /** Class name of the executor that failed. */
  readonly executor: string;
  readonly unknown?: readonly Uint8Array[];
}

export interface Status {
  /** 0 success, 1 error. */
  readonly code: number;
  readonly description: string;
  readonly exception?: ExceptionInfo | undefined;
  readonly unknown?: readonly Uint8Array[];
}

export interface Route {
  executor: string;
  startTime?: Timestamp | undefined;
  /** Missing when the request skipped the executor. */
  endTime?: Timestamp | undefined;
  status?: Status | undefined;
  unknown?: readonly Uint8Array[];
}

export interface Header {
  requestId: string;
  status?: Status | undefined;
  execEndpoint?: string | undefined;
  targetExecutor?: string | undefined;
  timeout?: number | undefined;
  unknown?: readonly Uint8Array[];
}

export interface DataRequest {
  header: Header;
  parameters: JsonObject;
  routes: Route[];
  docs: Document[];
  /** Documents as a Python pickle. They are never decoded: a flow rejects requests that contain them. */
  docsBytes?: Uint8Array;
  unknown?: readonly Uint8Array[];
}

export interface RequestInit {
  readonly requestId?: string;
  readonly endpoint?: string;
  readonly targetExecutor?: string;
  readonly parameters?: JsonObject;
  readonly docs?: readonly Document[];
}

export const createRequest = ({ requestId, endpoint, targetExecutor, parameters, docs }: RequestInit = {}) =>
  ({
    header: { requestId: requestId ?? createId(), execEndpoint: endpoint, targetExecutor },
    parameters: parameters ?? {},
    routes: [],
    docs: [...(docs ?? [])],
  }) satisfies DataRequest as DataRequest;

export const failed = (request: DataRequest): boolean => request.header.status?.code === ERROR;

/** Cached: the getter is slow and each request needs many timestamps. */
let originMs: number | undefined;

/** Current time with microsecond precision. */
export function timestamp(): Timestamp {
  originMs ??= performance.timeOrigin;
  const ms = originMs + performance.now();
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanos: Math.floor((ms - seconds * 1000) * 1000) * 1000 };
}

/** A copy for another branch. It shares nothing that an executor may change. */
export const cloneRequest = (request: DataRequest): DataRequest => ({
  ...request,
  header: { ...request.header },
  routes: [...request.routes],
  docs: cloneDocuments(request.docs),
});

/** Returns the first request, with the documents of all requests. */
export function joinRequests(requests: readonly DataRequest[]): DataRequest {
  const [first] = requests;
  return requests.length === 1 ? first! : { ...first!, docs: requests.flatMap(({ docs }) => docs) };
}
