/** Callbacks for metrics. They are called synchronously and must not throw. */
export interface FlowObserver {
  /** The gateway received a request. */
  requestStarted?(): void;
  requestEnded?(facts: { ms: number; failed: boolean }): void;
  /** A deployment answered a request, or failed to. */
  sent?(facts: { deployment: string; ms: number; failed: boolean }): void;
  /** An executor in this process handled a request. `endpoint` is the bound one, `asked` the one in the request. */
  processed?(facts: {
    runtime: string;
    executor: string;
    endpoint: string;
    asked: string;
    ms: number;
    documents: number;
    failed: boolean;
  }): void;
  /** The gateway answered a request with documents. Sizes are those on the wire, before compression. */
  transferred?(facts: { receivedBytes: number; sentBytes: number }): void;
}
