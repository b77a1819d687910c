/**
 * The interface of all workers. A worker is an executor in this process, in a process of its own, or on the network.
 */
import type { TraceParent } from '#telemetry/trace.ts';
import type { FlowObserver } from '../observer.ts';
import type { DataRequest } from '../request.ts';

export interface WorkerCall {
  /** One request, or the unreduced parts of a join in the order of `needs`. */
  readonly requests: readonly DataRequest[];
  /** The executor that each part comes from. */
  readonly sources: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The span that sends this call, for spans of the executor. */
  readonly trace?: TraceParent | undefined;
}

/** Address of an executor in its own process. */
export const OWN_PROCESS = 'own-process';

export interface Worker {
  /** Address for messages and routes: `in-process`, `own-process` or `host:port`. */
  readonly address: string;
  /** The endpoints it serves, `/default` for a catch-all; `undefined` until they are known. */
  endpoints(): ReadonlySet<string> | undefined;
  /**
   * Returns the response. Failures of the executor itself are in `header.status`. Throws a WorkerUnavailableError when
   * the executor could not be reached.
   */
  process(call: WorkerCall): Promise<DataRequest>;
  /** Whether the worker cannot accept calls now. If so, another replica is used. */
  isUnavailable?(): boolean;
  /** Rejects if the executor does not respond. */
  ping(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type UnavailableReason = 'unreachable' | 'cancelled' | 'timeout' | 'other';

/** The executor could not be reached or did not respond. */
export class WorkerUnavailableError extends Error {
  readonly reason: UnavailableReason;

  constructor(because: UnavailableReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = because;
  }
}

/** An executor at a network address. */
export interface RemoteTarget {
  readonly deployment: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** gRPC metadata sent with every call. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly compression: 'none' | 'deflate' | 'gzip';
  /** Options of the gRPC library. */
  readonly options?: Readonly<Record<string, string | number>>;
}

/** Creates a worker for the target. It connects on first use. */
export type Connect = (target: RemoteTarget, observe?: FlowObserver) => Worker;
