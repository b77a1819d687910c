/**
 * What a deployment sends its requests to: an executor in this process, in a process of its own, or one that is reached
 * over a network. All keep this contract.
 */
import type { DataRequest } from './request.ts';

export interface WorkerCall {
  /** One request, or the parts of a join that were not reduced, in the order of `needs`. */
  readonly requests: readonly DataRequest[];
  /** For each part the name of the executor that it comes from. */
  readonly sources: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface Worker {
  /** As in messages and route names: `in-process`, `own-process`, `host:port`. */
  readonly address: string;
  /** The endpoints that it is known to serve, `/default` for a catch-all; undefined when not known yet. */
  endpoints(): ReadonlySet<string> | undefined;
  /**
   * The request as it leaves the executor. What the executor itself has to answer for is in `header.status`; a WorkerLost
   * is thrown when the executor could not be asked.
   */
  process(call: WorkerCall): Promise<DataRequest>;
  /** Whether it cannot be asked at the moment, so that another one should be. */
  isAway?(): boolean;
  /** Rejects when it does not answer. */
  ping(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type LostBecause = 'unreachable' | 'cancelled' | 'timeout' | 'other';

/** The executor could not be asked, or did not answer. */
export class WorkerUnavailableError extends Error {
  readonly because: LostBecause;

  constructor(because: LostBecause, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.because = because;
  }
}

/** An executor that runs elsewhere. */
export interface RemoteTarget {
  readonly deployment: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Metadata of every call. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly compression: 'none' | 'deflate' | 'gzip';
}

/** Opens no connection yet. */
export type Connect = (target: RemoteTarget) => Worker;
