import type { DataRequest } from './request.ts';

/** Information about one request that an executor has handled. */
export interface ProcessedFacts {
  /** Name of the executor: `NAME/rep-0`. */
  readonly runtime: string;
  /** Class name of the executor. */
  readonly executor: string;
  /** The bound endpoint; `/default` for a catch-all. */
  readonly endpoint: string;
  /** The requested endpoint. */
  readonly asked: string;
  readonly ms: number;
  readonly documents: number;
  readonly failed: boolean;
}

/** Callbacks for metrics. They are called synchronously and must not throw. */
export interface FlowObserver {
  /** The gateway received a request. */
  requestStarted?(): void;
  requestEnded?(facts: { ms: number; failed: boolean }): void;
  /** A deployment responded to a request or failed. */
  sent?(facts: { deployment: string; ms: number; failed: boolean }): void;
  /** An executor of this program handled a request. `answer` is its response. */
  processed?(facts: ProcessedFacts, answer: DataRequest): void;
  /** The gateway responded to a request that carries documents. Sizes are those on the wire, before compression. */
  transferred?(facts: { receivedBytes: number; sentBytes: number }, answer?: DataRequest): void;
  /**
   * An executor in another process or at a network address has responded to a request. Sizes are those on the wire,
   * before compression.
   */
  exchanged?(facts: { deployment: string; address: string; sentBytes: number; receivedBytes: number }): void;
  /** An executor received a request from another process and responded. */
  served?(facts: { runtime: string; executor: string; asked: string; receivedBytes: number; sentBytes: number }): void;
}

/** Calls both observers. */
export function combineObservers(one: FlowObserver, other: FlowObserver): FlowObserver {
  return {
    requestStarted() {
      one.requestStarted?.();
      other.requestStarted?.();
    },
    requestEnded(facts) {
      one.requestEnded?.(facts);
      other.requestEnded?.(facts);
    },
    sent(facts) {
      one.sent?.(facts);
      other.sent?.(facts);
    },
    processed(facts, answer) {
      one.processed?.(facts, answer);
      other.processed?.(facts, answer);
    },
    transferred(facts, answer) {
      one.transferred?.(facts, answer);
      other.transferred?.(facts, answer);
    },
    exchanged(facts) {
      one.exchanged?.(facts);
      other.exchanged?.(facts);
    },
    served(facts) {
      one.served?.(facts);
      other.served?.(facts);
    },
  };
}
